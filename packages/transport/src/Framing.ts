/**
 * One message per line, pure: bytes in any cut to whole lines of text (STD-01).
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { Carry } from "./internal/carry.ts"

/**
 * What a line reader is made from.
 *
 * @category models
 * @since 0.1.0
 */
export interface LineReaderOptions {
  /** The most bytes a line may have before its line feed. */
  readonly maxBytes: number
  /** A line that is not blank, without its line end. */
  readonly onLine: (line: string) => void
  /**
   * A line longer than `maxBytes`, with its full size in bytes and its start, 1 KiB at most; called once, at the end of
   * the line. Nothing else of the line is kept.
   */
  readonly onTooLong: (bytes: number, head: string) => void
  /** A line that is not UTF-8, with its size in bytes. */
  readonly onInvalid: (bytes: number) => void
}

const LF = 10
const CR = 13
const headSize = 1024

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
/** For the start of a line, which may be cut inside a character. */
const lenient = new TextDecoder("utf-8", { ignoreBOM: true })
const notUtf8 = (): "NotUtf8" => "NotUtf8"

const decode = (bytes: Uint8Array): Result.Result<string, "NotUtf8"> =>
  Result.try({ try: () => decoder.decode(bytes), catch: notUtf8 })

/**
 * An incremental splitter. What it reports depends on the bytes alone, not on how they were cut into chunks; the time it
 * takes is linear in the bytes, the memory it keeps is at most twice `maxBytes`.
 *
 * Lines end in LF or CRLF; blank lines are skipped and one byte order mark at the start is dropped. A line without its end
 * counts once the input is over.
 *
 * **Example** (Splitting chunks)
 *
 * ```ts
 * import { Framing } from "@mcpfx/transport"
 *
 * const lines: Array<string> = []
 * const reader = new Framing.LineReader({
 *   maxBytes: 1024,
 *   onLine: (line) => lines.push(line),
 *   onTooLong: () => {},
 *   onInvalid: () => {}
 * })
 * reader.push(new TextEncoder().encode("{\"a\":1}\r\n\n{\"b\""))
 * reader.push(new TextEncoder().encode(":2}"))
 * reader.end()
 * lines // => ["{\"a\":1}", "{\"b\":2}"]
 * ```
 *
 * @category framing
 * @since 0.1.0
 */
export class LineReader {
  private readonly options: LineReaderOptions
  /** The unfinished line, or, of one that is skipped, its start. */
  private readonly carry = new Carry()
  /** Size of the line being skipped because it is too long; 0 while none is. */
  private skipped = 0
  private atStart = true

  constructor(options: LineReaderOptions) {
    this.options = options
  }

  /** Reads the next chunk; reports each line it completes. The chunk is not kept. */
  push(chunk: Uint8Array): void {
    let from = 0
    if (this.carry.size > 0 || this.skipped > 0) {
      const end = chunk.indexOf(LF)
      if (end === -1) return this.keep(chunk, 0, chunk.length)
      this.keep(chunk, 0, end)
      this.finishKept()
      from = end + 1
    }
    const last = chunk[chunk.length - 1] === LF ? chunk.length - 1 : chunk.lastIndexOf(LF)
    if (last >= from) {
      this.whole(chunk, from, last)
      this.carry.unused()
      from = last + 1
    }
    if (from < chunk.length) this.keep(chunk, from, chunk.length)
  }

  /** The input is over: what is left is the last line. */
  end(): void {
    if (this.carry.size > 0 || this.skipped > 0) this.finishKept()
  }

  /** Lines that lie in one chunk are decoded together: one call instead of one a line. */
  private whole(chunk: Uint8Array, from: number, to: number): void {
    if (to - from > this.options.maxBytes) return this.oneByOne(chunk, from, to)
    // With the last line feed, where nothing comes after it: mostly the chunk as it is.
    const text = decode(from === 0 && to === chunk.length - 1 ? chunk : chunk.subarray(from, to))
    if (Result.isFailure(text)) return this.oneByOne(chunk, from, to)
    const lines = text.success
    let start = 0
    let end = lines.indexOf("\n")
    while (end !== -1) {
      this.report(lines, start, end)
      start = end + 1
      end = lines.indexOf("\n", start)
    }
    this.report(lines, start, lines.length)
  }

  private oneByOne(chunk: Uint8Array, from: number, to: number): void {
    let start = from
    while (start <= to) {
      const found = chunk.indexOf(LF, start)
      const end = found === -1 || found > to ? to : found
      const line = chunk.subarray(start, end)
      if (line.length > this.options.maxBytes) this.tooLong(line.length, lenient.decode(line.subarray(0, headSize)))
      else this.line(line)
      start = end + 1
    }
  }

  private keep(chunk: Uint8Array, from: number, to: number): void {
    const bytes = to - from
    if (this.skipped === 0) {
      const size = this.carry.size + bytes
      if (size <= this.options.maxBytes) return this.carry.append(chunk, from, to)
      this.carry.shrink(headSize)
      this.skipped = size
    } else {
      this.skipped += bytes
    }
    const room = headSize - this.carry.size
    if (room > 0) this.carry.append(chunk, from, Math.min(to, from + room))
  }

  private finishKept(): void {
    const kept = this.carry.view()
    if (this.skipped > 0) {
      this.tooLong(this.skipped, lenient.decode(kept))
      this.skipped = 0
    } else {
      this.line(kept)
    }
    this.carry.clear()
  }

  private tooLong(bytes: number, head: string): void {
    this.atStart = false
    this.options.onTooLong(bytes, head)
  }

  private line(bytes: Uint8Array): void {
    const text = decode(bytes)
    if (Result.isSuccess(text)) return this.report(text.success, 0, text.success.length)
    this.atStart = false
    this.options.onInvalid(bytes.length)
  }

  private report(text: string, from: number, to: number): void {
    let start = from
    let end = to
    if (this.atStart) {
      this.atStart = false
      if (start < end && text.charCodeAt(start) === 0xfeff) start++
    }
    if (end > start && text.charCodeAt(end - 1) === CR) end--
    if (end === start) return
    const line = start === 0 && end === text.length ? text : text.slice(start, end)
    // A message starts with a brace, so the whole line is looked at only where it starts with white space.
    if (line.charCodeAt(0) <= 32 && line.trim() === "") return
    this.options.onLine(line)
  }
}
