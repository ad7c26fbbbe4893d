import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as Random from "effect/Random"
import { FileLockError } from "../FileLockError.ts"
import * as lockFile from "./lockFile.ts"
import * as Owner from "./lockOwner.ts"

type Files = FileSystem.FileSystem

/** Waits are short at first: most locks are held for a moment. In milliseconds. */
const firstWait = 5
const longestWait = 100

export interface Settings {
  /** Milliseconds. */
  readonly wait: number
  readonly stale: number
}

/** One who wants a lock. */
export class Contender {
  private readonly files: Files
  private readonly path: string
  private readonly self: Omit<Owner.Owner, "token">
  private readonly wait: number
  private readonly stale: number
  /** Milliseconds of waiting; a machine that sleeps adds nothing. */
  private waited = 0
  /** What signs of life were seen of those of whom nothing else is known, and when. */
  private readonly signs = new Map<string, { readonly sign: string; readonly since: number }>()
  private holder: number | undefined

  constructor(files: Files, path: string, self: Omit<Owner.Owner, "token">, settings: Settings) {
    this.files = files
    this.path = path
    this.self = self
    this.wait = settings.wait
    this.stale = settings.stale
  }

  private readonly isStale = (path: string, seen: lockFile.Seen): Effect.Effect<boolean> =>
    Effect.gen({ self: this }, function*() {
      const state = seen.owner === undefined
        ? "unknown"
        : yield* Owner.liveness(this.files, seen.owner, this.self.place)
      if (state !== "unknown") return state === "dead"
      const known = this.signs.get(path)
      if (known?.sign === seen.sign) return this.waited - known.since >= this.stale
      this.signs.set(path, { sign: seen.sign, since: this.waited })
      return false
    })

  private remove(token: string): Effect.Effect<void, PlatformError> {
    return lockFile.removeIf(this.files, this.path, token, this.self, this.isStale)
  }

  /** Whether the lock could be had now. */
  private attempt(owner: Owner.Owner): Effect.Effect<boolean, PlatformError> {
    return Effect.gen({ self: this }, function*() {
      const seen = yield* lockFile.read(this.files, this.path)
      this.holder = seen?.owner?.pid
      if (seen !== undefined) {
        if (!(yield* this.isStale(this.path, seen))) return false
        yield* this.remove(seen.token)
      }
      return yield* lockFile.create(this.files, this.path, owner)
    })
  }

  private error(reason: FileLockError["reason"], detail: string): FileLockError {
    const { holder: pid, path } = this
    return pid === undefined
      ? new FileLockError({ path, reason, detail })
      : new FileLockError({ path, reason, pid, detail: `${detail}, process ${pid}` })
  }

  private readonly failed = (cause: PlatformError): FileLockError =>
    new FileLockError({ path: this.path, reason: "failed", detail: cause.message, cause })

  /** Each attempt is done whole; between them it can be interrupted. */
  acquire(pause: (effect: Effect.Effect<void>) => Effect.Effect<void>): Effect.Effect<Owner.Owner, FileLockError> {
    return Effect.gen({ self: this }, function*() {
      const owner = Owner.claim(this.self)
      for (let next = firstWait;; next = Math.min(longestWait, next * 1.5)) {
        if (yield* Effect.mapError(this.attempt(owner), this.failed)) return owner
        if (this.waited >= this.wait) return yield* Effect.fail(this.error("late", "held by another"))
        // Those who wait do not all come at the same time.
        const millis = Math.min(yield* Random.nextBetween(next / 2, next), this.wait - this.waited)
        yield* pause(Effect.sleep(millis))
        this.waited += millis
      }
    })
  }

  release(owner: Owner.Owner): Effect.Effect<void> {
    return this.remove(owner.token).pipe(
      Effect.catch((error) => Effect.logWarning("A lock could not be removed", error.message))
    )
  }

  /** Signs of life, until the lock is another's. */
  beat(owner: Owner.Owner): Effect.Effect<never, FileLockError> {
    const once = Effect.gen({ self: this }, function*() {
      yield* Effect.sleep(this.stale / 3)
      const seen = yield* lockFile.read(this.files, this.path)
      this.holder = seen?.owner?.pid
      if (seen?.token !== owner.token) return yield* Effect.fail(this.error("lost", "taken over by another"))
      const now = (yield* Clock.currentTimeMillis) / 1000
      yield* this.files.utimes(this.path, now, now)
    })
    // What cannot be looked at now may be at the next beat.
    return Effect.forever(Effect.catchTag(once, "PlatformError", () => Effect.void))
  }
}

/** Runs an effect while it alone holds the lock. */
export const hold = <A, E, R>(
  files: Files,
  path: string,
  settings: Settings,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | FileLockError, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const contender = new Contender(files, path, yield* Owner.self(files), settings)
      const owner = yield* contender.acquire(restore)
      return yield* restore(Effect.raceFirst(effect, contender.beat(owner))).pipe(
        Effect.ensuring(contender.release(owner))
      )
    })
  )
