/** What is read of request bodies, within bounds. */
import type * as Duration from "effect/Duration"

/** Why there is no body. */
export class BodyFailure {
  readonly reason: "TooLarge" | "Busy" | "Timeout" | "Broken"
  constructor(reason: BodyFailure["reason"]) {
    this.reason = reason
  }
}

/** Bytes of request bodies that one endpoint holds. */
export class Budget {
  private readonly limit: number
  private used = 0

  constructor(limit: number) {
    this.limit = limit
  }

  take(bytes: number): boolean {
    if (this.used + bytes > this.limit) return false
    this.used += bytes
    return true
  }

  give(bytes: number): void {
    this.used -= bytes
  }
}

export interface BodySettings {
  /** Bytes of one body. */
  readonly maxBytes: number
  readonly budget: Budget
  /** How long a body that is not small may take. */
  readonly timeout: Duration.Input
}

/** Gathers chunks within the limit of one body and the budget of all, and makes something of them. */
export class Gather<out A> {
  private readonly settings: BodySettings
  private readonly expected: number
  /** What the bytes of a whole body are made into. */
  readonly use: (bytes: Uint8Array) => A
  /** The chunk, as long as there is one only. */
  private only: Uint8Array | undefined = undefined
  /** A copy of all chunks, where there are more. */
  private buffer: Uint8Array | undefined = undefined
  private length = 0
  private taken = 0

  constructor(settings: BodySettings, expected: number, use: (bytes: Uint8Array) => A) {
    this.settings = settings
    this.expected = expected
    this.use = use
  }

  /** Takes what is announced, before the first byte of it is here. */
  start(): BodyFailure | undefined {
    if (!this.settings.budget.take(this.expected)) return new BodyFailure("Busy")
    this.taken = this.expected
    return undefined
  }

  add(chunk: Uint8Array): BodyFailure | undefined {
    const size = this.length + chunk.length
    if (size > this.settings.maxBytes) return new BodyFailure("TooLarge")
    const more = size - this.taken
    if (more > 0) {
      if (!this.settings.budget.take(more)) return new BodyFailure("Busy")
      this.taken += more
    }
    if (this.length === 0) this.only = chunk
    else this.roomFor(size).set(chunk, this.length)
    this.length = size
    return undefined
  }

  /** The buffer, large enough, with what has been gathered. */
  private roomFor(size: number): Uint8Array {
    const { buffer } = this
    if (buffer !== undefined && buffer.length >= size) return buffer
    // Twice as large each time: what a body costs is linear in its bytes, however they are cut.
    const larger = new Uint8Array(Math.max(this.expected, size, 2 * this.length))
    larger.set(this.bytes)
    this.buffer = larger
    this.only = undefined
    return larger
  }

  private get bytes(): Uint8Array {
    return this.only ?? this.buffer?.subarray(0, this.length) ?? new Uint8Array(0)
  }

  /** What is made of the whole body. */
  get value(): A {
    return this.use(this.bytes)
  }

  /** Gives the budget back; what has been gathered is gone. */
  release(): void {
    this.settings.budget.give(this.taken)
    this.buffer = this.only = undefined
    this.taken = this.length = 0
  }
}
