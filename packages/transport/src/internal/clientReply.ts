import * as Codes from "@mcpfx/schema/Codes"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Headers from "effect/http/Headers"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Sse from "../Sse.ts"
import { HttpFailure, MessageTooLarge, SessionLost, type TransportError } from "../TransportError.ts"
import { addressOf, transportFailure } from "./clientCall.ts"
import { isExit } from "./exit.ts"
import { parseJson } from "./json.ts"
import { peek } from "./peek.ts"
import * as Refusals from "./refusals.ts"
import { readText, withBody } from "./responseBody.ts"
import type { SeenEvents } from "./seenEvents.ts"

type Response = HttpClientResponse.HttpClientResponse

export interface ReaderOptions {
  readonly owner: Scope.Scope
  readonly maxBytes: number
  readonly depth: number
  /** Hands a message to the endpoint; with a fault where it stands for an answer that could not be read. */
  readonly deliver: (message: JsonRpc.Message, fault?: string) => Effect.Effect<void>
}

/** How far a stream got. */
export interface StreamEnd {
  readonly answered: boolean
  /** Whether any event came that had a message. */
  readonly spoke: boolean
  readonly lastEventId: string | undefined
  /** What the server asks to wait before the next connection, milliseconds. */
  readonly retry: number | undefined
  /** Why it ended, if not by its end. */
  readonly broken: HttpFailure | undefined
}

/** What a refused request was. */
export interface Sent {
  readonly id: JsonRpc.RequestId | undefined
  readonly sessionId: string | undefined
}

const excerptLength = 300
const errorBytes = 262_144

/** Some peers write back a number as a string; whether that will do is for the session to say. */
const isSameId = (a: JsonRpc.RequestId | null | undefined, b: JsonRpc.RequestId): boolean =>
  a === b || (a !== undefined && a !== null && String(a) === String(b))

/** The JSON-RPC error that the body of a refusal may hold. */
const errorIn = (text: string, depth: number): JsonRpc.Failure | undefined => {
  if (!text.trimStart().startsWith("{")) return undefined
  const message = Result.flatMap(parseJson(text, depth), JsonRpc.parse)
  return Result.isSuccess(message) && JsonRpc.isResponse(message.success) && JsonRpc.isFailure(message.success)
    ? message.success
    : undefined
}

/** Whose statuses say more than any error in their body: who to ask for a token, how long to wait. */
const isForTransport = (status: number, challenge: string | undefined): boolean =>
  status === 401 || status === 429 || status === 503 || (status === 403 && challenge !== undefined)

/** Reads what a server says: bodies to messages to the endpoint. */
export class Reader {
  private readonly options: ReaderOptions

  constructor(options: ReaderOptions) {
    this.options = options
  }

  /** Reads a JSON body; tells whether the answer to `id` was in it. */
  json(response: Response, headers: Headers.Headers, id: JsonRpc.RequestId): Effect.Effect<boolean, TransportError> {
    const { maxBytes, owner } = this.options
    const { status } = response
    return Effect.matchEffect(readText(response, headers, owner, maxBytes), {
      onFailure: (error): Effect.Effect<boolean, TransportError> =>
        Effect.fail(transportFailure(error, "The answer broke off", status)),
      onSuccess: ({ complete, text }): Effect.Effect<boolean, TransportError> =>
        complete
          ? this.takeText(text, status, id)
          : Effect.fail(new MessageTooLarge({ bytes: bytesOf(headers, maxBytes), limit: maxBytes }))
    })
  }

  /** Reads an event stream up to the answer to `id`, or to its end. */
  events(
    response: Response,
    id: JsonRpc.RequestId | undefined,
    lastEventId: string | undefined,
    seen: SeenEvents
  ): Effect.Effect<StreamEnd, TransportError> {
    const { maxBytes, owner } = this.options
    const { status } = response
    let events: Array<Sse.Event> = []
    let tooLarge: number | undefined = undefined
    const parser = new Sse.Parser({
      maxBytes,
      lastEventId,
      onEvent: (event) => events.push(event),
      onTooLarge: (bytes) => {
        tooLarge = bytes
      }
    })
    let answered = false
    let spoke = false
    const end = (broken?: HttpFailure): StreamEnd => ({
      answered,
      spoke,
      lastEventId: parser.lastEventId,
      retry: parser.retry,
      broken
    })
    const takeEvent = (event: Sse.Event): Effect.Effect<void, HttpFailure> => {
      // An event without data only moves the id; one of another type is not for us.
      if (event.data === "" || (event.event !== undefined && event.event !== "message")) return Effect.void
      // A server may give again what came before the break.
      if (!seen.isNew(event)) return Effect.void
      spoke = true
      return Effect.map(this.takeEvent(event.data, status, id), (one) => {
        answered ||= one
      })
    }
    const takeAll = (): Effect.Effect<void, TransportError> => {
      const taken = events
      events = []
      if (tooLarge !== undefined && id !== undefined) {
        return Effect.fail(new MessageTooLarge({ bytes: tooLarge, limit: maxBytes }))
      }
      return Effect.forEach(taken, takeEvent, { discard: true })
    }
    return withBody(response, owner, (body) =>
      Effect.gen(function*() {
        while (!answered) {
          const read = yield* Effect.result(body.next)
          if (Result.isFailure(read)) {
            const broken = transportFailure(read.failure, "The stream broke off", status)
            return { value: end(broken), satisfied: false }
          }
          if (read.success === undefined) return { value: end(), satisfied: true }
          for (const chunk of read.success) parser.push(chunk)
          if (events.length > 0 || tooLarge !== undefined) yield* takeAll()
        }
        return { value: end(), satisfied: true }
      }))
  }

