/**
 * Server-sent events, pure: events to text, and bytes to events by the rules of the WHATWG event stream.
 *
 * @since 0.1.0
 */
import { Carry } from "./internal/carry.ts"

/**
 * One event as it came in.
 *
 * @category models
 * @since 0.1.0
 */
export interface Event {
  /** The `event` field; `undefined` stands for the default, `message`. */
  readonly event: string | undefined
  /**
   * The `data` lines, joined by a line feed. Empty for events that carry only an id or a retry time: those are no
   * messages, but their id counts (HTTP-28).
   */
  readonly data: string
  /** The `id` field of this very event; `undefined` leaves the last id as it was, `""` resets it. */
  readonly id: string | undefined
  /** The `retry` field, milliseconds. */
  readonly retry: number | undefined
}

/**
 * An event to write. A message has `data` alone; a priming event has an `id` and `data: ""`.
 *
 * @category models
 * @since 0.1.0
 */
export interface EventInput {
  readonly event?: string | undefined
  readonly data?: string | undefined
  readonly id?: string | undefined
  /** Milliseconds to wait before a new connection. */
  readonly retry?: number | undefined
}

const lineBreak = /\r\n|\r|\n/
const unsafe = /[\r\n\0]/g

/** A field whose value is one line: nothing in it can start a field of its own. */
const field = (name: string, value: string): string => `${name}: ${value.replace(unsafe, "")}\n`

/**
 * The text of one event, its closing blank line included. Data with line breaks becomes several `data` lines; line breaks
 * and NULs in `id` and `event` are left out.
 *
 * **Example** (Writing an event)
 *
 * ```ts
 * import { Sse } from "@mcpfx/transport"
 *
 * Sse.encode({ id: "7", data: "{}" }) // => "id: 7\ndata: {}\n\n"
 * Sse.encode({ data: "a\nb" }) // => "data: a\ndata: b\n\n"
 * ```
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = (event: EventInput): string => {
  let text = ""
  if (event.event !== undefined) text += field("event", event.event)
  if (event.id !== undefined) text += field("id", event.id)
  if (event.retry !== undefined) text += `retry: ${Math.max(0, Math.trunc(event.retry))}\n`
  if (event.data !== undefined) {
    if (event.data.includes("\n") || event.data.includes("\r")) {
      for (const line of event.data.split(lineBreak)) text += `data: ${line}\n`
    } else {
      text += `data: ${event.data}\n`
    }
  }
  return text + "\n"
}

/**
 * A comment, which readers ignore: the keep-alive of a stream (HTTP-64).
 *
 * @category encoding
 * @since 0.1.0
 */
export const comment = (text = ""): string => {
  let out = ""
  for (const line of text.split(lineBreak)) out += line === "" ? ":\n" : `: ${line}\n`
  return out + "\n"
}

/**
 * What a parser is made from.
 *
 * @category models
 * @since 0.1.0
 */
export interface ParserOptions {
  /** The most bytes one event may have, its field names included, its comments and line ends not. */
  readonly maxBytes: number
  readonly onEvent: (event: Event) => void
  /**
   * Called once for an event that went past `maxBytes`, with the bytes read until then and the start of its data, as far as
   * it is known; the rest of the event is skipped without being kept, and the next one is read as usual.
   */
  readonly onTooLarge: (bytes: number, head: string) => void
  /** The last event id known before this stream; none by default. */
  readonly lastEventId?: string | undefined
}

const LF = 10
const CR = 13
const COLON = 58
const SPACE = 32

/** By the event stream rules text that is not UTF-8 is replaced, not refused. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
const allDigits = /^[0-9]+$/

/** What is told of an event that is too large. */
const headSize = 4096
const dataField = /^data: ?/

const isBom = (line: Uint8Array): boolean => line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf

/**
 * An incremental reader of an event stream. The result depends on the bytes alone, not on how they were cut into chunks.
 *
 * Lines may end in CR, LF or CRLF; one byte order mark at the start is dropped; ids with a NUL and retry times that are no
 * number are ignored; an event without its blank line at the end of the stream is dropped.
 *
 * **Example** (Reading a stream)
 *
 * ```ts
 * import { Sse } from "@mcpfx/transport"
 *
 * const seen: Array<string> = []
 * const parser = new Sse.Parser({ maxBytes: 1024, onEvent: (event) => seen.push(event.data), onTooLarge: () => {} })
 * parser.push(new TextEncoder().encode("id: 1\ndata: a\nda"))
 * parser.push(new TextEncoder().encode("ta: b\n\n"))
 * seen // => ["a\nb"]
 * parser.lastEventId // => "1"
 * ```
 *
 * @category parsing
 * @since 0.1.0
 */
export class Parser {
  /** The id to resume from: that of the last complete event that had one. */
  lastEventId: string | undefined
  /** The last retry time the server asked for, milliseconds; also one whose event was never completed. */
  retry: number | undefined = undefined

