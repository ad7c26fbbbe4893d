/** Failures that are remembered for a while, so that what is asked again at once is not tried again at once (field AUT-10). */
import type { AuthError } from "../AuthError.ts"
import { secondsOf } from "./later.ts"

interface Setback {
  readonly error: AuthError
  readonly length: Length
  readonly wait: number
  readonly until: number
}

export interface Options {
  /** Milliseconds after the first failure; each that follows soon doubles them. */
  readonly first: number
  readonly longest: number
}

/** How long: the shortest time, one that doubles when it happens again, or the longest at once. */
export type Length = "short" | "growing" | "long"

const capacity = 32

export class Setbacks {
  private readonly options: Options
  private readonly kept = new Map<string, Setback>()

  constructor(options: Options) {
    this.options = options
  }

  /** The failure that still stands. */
  get(key: string, now: number): AuthError | undefined {
    const setback = this.kept.get(key)
    return setback !== undefined && now < setback.until ? setback.error : undefined
  }

  /** Remembers a failure, and tells until when. */
  add(key: string, error: AuthError, now: number, length: Length): number {
    const { first, longest } = this.options
    const before = this.kept.get(key)
    const grown = before !== undefined && now < before.until + longest ? before.wait * 2 : first
    const least = length === "short" ? first : length === "long" ? longest : grown
    const wait = Math.min(Math.max(least, askedFor(error)), Math.max(longest, first))
    this.kept.delete(key)
    this.kept.set(key, { error, length, wait, until: now + wait })
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= capacity) break
      this.kept.delete(oldest)
    }
    return now + wait
  }

  /** Those that stood only for want of a login are over with it. */
  relent(): void {
    for (const [key, { length }] of this.kept) if (length === "short") this.kept.delete(key)
  }

  clear(): void {
    this.kept.clear()
  }
}

/** How long the server wants to be left alone, in milliseconds. */
const askedFor = ({ reason }: AuthError): number =>
  reason._tag === "Unavailable" ? secondsOf(reason.retryAfter) * 1000 : 0
