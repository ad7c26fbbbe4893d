import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Headers from "effect/http/Headers"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { eraOf } from "../Classify.ts"
import type { Endpoint } from "../Endpoint.ts"
import { type Facts, noOutlet, type Outlet } from "../Exchange.ts"
import type { Limits } from "../Limits.ts"
import type { Agreement, Link, SendOptions } from "../Link.ts"
import * as McpHeaders from "../McpHeaders.ts"
import { HttpFailure, type TransportClosed, type TransportError } from "../TransportError.ts"
import type { Caller } from "./clientCall.ts"
import { Reader } from "./clientReply.ts"
import { isSuccess, type Reconnect, resume, standalone, type StreamSource } from "./clientStreams.ts"
import { Exchanges } from "./exchanges.ts"
import { isExit } from "./exit.ts"
import * as media from "./media.ts"
import * as Refusals from "./refusals.ts"
import { discard } from "./responseBody.ts"
import { SeenEvents } from "./seenEvents.ts"
import { sessionIdOf } from "./sessionId.ts"
import { isNamedInHeader } from "./versions.ts"

type Response = HttpClientResponse.HttpClientResponse

export interface ConnectionOptions {
  readonly caller: Caller
  readonly endpoint: Endpoint["Service"]
  readonly limits: Limits
  readonly reconnect: Reconnect
  /** The fibers of the connection, but for its exchanges. */
  readonly fibers: Scope.Closeable
  readonly context: Context.Context<never>
}

let connections = 0

/** Answers to nested requests that are on their way at a time; the others wait. */
const nestedAtOnce = 16
const accepts = "application/json, text/event-stream"

const idOf = (message: JsonRpc.Outgoing): JsonRpc.RequestId | undefined =>
  "method" in message && JsonRpc.isRequest(message) ? message.id : undefined

const isInitialize = (message: JsonRpc.Outgoing): boolean => "method" in message && message.method === "initialize"

/** The version a modern request claims. */
const claimedVersion = (message: JsonRpc.Request | JsonRpc.Notification): string | undefined => {
  const meta = message.params?.["_meta"]
  const version = JsonRpc.isJsonObject(meta) ? meta[MetaKey.protocolVersion] : undefined
  return typeof version === "string" && eraOf(version) === "modern" ? version : undefined
}

const common = Headers.fromInput({ accept: accepts, "content-type": media.json })

/** Headers of messages that differ in nothing that headers tell of. */
interface Known {
  readonly sessionId: string | undefined
  readonly agreement: Agreement | undefined
  readonly headers: Headers.Headers
}

/** A client's side of one Streamable HTTP connection: what it has agreed on, and its exchanges. */
export class ClientConnection {
  readonly link: Link
  private readonly options: ConnectionOptions
  private readonly reader: Reader
  private readonly source: StreamSource
  private readonly closing = Deferred.makeUnsafe<TransportError>()
  private readonly nested = Semaphore.makeUnsafe(nestedAtOnce)
  private readonly exchanges = new Exchanges()
  private closed: TransportClosed | undefined = undefined
  private sessionId: string | undefined = undefined
  private agreement: Agreement | undefined = undefined
  private known: Known | undefined = undefined
  /** The stream of the session: to be opened after the next message that is taken, or open. */
  private stream: "none" | "wanted" | Fiber.Fiber<boolean> = "none"

  constructor(options: ConnectionOptions) {
    this.options = options
    const { caller, limits, reconnect } = options
    this.reader = new Reader({
      owner: caller.owner,
      maxBytes: limits.clientMessageIn,
      depth: limits.depth,
      deliver: (message, fault) => this.deliver(message, fault)
    })
    this.source = {
      open: (lastEventId) => this.openStream(lastEventId),
      reader: this.reader,
      reconnect,
      owner: caller.owner
    }
    this.link = {
      id: `http-client-${++connections}`,
      send: (message, sendOptions) => this.send(message, sendOptions),
      closed: Deferred.await(this.closing),
      agreed: (agreement) => Effect.sync(() => this.agreed(agreement))
    }
  }

