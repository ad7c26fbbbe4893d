/** What is read of request bodies: within bounds, and into buffers that are used again. */
import type * as Duration from "effect/Duration"

/** Why there is no body. */
export class BodyFailure {
  readonly reason: "TooLarge" | "Busy" | "Timeout" | "Broken"
  constructor(reason: BodyFailure["reason"]) {
    this.reason = reason
  }
}

/** Bytes of buffers that an endpoint keeps for the next bodies. */
const mostSpare = 4_194_304
/** Sizes from this on are rounded up to it, so that a buffer fits more bodies than the one it was made for. */
const sizeStep = 65_536

/** Bytes of request bodies that one endpoint holds. */
export class Budget {
  private readonly limit: number
  private used = 0
  private readonly spare: Array<Uint8Array> = []
  private spareBytes = 0

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

  /**
   * A buffer of that many bytes at least, with whatever is left in it. A new one is memory to be asked for, cleared and
   * collected. It has twice as many at most: what bodies hold is counted by their bytes.
   */
  lend(bytes: number): Uint8Array {
    if (bytes < sizeStep) return new Uint8Array(bytes)
    const at = this.spare.findIndex(({ length }) => length >= bytes && length <= 2 * bytes)
    const [found] = at === -1 ? [] : this.spare.splice(at, 1)
    if (found === undefined) return new Uint8Array(Math.ceil(bytes / sizeStep) * sizeStep)
    this.spareBytes -= found.length
    return found
  }

  /** Takes back a buffer that nobody looks at any more; those that came last are kept, unless they are small. */
  takeBack(buffer: Uint8Array): void {
    if (buffer.length < sizeStep || buffer.length > mostSpare) return
    this.spare.push(buffer)
    this.spareBytes += buffer.length
    while (this.spareBytes > mostSpare) this.spareBytes -= this.spare.shift()?.length ?? 0
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
  private readonly use: (bytes: Uint8Array) => A
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
    const { budget } = this.settings
    const { buffer } = this
    if (buffer !== undefined && buffer.length >= size) return buffer
    // Twice as large each time: what a body costs is linear in its bytes, however they are cut.
    const larger = budget.lend(Math.max(this.expected, size, 2 * this.length))
    larger.set(this.bytes)
    if (buffer !== undefined) budget.takeBack(buffer)
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

  /** Gives the budget and the buffer back; what has been gathered is gone. */
  release(): void {
    const { budget } = this.settings
    budget.give(this.taken)
    if (this.buffer !== undefined) budget.takeBack(this.buffer)
    this.buffer = this.only = undefined
    this.taken = this.length = 0
  }
}
