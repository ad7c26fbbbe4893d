/** The stream of a session that can be resumed: it goes on for a while when its connection is gone. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { Facts } from "../Exchange.ts"
import type { Link } from "../Link.ts"
import { MessageTooLarge, TransportClosed, type TransportError } from "../TransportError.ts"
import type { EventLog, Receiver } from "./eventLog.ts"
import type { EventStreams } from "./eventStreams.ts"
import { byteLength, isLongerThan } from "./json.ts"
import type { Outbox } from "./outbox.ts"

export interface SessionStreamOptions {
  readonly streams: EventStreams
  readonly facts: Facts
  /** Bytes of the largest message to write. */
  readonly maxBytes: number
  /** Its connection is gone, and it waits for another one. */
  readonly onLingering: (stream: SessionStream) => void
  readonly onClosed: (stream: SessionStream) => void
}

let streams = 0

export class SessionStream implements Receiver {
  readonly link: Link
  /** Closes with the stream: what the stream is attached to. */
  readonly scope = Scope.makeUnsafe()
  readonly log: EventLog
  private readonly options: SessionStreamOptions
  private readonly closed = Deferred.makeUnsafe<TransportError>()
  private outbox: Outbox | undefined = undefined
  private timer: Fiber.Fiber<unknown, unknown> | undefined = undefined
  private over = false

  constructor(options: SessionStreamOptions) {
    this.options = options
    this.log = options.streams.open("session", options.facts, this)
    this.link = {
      id: `http-session-${++streams}`,
      send: (message) => this.send(message),
      closed: Deferred.await(this.closed),
      agreed: () => Effect.void,
      close: Effect.sync(() => this.close())
    }
  }

  /** Whether it waits for a connection. */
  get lingers(): boolean {
    return this.outbox === undefined
  }

  release(): void {
    this.outbox?.end()
  }

  connect(outbox: Outbox): void {
    this.timer?.interruptUnsafe()
    this.timer = undefined
    this.outbox = outbox
    if (this.over) outbox.end()
  }

  lost(outbox: Outbox): void {
    if (this.over || this.outbox !== outbox) return
    this.outbox = undefined
    const { onLingering, streams } = this.options
    const end = Effect.andThen(Effect.sleep(streams.limits.eventLife), Effect.sync(() => this.close()))
    this.timer = streams.run(end)
    onLingering(this)
  }

  /** Ends the stream for good, after what was sent on it. */
  close(): void {
    if (this.over) return
    this.over = true
    const { onClosed, streams } = this.options
    this.timer?.interruptUnsafe()
    this.outbox?.end()
    this.log.end()
    Deferred.doneUnsafe(this.closed, Exit.succeed(new TransportClosed({ reason: "The stream has ended" })))
    onClosed(this)
    streams.run(Scope.close(this.scope, Exit.void))
  }

  private send(message: JsonRpc.Outgoing): Effect.Effect<void, TransportError> {
    return Effect.suspend((): Effect.Effect<void, TransportError> => {
      if (this.over) return Effect.flatMap(Deferred.await(this.closed), Effect.fail)
      const { maxBytes } = this.options
      const text = JsonRpc.stringify(message)
      if (isLongerThan(text, maxBytes)) {
        return Effect.fail(new MessageTooLarge({ bytes: byteLength(text), limit: maxBytes }))
      }
      const event = this.log.encode(text)
      return this.outbox === undefined ? Effect.void : Effect.asVoid(this.outbox.put(event))
    })
  }
}
