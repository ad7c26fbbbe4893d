import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Scope from "effect/Scope"
import type { Outlet } from "../Exchange.ts"
import * as Codes from "./codes.ts"
import type { EventEncoder } from "./events.ts"
import { isLongerThan } from "./json.ts"
import * as media from "./media.ts"
import { Outbox, type OutboxSettings } from "./outbox.ts"
import { statusOf } from "./status.ts"

export interface ReplySettings {
  readonly outbox: OutboxSettings
  /** Largest message to write, bytes. */
  readonly maxBytes: number
  /** Silence after which an event stream is opened. */
  readonly streamAfter: Duration.Duration
}

type Extra = Readonly<Record<string, string>> | undefined

export const streamHeaders = (extra: Extra): Record<string, string> => ({
  // `no-transform` keeps compressing proxies from holding events back.
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
  ...extra
})

const streamOptions = (extra: Extra) => ({ contentType: media.eventStream, headers: streamHeaders(extra) })

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

const idOf = (message: JsonRpc.Outgoing): JsonRpc.RequestId | null | undefined =>
  "id" in message ? message.id : undefined

/** The text of an answer, or of the error that stands for one that cannot be written. Never throws. */
const writeAnswer = (message: JsonRpc.Outgoing, maxBytes: number): string => {
  let text: string
  // oxlint-disable-next-line -- the hot path: an Effect or Result per answer is paid by every call
  try {
    text = JsonRpc.stringify(message)
  } catch {
    return JsonRpc.stringify(JsonRpc.failure(idOf(message), { code: Codes.InternalError, message: "Internal error" }))
  }
  if (!isLongerThan(text, maxBytes)) return text
  const error = {
    code: Codes.InternalError,
    message: "The result is too large",
    data: { reason: "ResultTooLarge", limit: maxBytes }
  }
  return JsonRpc.stringify(JsonRpc.failure(idOf(message), error))
}

/** The way back of one request; closes once, by its answer, its end or the peer's leaving. */
class Slot implements Outlet {
  readonly oneShot: boolean
  disconnected: (() => void) | undefined = undefined
  readonly answer: (message: JsonRpc.Outgoing) => void
  readonly end: () => void
  readonly push: (message: JsonRpc.Outgoing) => Effect.Effect<void>
  private open = true

  constructor(reply: Reply) {
    this.oneShot = reply.oneShot
    this.answer = (message) => {
      if (this.close()) reply.complete(message)
    }
    this.end = () => {
      if (this.close()) reply.complete(undefined)
    }
    this.push = (message) => Effect.suspend(() => this.open ? reply.push(message) : Effect.void)
  }

  /** Whether it was still open. */
  close(): boolean {
    const open = this.open
    this.open = false
    return open
  }
}

/**
 * What one POST is answered with: JSON when the answer is the first thing there is, an event stream when a notification
 * comes first or nothing comes for a while.
 */
export class Reply {
  /** Only the answer can be written. */
  readonly oneShot: boolean
  private readonly settings: ReplySettings
  private readonly accepts: media.Accepts
  private readonly events: EventEncoder
  private readonly modern: boolean
  /** Whether answers are written as an array, though there be one. */
  private readonly batch: boolean
  private readonly slots: Array<Slot> = []
  private readonly answers: Array<string> = []
  private status = 200
  private unanswered = 0
  private outbox: Outbox | undefined = undefined
  private onSettled: (() => void) | undefined = undefined

  constructor(
    settings: ReplySettings,
    accepts: media.Accepts,
    events: EventEncoder,
    modern: boolean,
    batch: boolean
  ) {
    this.settings = settings
    this.accepts = accepts
    this.events = events
    this.modern = modern
    this.batch = batch
    this.oneShot = !accepts.stream
  }

  /** A way back for one more request; all are taken before any response is asked for. */
  slot(): Slot {
    const slot = new Slot(this)
    this.slots.push(slot)
    this.unanswered++
    return slot
  }

  /** Takes an answer that belongs to no slot: an element of a batch that could not be read. */
  add(message: JsonRpc.Outgoing): void {
    this.unanswered++
    this.complete(message)
  }

