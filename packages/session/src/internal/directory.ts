/** The directory in this process: a map, one sweeping fiber, and the store behind it where there is one. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Session } from "../Session.ts"
import { type CloseReason, SessionNotFound, type SessionStoreUnavailable, TooManySessions } from "../SessionError.ts"
import * as SessionId from "../SessionId.ts"
import { type Limits, SessionLimits } from "../SessionLimits.ts"
import type { Seed, Sessions } from "../Sessions.ts"
import type { SessionRecord, SessionStore } from "../SessionStore.ts"
import { Fibers } from "./fibers.ts"

type Make = (seed: Seed) => Effect.Effect<Session, never, Scope.Scope>
type Store = SessionStore["Service"]
type Found = Effect.Effect<Session, SessionNotFound | SessionStoreUnavailable>

interface Entry {
  readonly session: Session
  readonly scope: Scope.Closeable
  /** What `get` answers, made once. */
  readonly found: Exit.Exit<Session>
  /** Monotonic milliseconds. */
  lastSeen: number
  savedAt: number
}

/** How often the store hears that a session is used, and the least time between two sweeps: parts of the idle time. */
const touches = 30
const sweeps = 60

class Directory {
  private readonly entries = new Map<string, Entry>()
  /** The scopes of those that are being made and have not ended meanwhile. */
  private readonly making = new Map<string, Scope.Closeable>()
  private readonly perPrincipal = new Map<string, number>()
  private readonly reviving = new Map<string, Deferred.Deferred<Session, SessionNotFound | SessionStoreUnavailable>>()
  private readonly occupied = Latch.makeUnsafe(false)
  private readonly fibers = new Fibers()
  private readonly idle: number
  /** Sessions there are and sessions being made. */
  private taken = 0
  private draining = false
  private readonly make: Make
  private readonly store: Store | undefined
  private readonly limits: Limits
  private readonly clock: Clock.Clock
  private readonly context: Context.Context<SecureRandom.SecureRandom>
  private over = false

  constructor(
    make: Make,
    store: Store | undefined,
    limits: Limits,
    context: Context.Context<SecureRandom.SecureRandom>
  ) {
    this.make = make
    this.store = store
    this.limits = limits
    this.context = context
    this.clock = Context.get(context, Clock.Clock)
    this.idle = Duration.toMillis(limits.idle)
  }

  readonly open: Sessions["Service"]["open"] = (options) =>
    Effect.flatMap(Effect.provideContext(SessionId.make, this.context), (id) =>
      Effect.tap(
        this.add({ id, ...options }, options.link === undefined),
        (session) => this.draining ? session.drain(0) : Effect.void
      ))

  readonly get = (id: string, principalKey: string): Found => {
    const entry = this.entries.get(id)
    if (entry === undefined) return this.store === undefined ? notFound(id) : this.revive(id, principalKey, this.store)
    if (entry.session.principalKey !== principalKey) return notFound(id)
    this.touch(entry)
    return entry.found
  }

  readonly terminate = (id: string, principalKey: string): Effect.Effect<
    void,
    SessionNotFound | SessionStoreUnavailable
  > =>
    Effect.suspend(() => {
      const entry = this.entries.get(id)
      if (entry !== undefined) {
        return entry.session.principalKey === principalKey ? entry.session.close("terminated") : notFound(id)
      }
      const { store } = this
      return store === undefined
        ? notFound(id)
        : Effect.andThen(this.load(id, principalKey, store), store.remove(id))
    })

  readonly closeAll = (reason: CloseReason): Effect.Effect<void> =>
    Effect.suspend(() =>
      Effect.forEach(Array.from(this.entries.values()), (entry) => entry.session.close(reason), {
        concurrency: "unbounded",
        discard: true
      })
    )

  readonly drain = (deadline: Duration.Input): Effect.Effect<void> =>
    Effect.suspend(() => {
      this.draining = true
      return Effect.forEach(Array.from(this.entries.values()), (entry) => entry.session.drain(deadline), {
        concurrency: "unbounded",
        discard: true
      })
    })

  readonly count: Effect.Effect<number> = Effect.sync(() => this.entries.size)

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

  /** Takes a place, or says which limit is reached. */
  private reserve(principalKey: string): TooManySessions | undefined {
    const { sessions, sessionsPerPrincipal } = this.limits
    if (this.taken >= sessions) return new TooManySessions({ limit: sessions, scope: "endpoint" })
    const own = this.perPrincipal.get(principalKey) ?? 0
    // Anonymous callers share one key and cannot be told apart.
    if (principalKey !== "" && own >= sessionsPerPrincipal) {
      return new TooManySessions({ limit: sessionsPerPrincipal, scope: "principal" })
    }
    this.taken += 1
    this.perPrincipal.set(principalKey, own + 1)
    return undefined
  }

