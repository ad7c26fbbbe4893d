import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber } from "effect"
import * as Suspended from "../src/Suspended.ts"

describe("isSuspended", () => {
  it.effect("tells an interruption with the annotation from every other end", () =>
    Effect.gen(function*() {
      const exits: Array<Exit.Exit<unknown>> = []
      const watched = Effect.onExit(Effect.never, (exit) => Effect.sync(() => void exits.push(exit)))
      const suspended = yield* Effect.forkChild(watched, { startImmediately: true })
      suspended.interruptUnsafe(undefined, Suspended.annotations)
      yield* Fiber.await(suspended)
      const cancelled = yield* Effect.forkChild(watched, { startImmediately: true })
      yield* Fiber.interrupt(cancelled)
      assert.deepStrictEqual(exits.map(Suspended.isSuspended), [true, false])
      const [exit] = exits
      assert.isTrue(exit !== undefined && Exit.isFailure(exit) && Suspended.isSuspended(exit.cause))
    }))

  it("is no success, no failure, and no suspension that something broke in", () => {
    const interrupt = Cause.annotate(Cause.interrupt(), Suspended.annotations)
    assert.isTrue(Suspended.isSuspended(interrupt))
    for (
      const other of [Cause.die("x"), Cause.fail("x"), Cause.interrupt(), Cause.combine(interrupt, Cause.die("x"))]
    ) {
      assert.isFalse(Suspended.isSuspended(other))
    }
    assert.isFalse(Suspended.isSuspended(Exit.succeed(1)))
  })
})
