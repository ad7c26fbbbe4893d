/**
 * Deadlines that wait for people: while somebody is asked on a client's behalf, as to log in, no deadline of the client ends
 * what waits for it, and afterwards each has its full time again.
 *
 * What asks people holds; what has deadlines looks. A client built with no patience in its context has plain deadlines.
 *
 * **Example** (A login that takes longer than the request may)
 *
 * ```ts
 * import { Patience } from "@mcpfx/transport"
 * import { Effect, Fiber } from "effect"
 * import { TestClock } from "effect/testing"
 *
 * const program = Effect.gen(function*() {
 *   const patience = Patience.make()
 *   const login = patience.hold(Effect.as(Effect.sleep("5 minutes"), "welcome"))
 *   const fiber = yield* Effect.forkChild(
 *     Patience.timeoutOrElse(login, { patience, duration: "30 seconds", orElse: () => Effect.succeed("too late") })
 *   )
 *   yield* TestClock.adjust("5 minutes")
 *   return yield* Fiber.join(fiber)
 * })
 * await Effect.runPromise(Effect.provide(program, TestClock.layer())) // => "welcome"
 * ```
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/**
 * @category models
 * @since 0.1.0
 */
export interface Patience {
  /** Runs an effect that waits for somebody. */
  readonly hold: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /**
   * Up to when somebody was waited for, in milliseconds of the monotonic clock: `now` itself while it goes on,
   * `-Infinity` where nobody ever was.
   */
  readonly heldUntil: (now: number) => number
}

/**
 * Nobody waits yet.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (): Patience => {
  let holding = 0
  let ended = Number.NEGATIVE_INFINITY
  return {
    hold: (effect) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          holding++
        }),
        () => effect,
        () =>
          Effect.map(now, (time) => {
            holding--
            ended = time
          })
      ),
    heldUntil: (time) => holding > 0 ? time : ended
  }
}

/**
 * The patience of the clients that are built in this context; none by default.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentPatience: Context.Reference<Patience | undefined> = Context.Reference<Patience | undefined>(
  "@mcpfx/transport/CurrentPatience",
  { defaultValue: () => undefined }
)

const nanosPerMilli = 1_000_000

/** Milliseconds that never jump. */
const now: Effect.Effect<number> = Clock.clockWith((clock) =>
  Effect.sync(() => Number(clock.monotonicTimeNanosUnsafe()) / nanosPerMilli)
)

/**
 * Gives up on an effect after a time in which nobody was waited for.
 *
 * @category combinators
 * @since 0.1.0
 */
export const timeoutOrElse = <A, E, R, A2, E2, R2>(
  effect: Effect.Effect<A, E, R>,
  options: {
    readonly patience: Patience | undefined
    readonly duration: Duration.Input
    readonly orElse: () => Effect.Effect<A2, E2, R2>
  }
): Effect.Effect<A | A2, E | E2, R | R2> => {
  const { orElse, patience } = options
  const duration = Duration.fromInputUnsafe(options.duration)
  if (patience === undefined) return Effect.timeoutOrElse(effect, { duration, orElse })
  const millis = Duration.toMillis(duration)
  const wait = (since: number): Effect.Effect<A2, E2, R2> =>
    Effect.flatMap(now, (time) => {
      const left = Math.max(since, patience.heldUntil(time)) + millis - time
      // A timer may fire a fraction early.
      return left < 1 ? orElse() : Effect.andThen(Effect.sleep(Duration.millis(Math.ceil(left))), wait(since))
    })
  return Effect.raceFirst(effect, Effect.flatMap(now, wait))
}
