/** Callers who have failed too often: they wait, and what they send meanwhile is not looked at. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import type { RateLimiter } from "effect/persistence/RateLimiter"
import { Remembered } from "./remembered.ts"

export interface AttemptsOptions {
  readonly limiter: RateLimiter
  readonly key: (request: HttpServerRequest.HttpServerRequest) => Option.Option<string>
  readonly limit: number
  readonly window: Duration.Input
}

/** Callers that are kept waiting at once; past them the first ones may try again. */
const maxWaiting = 10_000

export class FailedAttempts {
  private readonly options: AttemptsOptions
  private readonly waiting = new Remembered<number>(maxWaiting)

  constructor(options: AttemptsOptions) {
    this.options = options
  }

  /** How long the caller has still to wait, milliseconds; 0 for one that may try. */
  wait(request: HttpServerRequest.HttpServerRequest): Effect.Effect<number> {
    const key = this.options.key(request)
    return Option.isNone(key) ?
      Effect.succeed(0) :
      Effect.map(Clock.currentTimeMillis, (now) => Math.max(0, (this.waiting.get(key.value, now) ?? now) - now))
  }

  /** Counts a failure, and says how long the caller has to wait now. */
  failed(request: HttpServerRequest.HttpServerRequest): Effect.Effect<number> {
    const key = this.options.key(request)
    if (Option.isNone(key)) return Effect.succeed(0)
    const { limit, limiter, window } = this.options
    return limiter.consume({ key: `mcpfx-auth-${key.value}`, limit, window }).pipe(
      Effect.as(0),
      Effect.catch(({ reason }) =>
        reason._tag === "RateLimitExceeded"
          ? Effect.map(
            Clock.currentTimeMillis,
            (now) => this.block(key.value, Duration.toMillis(reason.retryAfter), now)
          )
          : Effect.as(Effect.logWarning("Failed attempts could not be counted"), 0)
      )
    )
  }

  private block(key: string, millis: number, now: number): number {
    this.waiting.set(key, now + millis, now + millis, now)
    return millis
  }
}