  private release(principalKey: string): void {
    this.taken -= 1
    const left = (this.perPrincipal.get(principalKey) ?? 1) - 1
    if (left === 0) this.perPrincipal.delete(principalKey)
    else this.perPrincipal.set(principalKey, left)
  }

  private add(options: Omit<Seed, "onClosed" | "save">, kept: boolean): Effect.Effect<Session, TooManySessions> {
    return Effect.suspend((): Effect.Effect<Session, TooManySessions> => {
      const { id, principalKey } = options
      const refused = this.reserve(principalKey)
      if (refused !== undefined) return Effect.fail(refused)
      const scope = Scope.makeUnsafe()
      if (this.over) Scope.closeUnsafe(scope, Exit.void)
      this.making.set(id, scope)
      const made = this.make(this.seedOf(options, kept))
      // Not in the context of the request that opens it, which the session would keep alive, connection and all.
      const own = Context.add(this.context, Scope.Scope, scope)
      return Effect.onExit(Effect.updateContext(made, () => own), (exit) => {
        if (this.making.delete(id) && Exit.isSuccess(exit)) {
          this.enter(exit.value, scope)
          return Effect.void
        }
        this.release(principalKey)
        return Scope.close(scope, exit)
      })
    })
  }

  /** In a function of its own: the session keeps the seed, and with it all that its functions know of. */
  private seedOf(options: Omit<Seed, "onClosed" | "save">, kept: boolean): Seed {
    const { id, principalKey } = options
    const onClosed = (reason: CloseReason) => this.forget(id, reason)
    const save = kept && this.store !== undefined ? { save: this.saver() } : undefined
    const plain = options.link === undefined && options.record === undefined && save === undefined
    return plain ? { id, principalKey, onClosed } : { ...options, onClosed, ...save }
  }

  private enter(session: Session, scope: Scope.Closeable): void {
    const now = this.now()
    this.entries.set(session.id, { session, scope, found: Exit.succeed(session), lastSeen: now, savedAt: now })
    this.occupied.openUnsafe()
  }

  /** Called by the session when it begins to end. */
  private forget(id: string, reason: CloseReason): void {
    const entry = this.entries.get(id)
    if (entry === undefined) {
      this.making.delete(id)
      return
    }
    this.entries.delete(id)
    this.release(entry.session.principalKey)
    this.fibers.run(this.context, Scope.close(entry.scope, Exit.void))
    if (this.store !== undefined) this.fibers.run(this.context, this.unsave(id, reason, this.store))
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
    if (!SessionId.isSessionId(id)) return notFound(id)
    return Effect.flatMap(
      store.load(id),
      (record) =>
        Option.isNone(record) || record.value.principalKey !== principalKey || this.expired(record.value)
          ? notFound(id)
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
    return Effect.matchEffect(this.add({ id, principalKey, record }, true), {
      onFailure: () => notFound(id),
      onSuccess: (session) =>
        session.agreed() === undefined
          ? Effect.andThen(session.close("failed"), notFound(id))
          : Effect.as(this.draining ? session.drain(0) : Effect.void, session)
    })
  }

  /** Ends all sessions, and those that are opened from now on at once. */
  readonly shut = (exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> =>
    Effect.suspend(() => {
      this.over = true
      const scopes = [...this.making.values(), ...Array.from(this.entries.values(), (entry) => entry.scope)]
      return Effect.forEach(scopes, (scope) => Scope.close(scope, exit), { concurrency: "unbounded", discard: true })
    })

  /** Lets what is being written finish, for a while. */
  readonly settle: Effect.Effect<void> = Effect.suspend(() => this.fibers.settle(this.limits.closeGrace))
}

const notFound = (sessionId: string): Exit.Exit<never, SessionNotFound> => Exit.fail(new SessionNotFound({ sessionId }))

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

export const makeDirectory = Effect.fnUntraced(function*(make: Make, store: Store | undefined): Effect.fn.Return<
  Sessions["Service"],
  never,
  SecureRandom.SecureRandom | Scope.Scope
> {
  const context = yield* Effect.context<SecureRandom.SecureRandom>()
  const directory = new Directory(make, store, yield* SessionLimits, context)
  yield* Effect.addFinalizer((exit) => Effect.andThen(directory.shut(exit), directory.settle))
  yield* Effect.forkScoped(directory.sweep)
  return {
    open: directory.open,
    get: directory.get,
    terminate: directory.terminate,
    count: directory.count,
    drain: directory.drain,
    closeAll: directory.closeAll
  }
})
