/** A client over sockets that are kept: writes requests as bytes and cuts the answers out of what comes. */
import { connect, type Socket } from "node:net"

export interface HttpResponse {
  readonly status: number
  readonly headers: string
  /** The body as it came, chunk sizes and all. */
  readonly body: Buffer
}

/** Milliseconds of silence after which a server is given up. */
const patience = 20_000

const blankLine = "\r\n\r\n"
const lastChunk = Buffer.from("0\r\n\r\n")

/** The first answer in these bytes, where all of it is there. Nothing may follow it: requests are not sent ahead. */
export const readResponse = (bytes: Buffer): HttpResponse | undefined => {
  const end = bytes.indexOf(blankLine)
  if (end < 0) return undefined
  const headers = bytes.toString("latin1", 0, end)
  const body = bytes.subarray(end + blankLine.length)
  const status = Number(headers.slice(9, 12))
  const length = /\r\ncontent-length: *(\d+)/i.exec(headers)?.[1]
  if (length !== undefined) return body.length < Number(length) ? undefined : { status, headers, body }
  if (!/\r\ntransfer-encoding: *chunked/i.test(headers)) return { status, headers, body }
  return body.subarray(-lastChunk.length).equals(lastChunk) ? { status, headers, body } : undefined
}

/** The text of a body, with the sizes of its chunks taken out. */
export const textOf = ({ body, headers }: HttpResponse): string => {
  if (!/\r\ntransfer-encoding: *chunked/i.test(headers)) return body.toString("utf8")
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

/** The messages of an answer: one of JSON, or those of the events of a stream. */
export const messagesOf = (response: HttpResponse): ReadonlyArray<unknown> => {
  const text = textOf(response)
  if (!/\r\ncontent-type: *text\/event-stream/i.test(response.headers)) {
    return text === "" ? [] : [JSON.parse(text)]
  }
  return text.split(/\r?\n\r?\n/).flatMap((event) => {
    const data = /^data: ?(.+)$/m.exec(event)?.[1]
    return data === undefined ? [] : [JSON.parse(data)]
  })
}

/** Milliseconds after which a socket is not used again: servers close those that are idle, 5 seconds by default. */
const stale = 2000

interface Waiting {
  readonly resolve: (response: HttpResponse) => void
  readonly reject: (error: Error) => void
}

/** One socket at a time, one request at a time. */
export class Connection {
  private readonly port: number
  private socket: Socket
  private used = performance.now()
  private bytes: Buffer | undefined = undefined
  private waiting: Waiting | undefined = undefined
  /** Whether the head of an answer is enough: a stream has no end. */
  private headOnly = false

  constructor(port: number) {
    this.port = port
    this.socket = this.open()
  }

  request(bytes: string, options: { readonly headOnly?: boolean } = {}): Promise<HttpResponse> {
    const now = performance.now()
    if (this.socket.destroyed || now - this.used > stale) {
      this.socket.destroy()
      this.socket = this.open()
    }
    this.used = now
    this.headOnly = options.headOnly === true
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject }
      this.socket.write(bytes)
    })
  }

  private open(): Socket {
    const socket = connect({ port: this.port, host: "127.0.0.1", noDelay: true })
    const fail = (error: Error) => {
      if (socket === this.socket) this.fail(error)
    }
    socket.on("data", (chunk: Buffer) => this.read(chunk))
    socket.setTimeout(patience, () => {
      if (!this.headOnly) fail(new Error(`no answer, but ${this.bytes?.toString("latin1") ?? "nothing"}`))
    })
    socket.on("error", fail)
    socket.on("close", () => fail(new Error("the server closed the connection")))
    return socket
  }

  close(): void {
    this.socket.destroy()
  }

  private read(chunk: Buffer): void {
    this.bytes = this.bytes === undefined ? chunk : Buffer.concat([this.bytes, chunk])
    const waiting = this.waiting
    const at = this.headOnly ? this.bytes.indexOf(blankLine) : -1
    const response = at >= 0
      ? {
        status: Number(this.bytes.toString("latin1", 9, 12)),
        headers: this.bytes.toString("latin1", 0, at),
        body: this.bytes
      }
      : readResponse(this.bytes)
    if (response === undefined || waiting === undefined) return
    this.bytes = undefined
    this.waiting = undefined
    this.used = performance.now()
    waiting.resolve(response)
  }

  private fail(error: Error): void {
    this.waiting?.reject(error)
    this.waiting = undefined
  }
}

export interface HttpLoad {
  readonly connections: ReadonlyArray<Connection>
  /** The bytes of the request of this id, on that connection. */
  readonly request: (connection: number, id: number) => string
  readonly first: number
  readonly count: number
  /** Called for every answer. */
  readonly onResponse?: (response: HttpResponse, id: number) => void
}

/** Keeps every connection busy until that many requests are answered. */
export const run = async (load: HttpLoad): Promise<void> => {
  let sent = 0
  const drive = async (connection: Connection, index: number): Promise<void> => {
    while (sent < load.count) {
      const id = load.first + sent++
      const response = await connection.request(load.request(index, id))
      if (response.status !== 200) throw new Error(`status ${response.status}: ${textOf(response)}`)
      load.onResponse?.(response, id)
    }
  }
  await Promise.all(load.connections.map(drive))
}
