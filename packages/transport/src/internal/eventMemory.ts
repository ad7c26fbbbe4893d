/** Events in this process: the streams by their age, a bound for each session, and one for all. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { EventStore, Replay, StoredEvent, StreamKey } from "../EventStore.ts"
import type { Limits } from "../Limits.ts"
import { EventStoreFull } from "../TransportError.ts"

type Store = EventStore["Service"]

/** What an event takes beside its text, and what a stream takes beside its events. */
const eventOverhead = 128
const streamOverhead = 512

export const sizeOf = (event: StoredEvent): number => event.data.length + eventOverhead

interface Owner {
  readonly name: string
  /** Those with the oldest last events first. */
  readonly streams: Map<string, Entry>
  size: number
}

interface Entry {
  readonly owner: Owner
  readonly stream: string
  readonly events: Array<StoredEvent>
  last: number
  ended: boolean
  touched: number
}

class Memory {
  private readonly limits: Limits
  private readonly clock: Clock.Clock
  private readonly life: number
  private readonly owners = new Map<string, Owner>()
  /** All streams; those that were touched last come last. */
  private readonly entries = new Set<Entry>()
  private readonly occupied = Latch.makeUnsafe(false)
  private size = 0

  constructor(limits: Limits, clock: Clock.Clock) {
    this.limits = limits
    this.clock = clock
    this.life = Duration.toMillis(limits.eventLife)
  }

  append(key: StreamKey, events: ReadonlyArray<StoredEvent>): Effect.Effect<void, EventStoreFull> {
    for (const event of events) {
      const known = this.find(key)
      if (known !== undefined && event.seq <= known.last) continue
      const size = sizeOf(event) + (known === undefined ? streamOverhead : 0)
      const full = this.makeRoom(key, size)
      if (full !== undefined) return Effect.fail(new EventStoreFull({ limit: full }))
      this.add(this.entry(key), event)
    }
    return Effect.void
  }

  read(key: StreamKey, after: number): Option.Option<Replay> {
    const entry = this.find(key)
    if (entry === undefined) return Option.none()
    this.touch(entry)
    return Option.some({
      events: entry.events.filter(({ seq }) => seq > after),
      last: entry.last,
      ended: entry.ended
    })
  }

  end(key: StreamKey): void {
    const entry = this.find(key)
    if (entry === undefined) return
    entry.ended = true
    this.touch(entry)
  }

  remove(owner: string): void {
    for (const entry of Array.from(this.owners.get(owner)?.streams.values() ?? [])) this.drop(entry)
  }

  /** Sleeps until the oldest stream may be too old, and not at all while there is none. */
  readonly sweep: Effect.Effect<never> = Effect.forever(Effect.suspend(() => {
    const [oldest] = this.entries
    if (oldest === undefined) {
      this.occupied.closeUnsafe()
      return this.occupied.await
    }
    const millis = Math.max(oldest.touched + this.life - this.now(), 1)
    return Effect.andThen(this.clock.sleep(Duration.millis(millis)), Effect.sync(() => this.expire()))
  }))

  private now(): number {
    return Number(this.clock.monotonicTimeNanosUnsafe()) / 1_000_000
  }

  private expire(): void {
    const now = this.now()
    for (const entry of this.entries) {
      if (entry.touched + this.life > now) return
      this.drop(entry)
    }
  }

  private find(key: StreamKey): Entry | undefined {
    const entry = this.owners.get(key.owner)?.streams.get(key.stream)
    if (entry === undefined || entry.touched + this.life > this.now()) return entry
    this.drop(entry)
    return undefined
  }

  private entry(key: StreamKey): Entry {
    const known = this.find(key)
    if (known !== undefined) return known
    let owner = this.owners.get(key.owner)
    if (owner === undefined) {
      owner = { name: key.owner, streams: new Map(), size: 0 }
      this.owners.set(key.owner, owner)
    }
    const entry: Entry = { owner, stream: key.stream, events: [], last: -1, ended: false, touched: this.now() }
    owner.streams.set(key.stream, entry)
    this.entries.add(entry)
    this.grow(entry, streamOverhead)
    this.occupied.openUnsafe()
    return entry
  }

  private add(entry: Entry, event: StoredEvent): void {
    entry.events.push(event)
    entry.last = event.seq
    this.grow(entry, sizeOf(event))
    if (entry.events.length > this.limits.eventsPerStream) this.dropFirst(entry)
    this.touch(entry)
  }

  private touch(entry: Entry): void {
    entry.touched = this.now()
    this.entries.delete(entry)
    this.entries.add(entry)
    entry.owner.streams.delete(entry.stream)
    entry.owner.streams.set(entry.stream, entry)
  }

  private grow(entry: Entry, size: number): void {
    entry.owner.size += size
    this.size += size
  }

  /** Makes room among the events of the session, whose older ones are worth less; says which limit leaves no room. */
  private makeRoom(key: StreamKey, size: number): EventStoreFull["limit"] | undefined {
    const { eventBytes, eventBytesPerSession } = this.limits
    if (size > eventBytesPerSession) return "eventBytesPerSession"
    for (
      let owner = this.owners.get(key.owner);
      owner !== undefined && owner.size + size > eventBytesPerSession;
      owner = this.owners.get(key.owner)
    ) {
      const [oldest] = owner.streams.values()
      if (oldest === undefined) break
      if (oldest.events.length > 0) this.dropFirst(oldest)
      else this.drop(oldest)
    }
    if (this.size + size > eventBytes) this.expire()
    return this.size + size > eventBytes ? "eventBytes" : undefined
  }

  private dropFirst(entry: Entry): void {
    const first = entry.events.shift()
    if (first !== undefined) this.grow(entry, -sizeOf(first))
  }

  private drop(entry: Entry): void {
    const { owner } = entry
    this.entries.delete(entry)
    owner.streams.delete(entry.stream)
    this.grow(entry, -entry.events.reduce((size, event) => size + sizeOf(event), streamOverhead))
    if (owner.streams.size === 0) this.owners.delete(owner.name)
  }
}

export const make = (limits: Limits): Effect.Effect<Store, never, Scope.Scope> =>
  Effect.gen(function*() {
    const memory = new Memory(limits, yield* Clock.Clock)
    yield* Effect.forkScoped(memory.sweep)
    return {
      append: (key, events) => Effect.suspend(() => memory.append(key, events)),
      read: (key, after) => Effect.sync(() => memory.read(key, after)),
      end: (key) => Effect.sync(() => memory.end(key)),
      remove: (owner) => Effect.sync(() => memory.remove(owner))
    }
  })
