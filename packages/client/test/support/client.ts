/** A client of a scripted server. */
import { McpClient, Negotiation } from "@mcpfx/client"
import type { ClientOptions } from "@mcpfx/client"
import { ScriptedServer } from "@mcpfx/testing"
import { ClientTransport } from "@mcpfx/transport"
import { Effect, type Fiber } from "effect"
import { TestClock } from "effect/testing"

/** Each with verdicts of its own, unless the test shares them. */
export const clientOf = (
  server: ScriptedServer.ScriptedServer,
  options: ClientOptions.ClientOptions = {},
  eras: Negotiation.EraCache = Negotiation.makeEraCache()
) =>
  McpClient.make(options).pipe(
    Effect.provideService(ClientTransport.ClientTransport, server.transport),
    Effect.provideService(Negotiation.CurrentEraCache, eras)
  )

export const legacy = (script: ScriptedServer.Script = {}, capabilities = {}): ScriptedServer.Script => ({
  initialize: ScriptedServer.initialized("2025-11-25", capabilities),
  ping: ScriptedServer.result({}),
  ...script
})

export const modern = (script: ScriptedServer.Script = {}, capabilities = {}): ScriptedServer.Script => ({
  "server/discover": ScriptedServer.discovered(capabilities),
  ...script
})

/** Lets everything that can go on without the clock do so. */
export const settle = Effect.repeat(Effect.yieldNow, { times: 50 })

/** Moves the clock, half a second at a time, until a fiber has ended; for a minute at most. */
export const joined = <A, E>(fiber: Fiber.Fiber<A, E>): Effect.Effect<A, E> =>
  Effect.gen(function*() {
    for (let steps = 0; steps < 120 && fiber.pollUnsafe() === undefined; steps++) {
      yield* settle
      yield* TestClock.adjust("500 millis")
    }
    return yield* fiber.pollUnsafe() ?? Effect.die(new Error("the fiber does not end"))
  })
