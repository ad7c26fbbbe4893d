import { assert, describe, it } from "@effect/vitest"
import { Patience } from "@mcpfx/transport"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"

const deadline = (patience: Patience.Patience | undefined, effect: Effect.Effect<string> = Effect.never) =>
  Effect.forkChild(
    Patience.timeoutOrElse(effect, { patience, duration: "30 seconds", orElse: () => Effect.succeed("too late") }),
    { startImmediately: true }
  )

/** What a fiber has come to, if it has. */
const outcome = <A>(fiber: Fiber.Fiber<A>): A | undefined => {
  const exit = fiber.pollUnsafe()
  return exit !== undefined && Exit.isSuccess(exit) ? exit.value : undefined
}

describe("Patience", () => {
  it.effect("without patience, and where nobody is waited for, a deadline is plain", () =>
    Effect.gen(function*() {
      for (const patience of [undefined, Patience.make()]) {
        const fiber = yield* deadline(patience)
        yield* TestClock.adjust("29999 millis")
        assert.isUndefined(outcome(fiber))
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* Fiber.join(fiber), "too late")
      }
    }))

  it.effect("a deadline stands still while somebody is waited for, and has its full time afterwards", () =>
    Effect.gen(function*() {
      const patience = Patience.make()
      const fiber = yield* deadline(patience)
      yield* TestClock.adjust("20 seconds")
      const login = yield* Effect.forkChild(patience.hold(Effect.sleep("10 minutes")), { startImmediately: true })
      yield* TestClock.adjust("10 minutes")
      yield* Fiber.join(login)
      yield* TestClock.adjust("29999 millis")
      assert.isUndefined(outcome(fiber))
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(outcome(fiber), "too late")
    }))

  it.effect("several may be waited for at once: the last one counts, and one that is interrupted too", () =>
    Effect.gen(function*() {
      const patience = Patience.make()
      const fiber = yield* deadline(patience)
      const first = yield* Effect.forkChild(patience.hold(Effect.never), { startImmediately: true })
      yield* Effect.forkChild(patience.hold(Effect.sleep("1 minute")), { startImmediately: true })
      yield* TestClock.adjust("2 minutes")
      assert.isUndefined(outcome(fiber))
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(outcome(fiber), "too late")
    }))

  it.effect("what is done in time ends the wait", () =>
    Effect.gen(function*() {
      const fiber = yield* deadline(Patience.make(), Effect.delay(Effect.succeed("done"), "10 seconds"))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(outcome(fiber), "done")
    }))

  it.effect("what began after somebody was waited for has no more than its time", () =>
    Effect.gen(function*() {
      const patience = Patience.make()
      assert.strictEqual(patience.heldUntil(5), Number.NEGATIVE_INFINITY)
      const login = yield* Effect.forkChild(patience.hold(Effect.sleep("1 minute")), { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(login)
      yield* TestClock.adjust("1 hour")
      const fiber = yield* deadline(patience)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(outcome(fiber), "too late")
    }))
})
