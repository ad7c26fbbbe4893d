/** The smallest buffer worth having. */
const initialSize = 1024
/** What is kept in any case. */
const smallSize = 65_536
/** The largest buffer that is kept for the next lines: a new one is memory to be asked for, cleared and given back. */
const mostKept = 4_194_304
/** After so many lines that did without, a buffer that is not small is given back. */
const linesWithout = 16

/**
 * Bytes that wait for the rest of their line.
 *
 * The buffer doubles as it grows, so a line of n bytes costs O(n) however it was cut, and it holds copies, so a chunk is
 * never kept alive (nor seen to change) by the few bytes of it that are still needed.
 */
export class Carry {
  size = 0
  private bytes = new Uint8Array(0)
  /** Lines in a row for which a small buffer would have done. */
  private without = 0

  append(chunk: Uint8Array, from: number, to: number): void {
    const size = this.size + (to - from)
    if (size > this.bytes.length) {
      const grown = new Uint8Array(Math.max(size, this.bytes.length * 2, initialSize))
      grown.set(this.bytes.subarray(0, this.size))
      this.bytes = grown
    }
    this.bytes.set(from === 0 && to === chunk.length ? chunk : chunk.subarray(from, to), this.size)
    this.size = size
  }

  /** What has been gathered; valid until the next call of any method. */
  view(): Uint8Array {
    return this.bytes.subarray(0, this.size)
  }

  /** Keeps the first bytes only, and no room for more. */
  shrink(size: number): void {
    this.bytes = this.bytes.slice(0, Math.min(size, this.size))
    this.size = this.bytes.length
  }

  /** Empties it; the buffer is used again while there are lines that need it. */
  clear(): void {
    const { size } = this
    this.size = 0
    if (this.bytes.length > mostKept) this.bytes = new Uint8Array(0)
    else if (size > smallSize) this.without = 0
    else this.unused()
  }

  /** Hears, while it is empty, of what came without having to be kept. */
  unused(): void {
    if (this.bytes.length > smallSize && ++this.without >= linesWithout) this.bytes = new Uint8Array(0)
  }
}
