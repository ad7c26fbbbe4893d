/** A client over sockets that are kept: writes requests as bytes and cuts the answers out of what comes. */
import { connect, type Socket } from "node:net"
import { type HttpResponse, Reading, textOf } from "./response.ts"

/** Milliseconds of silence after which a server is given up. */
const patience = 20_000

/** Milliseconds after which a socket is not used again: servers close those that are idle, 5 seconds by default. */
const stale = 2000

export interface RequestOptions {
  /** Whether the head of an answer is enough: a stream has no end. */
  readonly headOnly?: boolean
  /** Called with all that has come, while an answer is not whole. */
  readonly onPart?: (text: string) => void
}

interface Waiting {
  readonly resolve: (response: HttpResponse) => void
  readonly reject: (error: Error) => void
  readonly options: RequestOptions
}

/** One socket at a time, one request at a time. */
export class Connection {
  private readonly port: number
  private socket: Socket
  private used = performance.now()
  private reading = new Reading()
  private waiting: Waiting | undefined = undefined
  /** Hears what comes after the head of a stream. */
  private follower: ((chunk: Buffer) => void) | undefined = undefined

  constructor(port: number) {
    this.port = port
    this.socket = this.open()
  }

  request(bytes: string, options: RequestOptions = {}): Promise<HttpResponse> {
    const now = performance.now()
    if (this.socket.destroyed || now - this.used > stale) {
      this.socket.destroy()
      this.socket = this.open()
    }
    this.used = now
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject, options }
      this.socket.write(bytes)
    })
  }

  /** Opens a stream: resolves with its head, and gives everything after it to `hear`. */
  async follow(bytes: string, hear: (chunk: Buffer) => void): Promise<HttpResponse> {
    const response = await this.request(bytes, { headOnly: true })
    this.socket.setTimeout(0)
    this.follower = hear
    if (response.body.length > 0) hear(response.body)
    return response
  }

  close(): void {
    this.socket.destroy()
  }

  private open(): Socket {
    const socket = connect({ port: this.port, host: "127.0.0.1", noDelay: true })
    const fail = (error: Error) => {
      if (socket === this.socket) this.fail(error)
    }
    socket.on("data", (chunk: Buffer) => this.read(chunk))
    socket.setTimeout(patience, () => fail(new Error(`no answer, but ${this.reading.text().slice(0, 600)}`)))
    socket.on("error", fail)
    socket.on("close", () => fail(new Error("the server closed the connection")))
    return socket
  }

  private read(chunk: Buffer): void {
    if (this.follower !== undefined) return this.follower(chunk)
    const { waiting } = this
    const response = this.reading.take(chunk, waiting?.options.headOnly)
    if (waiting === undefined) return
    if (response === undefined) return waiting.options.onPart?.(this.reading.text())
    this.reading = new Reading()
    this.waiting = undefined
    this.used = performance.now()
    waiting.resolve(response)
  }

  private fail(error: Error): void {
    this.waiting?.reject(error)
    this.waiting = undefined
  }
}

/** Has all of them ask in turn until that many are asked; fails with the first that fails. */
export const share = async <A>(
  all: ReadonlyArray<A>,
  count: number,
  ask: (one: A, number: number) => Promise<void>
): Promise<void> => {
  let sent = 0
  await Promise.all(all.map(async (one) => {
    while (sent < count) await ask(one, sent++)
  }))
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

/** Keeps every connection busy until that many requests are answered; gives how long each took, in milliseconds. */
export const run = async (load: HttpLoad): Promise<ReadonlyArray<number>> => {
  const latencies: Array<number> = []
  const numbered = load.connections.map((connection, index) => ({ connection, index }))
  await share(numbered, load.count, async ({ connection, index }, number) => {
    const id = load.first + number
    const started = performance.now()
    const response = await connection.request(load.request(index, id))
    latencies.push(performance.now() - started)
    if (response.status !== 200) throw new Error(`status ${response.status}: ${textOf(response).slice(0, 600)}`)
    load.onResponse?.(response, id)
  })
  return latencies
}
