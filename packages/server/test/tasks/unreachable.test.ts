/** What a task asks while there is nothing to ask it on. */
import { assert, describe, it } from "@effect/vitest"
import { JsonRpc } from "@mcpfx/schema"
import type { Link } from "@mcpfx/transport"
import { MessageTooLarge, TransportClosed, type TransportError } from "@mcpfx/transport/TransportError"
import { Deferred, Effect } from "effect"
import { TestClock } from "effect/testing"
import { at, Client, Sent, Wire } from "../protocol/harness.ts"
import { Bench, core, elicitation, idOf, served, settle } from "./support.ts"

/** A connection whose requests of the server fail as they are sent, for as long as there is a `failure`. */
class Bad extends Wire {
  attempts = 0
  failure: TransportError | undefined = undefined
  override readonly link: Link.Link = {
    id: "bad",
    send: (message) =>
      Effect.suspend(() => {
        if (!("method" in message) || message.method !== "elicitation/create") return Effect.void
        this.attempts++
        return this.failure === undefined
          ? Effect.sync(() => void this.unsolicited.push(JSON.parse(JsonRpc.stringify(message))))
          : Effect.fail(this.failure)
      }),
    closed: Effect.never,
    agreed: () => Effect.void
  }
}

/** Waits for the result of a task that asks, over a stream that takes nothing but the answer. */
const waiting = (bench: Bench, wire: Bad) =>
  Effect.gen(function*() {
    const client = new Client(yield* served(bench), core, wire)
    client.hello(elicitation)
    const id = idOf(yield* client.request("tools/call", { name: "asking", task: {} }))
    const sent = new Sent()
    yield* client.endpoint.endpoint.handle({
      message: JsonRpc.request("wait", "tasks/result", { taskId: id }),
      facts: client.facts(),
      outlet: { ...sent.outlet, oneShot: true }
    })
    yield* settle
    return { client, sent }
  })

describe("what a task asks", () => {
  it.effect("[TKL-06] is tried again now and then where it cannot be sent, and is sent when it can", () =>
    Effect.gen(function*() {
      const wire = new Bad()
      wire.failure = new TransportClosed({ reason: "gone" })
      const { client, sent } = yield* waiting(new Bench(), wire)
      const first = wire.attempts
      assert.isAtLeast(first, 1)
      yield* TestClock.adjust("10 seconds")
      yield* settle
      // Two questions, once a second each.
      assert.isAtMost(wire.attempts, first + 20)
      wire.failure = undefined
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.lengthOf(wire.unsolicited, 2)
      for (const { id } of wire.unsolicited) {
        client.raw({ jsonrpc: "2.0", id, result: { action: "accept", content: { name: "Ann" } } })
      }
      yield* Deferred.await(sent.done)
      assert.include(String(at(sent.result, "content", 0, "text")), "Ann")
    }).pipe(Effect.scoped))

  it.effect("[field MEM-05] fails at once where it is too large to be sent", () =>
    Effect.gen(function*() {
      const wire = new Bad()
      wire.failure = new MessageTooLarge({ bytes: 2000, limit: 1000 })
      const { sent } = yield* waiting(new Bench(), wire)
      yield* Deferred.await(sent.done)
      assert.isTrue(at(sent.result, "isError"))
      assert.include(String(at(sent.result, "content", 0, "text")), "at most 1000 bytes")
      assert.isAtMost(wire.attempts, 2)
    }).pipe(Effect.scoped))
})
