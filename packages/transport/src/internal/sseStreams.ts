import type { SecureRandom } from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import type * as Fiber from "effect/Fiber"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Principal from "../Principal.ts"
import type { Request, Response } from "./front.ts"
import * as media from "./media.ts"
import * as Refusals from "./refusals.ts"
import { failureResponse, streamHeaders, unavailableResponse } from "./respond.ts"
import { SseConnection, type SseConnectionOptions } from "./sseConnection.ts"

export interface SseStreamsOptions {
  readonly connection: SseConnectionOptions
  readonly random: SecureRandom["Service"]
  /** The path of the streams, and that of the messages. */
  readonly path: string
  readonly messages: string
  /** What clients are told to post to, where that is not the path of the messages. */
  readonly endpoint: string | undefined
  readonly maxStreams: number
  readonly maxStreamsPerPrincipal: number
}

/** The name of a stream: 144 random bits, like the ids of sessions. */
const idBytes = 18
const idParameter = "sessionId"

const principalKeyOf = (fiber: Fiber.Fiber<unknown, unknown>): string =>
  Principal.key(fiber.getRef(Principal.CurrentPrincipal))

const urlOf = (request: Request): URL | undefined =>
  Option.getOrUndefined(Result.getSuccess(Result.try(() => new URL(request.originalUrl, "http://localhost"))))

export const withoutSlash = (path: string): string => path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path

const withId = (uri: string, id: string): string => `${uri}${uri.includes("?") ? "&" : "?"}${idParameter}=${id}`

/** The streams that are open, each under its unguessable name. */
export class SseStreams {
  private readonly options: SseStreamsOptions
  private readonly open = new Map<string, SseConnection>()
  private readonly perPrincipal = new Map<string, number>()
  private draining = false

  constructor(options: SseStreamsOptions) {
    this.options = options
  }

  /** Opens no more streams, and ends each that is open once the requests on it are answered. */
  drain(): void {
    this.draining = true
    for (const connection of Array.from(this.open.values())) connection.finish()
  }

  /** Ends all streams, after what was sent on them. */
  end(): void {
    this.draining = true
    for (const connection of Array.from(this.open.values())) connection.end()
  }

  /** The stream a message is posted for: a stranger's is as unknown as one that is not there (SEC-06). */
  readonly find = (request: Request, fiber: Fiber.Fiber<unknown, unknown>): SseConnection | undefined => {
    const connection = this.open.get(urlOf(request)?.searchParams.get(idParameter) ?? "")
    return connection?.principalKey === principalKeyOf(fiber) ? connection : undefined
  }

  /** Answers with a stream that begins with where to post (SSE-02). */
  serve(request: Request, fiber: Fiber.Fiber<unknown, unknown>): Response {
    if (!media.parseAccept(request.headers["accept"]).stream) {
      const error = Refusals.invalidRequest(`the client has to accept ${media.eventStream}`)
      return Effect.succeed(failureResponse(406, null, error))
    }
    const principalKey = principalKeyOf(fiber)
    const opened = Effect.acquireRelease(
      Effect.map(this.options.random.randomBytes(idBytes), (bytes) => {
        const id = Base64Url.encode(bytes)
        return this.refusal(principalKey) ?? this.start(id, principalKey, this.uriOf(request, id), fiber)
      }),
      (connection) => Effect.sync(() => typeof connection === "string" ? undefined : connection.abort())
    )
    return Effect.map(opened, (connection) =>
      typeof connection === "string"
        ? unavailableResponse(false, connection)
        : HttpServerResponse.stream(connection.body, {
          contentType: media.eventStream,
          headers: streamHeaders(undefined)
        }))
  }

  /** Why no stream can be opened now. */
  private refusal(principalKey: string): string | undefined {
    const { maxStreams, maxStreamsPerPrincipal } = this.options
    if (this.draining) return "The server is shutting down"
    if (this.open.size >= maxStreams) return "Too many requests: sseStreams"
    const own = this.perPrincipal.get(principalKey) ?? 0
    return principalKey !== "" && own >= maxStreamsPerPrincipal
      ? "Too many requests: sseStreamsPerPrincipal"
      : undefined
  }

  private start(
    id: string,
    principalKey: string,
    uri: string,
    fiber: Fiber.Fiber<unknown, unknown>
  ): SseConnection {
    const connection = new SseConnection(this.options.connection, principalKey, uri, (end) => {
      this.forget(id, principalKey)
      if (end === "dead") fiber.interruptUnsafe()
    })
    this.open.set(id, connection)
    this.perPrincipal.set(principalKey, (this.perPrincipal.get(principalKey) ?? 0) + 1)
    return connection
  }

  private forget(id: string, principalKey: string): void {
    this.open.delete(id)
    const left = (this.perPrincipal.get(principalKey) ?? 1) - 1
    if (left === 0) this.perPrincipal.delete(principalKey)
    else this.perPrincipal.set(principalKey, left)
  }

  /** Where to post: without an origin, and under the prefix that this request came by. */
  private uriOf(request: Request, id: string): string {
    const { endpoint, messages, path } = this.options
    if (endpoint !== undefined) return withId(endpoint, id)
    const asked = withoutSlash(urlOf(request)?.pathname ?? "")
    const prefix = asked.endsWith(path) ? asked.slice(0, -path.length) : ""
    // Two slashes at its start would make it name another host.
    return withId(prefix.startsWith("//") ? messages : prefix + messages, id)
  }
}