  complete(message: JsonRpc.Outgoing | undefined): void {
    this.unanswered--
    if (message !== undefined) this.write(message)
    if (this.unanswered > 0) return
    this.outbox?.end()
    this.onSettled?.()
  }

  private write(message: JsonRpc.Outgoing): void {
    const text = writeAnswer(message, this.settings.maxBytes)
    if (this.outbox !== undefined) return this.outbox.add(this.events.encode(text))
    this.answers.push(text)
    if (this.modern && "error" in message) this.status = statusOf(message.error.code)
  }

  /** Writes a message before the answer; dropped when the peer takes no stream or the message is too large. */
  push(message: JsonRpc.Outgoing): Effect.Effect<void> {
    if (this.oneShot) return Effect.void
    const text = JsonRpc.stringify(message)
    if (isLongerThan(text, this.settings.maxBytes)) {
      return Effect.logWarning("A message before an answer was too large and was dropped")
    }
    return Effect.asVoid(this.stream().put(this.events.encode(text)))
  }

  private stream(): Outbox {
    if (this.outbox !== undefined) return this.outbox
    const outbox = new Outbox(this.settings.outbox, () => this.leave())
    this.outbox = outbox
    if (this.events.prime !== undefined) outbox.add(this.events.prime)
    for (const text of this.answers) outbox.add(this.events.encode(text))
    this.onSettled?.()
    return outbox
  }

  /** The peer is gone, or the endpoint is: what is still open hears of it, once. */
  leave(): void {
    this.outbox?.abort()
    for (const slot of this.slots) if (slot.close()) slot.disconnected?.()
    this.onSettled?.()
  }

  /**
   * The response, as soon as it is known what it will be. `track` is given a stream that outlives this effect and gives
   * back what forgets it.
   */
  respond(extra: Extra, track: (reply: Reply) => () => void): Effect.Effect<HttpServerResponse.HttpServerResponse, never, Scope.Scope> {
    if (this.outbox !== undefined || this.unanswered === 0) return this.settled(extra, track)
    const settled = Effect.callback<void>((resume) => {
      const forget = track(this)
      this.onSettled = () => {
        this.onSettled = undefined
        forget()
        resume(Effect.void)
      }
      return Effect.sync(() => {
        this.onSettled = undefined
        forget()
      })
    })
    return Effect.flatMap(
      Effect.onInterrupt(this.oneShot ? settled : this.unlessSilent(settled), () => Effect.sync(() => this.leave())),
      () => this.settled(extra, track)
    )
  }

  private unlessSilent(settled: Effect.Effect<void>): Effect.Effect<void> {
    return Effect.timeoutOrElse(settled, {
      duration: this.settings.streamAfter,
      orElse: () =>
        Effect.sync(() => {
          if (this.unanswered > 0) this.stream()
        })
    })
  }

  private settled(extra: Extra, track: (reply: Reply) => () => void): Effect.Effect<HttpServerResponse.HttpServerResponse, never, Scope.Scope> {
    const outbox = this.outbox
    if (outbox === undefined) return Effect.succeed(this.complete_(extra))
    if (!outbox.isOpen) return Effect.succeed(HttpServerResponse.text(outbox.drain(), streamOptions(extra)))
    const forget = track(this)
    const left = Effect.sync(() => {
      forget()
      this.leave()
    })
    return Effect.as(
      Effect.flatMap(Effect.scope, (scope) => Scope.addFinalizer(scope, left)),
      HttpServerResponse.stream(outbox.body, streamOptions(extra))
    )
  }

  private complete_(extra: Extra): HttpServerResponse.HttpServerResponse {
    const [first] = this.answers
    if (first === undefined) {
      return this.oneShot
        ? failureResponse(500, undefined, { code: Codes.InternalError, message: "The request ended without an answer" }, extra)
        : HttpServerResponse.text("", streamOptions(extra))
    }
    if (!this.accepts.json && this.status === 200) {
      return HttpServerResponse.text(this.answers.map(this.events.encode).join(""), streamOptions(extra))
    }
    return jsonResponse(this.batch ? `[${this.answers.join(",")}]` : first, this.status, extra)
  }
}
