import { assert, describe, it } from "@effect/vitest"
import * as Revisions from "@mcpfx/schema/Revisions"
import type { SessionRecord } from "@mcpfx/session/SessionStore"
import { Effect } from "effect"
import { type Bench, server, Wire } from "./fixtures.ts"

const record: SessionRecord = {
  id: "s1",
  principalKey: "",
  version: Revisions.newestLegacy.version,
  clientInfo: { name: "n", version: "1" },
  clientCapabilities: {},
  initialized: true,
  subscriptions: [],
  lastSeen: 0
}

/** The id of what is asked first. */
const firstId = (bench: Bench, wire: Wire) =>
  Effect.gen(function*() {
    yield* Effect.forkScoped(bench.session.peer.requestRaw("ping", {}), { startImmediately: true })
    return wire.sent.at(-1)?.["id"]
  })

describe("a session that another process began", () => {
  it.effect("[RPC-03] asks under numbers that were not used there", () =>
    Effect.gen(function*() {
      const ids = yield* Effect.forEach([1, 2, 3], () => {
        const wire = new Wire()
        return Effect.flatMap(server({ record, link: wire }), (bench) => firstId(bench, wire))
      })
      for (const id of ids) assert.isTrue(Number.isSafeInteger(id) && Number(id) > 2 ** 20, String(id))
      assert.strictEqual(new Set(ids).size, 3)
      const wire = new Wire()
      const own = yield* server({ record, link: wire, idFormat: (n) => `own-${n}` })
      assert.strictEqual(yield* firstId(own, wire), "own-1")
    }).pipe(Effect.scoped))

  it.effect("[LIF-06] is initialized when the client has said so, there or here", () =>
    Effect.gen(function*() {
      const whole = yield* server({ record })
      assert.strictEqual(whole.session.agreed()?.initialized, true)
      const half = yield* server({ record: { ...record, initialized: false } })
      assert.strictEqual(half.session.agreed()?.initialized, false)
      half.tell("notifications/initialized")
      assert.strictEqual(half.session.agreed()?.initialized, true)
    }).pipe(Effect.scoped))
})
