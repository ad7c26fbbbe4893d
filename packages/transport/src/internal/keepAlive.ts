/** One timer for all streams whose readers wait: a timer for each would cost more than the rest of an idle stream. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"

/** A stream that is not to be quiet for too long. */
export interface Quiet {
  /** Since when its reader waits, by the clock of the keep-alive; `undefined` while it does not. */
  readonly quietSince: number | undefined
  /** Makes it say something. */
  stir(): void
}

const nanosPerMilli = 1_000_000

export class KeepAlive {
  private readonly context: Context.Context<never>
  private readonly every: number
  private readonly start: number
  private readonly streams = new Set<Quiet>()
  private timer: Fiber.Fiber<unknown, unknown> | undefined = undefined
  private firing = false

  constructor(context: Context.Context<never>, every: Duration.Duration) {
    this.context = context
    this.every = Duration.toMillis(every)
    this.start = this.monotonic()
  }

  /** Whole milliseconds that never jump: small integers, which streams keep without an object for each. */
  now(): number {
    return Math.floor(this.monotonic() - this.start)
  }

  private monotonic(): number {
    return Number(Context.get(this.context, Clock.Clock).monotonicTimeNanosUnsafe()) / nanosPerMilli
  }

  /** A stream has become quiet. */
  watch(stream: Quiet): void {
    this.streams.add(stream)
    // A timer that runs is due before this stream is: the wait is the same for all.
    if (!this.firing) this.arm(this.every)
  }

  /** A stream is over. */
  forget(stream: Quiet): void {
    this.streams.delete(stream)
    if (this.streams.size === 0) this.close()
  }

  close(): void {
    const timer = this.timer
    this.timer = undefined
    timer?.interruptUnsafe()
  }

  private arm(millis: number): void {
    if (this.timer !== undefined || !Number.isFinite(millis)) return
    const fiber = Effect.runForkWith(this.context)(
      Effect.andThen(Effect.sleep(Duration.millis(Math.max(Math.ceil(millis), 1))), Effect.sync(() => this.fire()))
    )
    if (fiber.pollUnsafe() === undefined) this.timer = fiber
  }

  private fire(): void {
    this.timer = undefined
    this.firing = true
    const now = this.now()
    for (const stream of Array.from(this.streams)) {
      if (this.dueAt(stream) <= now) stream.stir()
    }
    this.firing = false
    let next = Number.POSITIVE_INFINITY
    for (const stream of this.streams) next = Math.min(next, this.dueAt(stream))
    this.arm(next - now)
  }

  private dueAt({ quietSince }: Quiet): number {
    return quietSince === undefined ? Number.POSITIVE_INFINITY : quietSince + this.every
  }
}
