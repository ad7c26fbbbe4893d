/** GET where streams can be resumed: a new stream of a session, or one that goes on from its last event (HTTP-33). */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import type { Endpoint, Rejected } from "../Endpoint.ts"
import type { Replay, StoredEvent, StreamKey } from "../EventStore.ts"
import { type EventLog, inTime, textOf } from "./eventLog.ts"
import { type EventStreams, isWhole, type Place, readEventId } from "./eventStreams.ts"
import type { HttpFacts } from "./facts.ts"
import type { Response } from "./front.ts"
import * as media from "./media.ts"
import { type Outbox, type OutboxEnd, type OutboxSettings, WatchedOutbox } from "./outbox.ts"
import * as Refusals from "./refusals.ts"
import { failureResponse, rejectedResponse, streamHeaders, unavailableResponse } from "./respond.ts"
import { SessionStream } from "./sessionStream.ts"

export interface ResumptionOptions {
  readonly endpoint: Endpoint["Service"]
  readonly verify: (facts: HttpFacts) => Effect.Effect<void, Rejected>
  readonly streams: EventStreams
  readonly outbox: OutboxSettings
  readonly maxBytes: number
}

/** One GET. */
interface Call {
  readonly facts: HttpFacts
  /** What a refusal has for an id. */
  readonly unreadableId: null | undefined
  /** Ends the connection at once. */
  readonly cut: () => void
}

const gone = {
  ...Refusals.invalidRequest("the stream cannot be resumed from this event"),
  data: { reason: "EventsNotKept" }
}
const overtaken = {
  ...Refusals.invalidRequest("the stream is read over another connection"),
  data: { reason: "Overtaken" }
}
const silent = unavailableResponse(false, "The event store does not answer")

/** Events from two sources that may overlap, after a place, in order. */
const merge = (
  stored: ReadonlyArray<StoredEvent>,
  recent: ReadonlyArray<StoredEvent>,
  after: number
): ReadonlyArray<StoredEvent> => {
  const all = new Map<number, StoredEvent>()
  for (const event of [...stored, ...recent]) if (event.seq > after) all.set(event.seq, event)
  return Array.from(all.values()).sort((a, b) => a.seq - b.seq)
}

const fits = (replay: Replay, after: number): boolean =>
  after <= replay.last && isWhole(replay.events, after, replay.last)

export class Resumption {
  private readonly options: ResumptionOptions
  private readonly sessions = new Set<SessionStream>()
  /** Streams of sessions without a connection: one for each session. */
  private readonly lingering = new Map<string, SessionStream>()
  /** What ends the readers of streams of other processes. */
  private readonly followers = new Map<string, () => void>()

  constructor(options: ResumptionOptions) {
    this.options = options
  }

  /** Ends all streams of sessions and of other processes, after what was sent on them. */
  end(): void {
    for (const stream of Array.from(this.sessions)) stream.close()
    for (const end of Array.from(this.followers.values())) end()
  }

  /** Nobody comes back for the streams of a session that is over. */
  forgetSession(facts: HttpFacts): void {
    const { streams } = this.options
    const remove = inTime("remove", streams.store.remove(streams.ownerOf(facts)), streams.limits)
    streams.run(Effect.catch(remove, (error) => Effect.logWarning("Events of a session were not removed", error)))
  }

  get(
    lastEventId: string | undefined,
    facts: HttpFacts,
    unreadableId: null | undefined,
    fiber: Fiber.Fiber<unknown, unknown>
  ): Response {
    const call: Call = { facts, unreadableId, cut: () => fiber.interruptUnsafe() }
    return Effect.matchEffect(this.options.verify(facts), {
      onFailure: (rejected) => Effect.succeed(rejectedResponse(rejected, unreadableId)),
      onSuccess: () => {
        if (lastEventId === undefined || lastEventId === "") return this.fresh(call, "")
        const place = readEventId(lastEventId)
        return place === undefined ? this.refuse(call, 400, gone) : this.resume(call, place)
      }
    })
  }

  private refuse(call: Call, status: number, error: typeof gone): Response {
    return Effect.succeed(failureResponse(status, call.unreadableId, error))
  }

  private resume(call: Call, place: Place): Response {
    const { streams } = this.options
    const key = { owner: streams.ownerOf(call.facts), stream: place.stream }
    const log = streams.find(key)
    return log === undefined ? this.foreign(call, key, place) : this.own(call, log, place.seq)
  }

