/**
 * Credentials in Redis: for clients that run in many processes or on many machines and log in once.
 *
 * `exclusive` holds across all of them. A lock belongs to its holder for as long as what it runs takes; one that crashes
 * loses it after `lease`. A holder that cannot tell Redis for two thirds of that time that it is there is interrupted, before
 * anybody else may begin. Credentials are kept as plain text: whoever reads that Redis has them.
 *
 * Apart from `TokenStore`, so that only those who use Redis load what it takes.
 *
 * **Example** (With Node)
 *
 * ```ts
 * import { NodeRedis } from "@effect/platform-node"
 * import { TokenStoreRedis } from "@mcpfx/auth"
 * import { Layer } from "effect"
 *
 * export const Store = TokenStoreRedis.layer().pipe(Layer.provide(NodeRedis.layer({ url: "redis://127.0.0.1:6379" })))
 * ```
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import { uuidV4Unsafe } from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redis from "effect/persistence/Redis"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as lock from "./internal/redisLock.ts"
import { type Exclusive, makeExclusive, TokenStore, TokenStoreError, type WaitOptions } from "./TokenStore.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options extends WaitOptions {
  /** What the names of all keys begin with. Default `mcp-credentials/`. */
  readonly prefix?: string | undefined
  /** After this long a lock whose holder is gone is free. Default 15 seconds. */
  readonly lease?: Duration.Input | undefined
}

/** Waits for a lock, in milliseconds: short at first, as most are held for a moment. */
const firstWait = 10
const longestWait = 250

// The cause is left out: it may say what was to be kept.
const failure = (operation: TokenStoreError["operation"]) => () =>
  new TokenStoreError({ operation, detail: "Redis failed" })

const lost = (detail: string) => Effect.fail(new TokenStoreError({ operation: "lock", detail }))

class RedisLock {
  private readonly redis: Redis.Redis["Service"]
  private readonly lease: number
  private readonly wait: Duration.Duration

  constructor(redis: Redis.Redis["Service"], lease: number, wait: Duration.Duration) {
    this.redis = redis
    this.lease = lease
    this.wait = wait
  }

  private acquire(key: string, token: string): Effect.Effect<void, TokenStoreError> {
    const take = this.redis.eval(lock.take)
    return Effect.gen({ self: this }, function*() {
      for (let next = firstWait;; next = Math.min(longestWait, next * 1.5)) {
        if (Number(yield* Effect.mapError(take(key, token, this.lease), failure("lock"))) === 1) return
        yield* Effect.sleep(yield* Random.nextBetween(next / 2, next))
      }
    }).pipe(
      Effect.timeoutOrElse({
        duration: this.wait,
        orElse: () => lost("another use of the same credentials did not end in time")
      })
    )
  }

  /** Keeps the lock, until it cannot be known any more that it is kept. */
  private keep(key: string, token: string): Effect.Effect<never, TokenStoreError> {
    const keep = this.redis.eval(lock.keep)
    const rhythm = this.lease / 6
    return Effect.gen({ self: this }, function*() {
      let known = yield* Clock.currentTimeMillis
      while (true) {
        yield* Effect.sleep(rhythm)
        const asked = yield* Clock.currentTimeMillis
        const kept = yield* Effect.option(Effect.timeout(keep(key, token, this.lease), rhythm))
        if (Option.isSome(kept) && Number(kept.value) !== 1) return yield* lost("the lock was lost")
        if (Option.isSome(kept)) known = asked
        const now = yield* Clock.currentTimeMillis
        if (now - known >= this.lease * (2 / 3)) return yield* lost("Redis could not be told that the lock is held")
      }
    })
  }

  /** Without an answer it ends with the lease. */
  private release(key: string, token: string): Effect.Effect<void> {
    return Effect.ignore(Effect.timeout(this.redis.eval(lock.give)(key, token), this.lease / 6))
  }

  run<A, E, R>(key: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | TokenStoreError, R> {
    return Effect.suspend(() => {
      const token = uuidV4Unsafe()
      return this.acquire(key, token).pipe(
        Effect.andThen(Effect.raceFirst(effect, this.keep(key, token))),
        // One that was interrupted may have it without knowing.
        Effect.ensuring(this.release(key, token))
      )
    })
  }
}

/**
 * Keeps credentials in Redis, and locks them there.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<TokenStore, never, Redis.Redis> =>
  Layer.effect(
    TokenStore,
    Effect.map(Redis.Redis, (redis): TokenStore["Service"] => {
      const nameOf = (key: string) => `${options?.prefix ?? "mcp-credentials/"}${key}`
      const wait = Duration.fromInputUnsafe(options?.wait ?? "1 minute")
      const lease = Duration.toMillis(Duration.fromInputUnsafe(options?.lease ?? "15 seconds"))
      const locks = new RedisLock(redis, lease, wait)
      const here = makeExclusive({ wait })
      const exclusive: Exclusive = (key, effect) => here(key, locks.run(`${nameOf(key)}:lock`, effect))
      return {
        get: (key) =>
          redis.send<string | null>("GET", nameOf(key)).pipe(
            Effect.mapError(failure("read")),
            Effect.map((text) => Option.map(Option.fromNullishOr(text), (value) => Redacted.make(value)))
          ),
        set: (key, value) =>
          Effect.asVoid(Effect.mapError(redis.send("SET", nameOf(key), Redacted.value(value)), failure("write"))),
        remove: (key) => Effect.asVoid(Effect.mapError(redis.send("DEL", nameOf(key)), failure("remove"))),
        exclusive
      }
    })
  )
