import * as Codes from "@mcpfx/schema/Codes"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import type { Rejected } from "../Endpoint.ts"
import type { Outlet } from "../Exchange.ts"
import * as Sse from "../Sse.ts"
import type { EventLog, Receiver } from "./eventLog.ts"
import * as events from "./events.ts"
import { isLongerThan } from "./json.ts"
import * as media from "./media.ts"
import { Outbox, type OutboxEnd, type OutboxSettings } from "./outbox.ts"
import * as Refusals from "./refusals.ts"
import { statusOf } from "./status.ts"

export interface ReplySettings {
  readonly outbox: OutboxSettings
  /** Largest message to write, bytes. */
  readonly maxBytes: number
  /** Silence after which an event stream is opened. */
  readonly streamAfter: Duration.Duration
}

/** Where the streams of replies are kept to be resumed. */
export interface Resumable {
  /** Whether their connections may be closed at will. */
  readonly primed: boolean
  readonly open: (receiver: Receiver) => EventLog
}

/** What one reply is made from. */
export interface ReplyOptions {
  readonly settings: ReplySettings
  readonly accepts: media.Accepts
  /** Makes the stream of the reply one that can be resumed; `undefined` where it cannot be. */
  readonly resumable: Resumable | undefined
  /** Whether errors have statuses of their own. */
  readonly modern: boolean
  /** Whether the answers are written as an array, though there be one. */
  readonly batch: boolean
  /** The replies that are not over yet, for the server to end when it goes. */
  readonly open: Set<Reply>
}

export type Extra = Readonly<Record<string, string>> | undefined

export const streamHeaders = (extra: Extra): Record<string, string> => ({
  // `no-transform` keeps compressing proxies from holding events back.
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
  ...extra
})

/** A stream that is over already, written as one text. */
const eventsResponse = (text: string, extra: Extra): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text, { contentType: media.eventStream, headers: streamHeaders(extra) })

const jsonResponse = (text: string, status: number, extra: Extra): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(
    text,
    extra === undefined
      ? { status, contentType: media.json }
      : { status, contentType: media.json, headers: extra }
  )

/** A refusal, with the id where it is known; `null` and `undefined` as `JsonRpc.failure` has it. */
export const failureResponse = (
  status: number,
  id: JsonRpc.RequestId | null | undefined,
  error: JsonRpc.WireError,
  extra?: Extra
): HttpServerResponse.HttpServerResponse => jsonResponse(JsonRpc.stringify(JsonRpc.failure(id, error)), status, extra)

const unanswered: JsonRpc.WireError = { code: Codes.internalError, message: "The request ended without an answer" }

/** A refusal by the endpoint; a method that is not allowed always names those that are. */
export const rejectedResponse = (
  rejected: Rejected,
  id: JsonRpc.RequestId | null | undefined
): HttpServerResponse.HttpServerResponse =>
  failureResponse(
    rejected.httpStatus,
    id,
    rejected.error,
    rejected.httpStatus === 405 ? { allow: "POST", ...rejected.headers } : rejected.headers
  )

/** Too much at once, or too late; worth another try after a moment. */
export const unavailableResponse = (
  modern: boolean,
  message: string,
  extra?: Extra
): HttpServerResponse.HttpServerResponse =>
  failureResponse(503, undefined, { code: modern ? Codes.internalError : Codes.overloaded, message }, {
    "retry-after": "1",
    ...extra
  })

/** The text of an answer, or of the error that stands for one that cannot be written. Never throws. */
const writeAnswer = (message: JsonRpc.Outgoing, maxBytes: number): string => {
  const text = Result.try(() => JsonRpc.stringify(message))
  if (Result.isFailure(text)) return JsonRpc.stringify(JsonRpc.failure(message.id, Refusals.internalError))
  return isLongerThan(text.success, maxBytes)
    ? JsonRpc.stringify(JsonRpc.failure(message.id, Refusals.resultTooLarge(maxBytes)))
    : text.success
}

/**
 * The way back of one request; closes once: by its answer, its end or the peer's leaving.
 *
 * Here and below no function literal is assigned to a property: engines put those in the old generation of the heap at
 * once, where they keep all that they lead to alive, the answer with it, until that is collected.
 */
export class Slot implements Outlet {
  readonly oneShot: boolean
  private readonly reply: Reply
  private state: "open" | "closed" | "left" = "open"
  private onLeft: (() => void) | undefined = undefined

  constructor(reply: Reply) {
    this.oneShot = reply.oneShot
    this.reply = reply
  }

  answer(message: JsonRpc.Outgoing): void {
    if (this.close("closed")) this.reply.complete(message)
  }

