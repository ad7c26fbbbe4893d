import * as Codes from "@mcpfx/schema/Codes"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Meta from "@mcpfx/schema/Meta"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import type { Endpoint, Rejected } from "../Endpoint.ts"
import type { Limits } from "../Limits.ts"
import { readBody } from "./body.ts"
import { readMessage } from "./bodyMessage.ts"
import { bodyRefusal } from "./bodyRefusal.ts"
import { factsOf, type HttpFacts } from "./facts.ts"
import type { Request, Response } from "./front.ts"
import type { BodySettings } from "./gather.ts"
import { type Json, parseBytes } from "./json.ts"
import * as media from "./media.ts"
import { Batch, RequestOutlet } from "./outlets.ts"
import * as Refusals from "./refusals.ts"
import { failureResponse, rejectedResponse } from "./respond.ts"
import type { SseConnection } from "./sseConnection.ts"

export interface SseMessagesOptions {
  readonly endpoint: Endpoint["Service"]
  readonly limits: Limits
  readonly body: BodySettings
  /** The versions with sessions that are served, which refusals list. */
  readonly supported: ReadonlyArray<string>
  /** The stream a request posts for, if it is open and the caller's. */
  readonly find: (request: Request, fiber: Fiber.Fiber<unknown, unknown>) => SseConnection | undefined
}

/** The revision that has this transport. */
const version = "2024-11-05"
const accepted = HttpServerResponse.empty({ status: 202 })
const gone = failureResponse(404, null, Refusals.invalidRequest("no stream of this session is open"))

/** What the message of a revision without this transport claims to be; `undefined` for all others. */
const claimOf = (message: JsonRpc.Message): string | undefined => {
  if (!JsonRpc.isRequest(message)) return undefined
  const claim = Meta.modernEnvelope(message.params)
  if (Result.isSuccess(claim)) return claim.success?.protocolVersion
  const meta = message.params?.["_meta"]
  const claimed = JsonRpc.isJsonObject(meta) ? meta[MetaKey.protocolVersion] : undefined
  return typeof claimed === "string" ? claimed : ""
}

/** A refusal that says something in its headers is for HTTP; any other is the answer, and belongs on the stream. */
const isForTransport = ({ headers }: Rejected): boolean => Object.keys(headers).length > 0

/** From the body of a POST to the endpoint; what is answered goes out on the stream. */
export class SseMessages {
  private readonly options: SseMessagesOptions

  constructor(options: SseMessagesOptions) {
    this.options = options
  }

  serve(request: Request, fiber: Fiber.Fiber<unknown, unknown>): Response {
    const connection = this.options.find(request, fiber)
    if (connection === undefined) return Effect.succeed(gone)
    const id = connection.unreadableId
    if (!media.isJson(request.headers["content-type"])) {
      return Effect.succeed(failureResponse(415, id, Refusals.invalidRequest(`the body has to be ${media.json}`)))
    }
    const { body } = this.options
    const facts: HttpFacts = {
      ...factsOf(request, fiber),
      connection: connection.link,
      sessionId: undefined,
      classified: { _tag: "Legacy", version }
    }
    const { depth } = this.options.limits
    const read = Effect.matchEffect(readBody(request, fiber, body, (bytes) => parseBytes(bytes, depth)), {
      onFailure: (failure) => Effect.succeed(bodyRefusal(failure, body.maxBytes, id, false)),
      onSuccess: (json) => this.receive(json, connection, facts)
    })
    // Nothing is read for a client that does not read itself.
    return Effect.flatMap(connection.room(), (open) => open ? read : Effect.succeed(gone))
  }

  private receive(json: Json, connection: SseConnection, facts: HttpFacts): Response {
    const read = readMessage(json, this.options.limits.depth)
    if (Result.isFailure(read)) {
      const { error, id } = read.failure
      return Effect.succeed(failureResponse(400, id ?? connection.unreadableId, error))
    }
    return Array.isArray(read.success)
      ? this.batch(read.success, connection, facts)
      : this.single(read.success, connection, facts)
  }

  private single(message: JsonRpc.Message, connection: SseConnection, facts: HttpFacts): Response {
    const id = JsonRpc.isRequest(message) ? message.id : connection.unreadableId
    const claimed = claimOf(message)
    if (claimed !== undefined) return Effect.succeed(failureResponse(400, id, this.unsupported(claimed)))
    const outlet = JsonRpc.isRequest(message) ? new RequestOutlet(connection, message.id) : undefined
    return Effect.match(connection.admit(message, facts, outlet), {
      onFailure: (rejected) => {
        if (outlet === undefined || isForTransport(rejected)) return rejectedResponse(rejected, id)
        outlet.refuse(rejected.error)
        return accepted
      },
      onSuccess: () => accepted
    })
  }

  private unsupported(requested: string): JsonRpc.WireError {
    const { supported } = this.options
    return {
      code: Codes.unsupportedVersion,
      message: "Unsupported protocol version",
      data: { supported: [...supported], requested }
    }
  }

  private batch(values: ReadonlyArray<unknown>, connection: SseConnection, facts: HttpFacts): Response {
    const { endpoint, limits } = this.options
    const refuse = (reason: string): Response =>
      Effect.succeed(failureResponse(400, connection.unreadableId, Refusals.invalidRequest(reason)))
    if (values.length === 0) return refuse("a batch must not be empty")
    if (values.length > limits.batch) return refuse(`a batch has at most ${limits.batch} messages`)
    const messages: Array<JsonRpc.Message> = []
    const refusals: Array<JsonRpc.Failure> = []
    for (const value of values) {
      const parsed = JsonRpc.parse(value)
      if (Result.isSuccess(parsed)) messages.push(parsed.success)
      else if (Refusals.isAnswerable(value, parsed.failure)) {
        const id = parsed.failure.id ?? connection.unreadableId
        refusals.push(JsonRpc.failure(id, Refusals.invalidRequest(parsed.failure.reason)))
      }
    }
    if (messages.some((message) => claimOf(message) !== undefined)) {
      return refuse("a batch holds no requests of a revision without batches")
    }
    return Effect.matchEffect(endpoint.admitBatch(messages, facts), {
      onFailure: (rejected) => Effect.succeed(rejectedResponse(rejected, connection.unreadableId)),
      onSuccess: () => this.admitAll(messages, refusals, connection, facts)
    })
  }

  private admitAll(
    messages: ReadonlyArray<JsonRpc.Message>,
    refusals: ReadonlyArray<JsonRpc.Failure>,
    connection: SseConnection,
    facts: HttpFacts
  ): Response {
    const batch = new Batch(connection, this.options.limits.httpMessageOut)
    for (const refusal of refusals) batch.add(JsonRpc.stringify(refusal))
    const admit = (message: JsonRpc.Message): Effect.Effect<void> => {
      const outlet = JsonRpc.isRequest(message) ? batch.outlet(message.id) : undefined
      return Effect.match(connection.admit(message, facts, outlet), {
        onFailure: ({ error }) => outlet?.refuse(error),
        onSuccess: () => {}
      })
    }
    return Effect.uninterruptible(Effect.map(Effect.forEach(messages, admit, { discard: true }), () => {
      batch.settle()
      return accepted
    }))
  }
}
