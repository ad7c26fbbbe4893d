/** A Node request as an Effect one: everything is made when somebody asks for it, and most is never asked for. */
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as WholeBody from "@mcpfx/transport/WholeBody"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Cookies from "effect/http/Cookies"
import * as Headers from "effect/http/Headers"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import { HttpServerError, RequestParseError } from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Multipart from "effect/http/Multipart"
import * as UrlParams from "effect/http/UrlParams"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import type { ReadonlyRecord } from "effect/Record"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Socket from "effect/socket/Socket"
import * as Stream from "effect/Stream"
import type { IncomingMessage, ServerResponse } from "node:http"

type Change = Parameters<HttpServerRequest.HttpServerRequest["modify"]>[0]

/** What a view says otherwise than the request; programs may be compiled without telling what is not there from `undefined`. */
type Modification = { readonly [Key in keyof Change]?: Change[Key] | undefined }

/** Bodies up to this size are read before anybody asks for them: Node holds as much of an unread one too. */
const small = 65_536
const digits = /^[1-9][0-9]{0,4}$/

/** Whether the body is small, and comes without having to be asked for. */
const isSmall = ({ headers }: IncomingMessage): boolean => {
  const length = headers["content-length"]
  return length !== undefined && digits.test(length) && Number(length) <= small && headers.upgrade === undefined
}

const ignore = (): void => {}

/** Node tells of a broken body after whoever read it has left, which without anybody there ends the process. */
const hold = (request: IncomingMessage): void => {
  if (!request.listeners("error").includes(ignore)) request.on("error", ignore)
}

/** What a request has to know of the server it came to. */
export interface Owner {
  /** Whether it takes no new requests, so that connections end with their answer. */
  readonly closing: boolean
  /** Milliseconds that a client may take nothing of an answer that waits for it. */
  readonly deadReader: number
}

/** What all views of one request share. */
export class Exchange {
  readonly owner: Owner
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Whether the client waits to be told to go on before it sends its body. */
  awaitsContinue: boolean
  /** The whole body, where it was read ahead. */
  body: Uint8Array | undefined = undefined
  /** The whole body, where it is read because somebody asks for it: whatever view asks, it comes but once. */
  bytes: Effect.Effect<ArrayBuffer, HttpServerError> | undefined = undefined
  /** Bytes of the body that were read as a stream. */
  bytesRead = 0
  /** Whether no route was found, and somebody else is to answer. */
  passed = false

  constructor(owner: Owner, request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) {
    this.owner = owner
    this.request = request
    this.response = response
    this.awaitsContinue = awaitsContinue
  }

  /**
   * Reads a small body, then calls `ready`; at once where there is nothing to read ahead. A client that leaves in the middle
   * is forgotten.
   */
  ahead(ready: () => void): void {
    const { request } = this
    if (this.awaitsContinue || request.readableFlowing !== null || !isSmall(request)) return ready()
    const chunks: Array<Uint8Array> = []
    request.on("data", (chunk: Uint8Array) => chunks.push(chunk))
    request.on("end", () => {
      const [first] = chunks
      this.body = chunks.length === 1 ? first : Buffer.concat(chunks)
      ready()
    })
  }

  /** Somebody is about to read the body. */
  goOn(): void {
    hold(this.request)
    if (!this.awaitsContinue) return
    this.awaitsContinue = false
    if (!this.response.headersSent) this.response.writeContinue()
  }
}

const decoder = new TextDecoder()
/** A mark at the start of a form is part of its first name. */
const formDecoder = new TextDecoder("utf-8", { ignoreBOM: true })
const slash = 47

/** A request line with a whole address in it, as proxies get (RFC 9112, 3.2.2). */
const absoluteTarget = (url: string): URL | undefined =>
  /^https?:\/\//i.test(url) && URL.canParse(url) ? new URL(url) : undefined

const encrypted = (socket: object): boolean => "encrypted" in socket && socket.encrypted === true

