/** The end of a byte stream: at most `maxBytes`, whatever goes through. */
export class Tail {
  private readonly maxBytes: number
  private chunks: Array<Uint8Array> = []
  private size = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  push(chunk: Uint8Array): void {
    // A copy: what is kept must not hold on to a larger buffer.
    const kept = chunk.slice(Math.max(0, chunk.length - this.maxBytes))
    this.chunks.push(kept)
    this.size += kept.length
    let first = this.chunks[0]
    while (first !== undefined && this.size - first.length >= this.maxBytes) {
      this.chunks.shift()
      this.size -= first.length
      first = this.chunks[0]
    }
  }

  /** The last bytes as text; a character cut at the start is shown as such. */
  text(): string {
    const bytes = new Uint8Array(this.size)
    let at = 0
    for (const chunk of this.chunks) {
      bytes.set(chunk, at)
      at += chunk.length
    }
    return new TextDecoder().decode(bytes.subarray(Math.max(0, bytes.length - this.maxBytes)))
  }
}