  /** What a status other than 2xx means; tells whether its body was the answer. */
  refusal(response: Response, sent: Sent): Effect.Effect<boolean, TransportError> {
    const { headers, status } = response
    return readText(response, headers, this.options.owner, errorBytes).pipe(
      Effect.orElseSucceed(() => ({ text: "", complete: false })),
      Effect.flatMap(({ text }): Effect.Effect<boolean, TransportError> => {
        const failure = errorIn(text, this.options.depth)
        if (status === 404 && sent.sessionId !== undefined && failure?.error.code !== Codes.methodNotFound) {
          return Effect.fail(new SessionLost({ sessionId: sent.sessionId }))
        }
        const challenge = headers["www-authenticate"]
        const answers = failure !== undefined && sent.id !== undefined && isSameId(failure.id, sent.id)
        if (answers && !isForTransport(status, challenge)) return Effect.as(this.options.deliver(failure), true)
        return Effect.fail(refused(response, text, failure?.error))
      })
    )
  }

  private takeText(text: string, status: number, id: JsonRpc.RequestId): Effect.Effect<boolean, HttpFailure> {
    if (text === "") return Effect.fail(new HttpFailure({ status, detail: "The answer has no body" }))
    const json = parseJson(text, this.options.depth)
    if (Result.isFailure(json)) {
      return this.unread(id, json.failure === "TooDeep" ? this.tooDeep : "it is not JSON")
    }
    return this.takeValues(json.success, status, id, true)
  }

  private takeEvent(
    data: string,
    status: number,
    id: JsonRpc.RequestId | undefined
  ): Effect.Effect<boolean, HttpFailure> {
    const json = parseJson(data, this.options.depth)
    if (Result.isSuccess(json)) return this.takeValues(json.success, status, id, false)
    if (json.failure === "TooDeep" && id !== undefined) {
      const { id: theirs, response } = peek(data)
      if (response && isSameId(theirs, id)) return this.unread(id, this.tooDeep)
    }
    return Effect.as(Effect.logDebug("An event that is no JSON was skipped"), false)
  }

  /** Tells whoever waits for the answer to `id` that it came, and what is wrong with it. */
  private unread(id: JsonRpc.RequestId, fault: string): Effect.Effect<boolean> {
    return Effect.as(this.options.deliver(JsonRpc.failure(id, Refusals.unreadableAnswer), fault), true)
  }

  private get tooDeep(): string {
    return Refusals.tooDeepAnswer(this.options.depth)
  }

  private takeValues(
    value: unknown,
    status: number,
    id: JsonRpc.RequestId | undefined,
    alone: boolean
  ): Effect.Effect<boolean, HttpFailure> {
    if (!Array.isArray(value)) return this.takeValue(value, status, id, alone)
    const values: ReadonlyArray<unknown> = value
    return Effect.reduce(
      values,
      () => false,
      (answered, one) => Effect.map(this.takeValue(one, status, id, false), (answers) => answers || answered)
    )
  }

  /** What is no message is the answer, unreadable, if it is all there is or has the id; it is skipped otherwise. */
  private takeValue(
    value: unknown,
    status: number,
    id: JsonRpc.RequestId | undefined,
    alone: boolean
  ): Effect.Effect<boolean, HttpFailure> {
    const parsed = JsonRpc.parse(value)
    if (Result.isFailure(parsed)) {
      const { id: theirs, reason } = parsed.failure
      return id !== undefined && (alone || (Refusals.isAnswer(value) && isSameId(theirs, id)))
        ? this.unread(id, reason)
        : Effect.as(Effect.logDebug(`Something that is no message was skipped: ${reason}`), false)
    }
    const message = parsed.success
    if (!JsonRpc.isResponse(message)) return Effect.as(this.options.deliver(message), false)
    if (JsonRpc.isFailure(message) && (message.id === undefined || message.id === null)) {
      return id === undefined
        ? Effect.as(Effect.logDebug("The server reported an error about no request", message.error), false)
        : Effect.fail(new HttpFailure({ status, detail: message.error.message, error: message.error }))
    }
    const delivered = this.options.deliver(message)
    const answers = id !== undefined && isSameId(message.id, id)
    return isExit(delivered) && Exit.isSuccess(delivered) ? Effect.succeed(answers) : Effect.as(delivered, answers)
  }
}

const bytesOf = (headers: Headers.Headers, limit: number): number => {
  const length = Number(headers["content-length"])
  return Number.isSafeInteger(length) && length > limit ? length : limit + 1
}

/** Statuses that most often mean that the address is wrong. */
const misplaced: ReadonlySet<number> = new Set([404, 405, 410])

/** What a server said that did not speak of the protocol, and where that was not enough. */
const said = ({ status, url }: Response, text: string): string => {
  const excerpt = text.slice(0, excerptLength).trim()
  if (excerpt !== "" && !misplaced.has(status)) return excerpt
  const parsed = URL.parse(url)
  const address = parsed === null ? "the server" : addressOf(parsed)
  return excerpt === "" ? `${address} gives no reason` : `${excerpt} (${address})`
}

/** The failure a response stands for. */
export const refused = (response: Response, text: string, error?: JsonRpc.WireError): HttpFailure => {
  const { headers, status } = response
  const challenge = headers["www-authenticate"]
  const retryAfter = headers["retry-after"]
  return new HttpFailure({
    status,
    detail: error?.message ?? said(response, text),
    ...(challenge === undefined ? undefined : { wwwAuthenticate: challenge }),
    ...(retryAfter === undefined ? undefined : { retryAfter }),
    ...(error === undefined ? undefined : { error })
  })
}
