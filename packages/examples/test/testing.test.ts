/** How to test a server: registrations on mocked services, in memory, in virtual time. */
import { assert, layer } from "@effect/vitest"
import { McpClient } from "@mcpfx/client"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { TestServer } from "@mcpfx/testing"
import { Context, Effect, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"

/** What the tool needs; the real one would call a weather station. */
class Station extends Context.Service<Station, {
  readonly temperature: (city: string) => Effect.Effect<number>
  readonly recalibrate: Effect.Effect<void>
}>()("app/Station") {}

const Temperature = Tool.make("temperature", {
  input: { city: Schema.String },
  output: { celsius: Schema.Finite }
})

const TemperatureLive = McpServer.tool(Temperature, ({ city }) =>
  Effect.gen(function*() {
    const station = yield* Station
    return { celsius: yield* station.temperature(city) }
  }))

// Only what the test uses is mocked: calling `recalibrate` would be a defect.
const StationMock = Layer.mock(Station)({
  temperature: (city) => city === "Oslo" ? Effect.succeed(-3) : Effect.never
})

layer(TestServer.layer(TemperatureLive).pipe(Layer.provide(StationMock)))("temperature", (it) => {
  it.effect("tells the temperature of a city", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      assert.deepStrictEqual(yield* client.call(Temperature, { city: "Oslo" }), { celsius: -3 })
    }))

  it.effect("gives up on a station that never answers", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const call = yield* Effect.forkChild(Effect.flip(client.call(Temperature, { city: "Atlantis" })))
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual((yield* Fiber.join(call)).reason._tag, "TimedOut")
    }))
})
