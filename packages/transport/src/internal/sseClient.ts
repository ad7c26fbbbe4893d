import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Headers from "effect/http/Headers"
import type * as HttpClient from "effect/http/HttpClient"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Endpoint } from "../Endpoint.ts"
import { type Facts, noOutlet } from "../Exchange.ts"
import type { Limits } from "../Limits.ts"
import type { Agreement, Link } from "../Link.ts"
import * as McpHeaders from "../McpHeaders.ts"
import * as Patience from "../Patience.ts"
import * as Sse from "../Sse.ts"
import { HttpFailure, MessageTooLarge, TransportClosed, type TransportError } from "../TransportError.ts"
import { Caller, transportFailure } from "./clientCall.ts"
import { Reader } from "./clientReply.ts"
import { isSuccess } from "./clientStreams.ts"
import { Inbound } from "./inbound.ts"
import * as media from "./media.ts"
import type { Sink } from "./outlets.ts"
import { peek } from "./peek.ts"
import * as Refusals from "./refusals.ts"
import { type Body, discard, withBody } from "./responseBody.ts"
import { isNamedInHeader } from "./versions.ts"

export interface SseClientOptions {
  readonly client: HttpClient.HttpClient
  readonly url: URL
  readonly headers: Effect.Effect<Headers.Headers>
  readonly endpoint: Endpoint["Service"]
  readonly limits: Limits
  readonly endpointTimeout: Duration.Duration
  readonly context: Context.Context<never>
}

let connections = 0

/** Answers to requests of the server that are on their way at a time; the others wait. */
const nestedAtOnce = 16
const excerptLength = 256
/** One of them is the secret of the session: none shows in spans. */
const everyParameter = [/^/]

/** Where to post, if it is on the server that was asked: nobody else gets to see messages and tokens. */
const endpointOf = (data: string, from: URL): URL | undefined => {
  const url = Result.try(() => new URL(data.trim(), from))
  return Result.isSuccess(url) && url.success.origin === from.origin ? url.success : undefined
}

/** A client's side of one connection of HTTP+SSE: the stream, and what is posted. */
export class SseClient implements Sink {
  readonly link: Link
  private readonly options: SseClientOptions
  /** Where bodies that nobody wants are let go of. */
  private readonly owner = Scope.makeUnsafe("parallel")
  private readonly fibers = Scope.makeUnsafe("parallel")
  private readonly closing = Deferred.makeUnsafe<TransportClosed>()
  private readonly opening = Deferred.makeUnsafe<void, TransportError>()
  private readonly nested = Semaphore.makeUnsafe(nestedAtOnce)
  private readonly facts: Facts
  private readonly inbound: Inbound
  private readonly reader: Reader
  private agreement: Agreement | undefined = undefined
  private poster: Caller | undefined = undefined
  /** What the request for the stream was answered with. */
  private status: number | undefined = undefined

  constructor(options: SseClientOptions) {
    this.options = options
    const { endpoint, limits } = options
    this.link = {
      id: `http-sse-client-${++connections}`,
      send: (message) => this.send(message),
      closed: Deferred.await(this.closing),
      agreed: (agreement) =>
        Effect.sync(() => {
          this.agreement = agreement
        })
    }
    this.facts = {
      transport: "http",
      connection: this.link,
      sessionId: undefined,
      protocolVersion: undefined,
      headers: undefined,
      principal: Option.none()
    }
    this.inbound = new Inbound({
      endpoint,
      facts: this.facts,
      limits,
      maxOut: this.maxBytes,
      sink: this,
      unreadable: (text, reason) => this.debug(`An event is no message: ${reason}`, text.slice(0, excerptLength)),
      onOpen: () => {}
    })
    this.reader = new Reader({
      owner: this.owner,
      maxBytes: limits.clientMessageIn,
      depth: limits.depth,
      deliver: (message) => Effect.ignore(endpoint.handle({ message, facts: this.facts, outlet: noOutlet }))
    })
  }

  get maxBytes(): number {
    return this.options.limits.clientMessageIn
  }

