/** A client that answers what its server asks: `node client.ts` on a terminal has you fill the forms in. */
import { NodeServices } from "@effect/platform-node"
import { ClientElicitation, ClientRoots, ClientSampling, McpClient, TerminalForm } from "@mcpfx/client"
import { Console, Effect, Layer } from "effect"
import { fileURLToPath } from "node:url"
import { Announce, Connect, Deploy, Summarize, Workspaces } from "./contract.ts"

/** Fills forms in by itself. Fields that are left out get the defaults of the form. */
export const Forms = ClientElicitation.layerForm(({ message, requestedSchema }) =>
  Effect.as(
    Console.log(`asked: ${message}`),
    "audience" in requestedSchema.properties
      ? ClientElicitation.accept({ audience: "Dear all" })
      : ClientElicitation.accept("sure" in requestedSchema.properties ? { sure: true } : { env: "production" })
  )
)

/** A real client shows the address and opens it in a browser, after a yes. */
export const Pages = ClientElicitation.layerUrl(({ message, site }) =>
  Effect.as(Console.log(`asked to visit ${site.host}: ${message}`), ClientElicitation.visit)
)

/** A real client asks a model, and a person: see `ModelSampling`. */
export const Model = ClientSampling.layer(({ messages }) =>
  Effect.as(Console.log(`asked the model ${messages.length} thing`), ClientSampling.text("All is faster.", "small-1"))
)

export const Roots = ClientRoots.layer([{ uri: "file:///home/ada/shop", name: "shop" }])

/** What is not among the handlers is not declared, and servers know. */
export const Answers = Layer.mergeAll(Forms, Pages, Model, Roots)

/** Every way of asking; the calls look like any others. */
export const tour = Effect.gen(function*() {
  const client = yield* McpClient.McpClient
  const { revision } = yield* client.server
  yield* Console.log(`connected on ${revision.version}`)

  const { env, version } = yield* client.call(Deploy, { service: "shop" })
  yield* Console.log(`deployed ${version} to ${env}`)
  const { connected } = yield* client.call(Connect)
  yield* Console.log(connected ? "connected to the code host" : "not connected")
  const { summary } = yield* client.call(Summarize, { changes: ["index on orders", "smaller images"] })
  yield* Console.log(summary)
  const { uris } = yield* client.call(Workspaces)
  yield* Console.log(uris.join(", "))
  const { announcement } = yield* client.call(Announce, { version })
  yield* Console.log(announcement)
})

if (process.argv[1] === import.meta.filename) {
  const server = fileURLToPath(new URL("./stdio.ts", import.meta.url))
  const live = McpClient.layerStdio({ command: [process.execPath, server] }).pipe(
    Layer.provide(process.stdin.isTTY ? Layer.mergeAll(TerminalForm.layer, Pages, Model, Roots) : Answers),
    Layer.provide(NodeServices.layer)
  )
  await Effect.runPromise(Effect.provide(tour, live))
}
