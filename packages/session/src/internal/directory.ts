/** The directory in this process: a map, one sweeping fiber, and the store behind it where there is one. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Session } from "../Session.ts"
import type { CloseReason, SessionNotFound, SessionStoreUnavailable } from "../SessionError.ts"
import * as SessionId from "../SessionId.ts"
import type { Sessions } from "../Sessions.ts"
import type { SessionRecord, SessionStore } from "../SessionStore.ts"
import * as Open from "./openSessions.ts"

type Store = SessionStore["Service"]
type Found = Effect.Effect<Session, SessionNotFound | SessionStoreUnavailable>

interface Entry extends Open.Entry {
  /** Monotonic milliseconds. */
  lastSeen: number
  savedAt: number
}

/** How often the store hears that a session is used, and the least time between two sweeps: parts of the idle time. */
const touches = 30
const sweeps = 60

class Directory extends Open.OpenSessions<Entry> {
  private readonly reviving = new Map<string, Deferred.Deferred<Session, SessionNotFound | SessionStoreUnavailable>>()
  private readonly occupied = Latch.makeUnsafe(false)
  private readonly idle: number
  private readonly store: Store | undefined
  private readonly clock: Clock.Clock

  constructor(parts: Open.Parts, store: Store | undefined) {
    super(parts)
    this.store = store
    this.clock = Context.get(parts.context, Clock.Clock)
    this.idle = Duration.toMillis(parts.limits.idle)
  }

  protected override opening(id: string, options: Parameters<Sessions["Service"]["open"]>[0]): Open.Opening {
    const opening = super.opening(id, options)
    return options.link === undefined ? this.kept(opening) : opening
  }

  private kept(opening: Open.Opening): Open.Opening {
    return this.store === undefined ? opening : { ...opening, save: this.saver() }
  }

  protected entered(session: Session, scope: Scope.Closeable): Entry {
    const now = this.now()
    this.occupied.openUnsafe()
    return { session, scope, lastSeen: now, savedAt: now }
  }

  protected override forget(id: string, reason: CloseReason): boolean {
    const wasOpen = super.forget(id, reason)
    if (wasOpen && this.store !== undefined) this.fibers.run(this.context, this.unsave(id, reason, this.store))
    return wasOpen
  }

  readonly get = (id: string, principalKey: string): Found => {
    const entry = this.entries.get(id)
    if (entry === undefined) {
      return this.store === undefined
        ? Open.notFound(id)
        : this.revive(id, principalKey, this.store)
    }
    if (entry.session.principalKey !== principalKey) return Open.notFound(id)
    this.touch(entry)
    return Exit.succeed(entry.session)
  }

  readonly terminate = (id: string, principalKey: string): Effect.Effect<
    void,
    SessionNotFound | SessionStoreUnavailable
  > =>
    Effect.suspend(() => {
      const entry = this.entries.get(id)
      if (entry !== undefined) {
        return entry.session.principalKey === principalKey ? entry.session.close("terminated") : Open.notFound(id)
      }
      const { store } = this
      return store === undefined
        ? Open.notFound(id)
        : Effect.andThen(this.load(id, principalKey, store), store.remove(id))
    })

  /** Sleeps until the first session may have idled out, and not at all while there is none. */
  readonly sweep: Effect.Effect<never> = Effect.forever(Effect.suspend(() => {
    if (this.entries.size === 0) {
      this.occupied.closeUnsafe()
      return this.occupied.await
    }
    const now = this.now()
    let next = Number.POSITIVE_INFINITY
    for (const entry of this.entries.values()) next = Math.min(next, entry.lastSeen + this.idle)
    const millis = Math.max(next - now, this.idle / sweeps, 1)
    return Effect.andThen(this.clock.sleep(Duration.millis(millis)), Effect.suspend(() => this.expire()))
  }))

  private now(): number {
    return Math.floor(Number(this.clock.monotonicTimeNanosUnsafe()) / 1_000_000)
  }

  private expire(): Effect.Effect<void> {
    const now = this.now()
    const idle: Array<Entry> = []
    for (const entry of this.entries.values()) {
      if (entry.session.busy()) entry.lastSeen = now
      else if (entry.lastSeen + this.idle <= now) idle.push(entry)
    }
    return Effect.forEach(idle, (entry) => entry.session.close("idle"), { concurrency: "unbounded", discard: true })
  }