  /** Ends the connection: exchanges fail, once, with the same reason. */
  close(reason: TransportClosed): void {
    if (this.closed !== undefined) return
    this.closed = reason
    Deferred.doneUnsafe(this.closing, Exit.succeed(reason))
  }

  /** Interrupts all that is under way, and awaits its end. */
  get stop(): Effect.Effect<void> {
    return Effect.andThen(this.exchanges.stop, Scope.close(this.options.fibers, Exit.void))
  }

  /** Tells the server that the session is over, whatever it says to that (HTTP-41). */
  get terminate(): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.sessionId === undefined) return Effect.void
      const { caller } = this.options
      return caller.call({ method: "DELETE", headers: Headers.fromInput(this.sessionHeaders()) }).pipe(
        Effect.flatMap((response) => discard(response, caller.owner)),
        Effect.ignore
      )
    })
  }

  private agreed(agreement: Agreement): void {
    this.agreement = agreement
    this.stopStream()
    if (agreement.era === "legacy") this.stream = "wanted"
  }

  private stopStream(): void {
    if (typeof this.stream === "object") this.stream.interruptUnsafe()
    this.stream = "none"
  }

  /** Opens the stream once the server has taken a message of the agreed session. */
  private startStream(): void {
    if (this.stream !== "wanted") return
    const stream = this.run(standalone(this.source))
    this.stream = stream
    stream.addObserver((exit) => {
      if (this.stream === stream && Exit.isSuccess(exit) && exit.value) this.stream = "wanted"
    })
  }

  private run<A>(effect: Effect.Effect<A>): Fiber.Fiber<A> {
    return Fiber.runIn(Effect.runForkWith(this.options.context)(effect), this.options.fibers)
  }

  private send(message: JsonRpc.Outgoing, options: SendOptions | undefined): Effect.Effect<void, TransportError> {
    return Effect.withFiber((fiber) =>
      this.closed !== undefined ?
        Effect.fail(this.closed) :
        Effect.callback<void, TransportError>((resume) =>
          this.exchanges.run(fiber.context, this.exchange(message, options), (exit) => resume(this.outcome(exit)))
        )
    )
  }

  /** The end of the connection interrupts its exchanges; to those who wait for them that is why they failed. */
  private outcome(exit: Exit.Exit<void, TransportError>): Exit.Exit<void, TransportError> {
    return this.closed !== undefined && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
      ? Exit.fail(this.closed)
      : exit
  }

  /** One POST and what comes back. */
  private exchange(message: JsonRpc.Outgoing, options: SendOptions | undefined): Effect.Effect<void, TransportError> {
    const text = Result.try(() => JsonRpc.stringify(message))
    if (Result.isFailure(text)) {
      const cause = text.failure
      return Effect.fail(new HttpFailure({ detail: "The message cannot be written as JSON", cause }))
    }
    const initializes = isInitialize(message)
    if (initializes) {
      this.sessionId = undefined
      this.agreement = undefined
      this.stopStream()
    }
    const { caller } = this.options
    const id = idOf(message)
    const { sessionId } = this
    const own = this.messageHeaders(message)
    const headers = options?.headers === undefined ? own : Headers.merge(Headers.fromInput(options.headers), own)
    return Effect.flatMap(
      caller.call({ method: "POST", headers, body: text.success }),
      (response): Effect.Effect<void, TransportError> => {
        if (!isSuccess(response)) {
          return Effect.tapError(
            Effect.asVoid(this.reader.refusal(response, { id, sessionId })),
            (error) => Effect.sync(() => this.refused(error))
          )
        }
        // Some clients make them anew each time they are asked.
        const received = response.headers
        if (initializes) this.sessionId = sessionIdOf(received[McpHeaders.names.sessionId])
        else this.startStream()
        if (id === undefined) return discard(response, caller.owner)
        const type = received["content-type"]
        return media.isEventStream(type)
          ? this.readStream(response, id)
          : type === undefined || media.isJson(type)
          ? Effect.flatMap(this.reader.json(response, received, id), (answered) => answered ? Effect.void : unanswered)
          : Effect.asVoid(this.reader.refusal(response, { id: undefined, sessionId: undefined }))
      }
    )
  }

  private readStream(response: Response, id: JsonRpc.RequestId): Effect.Effect<void, TransportError> {
    const seen = new SeenEvents()
    return Effect.flatMap(this.reader.events(response, id, undefined, seen), (end) => {
      if (end.answered) return Effect.void
      const resumable = this.agreement?.era === "legacy"
      return resume(this.source, id, resumable ? end : { ...end, lastEventId: undefined }, seen)
    })
  }

  /** A session that the server has forgotten is not used again. */
  private refused(error: TransportError): void {
    if (error._tag !== "SessionLost" || error.sessionId !== this.sessionId) return
    this.sessionId = undefined
    this.stopStream()
  }

  private openStream(lastEventId: string | undefined) {
    return this.options.caller.call({
      method: "GET",
      headers: Headers.fromInput({
        accept: media.eventStream,
        ...this.sessionHeaders(),
        ...(lastEventId === undefined ? undefined : { [McpHeaders.names.lastEventId]: lastEventId })
      })
    })
  }

  private sessionHeaders(): Record<string, string> {
    const headers: Record<string, string> = {}
    if (this.sessionId !== undefined) headers[McpHeaders.names.sessionId] = this.sessionId
    const version = this.agreement?.version
    if (version !== undefined && isNamedInHeader(version)) headers[McpHeaders.names.protocolVersion] = version
    return headers
  }

  private messageHeaders(message: JsonRpc.Outgoing): Headers.Headers {
    if (!("method" in message)) return this.headersInSession
    const agreed = this.agreement?.era === "modern" ? this.agreement.version : undefined
    const modern = claimedVersion(message) ?? agreed
    return modern === undefined ? this.headersInSession : Headers.setAll(common, McpHeaders.mirror(message, modern))
  }

  /** The same for every message, until something else is agreed. */
  private get headersInSession(): Headers.Headers {
    const { agreement, known, sessionId } = this
    if (known !== undefined && known.sessionId === sessionId && known.agreement === agreement) return known.headers
    const headers = Headers.setAll(common, this.sessionHeaders())
    this.known = { sessionId, agreement, headers }
    return headers
  }

  private get facts(): Facts {
    return {
      transport: "http",
      connection: this.link,
      sessionId: this.sessionId,
      protocolVersion: this.agreement?.version,
      headers: undefined,
      principal: Option.none()
    }
  }

  private deliver(message: JsonRpc.Message, fault: string | undefined): Effect.Effect<void> {
    const outlet = JsonRpc.isRequest(message) ? this.outlet(message.id) : noOutlet
    const admission = this.options.endpoint.handle({ message, fault, facts: this.facts, outlet })
    if (isExit(admission) && Exit.isSuccess(admission)) return Effect.void
    return Effect.matchEffect(admission, {
      onFailure: ({ error }) =>
        Effect.sync(() => {
          if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.failure(message.id, error))
        }),
      onSuccess: () => Effect.void
    })
  }

  /** The way back for a request of the server: posts of its own. */
  private outlet(id: JsonRpc.RequestId): Outlet {
    let open = true
    const close = (): boolean => {
      const was = open
      open = false
      return was
    }
    return {
      answer: (message) => {
        if (!close()) return
        const writable = Result.isSuccess(Result.try(() => JsonRpc.stringify(message)))
        const sent = writable ? message : JsonRpc.failure(id, Refusals.internalError)
        this.run(this.nested.withPermit(this.post(sent)))
      },
      end: () => {
        close()
      },
      push: (message) => Effect.suspend(() => open ? this.post(message) : Effect.void)
    }
  }

  /** Sends what nobody waits for. */
  private post(message: JsonRpc.Outgoing): Effect.Effect<void> {
    return Effect.catch(
      Effect.suspend(() => this.exchange(message, undefined)),
      (error) => Effect.logDebug("A message to the server was lost", error)
    )
  }
}

const unanswered = Effect.fail(new HttpFailure({ status: 200, detail: "The body did not hold the answer" }))
