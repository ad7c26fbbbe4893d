/** The time of a call whose server asks the user something, on stateful revisions. */
import { assert, it } from "@effect/vitest"
import { ClientElicitation } from "@mcpfx/client"
import { ScriptedServer } from "@mcpfx/testing"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { ask, connected, said, speaking } from "./support/asks.ts"
import { settle } from "./support/client.ts"

const form = { message: "?", requestedSchema: { type: "object", properties: {} } }
const slow = ClientElicitation.layerForm(() => Effect.delay(Effect.succeed(ClientElicitation.accept()), "3 minutes"))

const waiting = Effect.fnUntraced(function*(reply: NonNullable<ScriptedServer.Script[string]>) {
  const server = yield* ScriptedServer.make(speaking("2025-11-25", { "tools/call": reply }))
  const client = yield* connected(server, slow)
  return { server, fiber: yield* Effect.forkChild(Effect.result(client.callTool("x")), { startImmediately: true }) }
})

const pass = (minutes: number) =>
  Effect.forEach(Array.from({ length: minutes * 6 }), () => Effect.andThen(TestClock.adjust("10 seconds"), settle))

it.effect("[LIF-14] a person may take longer than a call", () =>
  Effect.gen(function*() {
    const { fiber } = yield* waiting((_, server) =>
      Effect.andThen(
        Effect.orDie(ask(server, "elicitation/create", form)),
        Effect.delay(Effect.succeed(said("ok")), "50 seconds")
      )
    )
    yield* pass(4)
    const result = yield* Fiber.join(fiber)
    assert.deepInclude(result, { _tag: "Success" })
  }))

it.effect("[LIF-14] a server that is silent after the answer has its time, and no more", () =>
  Effect.gen(function*() {
    const { fiber } = yield* waiting((_, server) =>
      Effect.as(Effect.orDie(ask(server, "elicitation/create", form)), ScriptedServer.silence)
    )
    yield* pass(3)
    yield* TestClock.adjust("59 seconds")
    assert.isUndefined(fiber.pollUnsafe())
    yield* pass(1)
    const result = yield* Fiber.join(fiber)
    assert.strictEqual(result._tag === "Failure" && result.failure.reason._tag, "TimedOut")
  }))

it.effect("[LIF-14] asking again and again wins no more time than progress does", () =>
  Effect.gen(function*() {
    const { fiber } = yield* waiting((_, server) =>
      Effect.andThen(
        Effect.forEach(
          Array.from({ length: 5 }, (_, id) => id),
          (id) => Effect.orDie(ask(server, "elicitation/create", form, id))
        ),
        Effect.succeed(said("late"))
      )
    )
    yield* pass(9)
    assert.isUndefined(fiber.pollUnsafe())
    yield* pass(2)
    const result = yield* Fiber.join(fiber)
    assert.strictEqual(result._tag === "Failure" && result.failure.reason._tag, "TimedOut")
  }))

it.effect("[LIF-14] a silent server is late after a minute", () =>
  Effect.gen(function*() {
    const { fiber } = yield* waiting(ScriptedServer.silence)
    yield* pass(1)
    const result = yield* Fiber.join(fiber)
    assert.strictEqual(result._tag === "Failure" && result.failure.reason._tag, "TimedOut")
  }))
