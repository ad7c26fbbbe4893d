import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { Classified, Classifier } from "../Classify.ts"
import type { Admission, Endpoint } from "../Endpoint.ts"
import { noOutlet } from "../Exchange.ts"
import type { Limits } from "../Limits.ts"
import * as McpHeaders from "../McpHeaders.ts"
import { admitAll, type Batch, readBatch } from "./batch.ts"
import { readBody } from "./body.ts"
import { readMessage } from "./bodyMessage.ts"
import { bodyRefusal } from "./bodyRefusal.ts"
import type { Receiver } from "./eventLog.ts"
import { type EventStreams, primesFor } from "./eventStreams.ts"
import { isExit } from "./exit.ts"
import { isModern, unreadableId } from "./facts.ts"
import { factsOf, type HttpFacts, withEra } from "./facts.ts"
import type { Response } from "./front.ts"
import type { BodySettings } from "./gather.ts"
import { type Json, parseBytes } from "./json.ts"
import * as media from "./media.ts"
import * as Refusals from "./refusals.ts"
import { failureResponse, rejectedResponse, Reply, type ReplySettings, type Slot } from "./respond.ts"
import { sessionIdOf } from "./sessionId.ts"

export interface PostOptions {
  readonly endpoint: Endpoint["Service"]
  readonly limits: Limits
  readonly classifier: Classifier
  readonly body: BodySettings
  readonly reply: ReplySettings
  /** The replies that are not over yet. */
  readonly open: Set<Reply>
  /** Where streams are kept to be resumed. */
  readonly streams: EventStreams | undefined
}

const accepted = Effect.succeed(HttpServerResponse.empty({ status: 202 }))

/** The header of the session a request opened; an id that no header may hold is left out (HTTP-35). */
const sessionHeader = (admission: Admission): Record<string, string> | undefined => {
  const id = sessionIdOf(admission.sessionId)
  return id === undefined ? undefined : { [McpHeaders.names.sessionId]: id }
}

/** One request's facts and what its client takes. */
interface Incoming {
  readonly facts: HttpFacts
  readonly accepts: media.Accepts
  readonly unreadableId: null | undefined
}

/** From the body of a POST to the endpoint, and back through a `Reply`. */
export class Post {
  private readonly options: PostOptions

  constructor(options: PostOptions) {
    this.options = options
  }

  serve(request: HttpServerRequest.HttpServerRequest, fiber: Fiber.Fiber<unknown, unknown>): Response {
    const { headers } = request
    const id = unreadableId(headers)
    if (!media.isJson(headers["content-type"])) {
      return Effect.succeed(failureResponse(415, id, Refusals.invalidRequest(`the body has to be ${media.json}`)))
    }
    const accepts = media.parseAccept(headers["accept"])
    if (!accepts.json && !accepts.stream) {
      const error = Refusals.invalidRequest(`the client has to accept ${media.json} or ${media.eventStream}`)
      return Effect.succeed(failureResponse(406, id, error))
    }
    const incoming = { facts: factsOf(request, fiber), accepts, unreadableId: id }
    const { depth } = this.options.limits
    const body = readBody(request, fiber, this.options.body, (bytes) => parseBytes(bytes, depth))
    if (isExit(body) && Exit.isSuccess(body)) return this.receive(body.value, incoming)
    return Effect.matchEffect(body, {
      onFailure: (failure) => Effect.succeed(bodyRefusal(failure, this.options.body.maxBytes, id, isModern(headers))),
      onSuccess: (json) => this.receive(json, incoming)
    })
  }

  private receive(json: Json, incoming: Incoming): Response {
    const read = readMessage(json, this.options.limits.depth)
    if (Result.isFailure(read)) {
      const { error, id } = read.failure
      return Effect.succeed(failureResponse(400, id ?? incoming.unreadableId, error))
    }
    return Array.isArray(read.success)
      ? this.batch(read.success, incoming)
      : this.single(read.success, incoming)
  }