  private readonly options: ParserOptions
  private readonly carry = new Carry()
  /** Bytes of the current event that were read, kept or not. */
  private eventBytes = 0
  private tooLarge = false
  /** Whether the current line has any byte; needed while bytes are skipped. */
  private lineEmpty = true
  private afterCr = false
  private atStart = true

  private any = false
  private data: string | undefined = undefined
  private event: string | undefined = undefined
  private id: string | undefined = undefined
  private eventRetry: number | undefined = undefined

  constructor(options: ParserOptions) {
    this.options = options
    this.lastEventId = options.lastEventId
  }

  /** Reads the next chunk; calls `onEvent` for each event it completes. */
  push(chunk: Uint8Array): void {
    let position = 0
    if (this.afterCr && chunk.length > 0) {
      this.afterCr = false
      if (chunk[0] === LF) position = 1
    }
    let lf = chunk.indexOf(LF, position)
    let cr = chunk.indexOf(CR, position)
    while (lf !== -1 || cr !== -1) {
      const end = lf === -1 || (cr !== -1 && cr < lf) ? cr : lf
      this.endLine(chunk, position, end)
      position = end + 1
      if (end === cr) {
        if (position === chunk.length) this.afterCr = true
        else if (chunk[position] === LF) position++
        cr = chunk.indexOf(CR, position)
      }
      if (lf !== -1 && lf < position) lf = chunk.indexOf(LF, position)
    }
    if (position < chunk.length && this.fits(chunk, position, chunk.length)) {
      this.carry.append(chunk, position, chunk.length)
    }
  }

  /** Counts bytes of the current line; false once its event is past the limit. */
  private fits(chunk: Uint8Array, from: number, to: number): boolean {
    const bytes = to - from
    if (bytes > 0) this.lineEmpty = false
    if (this.tooLarge) return false
    this.eventBytes += bytes
    if (this.eventBytes <= this.options.maxBytes) return true
    const head = this.head(chunk, from, to)
    this.tooLarge = true
    this.reset()
    this.carry.clear()
    this.options.onTooLarge(this.eventBytes, head)
    return false
  }

  /** The start of the data of an event that breaks off in this line. */
  private head(chunk: Uint8Array, from: number, to: number): string {
    const before = this.data === undefined ? "" : `${this.data.slice(0, headSize)}\n`
    const carried = decoder.decode(this.carry.view().subarray(0, headSize))
    const line = carried + decoder.decode(chunk.subarray(from, Math.min(to, from + headSize)))
    return (dataField.test(line) ? before + line.replace(dataField, "") : before).slice(0, headSize)
  }

  private endLine(chunk: Uint8Array, from: number, to: number): void {
    if (this.fits(chunk, from, to)) {
      if (this.carry.size === 0) {
        this.readLine(chunk.subarray(from, to))
        this.carry.unused()
      } else {
        this.carry.append(chunk, from, to)
        this.readLine(this.carry.view())
        this.carry.clear()
      }
    } else if (this.lineEmpty) {
      this.tooLarge = false
      this.eventBytes = 0
    }
    this.atStart = false
    this.lineEmpty = true
  }

  private readLine(line: Uint8Array): void {
    const start = this.atStart && isBom(line) ? 3 : 0
    if (line.length === start) this.dispatch()
    // Comments are not kept, so they do not count.
    else if (line[start] === COLON) this.eventBytes -= line.length
    else this.readField(line, start)
  }

  private readField(line: Uint8Array, start: number): void {
    const colon = line.indexOf(COLON, start)
    const name = decoder.decode(line.subarray(start, colon === -1 ? line.length : colon))
    let from = colon === -1 ? line.length : colon + 1
    if (line[from] === SPACE) from++
    switch (name) {
      case "data": {
        const value = decoder.decode(line.subarray(from))
        this.data = this.data === undefined ? value : `${this.data}\n${value}`
        this.any = true
        return
      }
      case "event":
        this.event = decoder.decode(line.subarray(from))
        this.any = true
        return
      case "id": {
        const value = decoder.decode(line.subarray(from))
        if (value.includes("\0")) return
        this.id = value
        this.any = true
        return
      }
      case "retry": {
        const value = decoder.decode(line.subarray(from))
        if (!allDigits.test(value)) return
        this.retry = this.eventRetry = Number(value)
        this.any = true
      }
    }
  }

  private dispatch(): void {
    this.eventBytes = 0
    if (!this.any) return
    const event: Event = {
      // The rules of the event stream: an empty type is the default one.
      event: this.event === "" ? undefined : this.event,
      data: this.data ?? "",
      id: this.id,
      retry: this.eventRetry
    }
    this.reset()
    if (event.id !== undefined) this.lastEventId = event.id === "" ? undefined : event.id
    this.options.onEvent(event)
  }

  private reset(): void {
    this.any = false
    this.data =
      this.event =
      this.id =
      this.eventRetry =
        undefined
  }
}
