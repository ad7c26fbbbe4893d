import { assert, describe, it } from "@effect/vitest"
import * as CustomMethod from "@mcpfx/schema/CustomMethod"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { PeerFailure } from "@mcpfx/session/Peer"
import { Sending } from "@mcpfx/transport/Link"
import { HttpFailure, type TransportError } from "@mcpfx/transport/TransportError"
import { Cause, Effect, Exit, Fiber, Schema } from "effect"
import { type Bench, client, nothing, Wire } from "./fixtures.ts"

const answer = (bench: Bench, id: JsonRpc.RequestId, result: JsonRpc.JsonObject) =>
  bench.accept({ jsonrpc: "2.0", id, result })
const start = <A>(effect: Effect.Effect<A, PeerFailure>) => Effect.forkChild(effect, { startImmediately: true })

/** A send that is tried first, and run where that gives nothing. */
class Trial extends Sending {
  readonly attempt: () => Exit.Exit<void, TransportError> | undefined
  readonly asEffect: () => Effect.Effect<void, TransportError>
  constructor(attempt: Trial["attempt"], later: Effect.Effect<void, TransportError>) {
    super()
    this.attempt = attempt
    this.asEffect = () => later
  }
}

describe("requests", () => {
  it.effect("[FRM-19] over a link that needs no fiber to send, an answer is not missed, and a failure fails", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const tried: Array<number> = []
      const bench: Bench = yield* client(wire, {
        link: {
          id: "quick",
          closed: wire.closed,
          agreed: wire.agreed,
          send: (message) =>
            new Trial(() => {
              tried.push(tried.length + 1)
              if (tried.length > 1) return tried.length === 2 ? Exit.fail(new HttpFailure({ detail: "no" })) : undefined
              answer(bench, 1, { ok: 1 })
              return Exit.void
            }, wire.send(message))
        }
      })
      const { peer } = bench.session
      assert.deepStrictEqual(yield* peer.requestRaw("a", {}), { ok: 1 })
      assert.strictEqual((yield* Effect.flip(peer.requestRaw("b", {})))._tag, "HttpFailure")
      assert.deepStrictEqual([bench.session.load(), wire.sent], [nothing, []])
      const last = yield* start(peer.requestRaw("c", {}))
      assert.deepStrictEqual([tried.length, wire.methods], [3, ["c"]])
      answer(bench, 3, { ok: 3 })
      assert.deepStrictEqual(yield* Fiber.join(last), { ok: 3 })
    }))

  it.effect("a reader of results that breaks fails its own request, and no other", () =>
    Effect.gen(function*() {
      const bench = yield* client(new Wire())
      const broken = new Error("broken")
      const text = Schema.String.check(Schema.makeFilter(() => {
        throw broken
      }))
      const odd = yield* start(bench.session.peer.request(CustomMethod.request("vendor/odd", { result: { text } }), {}))
      const even = yield* start(bench.session.peer.requestRaw("a", {}))
      answer(bench, 1, { text: "" })
      answer(bench, 2, { text: "" })
      const exit = yield* Fiber.await(odd)
      assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "broken")
      assert.isFalse(Exit.isFailure(exit) && Cause.hasFails(exit.cause))
      assert.deepStrictEqual(yield* Fiber.join(even), { text: "" })
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))
})
