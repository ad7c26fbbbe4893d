import { assert, describe, it } from "@effect/vitest"
import * as SessionLimits from "@mcpfx/session/SessionLimits"
import * as SessionLimitsConfig from "@mcpfx/session/SessionLimitsConfig"
import { ConfigProvider, Duration, Effect, Layer } from "effect"

describe("SessionLimits", () => {
  it.effect("layers override some limits and keep the others", () =>
    Effect.gen(function*() {
      const limits = yield* SessionLimits.SessionLimits
      assert.deepStrictEqual(limits, { ...SessionLimits.defaults, sessions: 5, subscriptions: 7 })
    }).pipe(
      Effect.provide(SessionLimits.layer({ sessions: 5 })),
      Effect.provide(SessionLimits.layer({ sessions: 4, subscriptions: 7 }))
    ))

  it.effect("come from configuration too", () =>
    Effect.gen(function*() {
      const limits = yield* SessionLimits.SessionLimits
      assert.strictEqual(limits.requestsInFlight, 64)
      assert.strictEqual(Duration.toMillis(limits.idle), 60_000)
      assert.strictEqual(limits.sessions, 10_000)
    }).pipe(Effect.provide(
      SessionLimitsConfig.layer("mcp").pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({
          mcp: { requestsInFlight: "64", idle: "1 minute" }
        })))
      )
    )))
})
