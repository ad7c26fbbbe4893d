/** Cuts answers out of the bytes of a socket. Requests are not sent ahead, so nothing follows an answer. */

export interface HttpResponse {
  readonly status: number
  readonly headers: string
  /** The body as it came, chunk sizes and all. */
  readonly body: Buffer
}

const blankLine = "\r\n\r\n"
const lastChunk = Buffer.from("0\r\n\r\n")
const isChunked = (headers: string): boolean => /\r\ntransfer-encoding: *chunked/i.test(headers)

interface Head {
  readonly status: number
  readonly headers: string
  readonly bodyAt: number
  /** Where the body ends; `undefined` where only its last chunk tells. */
  readonly end: number | undefined
}

/** The head of an answer, where all of it is there. */
const headIn = (bytes: Buffer): Head | undefined => {
  const at = bytes.indexOf(blankLine)
  if (at < 0) return undefined
  const headers = bytes.toString("latin1", 0, at)
  const length = /\r\ncontent-length: *(\d+)/i.exec(headers)?.[1]
  const bodyAt = at + blankLine.length
  const end = length !== undefined ? bodyAt + Number(length) : isChunked(headers) ? undefined : bodyAt
  return { status: Number(headers.slice(9, 12)), headers, bodyAt, end }
}

/** One answer, as it comes. */
export class Reading {
  private parts: Array<Buffer> = []
  private size = 0
  private head: Head | undefined = undefined

  /** Takes bytes; gives the answer once it is whole, or, where the head is enough, once that is there. */
  take(chunk: Buffer, headOnly = false): HttpResponse | undefined {
    this.parts.push(chunk)
    this.size += chunk.length
    this.head ??= headIn(this.joined())
    const { head } = this
    if (head === undefined || !(headOnly || this.isWhole(head))) return undefined
    return { status: head.status, headers: head.headers, body: this.joined().subarray(head.bodyAt) }
  }

  /** The text that has come so far, head and all. */
  text(): string {
    return this.joined().toString("utf8")
  }

  private joined(): Buffer {
    const [first] = this.parts
    if (this.parts.length === 1 && first !== undefined) return first
    const whole = Buffer.concat(this.parts)
    this.parts = [whole]
    return whole
  }

  private isWhole({ end }: Head): boolean {
    if (end !== undefined) return this.size >= end
    const tail = this.parts.at(-1)
    return (tail !== undefined && tail.length >= lastChunk.length ? tail : this.joined())
      .subarray(-lastChunk.length)
      .equals(lastChunk)
  }
}

/** The text of a body, with the sizes of its chunks taken out. */
export const textOf = ({ body, headers }: HttpResponse): string => {
  if (!isChunked(headers)) return body.toString("utf8")
  const parts: Array<Buffer> = []
  let at = 0
  for (;;) {
    const end = body.indexOf("\r\n", at)
    const size = Number.parseInt(body.toString("latin1", at, end), 16)
    if (!(size > 0)) return Buffer.concat(parts).toString("utf8")
    parts.push(body.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
}

/** The messages in the events of a stream. */
export const eventsIn = (text: string): ReadonlyArray<unknown> =>
  text.split(/\r?\n\r?\n/).flatMap((event) => {
    // Some begin with an event that has an id and no data.
    const data = /^data: *(\S.*)$/m.exec(event)?.[1]
    return data === undefined ? [] : [JSON.parse(data)]
  })

/** The messages of an answer: one of JSON, or those of the events of a stream. */
export const messagesOf = (response: HttpResponse): ReadonlyArray<unknown> => {
  const text = textOf(response)
  if (/\r\ncontent-type: *text\/event-stream/i.test(response.headers)) return eventsIn(text)
  return text === "" ? [] : [JSON.parse(text)]
}
