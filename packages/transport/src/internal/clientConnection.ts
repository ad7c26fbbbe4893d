import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
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
  /** The fibers of the connection. */
  readonly fibers: Scope.Scope
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

const lowerCased = (headers: Readonly<Record<string, string>> | undefined): Record<string, string> => {
  const lowered: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined) lowered[name.toLowerCase()] = value
  }
  return lowered
}

/** A client's side of one Streamable HTTP connection: what it has agreed on, and its exchanges. */
export class ClientConnection {
  readonly link: Link
  private readonly options: ConnectionOptions
  private readonly reader: Reader
  private readonly source: StreamSource
  private readonly closing = Deferred.makeUnsafe<TransportError>()
  private readonly nested = Semaphore.makeUnsafe(nestedAtOnce)
  private closed: TransportClosed | undefined = undefined
  private sessionId: string | undefined = undefined
  private agreement: Agreement | undefined = undefined
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

  /** Tells the server that the session is over, whatever it says to that (HTTP-41). */
  get terminate(): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.sessionId === undefined) return Effect.void
      const { caller } = this.options
      return caller.call({ method: "DELETE", headers: this.sessionHeaders() }).pipe(
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
    return Effect.suspend((): Effect.Effect<void, TransportError> => {
      if (this.closed !== undefined) return Effect.fail(this.closed)
      const exchange = Effect.forkIn(this.exchange(message, options), this.options.fibers, { startImmediately: true })
      return Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(exchange, (fiber) =>
          Effect.flatMap(
            Effect.onInterrupt(restore(Fiber.await(fiber)), () => Fiber.interrupt(fiber)),
            (exit) =>
              this.closed !== undefined && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
                ? Effect.fail(this.closed)
                : exit
          ))
      )
    })
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
    const headers = { ...lowerCased(options?.headers), ...this.messageHeaders(message) }
    return Effect.flatMap(
      caller.call({ method: "POST", headers, body: text.success }),
      (response): Effect.Effect<void, TransportError> => {
        if (!isSuccess(response)) {
          return Effect.tapError(
            Effect.asVoid(this.reader.refusal(response, { id, sessionId })),
            (error) => Effect.sync(() => this.refused(error))
          )
        }
        if (initializes) this.sessionId = sessionIdOf(response.headers[McpHeaders.names.sessionId])
        else this.startStream()
        if (id === undefined) return discard(response, caller.owner)
        const type = response.headers["content-type"]
        return media.isEventStream(type)
          ? this.readStream(response, id)
          : type === undefined || media.isJson(type)
          ? Effect.flatMap(this.reader.json(response, id), (answered) => answered ? Effect.void : unanswered)
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
      headers: {
        accept: media.eventStream,
        ...this.sessionHeaders(),
        ...(lastEventId === undefined ? undefined : { [McpHeaders.names.lastEventId]: lastEventId })
      }
    })
  }

  private sessionHeaders(): Record<string, string> {
    const headers: Record<string, string> = {}
    if (this.sessionId !== undefined) headers[McpHeaders.names.sessionId] = this.sessionId
    const version = this.agreement?.version
    if (version !== undefined && isNamedInHeader(version)) headers[McpHeaders.names.protocolVersion] = version
    return headers
  }

  private messageHeaders(message: JsonRpc.Outgoing): Record<string, string> {
    const common = { accept: accepts, "content-type": media.json }
    if (!("method" in message)) return { ...common, ...this.sessionHeaders() }
    const agreed = this.agreement?.era === "modern" ? this.agreement.version : undefined
    const modern = claimedVersion(message) ?? agreed
    return { ...common, ...(modern === undefined ? this.sessionHeaders() : McpHeaders.mirror(message, modern)) }
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
