/** A client of `StdioServer` in this very process: lines go in and come out, and nothing of the system lies between. */
import type { Endpoint } from "@mcpfx/transport/Endpoint"
import * as StdioServer from "@mcpfx/transport/StdioServer"
import type * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import * as Messages from "../messages.ts"
import type { Probe } from "./probe.ts"

type Chunks = Arr.NonEmptyReadonlyArray<Uint8Array>

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

export class Conversation {
  private resume: ((pull: Pull.Pull<Chunks>) => void) | undefined = undefined
  private waiting: Array<Chunks> = []
  private missing = 0
  private arrived: (() => void) | undefined = undefined
  private text: string | undefined = undefined

  /** What the server reads. */
  readonly input: Stream.Stream<Uint8Array> = Stream.fromPull(Effect.succeed(
    Effect.suspend((): Pull.Pull<Chunks> => {
      const next = this.waiting.shift()
      return next === undefined
        ? Effect.callback((resume) => {
          this.resume = resume
        })
        : Effect.succeed(next)
    })
  ))

  /** Where the server writes. */
  readonly output: Sink.Sink<void, string> = Sink.forEachArray((texts) =>
    Effect.sync(() => {
      for (const text of texts) this.take(text)
    })
  )

  private take(text: string): void {
    if (this.text !== undefined) this.text += text
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.missing--
    if (this.missing > 0) return
    const arrived = this.arrived
    this.arrived = undefined
    arrived?.()
  }

  private write(bytes: Uint8Array): void {
    const resume = this.resume
    this.resume = undefined
    if (resume === undefined) this.waiting.push([bytes])
    else resume(Effect.succeed([bytes]))
  }

  /** Sends bytes and waits for so many lines. */
  flow(bytes: Uint8Array, lines: number): Promise<void> {
    this.missing += lines
    return new Promise((resolve) => {
      if (lines === 0) resolve()
      else this.arrived = resolve
      this.write(bytes)
    })
  }

  /** Sends a line and gives the lines that come back, as many as are asked for. */
  async exchange(line: string, lines = 1): Promise<ReadonlyArray<string>> {
    this.text = ""
    await this.flow(bytesOf(`${line}\n`), lines)
    const text = this.text
    this.text = undefined
    return text.split("\n").slice(0, -1)
  }
}

/** Begins a conversation that ends with the scope; on 2025-11-25 the handshake is over. */
export const begin = (
  endpoint: Endpoint["Service"],
  version: Messages.Version,
  capabilities: object = {}
): Effect.Effect<Conversation, never, Scope.Scope> =>
  Effect.gen(function*() {
    const conversation = new Conversation()
    yield* Effect.forkScoped(StdioServer.serve(endpoint, conversation))
    yield* Effect.yieldNow
    if (version === "2025-11-25") {
      const hello = Messages.initialize.replace("\"capabilities\":{}", `"capabilities":${JSON.stringify(capabilities)}`)
      yield* Effect.promise(() => conversation.exchange(hello))
      yield* Effect.promise(() => conversation.exchange(Messages.initialized, 0))
    }
    return conversation
  })

/** Lines of requests as they come from a pipe: so many at once. */
export const chunkOf = (body: (id: number) => string, lines: number): Uint8Array =>
  bytesOf(Array.from({ length: lines }, (_, index) => `${body(index + 1)}\n`).join(""))

/** Calls, so many in flight, each answered with so many lines. */
export const calls = (
  conversation: Conversation,
  body: (id: number) => string,
  window: number,
  lines = 1
): Probe => {
  const whole = chunkOf(body, window)
  const parts = new Map<number, Uint8Array>()
  return {
    run: async (times) => {
      for (let left = times; left > 0; left -= window) {
        const count = Math.min(left, window)
        let bytes = count === window ? whole : parts.get(count)
        if (bytes === undefined) parts.set(count, bytes = chunkOf(body, count))
        await conversation.flow(bytes, count * lines)
      }
    }
  }
}
