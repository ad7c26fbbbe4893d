/** The streams of one endpoint that can be resumed. */
import type * as Context from "effect/Context"
import { randomBytesUnsafe } from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Fiber from "effect/Fiber"
import type * as Option from "effect/Option"
import { type EventStore, ownerOf, type Replay, type StoredEvent, type StreamKey } from "../EventStore.ts"
import type { Facts } from "../Exchange.ts"
import type { Limits } from "../Limits.ts"
import * as Principal from "../Principal.ts"
import type { EventStoreUnavailable } from "../TransportError.ts"
import { EventLog, inTime, type LogHost, type Receiver } from "./eventLog.ts"

/** Streams that answer requests, and those of sessions. */
export type Kind = "request" | "session"

/** The first revision that knows events without data (HTTP-28, HTTP-33 of field practice). */
const primes = "2025-11-25"
const prefixes: Readonly<Record<Kind, string>> = { request: "r", session: "s" }
const secretBytes = 18
const eventId = /^([rs][A-Za-z0-9_-]{24})\.(0|[1-9][0-9]{0,14})$/

/** One place in one stream. */
export interface Place {
  readonly kind: Kind
  readonly stream: string
  readonly seq: number
}

export const readEventId = (id: string): Place | undefined => {
  const [, stream, seq] = eventId.exec(id) ?? []
  return stream === undefined || seq === undefined
    ? undefined
    : { kind: stream.startsWith(prefixes.session) ? "session" : "request", stream, seq: Number(seq) }
}

const nameOf = (key: StreamKey): string => `${key.stream} ${key.owner}`

/** Whether each event follows the one before, from one place to the last. */
export const isWhole = (events: ReadonlyArray<StoredEvent>, after: number, last: number): boolean =>
  events.length === last - after && events.every(({ seq }, index) => seq === after + 1 + index)

export const primesFor = (facts: Facts): boolean => {
  const version = facts.protocolVersion
  return version !== undefined && version >= primes
}

export class EventStreams implements LogHost {
  readonly store: EventStore["Service"]
  readonly limits: Limits
  /** Those of this process that have not ended, or whose events are not all stored. */
  private readonly logs = new Map<string, EventLog>()
  private readonly context: Context.Context<never>
  /** The size of what is not known to be stored. */
  waiting = 0
  private readonly fibers = new Set<Fiber.Fiber<unknown, unknown>>()

  constructor(store: EventStore["Service"], limits: Limits, context: Context.Context<never>) {
    this.store = store
    this.limits = limits
    this.context = context
  }

  get size(): number {
    return this.logs.size
  }

  open(kind: Kind, facts: Facts, receiver: Receiver): EventLog {
    const stream = prefixes[kind] + Base64Url.encode(randomBytesUnsafe(secretBytes))
    const key = { owner: this.ownerOf(facts), stream }
    const log = new EventLog(this, { key, primed: primesFor(facts), receiver })
    this.logs.set(nameOf(key), log)
    return log
  }

  ownerOf(facts: Facts): string {
    return ownerOf(facts.sessionId ?? "", Principal.key(facts.principal))
  }

  find(key: StreamKey): EventLog | undefined {
    return this.logs.get(nameOf(key))
  }

  read(key: StreamKey, after: number): Effect.Effect<Option.Option<Replay>, EventStoreUnavailable> {
    return inTime("read", this.store.read(key, after), this.limits)
  }

  reserve(size: number): boolean {
    if (this.waiting + size > this.limits.eventBytes) return false
    this.waiting += size
    return true
  }

  release(size: number): void {
    this.waiting -= size
  }

  /** Runs on this stack as far as it goes; what suspends belongs to the endpoint. */
  run(effect: Effect.Effect<void>): Fiber.Fiber<unknown, unknown> {
    const fiber = Effect.runForkWith(this.context)(effect)
    if (fiber.pollUnsafe() === undefined) {
      this.fibers.add(fiber)
      fiber.addObserver(() => this.fibers.delete(fiber))
    }
    return fiber
  }

  forget(log: EventLog): void {
    const name = nameOf(log.key)
    if (this.logs.get(name) === log) this.logs.delete(name)
  }

  /** Ends all streams and lets what waits be stored, within the time of one operation. */
  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    for (const log of Array.from(this.logs.values())) {
      log.receiver.release()
      log.end()
    }
    return Effect.timeoutOrElse(Effect.asVoid(Fiber.awaitAll(Array.from(this.fibers))), {
      duration: this.limits.eventStoreTimeout,
      orElse: () => Fiber.interruptAll(Array.from(this.fibers))
    })
  })
}
