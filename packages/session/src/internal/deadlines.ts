/** One timer for all requests that wait: it sleeps until the earliest deadline and is gone when nothing waits. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"

/** Something that ends when its time has come. Moving `deadline` later needs no word to the timer. */
export interface Timed {
  /** In milliseconds of the monotonic clock; `Infinity` for none. */
  deadline: number
  expire(now: number): void
}

const nanosPerMilli = 1_000_000

export class Deadlines {
  private readonly context: Context.Context<never>
  private readonly clock: Clock.Clock
  /** What is timed; its owner adds and removes. */
  private readonly all: { values(): Iterable<Timed> }
  private timer: Fiber.Fiber<unknown, unknown> | undefined = undefined
  private wakesAt = Number.POSITIVE_INFINITY

  constructor(context: Context.Context<never>, all: { values(): Iterable<Timed> }) {
    this.context = context
    this.clock = Context.get(context, Clock.Clock)
    this.all = all
  }

  /** Milliseconds that never jump. */
  now(): number {
    return Number(this.clock.monotonicTimeNanosUnsafe()) / nanosPerMilli
  }

  /** Whether a timer runs. */
  get armed(): boolean {
    return this.timer !== undefined
  }

  /** Makes sure that the timer wakes at this deadline or before. */
  arm(deadline: number, now: number): void {
    if (deadline >= this.wakesAt) return
    this.disarm()
    this.wakesAt = deadline
    const millis = Math.max(Math.ceil(deadline - now), 1)
    const fiber = Effect.runForkWith(this.context)(
      Effect.andThen(Effect.sleep(Duration.millis(millis)), Effect.sync(() => this.fire()))
    )
    if (fiber.pollUnsafe() === undefined) this.timer = fiber
  }

  disarm(): void {
    const timer = this.timer
    this.timer = undefined
    this.wakesAt = Number.POSITIVE_INFINITY
    timer?.interruptUnsafe()
  }

  private fire(): void {
    this.timer = undefined
    this.wakesAt = Number.POSITIVE_INFINITY
    const now = this.now()
    for (const timed of Array.from(this.all.values())) {
      if (timed.deadline <= now) timed.expire(now)
    }
    let next = Number.POSITIVE_INFINITY
    for (const timed of this.all.values()) next = Math.min(next, timed.deadline)
    this.arm(next, now)
  }
}