export class ListenerRequest extends Inspectable.Class
  implements HttpServerRequest.HttpServerRequest, WholeBody.WholeBody
{
  readonly exchange: Exchange
  readonly url: string
  private readonly modified: Modification | undefined
  private ownHeaders: Headers.Headers | undefined = undefined
  private ownCookies: ReadonlyRecord<string, string> | undefined = undefined

  constructor(exchange: Exchange, modified?: Modification) {
    super()
    this.exchange = exchange
    this.modified = modified
    if (modified?.headers !== undefined) this.ownHeaders = modified.headers
    this.url = modified?.url ?? this.target()
  }

  private target(): string {
    const url = this.exchange.request.url ?? "/"
    if (url.charCodeAt(0) === slash) return url
    const target = absoluteTarget(url)
    if (target === undefined) return url
    // The authority of the request line stands above the header.
    this.ownHeaders ??= Headers.set(this.headers, "host", target.host)
    return target.pathname + target.search
  }

  get [HttpServerRequest.TypeId](): typeof HttpServerRequest.TypeId {
    return HttpServerRequest.TypeId
  }

  get [HttpIncomingMessage.TypeId](): typeof HttpIncomingMessage.TypeId {
    return HttpIncomingMessage.TypeId
  }

  get [WholeBody.TypeId](): Uint8Array | undefined {
    return this.exchange.body
  }

  get source(): IncomingMessage {
    return this.exchange.request
  }

  get method(): string {
    return this.exchange.request.method ?? "GET"
  }

  get originalUrl(): string {
    const { headers, socket, url = "/" } = this.exchange.request
    if (url.charCodeAt(0) !== slash || headers.host === undefined) return url
    return `${encrypted(socket) ? "https" : "http"}://${headers.host}${url}`
  }

  get headers(): Headers.Headers {
    return this.ownHeaders ??= Headers.fromInput(this.exchange.request.headers)
  }

  get cookies(): ReadonlyRecord<string, string> {
    return this.ownCookies ??= Cookies.parseHeader(this.headers["cookie"] ?? "")
  }

  get protocol(): "http" | "https" | undefined {
    return this.modified?.protocol
  }

  get remoteAddress(): Option.Option<string> {
    return this.modified?.remoteAddress ?? Option.fromNullishOr(this.exchange.request.socket.remoteAddress)
  }

  get peerAddress(): Option.Option<string> {
    return this.modified?.peerAddress ?? this.remoteAddress
  }

  get stream(): Stream.Stream<Uint8Array, HttpServerError> {
    return Stream.suspend(() => {
      const { exchange } = this
      if (exchange.body !== undefined) return Stream.succeed(exchange.body)
      exchange.goOn()
      return Stream.map(
        NodeStream.fromReadable<Uint8Array, HttpServerError>({
          evaluate: () => exchange.request,
          onError: (cause) => this.unreadable(cause),
          closeOnDone: false
        }),
        (chunk) => {
          exchange.bytesRead += chunk.length
          return chunk
        }
      )
    })
  }

  get arrayBuffer(): Effect.Effect<ArrayBuffer, HttpServerError> {
    const { body } = this.exchange
    if (body === undefined) return this.exchange.bytes ??= this.received
    return Effect.withFiber((fiber) => {
      const most = fiber.getRef(HttpIncomingMessage.MaxBodySize)
      if (most !== undefined && body.length > Number(most)) {
        return Effect.fail(this.unreadable(new NodeStream.MaxBytesError(Number(most))))
      }
      // A buffer of Node can be a part of memory that others have a part of.
      return Effect.succeed(new Uint8Array(body).buffer)
    })
  }

  private get received(): Effect.Effect<ArrayBuffer, HttpServerError> {
    return Effect.runSync(Effect.cached(Effect.withFiber((fiber) => {
      this.exchange.goOn()
      return NodeStream.toArrayBuffer(() => this.exchange.request, {
        onError: (cause) => this.unreadable(cause),
        destroyOnOverflow: false,
        maxBytes: fiber.getRef(HttpIncomingMessage.MaxBodySize)
      })
    })))
  }

  get text(): Effect.Effect<string, HttpServerError> {
    return Effect.map(this.arrayBuffer, (bytes) => decoder.decode(bytes))
  }

  get json(): Effect.Effect<Schema.Json, HttpServerError> {
    return Effect.flatMap(this.text, (text) =>
      Effect.try({
        try: (): Schema.Json => text === "" ? null : JSON.parse(text),
        catch: (cause) => this.unreadable(cause)
      }))
  }

  get urlParamsBody(): Effect.Effect<UrlParams.UrlParams, HttpServerError> {
    return Effect.flatMap(this.arrayBuffer, (bytes) =>
      Effect.try({
        // A question mark at the start belongs to the form, where a query would lose it.
        try: () => UrlParams.fromInput(new URLSearchParams(formDecoder.decode(bytes).replace(/^\?/, "%3F"))),
        catch: (cause) => this.unreadable(cause)
      }))
  }

  get multipart(): Effect.Effect<
    Multipart.Persisted,
    Multipart.MultipartError,
    Scope.Scope | FileSystem.FileSystem | Path.Path
  > {
    return Multipart.toPersisted(this.multipartStream)
  }

  get multipartStream(): Stream.Stream<Multipart.Part, Multipart.MultipartError> {
    return Stream.pipeThroughChannel(
      Stream.mapError(this.stream, (cause) => Multipart.MultipartError.fromReason("InternalError", cause)),
      Multipart.makeChannel(this.headers)
    )
  }

  get upgrade(): Effect.Effect<Socket.Socket, HttpServerError> {
    return this.upgradeWith()
  }

  upgradeWith(): Effect.Effect<Socket.Socket, HttpServerError> {
    const reason = new RequestParseError({ request: this, description: "this server upgrades no connections" })
    return Effect.fail(new HttpServerError({ reason }))
  }

  modify(options: Modification): HttpServerRequest.HttpServerRequest {
    const { modified } = this
    return new ListenerRequest(this.exchange, {
      url: options.url ?? this.url,
      headers: options.headers ?? this.ownHeaders,
      remoteAddress: "remoteAddress" in options ? options.remoteAddress : modified?.remoteAddress,
      peerAddress: options.peerAddress ?? modified?.peerAddress,
      protocol: options.protocol ?? modified?.protocol
    })
  }

  private unreadable(cause: unknown): HttpServerError {
    const reason = cause instanceof NodeStream.MaxBytesError ? "BodyTooLarge" : "Parse"
    return new HttpServerError({ reason: new RequestParseError({ request: this, reason, cause }) })
  }

  override toString(): string {
    return `ServerRequest(${this.method} ${UrlParams.redactUrl(this.url)})`
  }

  toJSON(): unknown {
    return HttpIncomingMessage.inspect(this, {
      _id: "HttpServerRequest",
      method: this.method,
      url: UrlParams.redactUrl(this.originalUrl)
    })
  }
}
