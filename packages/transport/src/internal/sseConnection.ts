import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type { Admission, Endpoint, Rejected } from "../Endpoint.ts"
import { type Exchange, noOutlet } from "../Exchange.ts"
import type { Link } from "../Link.ts"
import * as Sse from "../Sse.ts"
import { MessageTooLarge, TransportClosed, type TransportError } from "../TransportError.ts"
import type { HttpFacts } from "./facts.ts"
import { byteLength, isLongerThan } from "./json.ts"
import { type Outbox, type OutboxEnd, type OutboxSettings, WatchedOutbox } from "./outbox.ts"
import type { RequestOutlet, Sink } from "./outlets.ts"
import * as Refusals from "./refusals.ts"
import { unreadableIdOn } from "./versions.ts"

export interface SseConnectionOptions {
  readonly endpoint: Endpoint["Service"]
  readonly outbox: OutboxSettings
  /** Bytes of the largest message to write. */
  readonly maxBytes: number
  /** What the log lines are written with. */
  readonly context: Context.Context<never>
}

let connections = 0

const reasons: Readonly<Record<OutboxEnd, string>> = {
  ended: "The stream has ended",
  left: "The reader has left",
  dead: "The reader takes nothing"
}

/** Clients that do not read streams by the book look for the name of the event. */
const eventOf = (json: string): string => Sse.encode({ event: "message", data: json })

/** One open stream of HTTP+SSE and all that is posted for it: a connection like any other. */
export class SseConnection implements Sink {
  readonly link: Link
  /** Whom the stream belongs to: nobody else may post for it. */
  readonly principalKey: string
  /** The id of answers to requests whose own could not be read (RPC-08). */
  unreadableId: null | undefined = null
  private readonly options: SseConnectionOptions
  private readonly outbox: Outbox
  private readonly closed = Deferred.makeUnsafe<TransportError>()
  private readonly open = new Set<RequestOutlet>()
  /** Messages are admitted one after the other, in the order they came. */
  private readonly gate = Semaphore.makeUnsafe(1)
  private finishing = false

  /** `uri` is where the client has to post; `onEnd` is called once, when the stream is over. */
  constructor(options: SseConnectionOptions, principalKey: string, uri: string, onEnd: (end: OutboxEnd) => void) {
    this.options = options
    this.principalKey = principalKey
    this.outbox = new WatchedOutbox(options.outbox, (end) => {
      this.abandon()
      Deferred.doneUnsafe(this.closed, Exit.succeed(new TransportClosed({ reason: reasons[end] })))
      onEnd(end)
    })
    this.outbox.add(Sse.encode({ event: "endpoint", data: uri }))
    this.link = {
      id: `http-sse-${++connections}`,
      send: (message) => this.send(message),
      closed: Deferred.await(this.closed),
      agreed: ({ version }) =>
        Effect.sync(() => {
          this.unreadableId = unreadableIdOn(version)
        }),
      close: Effect.sync(() => this.end())
    }
  }

  get body() {
    return this.outbox.body
  }

  /** Waits while as much waits for the reader as may; `false` when the stream ended instead. */
  room(): Effect.Effect<boolean> {
    return this.outbox.room()
  }

  /** Ends the stream after what was sent. */
  end(): void {
    this.outbox.end()
  }

  /** The same, once the requests in flight are answered. */
  finish(): void {
    this.finishing = true
    if (this.open.size === 0) this.end()
  }

  /** The reader is gone. */
  abort(): void {
    this.outbox.abort()
  }

  /** Admits one message: whoever posts it gives up its admission, not the message. */
  admit(
    message: JsonRpc.Message,
    facts: HttpFacts,
    outlet: RequestOutlet | undefined
  ): Effect.Effect<Admission, Rejected> {
    const exchange: Exchange = { message, facts, outlet: outlet ?? noOutlet }
    const admission = Effect.suspend(() => this.options.endpoint.handle(exchange))
    return this.gate.withPermit(Effect.uninterruptible(Effect.map(admission, (admitted) => {
      if (outlet !== undefined && outlet.open) {
        outlet.disconnected = admitted.disconnected
        outlet.registered = true
        this.open.add(outlet)
      }
      return admitted
    })))
  }

  // What outlets write to.

  get maxBytes(): number {
    return this.options.maxBytes
  }

  encodeAnswer(message: JsonRpc.Outgoing, id: JsonRpc.RequestId): string {
    const { context, maxBytes } = this.options
    const encoded = Result.try(() => JsonRpc.stringify(message))
    if (Result.isFailure(encoded)) {
      Effect.runForkWith(context)(Effect.logError("An answer could not be encoded", encoded.failure))
      return JsonRpc.stringify(JsonRpc.failure(id, Refusals.internalError))
    }
    return isLongerThan(encoded.success, maxBytes)
      ? JsonRpc.stringify(JsonRpc.failure(id, Refusals.resultTooLarge(maxBytes)))
      : encoded.success
  }

  writeLine(json: string): void {
    this.outbox.add(eventOf(json))
  }

  pushLine(message: JsonRpc.Outgoing, wanted: () => boolean): Effect.Effect<void> {
    const text = JsonRpc.stringify(message)
    if (isLongerThan(text, this.options.maxBytes)) {
      return Effect.logWarning("A message before an answer was too large and was dropped")
    }
    return Effect.flatMap(
      this.outbox.room(),
      (open) => open && wanted() ? Effect.asVoid(this.outbox.put(eventOf(text))) : Effect.void
    )
  }

  onClose(outlet: RequestOutlet): void {
    this.open.delete(outlet)
    if (this.finishing && this.open.size === 0) this.end()
  }

  private send(message: JsonRpc.Outgoing): Effect.Effect<void, TransportError> {
    return Effect.suspend((): Effect.Effect<void, TransportError> => {
      const text = JsonRpc.stringify(message)
      const limit = this.options.maxBytes
      if (isLongerThan(text, limit)) return Effect.fail(new MessageTooLarge({ bytes: byteLength(text), limit }))
      return Effect.flatMap(
        this.outbox.put(eventOf(text)),
        (written) => written ? Effect.void : Effect.flatMap(Deferred.await(this.closed), Effect.fail)
      )
    })
  }

  /** Tells the requests in flight that nobody will read their answers. */
  private abandon(): void {
    for (const outlet of Array.from(this.open)) {
      const { disconnected } = outlet
      outlet.end()
      disconnected?.()
    }
  }
}
