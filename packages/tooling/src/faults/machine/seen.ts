/** What a client has heard over one connection. */
import { Sse } from "@mcpfx/transport"
import { parse } from "../wire.ts"
import { type Heard, wordsOf } from "./flow.ts"
import type { Names } from "./send.ts"

const maxBytes = 1024 * 1024

export class Seen implements Heard {
  readonly messages: Array<string> = []
  ended = false
  status = 200
  /** Where to go on from. */
  lastEventId: string | undefined = undefined
  private readonly names: Names
  private readonly controller = new AbortController()
  private reader: ReadableStreamDefaultReader<Uint8Array> | undefined = undefined
  private isCut = false
  /** The session, or the connection, that it belongs to. */
  conversation: string

  constructor(names: Names, conversation: string) {
    this.names = names
    this.conversation = conversation
  }

  hear(message: unknown): void {
    if (this.isCut) return
    this.names.learn(this.conversation, message)
    const words = wordsOf(message, (id) => this.names.asked(this.conversation, id))
    if (words !== undefined) this.messages.push(words)
  }

  /** Gives the connection up. */
  cut(): void {
    this.isCut = true
    this.ended = true
    this.controller.abort()
    // Nobody waits for what a connection that is gone has to say about it.
    this.reader?.cancel().catch(() => {})
  }

  /** Reads all that comes back for a request. */
  async read(
    handler: (request: Request) => Promise<Response>,
    request: Request,
    answered: (response: Response) => void
  ): Promise<void> {
    try {
      const response = await handler(new Request(request, { signal: this.controller.signal }))
      if (this.isCut) return void await response.body?.cancel()
      this.status = response.status
      answered(response)
      if (response.headers.get("content-type")?.startsWith("text/event-stream") === true) await this.events(response)
      else {
        const text = await response.text()
        if (text !== "") this.hear(parse(text))
      }
    } catch (error) {
      if (!this.isCut) this.messages.push(`broken: ${String(error)}`)
    }
    this.ended = true
  }

  private async events(response: Response): Promise<void> {
    const reader = response.body?.getReader()
    if (reader === undefined) return
    this.reader = reader
    const parser = new Sse.Parser({
      maxBytes,
      onTooLarge: () => {},
      onEvent: ({ data, id }) => {
        if (id !== undefined) this.lastEventId = id
        if (data !== "") this.hear(parse(data))
      }
    })
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      parser.push(value)
    }
  }
}