  /** Opens the stream, and succeeds when the server has said where to post. */
  get open(): Effect.Effect<void, TransportError> {
    return Effect.suspend(() => {
      this.run(this.read)
      return Patience.timeoutOrElse(Deferred.await(this.opening), {
        patience: Context.get(this.options.context, Patience.CurrentPatience),
        duration: this.options.endpointTimeout,
        orElse: () =>
          Effect.fail(
            new HttpFailure({
              detail: "The server did not say in time where to post",
              ...(this.status === undefined ? undefined : { status: this.status })
            })
          )
      })
    })
  }

  /** Ends the connection; the server ends the session with its stream. */
  get shutdown(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.close(new TransportClosed({ reason: "The connection was closed" }))
      return Effect.andThen(Scope.close(this.fibers, Exit.void), Scope.close(this.owner, Exit.void))
    })
  }

  /** The first reason stays. */
  private close(reason: TransportClosed): void {
    Deferred.doneUnsafe(this.closing, Exit.succeed(reason))
  }

  private callerTo(url: URL): Caller {
    const { client, context, headers } = this.options
    return new Caller({ client, url, headers, owner: this.owner, context })
  }

  // The stream.

  private get read(): Effect.Effect<void> {
    const get = this.callerTo(this.options.url).call({
      method: "GET",
      headers: Headers.fromInput({ accept: media.eventStream })
    })
    const stream = Effect.flatMap(get, (response): Effect.Effect<HttpFailure | undefined, TransportError> => {
      this.status = response.status
      return isSuccess(response) && media.isEventStream(response.headers["content-type"])
        ? withBody(response, this.owner, (body) => this.readAll(body, response.status))
        : Effect.as(this.reader.refusal(response, { id: undefined, sessionId: undefined }), undefined)
    })
    return Effect.matchEffect(stream, {
      onFailure: (error) => Effect.sync(() => this.streamFailed(error)),
      onSuccess: (broken) => Effect.sync(() => this.streamEnded(broken))
    })
  }

  /** Gives why the stream ended, if not by its end. */
  private readAll(body: Body, status: number) {
    const take = this.taker()
    return Effect.gen(function*() {
      while (true) {
        const chunks = yield* Effect.result(body.next)
        if (Result.isFailure(chunks)) {
          return { value: transportFailure(chunks.failure, "The stream broke off", status), satisfied: false }
        }
        if (chunks.success === undefined) return { value: undefined, satisfied: true }
        for (const chunk of chunks.success) yield* take(chunk)
      }
    })
  }

  private streamFailed(error: TransportError): void {
    Deferred.doneUnsafe(this.opening, Exit.fail(error))
    this.close(error._tag === "TransportClosed" ? error : new TransportClosed({ reason: "The stream failed" }))
  }

  private streamEnded(broken: HttpFailure | undefined): void {
    const early = broken ?? new HttpFailure({ status: 200, detail: "The stream ended before it said where to post" })
    Deferred.doneUnsafe(this.opening, Exit.fail(early))
    this.close(
      new TransportClosed({
        reason: broken?.detail ?? "The server ended the stream",
        ...(broken?.cause === undefined ? undefined : { cause: broken.cause })
      })
    )
  }

  /** Takes the stream in, chunk by chunk. */
  private taker(): (chunk: Uint8Array) => Effect.Effect<void, TransportError> {
    const maxBytes = this.options.limits.clientMessageIn
    let failure: TransportError | undefined
    const parser = new Sse.Parser({
      maxBytes,
      onEvent: (event) => {
        failure ??= this.poster === undefined ? this.first(event) : this.next(event)
      },
      onTooLarge: (bytes, head) => this.tooLarge(bytes, maxBytes, head)
    })
    return (chunk) => {
      parser.push(chunk)
      if (failure !== undefined) return Effect.fail(failure)
      return this.inbound.unsettled ? this.inbound.settle : Effect.void
    }
  }

  /** The first event says where to post (SSE-02). */
  private first(event: Sse.Event): TransportError | undefined {
    if (event.event !== "endpoint") {
      return event.data === ""
        ? undefined
        : new HttpFailure({ status: 200, detail: "The stream does not begin with where to post" })
    }
    const url = endpointOf(event.data, this.options.url)
    if (url === undefined) {
      return new TransportClosed({ reason: "The server wants messages posted to another origin, which is not done" })
    }
    this.poster = this.callerTo(url)
    Deferred.doneUnsafe(this.opening, Exit.void)
    return undefined
  }

  private next({ data, event }: Sse.Event): undefined {
    if (data !== "" && (event === undefined || event === "message")) this.inbound.accept(data)
  }

  /** Fails the exchange whose answer is too large: everything else goes on. */
  private tooLarge(bytes: number, limit: number, head: string): void {
    const { id, response } = peek(head)
    if (id === undefined) return this.debug(`An event of ${bytes} bytes is over the limit of ${limit}`, "")
    if (response) return this.inbound.unread(id, new MessageTooLarge({ bytes, limit }))
    this.writeLine(JsonRpc.stringify(JsonRpc.failure(id, Refusals.messageTooLarge(bytes, limit))))
  }

  // What is posted.

  private send(message: JsonRpc.Outgoing): Effect.Effect<void, TransportError> {
    const text = Result.try(() => JsonRpc.stringify(message))
    if (Result.isFailure(text)) {
      return Effect.fail(new HttpFailure({ detail: "The message cannot be written as JSON", cause: text.failure }))
    }
    const id = "method" in message && JsonRpc.isRequest(message) ? message.id : undefined
    const closed = Effect.flatMap(this.link.closed, Effect.fail)
    return Effect.suspend(() =>
      Deferred.isDoneUnsafe(this.closing) ? closed : Effect.raceFirst(this.post(text.success, id), closed)
    )
  }

  /** One POST; its answer, if any, comes on the stream. */
  private post(body: string, id: JsonRpc.RequestId | undefined): Effect.Effect<void, TransportError> {
    const { poster } = this
    if (poster === undefined) return Effect.fail(new HttpFailure({ detail: "Nothing can be posted yet" }))
    const version = this.agreement?.version
    const named = version !== undefined && isNamedInHeader(version)
    const headers = Headers.fromInput({
      accept: "*/*",
      "content-type": media.json,
      ...(named ? { [McpHeaders.names.protocolVersion]: version } : undefined)
    })
    // Once something was agreed, an endpoint that is not there any more is a session that is not.
    const sessionId = version === undefined ? undefined : this.link.id
    const call = poster.call({ method: "POST", headers, body })
    return Effect.flatMap(
      Effect.provideService(call, UrlParams.CurrentRedactedNames, everyParameter),
      (response) =>
        isSuccess(response)
          ? discard(response, this.owner)
          : Effect.asVoid(this.reader.refusal(response, { id, sessionId }))
    )
  }

  // What outlets write to.

  encodeAnswer(message: JsonRpc.Outgoing, id: JsonRpc.RequestId): string {
    const text = Result.try(() => JsonRpc.stringify(message))
    return Result.isSuccess(text) ? text.success : JsonRpc.stringify(JsonRpc.failure(id, Refusals.internalError))
  }

  writeLine(text: string): void {
    this.run(this.nested.withPermit(this.told(text)))
  }

  pushLine(message: JsonRpc.Outgoing): Effect.Effect<void> {
    return this.told(JsonRpc.stringify(message))
  }

  onClose(): void {}

  /** Posts what nobody waits for. */
  private told(text: string): Effect.Effect<void> {
    return Effect.catch(
      Effect.suspend(() => this.post(text, undefined)),
      (error) => Effect.logDebug("A message to the server was lost", error)
    )
  }

  private run(effect: Effect.Effect<void>): void {
    Fiber.runIn(Effect.runForkWith(this.options.context)(effect), this.fibers)
  }

  private debug(text: string, detail: string): void {
    this.run(Effect.logDebug(text, detail))
  }
}
