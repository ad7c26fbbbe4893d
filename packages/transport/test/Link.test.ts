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
      // The first three are written together, and so there is room for more than one line when they are taken in.
      while (n < 3) assert.strictEqual(tagOf(tryIt(links.client, n++)), "Success")
      yield* settled
      while (tryIt(links.client, n) !== undefined) n++
      const past = Effect.sync(() => tryIt(links.client, -1))
      const first = Effect.andThen(links.client.send(notice(n)), past)
      const waits = yield* Effect.forkChild(first, { startImmediately: true })
      const last = yield* Effect.forkChild(links.client.send(notice(n + 1)), { startImmediately: true })
      assert.deepStrictEqual([waits.pollUnsafe(), last.pollUnsafe(), yield* past], [undefined, undefined, undefined])
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(yield* Fiber.join(waits), undefined)
      yield* Fiber.join(last)
      yield* settled
      assert.strictEqual(tagOf(tryIt(links.client, n + 2)), "Success")
      yield* settled
      assert.deepStrictEqual(received(server), Array.from({ length: n + 3 }, (_, i) => i))
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