  /** A stream of this process: what is stored, what came since, and what is still to come, without a gap. */
  private own(call: Call, log: EventLog, after: number): Response {
    if (after > log.last) return this.refuse(call, 400, gone)
    // The newest reader takes over.
    log.receiver.release()
    const catching = log.catchUp()
    return Effect.flatMap(
      Effect.onInterrupt(Effect.result(this.options.streams.read(log.key, after)), () =>
        Effect.sync(() => {
          if (log.catching === catching) log.catching = undefined
        })),
      (read) => {
        if (log.catching !== catching) return this.refuse(call, 409, overtaken)
        log.catching = undefined
        const stored = Result.isSuccess(read) && Option.isSome(read.success) ? read.success.value.events : []
        const events = merge(stored, catching.events, after)
        if (!isWhole(events, after, log.last)) {
          return Result.isFailure(read) ? Effect.succeed(silent) : this.refuse(call, 400, gone)
        }
        const { receiver } = log
        const outbox = this.outbox(call, () => {
          if (receiver instanceof SessionStream) receiver.lost(outbox)
        })
        for (const event of events) outbox.add(textOf(log.key.stream, event))
        if (log.ended) outbox.end()
        else receiver.connect(outbox)
        return this.respond(outbox)
      }
    )
  }

  /** A stream of another process, or of one that is gone. */
  private foreign(call: Call, key: StreamKey, place: Place): Response {
    const { streams } = this.options
    return Effect.flatMap(Effect.result(streams.read(key, place.seq)), (read) => {
      if (Result.isFailure(read)) return Effect.succeed(silent)
      if (Option.isNone(read.success) || !fits(read.success.value, place.seq)) return this.refuse(call, 400, gone)
      const replay = read.success.value
      const text = replay.events.map((event) => textOf(key.stream, event)).join("")
      if (place.kind === "session") return this.fresh(call, text)
      return this.follow(call, key, replay, text)
    })
  }

  /** A stream of the session, which may begin with what is left of one that lived elsewhere. */
  private fresh(call: Call, before: string): Response {
    const { endpoint, maxBytes, streams } = this.options
    return Effect.suspend(() => {
      const stream = new SessionStream({
        streams,
        facts: call.facts,
        maxBytes,
        onLingering: (stream) => this.linger(stream),
        onClosed: (stream) => this.forget(stream)
      })
      this.sessions.add(stream)
      const outbox = this.outbox(call, () => stream.lost(outbox))
      if (before !== "") outbox.add(before)
      if (stream.log.prime !== undefined) outbox.add(stream.log.prime)
      stream.connect(outbox)
      return Effect.flatMap(
        this.respond(outbox),
        (response) =>
          Effect.match(Scope.provide(endpoint.attach(call.facts, stream.link), stream.scope), {
            onFailure: (rejected) => {
              stream.close()
              return rejectedResponse(rejected, call.unreadableId)
            },
            onSuccess: () => response
          })
      )
    })
  }

  /** A client that opens a new stream has given up those it left before. */
  private linger(stream: SessionStream): void {
    const { owner } = stream.log.key
    const before = this.lingering.get(owner)
    this.lingering.set(owner, stream)
    // One that has a connection again is not given up.
    if (before !== undefined && before !== stream && before.lingers) before.close()
  }

  private forget(stream: SessionStream): void {
    const { owner } = stream.log.key
    this.sessions.delete(stream)
    if (this.lingering.get(owner) === stream) this.lingering.delete(owner)
  }

  private follow(call: Call, key: StreamKey, replay: Replay, text: string): Response {
    const { followers } = this
    const name = `${key.stream} ${key.owner}`
    const end = () => outbox.end()
    const outbox = this.outbox(call, () => {
      if (followers.get(name) === end) followers.delete(name)
    })
    if (text !== "") outbox.add(text)
    if (replay.ended) {
      outbox.end()
      return this.respond(outbox)
    }
    followers.get(name)?.()
    followers.set(name, end)
    return Effect.tap(this.respond(outbox), () => Effect.forkScoped(this.poll(key, replay.last, outbox)))
  }

  /** Asks the store for more until the stream ends, for as long as one connection may. */
  private poll(key: StreamKey, from: number, outbox: Outbox): Effect.Effect<void> {
    const { streams } = this.options
    const { eventPoll, eventWait } = streams.limits
    return Effect.gen(function*() {
      const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(eventWait)
      let at = from
      while (outbox.isOpen && (yield* Clock.currentTimeMillis) < until) {
        yield* Effect.sleep(eventPoll)
        const read = yield* Effect.result(streams.read(key, at))
        if (Result.isFailure(read) || Option.isNone(read.success) || !fits(read.success.value, at)) break
        const { ended, events, last } = read.success.value
        for (const event of events) yield* outbox.put(textOf(key.stream, event))
        at = last
        if (ended) break
      }
      outbox.end()
    })
  }

  private outbox(call: Call, onClose: (end: OutboxEnd) => void): Outbox {
    return new WatchedOutbox(this.options.outbox, (end) => {
      onClose(end)
      if (end === "dead") call.cut()
    })
  }

  private respond(outbox: Outbox): Response {
    return Effect.as(
      Effect.addFinalizer(() => Effect.sync(() => outbox.abort())),
      HttpServerResponse.stream(outbox.body, { contentType: media.eventStream, headers: streamHeaders(undefined) })
    )
  }
}
