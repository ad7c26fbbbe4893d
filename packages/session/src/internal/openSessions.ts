/** The sessions that are open in this process: how many there may be, how they begin, and how all of them end. */
import * as Context from "effect/Context"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Session } from "../Session.ts"
import { type CloseReason, SessionNotFound, TooManySessions } from "../SessionError.ts"
import * as SessionId from "../SessionId.ts"
import { type Limits, SessionLimits } from "../SessionLimits.ts"
import type { Seed, Sessions } from "../Sessions.ts"
import { Fibers } from "./fibers.ts"

export type Make = (seed: Seed) => Effect.Effect<Session, never, Scope.Scope>

/** What a directory is made from. */
export interface Parts {
  readonly make: Make
  readonly limits: Limits
  readonly context: Context.Context<SecureRandom.SecureRandom>
}

/** An open session. */
export interface Entry {
  readonly session: Session
  readonly scope: Scope.Closeable
}

/** What a directory knows of a session before it is made. */
export type Opening = Omit<Seed, "onClosed">

export abstract class OpenSessions<E extends Entry> {
  protected readonly entries = new Map<string, E>()
  /** The scopes of those that are being made and have not ended meanwhile. */
  private readonly making = new Map<string, Scope.Closeable>()
  private readonly perPrincipal = new Map<string, number>()
  protected readonly fibers = new Fibers()
  /** Sessions there are and sessions being made. */
  private taken = 0
  protected draining = false
  private readonly make: Make
  protected readonly limits: Limits
  protected readonly context: Context.Context<SecureRandom.SecureRandom>
  private over = false

  constructor({ context, limits, make }: Parts) {
    this.make = make
    this.limits = limits
    this.context = context
  }

  /** What is kept of a session that was made. */
  protected abstract entered(session: Session, scope: Scope.Closeable): E

  readonly open: Sessions["Service"]["open"] = (options) =>
    Effect.flatMap(Effect.provideContext(SessionId.make, this.context), (id) =>
      Effect.tap(
        this.add(this.opening(id, options)),
        (session) => this.draining ? session.drain(0) : Effect.void
      ))

  /** What a session that a caller opens is made from. */
  protected opening(id: string, options: Parameters<Sessions["Service"]["open"]>[0]): Opening {
    return { id, ...options }
  }

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

  protected add(opening: Opening): Effect.Effect<Session, TooManySessions> {
    return Effect.suspend((): Effect.Effect<Session, TooManySessions> => {
      const { id, principalKey } = opening
      const refused = this.reserve(principalKey)
      if (refused !== undefined) return Effect.fail(refused)
      const scope = Scope.makeUnsafe()
      if (this.over) Scope.closeUnsafe(scope, Exit.void)
      this.making.set(id, scope)
      const made = this.make(this.seedOf(opening))
      // Not in the context of the request that opens it, which the session would keep alive, connection and all.
      const own = Context.add(this.context, Scope.Scope, scope)
      return Effect.onExit(Effect.updateContext(made, () => own), (exit) => {
        if (this.making.delete(id) && Exit.isSuccess(exit)) {
          this.entries.set(id, this.entered(exit.value, scope))
          return Effect.void
        }
        this.release(principalKey)
        return Scope.close(scope, exit)
      })
    })
  }

  /** In a function of its own: the session keeps the seed, and with it all that its functions know of. */
  private seedOf(opening: Opening): Seed {
    const { id, link, principalKey, record, save } = opening
    const onClosed = this.forget.bind(this, id)
    const plain = link === undefined && record === undefined && save === undefined
    return plain ? { id, principalKey, onClosed } : { ...opening, onClosed }
  }

  /** Called by the session when it begins to end; `false` for one that was not open yet. */
  protected forget(id: string, _reason: CloseReason): boolean {
    const entry = this.entries.get(id)
    if (entry === undefined) {
      this.making.delete(id)
      return false
    }
    this.entries.delete(id)
    this.release(entry.session.principalKey)
    this.fibers.run(this.context, Scope.close(entry.scope, Exit.void))
    return true
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

export const notFound = (sessionId: string): Exit.Exit<never, SessionNotFound> =>
  Exit.fail(new SessionNotFound({ sessionId }))

/** A directory of this kind, closed with the scope. */
export const scoped = <D extends OpenSessions<Entry>>(
  make: Make,
  of: (parts: Parts) => D
): Effect.Effect<D, never, SecureRandom.SecureRandom | Scope.Scope> =>
  Effect.gen(function*() {
    const context = yield* Effect.context<SecureRandom.SecureRandom>()
    const directory = of({ make, limits: yield* SessionLimits, context })
    yield* Effect.addFinalizer((exit) => Effect.andThen(directory.shut(exit), directory.settle))
    return directory
  })