  private single(message: JsonRpc.Message, incoming: Incoming): Response {
    const { endpoint } = this.options
    const classified = this.options.classifier.message(message, incoming.facts.headers)
    const isRequest = JsonRpc.isRequest(message)
    const id = isRequest ? message.id : incoming.unreadableId
    if (classified._tag === "Rejected") return Effect.succeed(rejectedResponse(classified, id))
    const facts = withEra(incoming.facts, classified)
    if (!isRequest) {
      return Effect.matchEffect(endpoint.handle({ message, facts, outlet: noOutlet }), {
        onFailure: (rejected) => Effect.succeed(rejectedResponse(rejected, id)),
        onSuccess: () => accepted
      })
    }
    const reply = this.reply(incoming.accepts, facts, classified._tag === "Modern", false, 1)
    const slot = reply.slot()
    const admission = endpoint.handle({ message, facts, outlet: slot })
    if (isExit(admission) && Exit.isSuccess(admission)) return this.admitted(reply, slot, admission.value, classified)
    return Effect.uninterruptibleMask((restore) =>
      Effect.matchEffect(admission, {
        onFailure: (rejected) => Effect.succeed(rejectedResponse(rejected, id)),
        onSuccess: (value) =>
          Effect.onInterrupt(
            restore(this.admitted(reply, slot, value, classified)),
            () => Effect.sync(() => reply.leave())
          )
      })
    )
  }

  private admitted(reply: Reply, slot: Slot, admission: Admission, classified: Classified): Response {
    slot.disconnected = admission.disconnected
    return reply.respond(classified._tag === "Legacy" ? sessionHeader(admission) : undefined)
  }

  private reply(accepts: media.Accepts, facts: HttpFacts, modern: boolean, batch: boolean, expected: number): Reply {
    const { open, reply, streams } = this.options
    // A modern message has no session, whatever its headers say.
    const resumable = streams === undefined || facts.sessionId === undefined
      ? undefined
      : { primed: primesFor(facts), open: (receiver: Receiver) => streams.open("request", facts, receiver) }
    return new Reply({ settings: reply, accepts, resumable, modern, batch, open }, expected)
  }

  private batch(values: ReadonlyArray<unknown>, incoming: Incoming): Response {
    const refuse = (reason: string): Response =>
      Effect.succeed(failureResponse(400, incoming.unreadableId, Refusals.invalidRequest(reason)))
    const { endpoint, limits } = this.options
    if (values.length === 0) return refuse("a batch must not be empty")
    if (values.length > limits.batch) return refuse(`a batch has at most ${limits.batch} messages`)
    const batch = readBatch(values, incoming.facts.headers, this.options.classifier)
    if (batch === undefined) return refuse("a batch is not part of this protocol version")
    if ("_tag" in batch) return Effect.succeed(rejectedResponse(batch, incoming.unreadableId))
    const facts = withEra(incoming.facts, batch.classified)
    return Effect.uninterruptibleMask((restore) =>
      Effect.matchEffect(endpoint.admitBatch(batch.messages, facts), {
        onFailure: (rejected) => Effect.succeed(rejectedResponse(rejected, incoming.unreadableId)),
        onSuccess: () => this.batchAdmitted(batch, facts, incoming, restore)
      })
    )
  }

  private batchAdmitted(
    batch: Batch,
    facts: HttpFacts,
    incoming: Incoming,
    restore: <A>(response: Effect.Effect<A, never, Scope.Scope>) => Effect.Effect<A, never, Scope.Scope>
  ): Response {
    const expected = batch.requests + batch.refusals.length
    const reply = this.reply(incoming.accepts, facts, false, true, expected)
    for (const refusal of batch.refusals) reply.complete(refusal)
    return Effect.flatMap(admitAll(this.options.endpoint, batch.messages, facts, reply), ({ admission, rejected }) => {
      if (expected === 0) {
        return rejected === undefined
          ? accepted
          : Effect.succeed(rejectedResponse(rejected, incoming.unreadableId))
      }
      return Effect.onInterrupt(
        restore(reply.respond(sessionHeader(admission))),
        () => Effect.sync(() => reply.leave())
      )
    })
  }
}
