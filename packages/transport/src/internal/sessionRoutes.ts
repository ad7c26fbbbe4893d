import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Scope from "effect/Scope"
import type { Classifier } from "../Classify.ts"
import { type Endpoint, Rejected } from "../Endpoint.ts"
import * as McpHeaders from "../McpHeaders.ts"
import { factsOf, type HttpFacts, isModern, unreadableId } from "./facts.ts"
import type { Request, Response } from "./front.ts"
import * as media from "./media.ts"
import type { OutboxSettings } from "./outbox.ts"
import * as Refusals from "./refusals.ts"
import { failureResponse, rejectedResponse, streamHeaders } from "./respond.ts"
import type { Resumption } from "./resumption.ts"
import { OpenStream } from "./stream.ts"

export interface SessionRoutesOptions {
  readonly endpoint: Endpoint["Service"]
  readonly classifier: Classifier
  readonly outbox: OutboxSettings
  /** Bytes of the largest message to write. */
  readonly maxBytes: number
  /** GET where streams can be resumed. */
  readonly resumption: Resumption | undefined
}

const ended = HttpServerResponse.empty({ status: 204 })
const notModern = new Rejected(Refusals.invalidRequest("there are no sessions in this protocol version"), 405)

/** GET and DELETE: the stream of a session, and its end. */
export class SessionRoutes {
  private readonly options: SessionRoutesOptions
  private readonly streams = new Set<OpenStream>()

  constructor(options: SessionRoutesOptions) {
    this.options = options
  }

  /** Ends all streams, after what was sent on them. */
  end(): void {
    for (const stream of this.streams) stream.end()
    this.options.resumption?.end()
  }

  get(request: Request, fiber: Fiber.Fiber<unknown, unknown>): Response {
    const rejected = this.judge(request)
    if (rejected !== undefined) return Effect.succeed(rejected)
    const id = unreadableId(request.headers)
    if (!media.parseAccept(request.headers["accept"]).stream) {
      const error = Refusals.invalidRequest(`the client has to accept ${media.eventStream}`)
      return Effect.succeed(failureResponse(406, id, error))
    }
    const facts = factsOf(request, fiber)
    const { resumption } = this.options
    if (resumption !== undefined) {
      return resumption.get(request.headers[McpHeaders.names.lastEventId], facts, id, fiber)
    }
    const stream = new OpenStream(this.options, fiber)
    return Effect.andThen(
      this.keep(stream),
      Effect.match(Effect.suspend(() => this.attach(facts, stream)), {
        onFailure: (rejected) => rejectedResponse(rejected, id),
        onSuccess: () =>
          HttpServerResponse.stream(stream.body, {
            contentType: media.eventStream,
            headers: streamHeaders(undefined)
          })
      })
    )
  }

  delete(request: Request, fiber: Fiber.Fiber<unknown, unknown>): Response {
    const rejected = this.judge(request)
    if (rejected !== undefined) return Effect.succeed(rejected)
    const facts = factsOf(request, fiber)
    return Effect.match(this.options.endpoint.terminate(facts), {
      onFailure: (rejected) => rejectedResponse(rejected, unreadableId(request.headers)),
      onSuccess: () => {
        this.options.resumption?.forgetSession(facts)
        return ended
      }
    })
  }

  /** Judges the version header, where there is one (HTTP-45, HTTP-66); without one the session knows its version. */
  private judge(request: Request): HttpServerResponse.HttpServerResponse | undefined {
    const { headers } = request
    if (isModern(headers)) return rejectedResponse(notModern, undefined)
    const classified = this.options.classifier.bare(headers)
    return classified._tag === "Rejected" && headers[McpHeaders.names.protocolVersion] !== undefined
      ? rejectedResponse(classified, unreadableId(headers))
      : undefined
  }

  /** Has the stream go with its response; bound, so that it keeps nothing else of the request. */
  private keep(stream: OpenStream): Effect.Effect<void, never, Scope.Scope> {
    return Effect.flatMap(Effect.scope, (scope) => Scope.addFinalizerExit(scope, this.left.bind(this, stream)))
  }

  private attach(facts: HttpFacts, stream: OpenStream): Effect.Effect<void, Rejected, Scope.Scope> {
    this.streams.add(stream)
    return this.options.endpoint.attach(facts, stream)
  }

  private left(stream: OpenStream): Effect.Effect<void> {
    this.streams.delete(stream)
    stream.leave()
    return Effect.void
  }
}
