/** One stream that can be resumed: what came on it, until the store has it. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { EventStore, StoredEvent, StreamKey } from "../EventStore.ts"
import type { Limits } from "../Limits.ts"
import * as Sse from "../Sse.ts"
import { EventStoreUnavailable } from "../TransportError.ts"
import { sizeOf } from "./eventMemory.ts"
import type { EventEncoder } from "./events.ts"
import type { Outbox } from "./outbox.ts"

/** The other end of a log: what writes the stream, and over which connection. */
export interface Receiver {
  /** Ends the connection it has, after what was sent. */
  readonly release: () => void
  /** Goes on over another one. */
  readonly connect: (outbox: Outbox) => void
}

/** What logs share. */
export interface LogHost {
  readonly store: EventStore["Service"]
  readonly limits: Limits
  /** Whether so much more may wait to be stored; counts it in if so. */
  readonly reserve: (size: number) => boolean
  readonly release: (size: number) => void
  readonly run: (effect: Effect.Effect<void>) => void
  /** The log has ended and nothing of it waits any more. */
  readonly forget: (log: EventLog) => void
}

export interface LogOptions {
  readonly key: StreamKey
  /** Whether it starts with an event of its own, after which its connections may be closed at will (HTTP-28). */
  readonly primed: boolean
  readonly receiver: Receiver
}

/** What comes while somebody reads the rest from the store. */
export interface Catching {
  readonly events: Array<StoredEvent>
  size: number
}

const attemptDelay = 100
const longestDelay = 5000

/** The id of an event names its stream (HTTP-31). */
export const idOf = (stream: string, seq: number): string => `${stream}.${seq}`

export const textOf = (stream: string, event: StoredEvent): string =>
  Sse.encode({ id: idOf(stream, event.seq), data: event.data })

/** Gives an operation of the store so long and no longer. */
export const inTime = <A, E>(
  operation: EventStoreUnavailable["operation"],
  effect: Effect.Effect<A, E>,
  limits: Limits
): Effect.Effect<A, E | EventStoreUnavailable> =>
  Effect.timeoutOrElse(effect, {
    duration: limits.eventStoreTimeout,
    orElse: () => Effect.fail(new EventStoreUnavailable({ operation, cause: new Cause.TimeoutError() }))
  })

export class EventLog implements EventEncoder {
  readonly key: StreamKey
  readonly prime: string | undefined
  readonly primed: boolean
  readonly receiver: Receiver
  /** The place of the last event. */
  last = 0
  ended = false
  /** Set while a reader catches up; one at a time. */
  catching: Catching | undefined = undefined
  private readonly host: LogHost
  /** Events that are not known to be in the store. */
  private readonly waiting: Array<StoredEvent> = []
  private size = 0
  private writing = false
  private told = false

  constructor(host: LogHost, options: LogOptions) {
    const { key, primed, receiver } = options
    this.host = host
    this.key = key
    this.primed = primed
    this.receiver = receiver
    this.prime = primed
      ? Sse.encode({
        id: idOf(key.stream, 0),
        retry: Duration.toMillis(host.limits.reconnectAfter),
        data: ""
      })
      : undefined
    if (primed) this.keep({ seq: 0, data: "" })
  }

  encode(json: string): string {
    if (this.ended) return Sse.encode({ data: json })
    const event = { seq: ++this.last, data: json }
    this.keep(event)
    return textOf(this.key.stream, event)
  }

  /** Nothing more comes. */
  end(): void {
    if (this.ended) return
    this.ended = true
    if (!this.writing) this.write()
  }

  /** From now on what comes is kept for a reader, who has to ask the store for the rest only after this. */
  catchUp(): Catching {
    const catching = { events: this.waiting.slice(), size: this.size }
    this.catching = catching
    return catching
  }

  private keep(event: StoredEvent): void {
    const size = sizeOf(event)
    const { eventBytesPerSession, eventsPerStream } = this.host.limits
    const { catching } = this
    if (catching !== undefined) {
      catching.events.push(event)
      catching.size += size
      // A reader that cannot follow comes back later.
      if (catching.size > eventBytesPerSession) this.catching = undefined
    }
    if (this.waiting.length >= eventsPerStream || !this.host.reserve(size)) {
      return this.tell("too much waits to be stored")
    }
    this.waiting.push(event)
    this.size += size
    if (!this.writing) this.write()
  }

  private write(): void {
    this.writing = true
    this.host.run(this.writes)
  }

  private get writes(): Effect.Effect<void> {
    const { limits, store } = this.host
    return Effect.gen({ self: this }, function*() {
      let failures = 0
      let since = 0
      while (this.waiting.length > 0) {
        const batch = this.waiting.slice()
        const written = yield* Effect.result(inTime("append", store.append(this.key, batch), limits))
        if (Result.isSuccess(written)) {
          this.done(batch.length)
          failures = 0
          continue
        }
        const now = yield* Clock.currentTimeMillis
        if (failures === 0) since = now
        failures++
        if (written.failure._tag === "EventStoreFull" || now - since >= Duration.toMillis(limits.eventLife)) {
          this.done(batch.length)
          this.tell(written.failure)
        } else {
          yield* Effect.sleep(Math.min(attemptDelay * 2 ** (failures - 1), longestDelay))
        }
      }
      if (this.ended) {
        yield* Effect.ignore(inTime("end", store.end(this.key), limits))
        this.host.forget(this)
      }
      this.writing = false
    })
  }

  private done(events: number): void {
    const size = this.waiting.splice(0, events).reduce((sum, event) => sum + sizeOf(event), 0)
    this.size -= size
    this.host.release(size)
  }

  /** Says once that this stream has lost events and cannot be resumed from all of its places. */
  private tell(reason: unknown): void {
    if (this.told) return
    this.told = true
    this.host.run(Effect.logWarning("Events of a stream are not kept", reason))
  }
}
