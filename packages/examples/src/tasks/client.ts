/** A customer of the print shop: `node client.ts`. */
import { ClientElicitation, McpClient } from "@mcpfx/client"
import { TestServer } from "@mcpfx/testing"
import { Console, Effect, Layer, Stream } from "effect"
import { Bind, Print, Ship } from "./contract.ts"
import { info, Shop } from "./server.ts"

/** Answers what calls and tasks ask. */
export const Answers = ClientElicitation.layerForm(({ message, requestedSchema }) =>
  Effect.as(
    Console.log(`asked: ${message}`),
    ClientElicitation.accept("colour" in requestedSchema.properties ? { colour: "blue" } : { address: "1 Main St" })
  )
)

export const tour = Effect.gen(function*() {
  const client = yield* McpClient.McpClient

  // A handle at once; the work goes on meanwhile.
  const print = yield* client.callTask(Print, { title: "Emma", copies: 3 })
  yield* Stream.runForEach(
    Stream.filter(print.changes, ({ status }) => status !== "working"),
    ({ status }) => Console.log(`the print is ${status}`)
  )
  const { sheets } = yield* print.wait
  yield* Console.log(`${sheets} sheets`)

  // Its id is all that is needed to come back for the result, also after a restart of this program.
  const again = yield* client.task(print.id ?? "", Print).wait
  yield* Console.log(`still ${again.sheets} sheets`)

  // The failure of the contract is typed, as in a plain call.
  const failed = yield* client.callTask(Print, { title: "Ulysses", copies: 11 })
  yield* Effect.catchTag(failed.wait, "OutOfPaper", ({ missing }) => Console.log(`${missing} sheets are missing`))

  // What a task asks is answered while it is waited for.
  const bind = yield* client.callTask(Bind, { title: "Emma" })
  const { cover } = yield* bind.wait
  yield* Console.log(`a ${cover} cover`)

  // A plain call waits for whatever the server makes of it.
  const { address } = yield* client.call(Ship, { title: "Emma" })
  yield* Console.log(`shipped to ${address}`)

  const wrong = yield* client.callTask(Print, { title: "Emma", copies: 10 })
  yield* wrong.cancel
  const error = yield* Effect.flip(wrong.wait)
  yield* Console.log(error.message)
})

if (process.argv[1] === import.meta.filename) {
  const live = TestServer.layer(Shop, { server: info, client: { tasks: true } }).pipe(Layer.provide(Answers))
  await Effect.runPromise(Effect.provide(tour, live))
}