  private touch(entry: Entry): void {
    const now = this.now()
    entry.lastSeen = now
    if (this.store === undefined || now - entry.savedAt < this.idle / touches) return
    entry.savedAt = now
    this.fibers.run(this.context, this.save(entry.session))
  }

  /** What is saved last is what holds last. */
  private saver(): (session: Session) => Effect.Effect<void> {
    const gate = Semaphore.makeUnsafe(1)
    return (session) => gate.withPermit(this.save(session))
  }

  private save(session: Session): Effect.Effect<void> {
    return Effect.clockWith((clock) => {
      const record = recordOf(session, clock.currentTimeMillisUnsafe())
      if (record === undefined || this.store === undefined) return Effect.void
      return Effect.catch(this.store.save(record), (error) => Effect.logWarning("a session was not stored", error))
    })
  }

  /** A session that ends because this process ends goes on elsewhere; so does one that is idle only here. */
  private unsave(id: string, reason: CloseReason, store: Store): Effect.Effect<void> {
    if (reason === "shutdown" || reason === "disconnected") return Effect.void
    const remove = reason === "idle"
      ? Effect.flatMap(
        store.load(id),
        (record) => Option.isSome(record) && !this.expired(record.value) ? Effect.void : store.remove(id)
      )
      : store.remove(id)
    return Effect.catch(remove, (error) => Effect.logWarning("a session was not removed from the store", error))
  }

  private expired(record: SessionRecord): boolean {
    return record.lastSeen + this.idle <= this.clock.currentTimeMillisUnsafe()
  }

  private load(
    id: string,
    principalKey: string,
    store: Store
  ): Effect.Effect<SessionRecord, SessionNotFound | SessionStoreUnavailable> {
    if (!SessionId.isSessionId(id)) return Open.notFound(id)
    return Effect.flatMap(
      store.load(id),
      (record) =>
        Option.isNone(record) || record.value.principalKey !== principalKey || this.expired(record.value)
          ? Open.notFound(id)
          : Effect.succeed(record.value)
    )
  }

  /** Requests of one session that come together revive it once; one that is cancelled does not stop it. */
  private revive(id: string, principalKey: string, store: Store): Found {
    return Effect.suspend(() => {
      if (this.entries.has(id)) return this.get(id, principalKey)
      const key = `${principalKey} ${id}`
      const running = this.reviving.get(key)
      if (running !== undefined) return Deferred.await(running)
      const revived = Deferred.makeUnsafe<Session, SessionNotFound | SessionStoreUnavailable>()
      this.reviving.set(key, revived)
      const work = Effect.flatMap(this.load(id, principalKey, store), (record) => this.revived(record))
      this.fibers.run(this.context, work, (exit) => {
        this.reviving.delete(key)
        Deferred.doneUnsafe(revived, exit)
      })
      return Deferred.await(revived)
    })
  }

  private revived(record: SessionRecord): Found {
    const { id, principalKey } = record
    return Effect.matchEffect(this.add(this.kept({ id, principalKey, record })), {
      onFailure: () => Open.notFound(id),
      onSuccess: (session) =>
        session.agreed() === undefined
          ? Effect.andThen(session.close("failed"), Open.notFound(id))
          : Effect.as(this.draining ? session.drain(0) : Effect.void, session)
    })
  }
}

const recordOf = (session: Session, lastSeen: number): SessionRecord | undefined => {
  const agreed = session.agreed()
  const logLevel = session.logLevel()
  return agreed === undefined ? undefined : {
    id: session.id,
    principalKey: session.principalKey,
    version: agreed.revision.version,
    clientInfo: agreed.clientInfo,
    clientCapabilities: agreed.clientCapabilities,
    initialized: agreed.initialized,
    ...(logLevel === undefined ? undefined : { logLevel }),
    subscriptions: Array.from(session.subscriptions()),
    lastSeen
  }
}

export const makeDirectory = (make: Open.Make, store: Store | undefined) =>
  Effect.gen(function*() {
    const directory = yield* Open.scoped(make, (parts) => new Directory(parts, store))
    yield* Effect.forkScoped(directory.sweep)
    const service: Sessions["Service"] = {
      open: directory.open,
      get: directory.get,
      terminate: directory.terminate,
      count: directory.count,
      drain: directory.drain,
      closeAll: directory.closeAll
    }
    return service
  })