  end(): void {
    if (this.close("closed")) this.reply.complete(undefined)
  }

  push(message: JsonRpc.Outgoing): Effect.Effect<void> {
    return Effect.suspend(() => this.state === "open" ? this.reply.push(message) : Effect.void)
  }

  closeStream(retry: Duration.Duration | undefined): Effect.Effect<boolean> {
    return Effect.sync(() => this.state === "open" && this.reply.hangUp(retry))
  }

  /** What to call when the peer leaves before the answer; called at once if it has left. */
  set disconnected(onLeft: (() => void) | undefined) {
    if (this.state === "open") this.onLeft = onLeft
    else if (this.state === "left") onLeft?.()
  }

  get maxBytes(): number {
    return this.reply.maxBytes
  }

  leave(): void {
    if (this.close("left")) this.onLeft?.()
  }

  private close(state: "closed" | "left"): boolean {
    if (this.state !== "open") return false
    this.state = state
    return true
  }
}

/**
 * What one POST is answered with: JSON when the answers are the first thing there is, an event stream when a notification
 * comes first or nothing comes for a while.
 */
export class Reply implements Receiver {
  /** Only the answer can be written. */
  readonly oneShot: boolean
  private readonly options: ReplyOptions
  // The usual case has fields of its own, and makes no arrays.
  private onlySlot: Slot | undefined = undefined
  private moreSlots: Array<Slot> | undefined = undefined
  private firstAnswer: string | undefined = undefined
  private moreAnswers: Array<string> | undefined = undefined
  private status = 200
  private missing: number
  private outbox: Outbox | undefined = undefined
  /** What the stream was, once it is one that can be resumed: it then outlives its connection. */
  private log: EventLog | undefined = undefined
  private onSettled: (() => void) | undefined = undefined
  private shutDown = false
  /** What writes the stream; cut off when its reader takes nothing. */
  private writer: Fiber.Fiber<unknown, unknown> | undefined = undefined

  /** `expected` answers make it whole. */
  constructor(options: ReplyOptions, expected = 1) {
    this.options = options
    this.missing = expected
    this.oneShot = !options.accepts.stream
  }

  get maxBytes(): number {
    return this.options.settings.maxBytes
  }

  /** The way back of one of the requests. */
  slot(): Slot {
    const slot = new Slot(this)
    if (this.onlySlot === undefined) this.onlySlot = slot
    else (this.moreSlots ??= []).push(slot)
    return slot
  }

  /** Counts one of the expected answers in, with the message where there is one. */
  complete(message: JsonRpc.Outgoing | undefined): void {
    this.missing--
    if (message !== undefined) this.write(message)
    if (this.missing > 0) return
    this.outbox?.end()
    this.log?.end()
    this.onSettled?.()
  }

  private write(message: JsonRpc.Outgoing): void {
    const text = writeAnswer(message, this.options.settings.maxBytes)
    if (this.outbox !== undefined) return this.outbox.add(this.encode(text))
    if (this.firstAnswer === undefined) this.firstAnswer = text
    else (this.moreAnswers ??= []).push(text)
    if (this.options.modern && "error" in message) this.status = statusOf(message.error.code)
  }

  /** Writes a message before the answer; dropped when the peer takes no stream or the message is too large. */
  push(message: JsonRpc.Outgoing): Effect.Effect<void> {
    if (this.oneShot) return Effect.void
    const text = JsonRpc.stringify(message)
    if (isLongerThan(text, this.options.settings.maxBytes)) {
      return Effect.logWarning("A message before an answer was too large and was dropped")
    }
    const put = this.stream().put(this.encode(text))
    // Resuming runs the response on this very stack, so the message has to be there already.
    this.onSettled?.()
    return Effect.asVoid(put)
  }

  private encode(text: string): string {
    return (this.log ?? events.plain).encode(text)
  }

  private stream(): Outbox {
    if (this.outbox !== undefined) return this.outbox
    const { resumable, settings } = this.options
    const outbox = new ReplyOutbox(settings.outbox, this)
    this.outbox = outbox
    const log = resumable?.open(this)
    this.log = log
    if (log?.prime !== undefined) outbox.add(log.prime)
    for (const text of this.answers()) outbox.add(this.encode(text))
    return outbox
  }

  release(): void {
    this.outbox?.end()
  }

  connect(outbox: Outbox): void {
    this.outbox = outbox
  }

