import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Limits from "@mcpfx/transport/Limits"
import { attempt, type Link } from "@mcpfx/transport/Link"
import * as Memory from "@mcpfx/transport/Memory"
import { Cause, Deferred, Effect, Exit, Fiber, Result, Scope } from "effect"
import { keeper, settled } from "./support/scripted.ts"

const notice = (n: number) => JsonRpc.notification("n", { n })
const tryIt = (link: Link, n: number) => attempt(link.send(notice(n)))
const received = ({ exchanges }: ReturnType<typeof keeper>) =>
  exchanges.map(({ message }) => JsonRpc.isNotification(message) ? message.params?.["n"] : undefined)
const tagOf = (exit: Exit.Exit<void, { readonly _tag: string }> | undefined) => {
  if (exit === undefined || Exit.isSuccess(exit)) return exit?._tag
  const error = Cause.findError(exit.cause)
  return Result.isSuccess(error) ? error.success._tag : "Die"
}

describe("attempt", () => {
  it.effect("sends where nothing has to be waited for, in the order of what is run", () =>
    Effect.gen(function*() {
      const server = keeper()
      const links = yield* Memory.pair(keeper().endpoint, server.endpoint)
      const third = links.client.send(notice(3))
      assert.strictEqual(tagOf(tryIt(links.client, 1)), "Success")
      yield* links.client.send(notice(2))
      yield* third
      assert.strictEqual(tagOf(attempt(third)), "Success")
      yield* settled
      assert.deepStrictEqual(received(server), [1, 2, 3, 3])
    }))

  it.effect("sends nothing where there is no room, nor past those that wait for it", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const server = keeper(() => Effect.as(Deferred.await(gate), {}))
      const links = yield* Memory.pair(keeper().endpoint, server.endpoint)
      let n = 0
      for (let full = 0; full < 2;) {
        const sent = tryIt(links.client, n)
        if (sent === undefined) full++
        else n++
        yield* settled
      }
      const waits = yield* Effect.forkChild(links.client.send(notice(n)), { startImmediately: true })
      assert.deepStrictEqual([waits.pollUnsafe(), tryIt(links.client, -1)], [undefined, undefined])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(waits)
      yield* settled
      assert.strictEqual(tagOf(tryIt(links.client, n + 1)), "Success")
      yield* settled
      assert.deepStrictEqual(received(server), Array.from({ length: n + 2 }, (_, i) => i))
    }).pipe(Effect.provide(Limits.layer({ outgoingMessages: 4 }))))

  it.effect("says why a message cannot be sent", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const links = yield* Scope.provide(Memory.pair(keeper().endpoint, keeper().endpoint), scope)
      const large = JsonRpc.notification("n", { text: "x".repeat(1000) })
      assert.strictEqual(tagOf(attempt(links.client.send(large))), "MessageTooLarge")
      assert.strictEqual(tagOf(attempt(links.client.send(JsonRpc.notification("n", { n: 1n })))), "Die")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(tagOf(tryIt(links.client, 1)), "TransportClosed")
    }).pipe(Effect.provide(Limits.layer({ clientMessageIn: 500 }))))

  it("leaves what is an effect as any other to whoever runs it", () => {
    let sent = 0
    assert.strictEqual(attempt(Effect.sync(() => void sent++)), undefined)
    assert.strictEqual(sent, 0)
  })
})