  /** Closes the connection, for its client to open another one; whether there is a stream that lets it (HTTP-28). */
  hangUp(retry: Duration.Duration | undefined): boolean {
    if (this.oneShot || this.options.resumable?.primed !== true) return false
    const outbox = this.stream()
    if (retry !== undefined) outbox.add(Sse.encode({ retry: Duration.toMillis(retry) }))
    outbox.end()
    this.onSettled?.()
    return true
  }

  /** The peer is gone: each request without an answer hears of it, once, unless the peer may come back for the rest. */
  leave(): void {
    this.left(this.outbox)
  }

  /** An outbox closed, which need not be the one there is now. */
  outboxClosed(outbox: Outbox, end: OutboxEnd): void {
    if (end !== "ended") this.left(outbox)
    if (end === "dead") this.writer?.interruptUnsafe()
  }

  /** Closes the connection of an outbox, which need not be the one there is now. */
  private left(outbox: Outbox | undefined): void {
    outbox?.abort()
    if (this.log === undefined) this.leaveSlots()
    this.onSettled?.()
  }

  /** The server is going: what waits is refused, what streams ends. */
  shutdown(): void {
    this.shutDown = true
    this.leaveSlots()
    this.outbox?.end()
    this.log?.end()
    this.onSettled?.()
  }

  private leaveSlots(): void {
    this.onlySlot?.leave()
    for (const slot of this.moreSlots ?? []) slot.leave()
  }

  /** Those that wait to be written. */
  private answers(): ReadonlyArray<string> {
    return this.firstAnswer === undefined ? [] : [this.firstAnswer, ...this.moreAnswers ?? []]
  }

  /** The response, as soon as it is known what it will be. */
  respond(extra: Extra): Effect.Effect<HttpServerResponse.HttpServerResponse, never, Scope.Scope> {
    if (this.outbox !== undefined || this.missing === 0) return this.settle(extra)
    const settled = Effect.callback<void>((resume) => {
      const onSettled = () => {
        this.onSettled = undefined
        resume(Effect.void)
      }
      this.onSettled = onSettled
      return Effect.sync(() => {
        this.onSettled = undefined
      })
    })
    const left = Effect.sync(() => {
      this.options.open.delete(this)
      this.leave()
    })
    this.options.open.add(this)
    return Effect.flatMap(
      Effect.onInterrupt(this.oneShot ? settled : this.unlessSilent(settled), () => left),
      () => this.settle(extra)
    )
  }

  private unlessSilent(settled: Effect.Effect<void>): Effect.Effect<void> {
    return Effect.timeoutOrElse(settled, {
      duration: this.options.settings.streamAfter,
      orElse: () =>
        Effect.sync(() => {
          if (this.missing > 0 && !this.shutDown) this.stream()
        })
    })
  }

  private settle(extra: Extra): Effect.Effect<HttpServerResponse.HttpServerResponse, never, Scope.Scope> {
    const { open } = this.options
    const outbox = this.outbox
    if (outbox === undefined || !outbox.isOpen) {
      open.delete(this)
      return Effect.succeed(outbox === undefined ? this.whole(extra) : eventsResponse(outbox.drain(), extra))
    }
    open.add(this)
    return Effect.withFiber((fiber) => {
      this.writer = fiber
      return Effect.as(
        Effect.flatMap(Effect.scope, (scope) => Scope.addFinalizerExit(scope, () => this.gone(outbox))),
        HttpServerResponse.stream(outbox.body, { contentType: media.eventStream, headers: streamHeaders(extra) })
      )
    })
  }

  /** The connection of an outbox is over. */
  private gone(outbox: Outbox): Effect.Effect<void> {
    this.options.open.delete(this)
    this.left(outbox)
    return Effect.void
  }

  /** The response when no event stream was opened. */
  private whole(extra: Extra): HttpServerResponse.HttpServerResponse {
    const { accepts, batch, modern } = this.options
    const first = this.firstAnswer
    if (this.shutDown) return unavailableResponse(modern, "The server is shutting down", extra)
    if (first === undefined) {
      return this.oneShot ? failureResponse(500, undefined, unanswered, extra) : eventsResponse("", extra)
    }
    if (!accepts.json && this.status === 200) {
      return eventsResponse(this.answers().map((text) => events.plain.encode(text)).join(""), extra)
    }
    return jsonResponse(batch ? `[${this.answers().join(",")}]` : first, this.status, extra)
  }
}

class ReplyOutbox extends Outbox {
  private readonly reply: Reply

  constructor(settings: OutboxSettings, reply: Reply) {
    super(settings)
    this.reply = reply
  }

  protected override onClosed(end: OutboxEnd): void {
    this.reply.outboxClosed(this, end)
  }
}
