/**
 * The requests being served: started, cancelled, drained.
 *
 * A request starts on its caller's stack. One whose outcome is there at once is answered there: it needs neither a fiber
 * nor a scope. Any other gets both; if it suspends, it is in the table until it has ended. Whatever happens, its scope is
 * closed first and its outlet is closed exactly once after.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import type { Revision } from "@mcpfx/schema/Revision"
import type { Outlet } from "@mcpfx/transport/Exchange"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { isExit } from "./internal/exit.ts"
import { IdTable } from "./internal/idTable.ts"

/**
 * What takes the place of a request's outcome, once its scope is closed with the exit given.
 *
 * @category models
 * @since 0.1.0
 */
export type Ending = (closed: Exit.Exit<unknown>) => Effect.Effect<JsonRpc.ResultBody, McpError.McpError>

/**
 * Who hears how a request ends.
 *
 * @category models
 * @since 0.1.0
 */
export interface Watcher {
  /** Told once when nothing more may be sent, right before the answer. */
  finish(): void
  /** Told when the effect has ended, before its scope is closed; may give what is answered instead. */
  ending?(exit: Exit.Exit<JsonRpc.ResultBody, McpError.McpError>): Ending | undefined
}

/**
 * One request to serve.
 *
 * @category models
 * @since 0.1.0
 */
export interface Run {
  readonly id: JsonRpc.RequestId
  /** What the table knows it by, where ids of several clients meet; the id itself by default. */
  readonly key?: unknown
  readonly method: string
  readonly outlet: Outlet
  /** How errors are written. */
  readonly revision: Revision
  /** Called once, by `start`. What it gives is run, unless it has ended already; what it throws is a defect. */
  begin(): Effect.Effect<JsonRpc.ResultBody, McpError.McpError>
  /** What that runs with; a scope of its own is added. Not asked for where nothing has to be run. */
  context(): Context.Context<never>
  readonly watcher?: Watcher | undefined
  /** Called once when the request is over, after the answer; not for a request that was cancelled. */
  readonly after?: (() => void) | undefined
}

/**
 * Why a request was not started: its id is in use, there are too many, or nothing is started any more.
 *
 * @category models
 * @since 0.1.0
 */
export type Refusal = "Taken" | "Full" | "Closed"

/** One request from its start to its end. */
class Entry {
  readonly run: Run
  readonly key: unknown
  /** The request on whose stack this one starts. */
  readonly outer: Entry | undefined
  fiber: Fiber.Fiber<unknown, unknown> | undefined = undefined
  cancelled = false
  settled = false

  constructor(run: Run, key: unknown, outer: Entry | undefined) {
    this.run = run
    this.key = key
    this.outer = outer
  }
}

/**
 * @category models
 * @since 0.1.0
 */
export class InFlight {
  /** Those that have suspended; made for the first one, since most sessions wait for most of their life. */
  private table: IdTable<Entry> | undefined = undefined
  private readonly limit: number
  private waiting: Set<() => void> | undefined = undefined
  /** The innermost request that is starting right now. */
  private starting: Entry | undefined = undefined
  private closed = false

  constructor(limit: number) {
    this.limit = limit
  }

  /** How many requests have suspended and not ended. */
  get size(): number {
    return this.table === undefined ? 0 : this.table.size
  }

  /** Whether a request of this key runs. */
  has(key: unknown): boolean {
    return this.find(key) !== undefined
  }

  /** The fibers of the requests in the table. */
  fibers(): ReadonlyArray<Fiber.Fiber<unknown, unknown>> {
    return this.suspended().flatMap((entry) => entry.fiber ?? [])
  }

  /** Starts a request on this stack; gives the reason where it does not. Never throws, never waits. */
  start(run: Run): Refusal | undefined {
    const key = run.key ?? run.id
    if (this.closed) return "Closed"
    if (this.has(key)) return "Taken"
    if (this.size >= this.limit) return "Full"
    const entry = new Entry(run, key, this.starting)
    this.starting = entry
    const begun = Result.try(() => this.begin(entry))
    this.starting = entry.outer
    if (Result.isFailure(begun)) this.threw(entry, begun.failure)
    this.wake()
    return undefined
  }

  private begin(entry: Entry): void {
    const effect = entry.run.begin()
    if (!isExit(effect)) return this.serve(entry, effect)
    const rest = this.end(entry, effect)
    if (rest !== undefined) this.fork(entry, entry.run.context(), Effect.uninterruptible(rest))
  }

  private threw(entry: Entry, defect: unknown): void {
    const log = entry.settled
      ? Effect.logError(`${entry.run.method} failed`, Cause.die(defect))
      : this.settle(entry, Exit.die(defect))
    if (log !== undefined) this.fork(entry, entry.run.context(), log)
  }

  /** Runs what has not ended, with a scope of its own. */
  private serve(entry: Entry, effect: Effect.Effect<JsonRpc.ResultBody, McpError.McpError>): void {
    const scope = Scope.makeUnsafe()
    this.fork(
      entry,
      Context.add(entry.run.context(), Scope.Scope, scope),
      Effect.onExitPrimitive(effect, (exit) => this.end(entry, exit, scope))
    )
  }

  /** Runs on this stack; an entry that has not settled then is in the table until it has. */
  private fork(entry: Entry, context: Context.Context<never>, effect: Effect.Effect<unknown, unknown>): void {
    const fiber = Effect.runForkWith(context)(effect)
    if (entry.settled) return
    entry.fiber = fiber
    this.table ??= new IdTable()
    this.table.add(entry.key, entry)
    if (entry.cancelled) fiber.interruptUnsafe()
  }

  /**
   * Interrupts a request: it is never answered (CAN-03). Unknown keys do nothing (CAN-04). Does not wait for the request's
   * finalizers; whether there was such a request.
   */
  interrupt(key: unknown): boolean {
    const entry = this.find(key)
    if (entry === undefined) return false
    this.cancel(entry)
    return true
  }

  /** Interrupts everything without waiting, and gives the fibers that have not ended yet. */
  interruptAllUnsafe(): ReadonlyArray<Fiber.Fiber<unknown, unknown>> {
    for (const entry of this.suspended()) this.cancel(entry)
    for (let entry = this.starting; entry !== undefined; entry = entry.outer) this.cancel(entry)
    return this.fibers()
  }

  /** Starts nothing any more; what runs goes on. */
  closeUnsafe(): void {
    this.closed = true
  }

  /** Interrupts everything and succeeds when every request has ended. */
  get interruptAll(): Effect.Effect<void> {
    return Effect.suspend(() => Effect.asVoid(Fiber.awaitAll(this.interruptAllUnsafe())))
  }

  /**
   * Starts nothing any more, waits until all have ended, and interrupts those that have not at the deadline (SHT-01 of field
   * practice).
   */
  drain(deadline: Duration.Input): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.closed = true
      return this.empty.pipe(Effect.timeoutOrElse({ duration: deadline, orElse: () => this.interruptAll }))
    })
  }

  /** Nothing is in the table, and nothing starts: what a request does first may be to have everything end. */
  private get isEmpty(): boolean {
    return this.size === 0 && this.starting === undefined
  }

  /** Succeeds when no request runs. */
  get empty(): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      if (this.isEmpty) return resume(Effect.void)
      const waiting = this.waiting ??= new Set()
      const wake = () => {
        waiting.delete(wake)
        resume(Effect.void)
      }
      waiting.add(wake)
      return Effect.sync(() => void waiting.delete(wake))
    })
  }

  private find(key: unknown): Entry | undefined {
    for (let entry = this.starting; entry !== undefined; entry = entry.outer) {
      if (entry.key === key && !entry.settled) return entry
    }
    return this.table?.get(key)
  }

  private suspended(): ReadonlyArray<Entry> {
    return this.table === undefined ? [] : this.table.values()
  }

  private cancel(entry: Entry): void {
    if (entry.cancelled || entry.settled) return
    entry.cancelled = true
    // First the handler, whose finalizers may still take back what it asked on this stream; then the stream. Where nothing
    // is asked on streams, nothing may be sent any more (STD-14).
    const asks = entry.run.revision.era === "legacy"
    if (asks) entry.fiber?.interruptUnsafe()
    entry.run.watcher?.finish()
    entry.run.outlet.end()
    if (!asks) entry.fiber?.interruptUnsafe()
  }

  /** Closes the scope, then answers: on the request's own fiber if it has one, in an uninterruptible region. */
  private end(
    entry: Entry,
    exit: Exit.Exit<JsonRpc.ResultBody, McpError.McpError>,
    scope?: Scope.Closeable
  ): Effect.Effect<void> | undefined {
    const { watcher } = entry.run
    const instead = watcher?.ending === undefined ? undefined : watcher.ending(exit)
    const closing = scope === undefined ? undefined : Scope.closeUnsafe(scope, exit)
    if (closing === undefined && instead === undefined) return this.settle(entry, exit)
    return Effect.flatMap(
      closing === undefined ? Effect.succeed(Exit.void) : Effect.exit(closing),
      (closed) =>
        instead === undefined
          ? this.settle(entry, Exit.isFailure(exit) || Exit.isSuccess(closed) ? exit : Exit.failCause(closed.cause)) ??
            Effect.void
          : Effect.flatMap(Effect.exit(instead(closed)), (exit) => this.settle(entry, exit) ?? Effect.void)
    )
  }

  private settle(
    entry: Entry,
    exit: Exit.Exit<JsonRpc.ResultBody, McpError.McpError>
  ): Effect.Effect<void> | undefined {
    entry.settled = true
    if (entry.fiber !== undefined) this.table?.take(entry.key)
    if (entry.cancelled) {
      this.wake()
      return undefined
    }
    entry.run.watcher?.finish()
    const log = this.answer(entry.run, exit)
    entry.run.after?.()
    this.wake()
    return log
  }

  /** Whoever waits for the end goes on right here, and so only once the last answer is out. */
  private wake(): void {
    if (this.waiting === undefined || !this.isEmpty) return
    for (const wake of Array.from(this.waiting)) wake()
  }

  private answer(run: Run, exit: Exit.Exit<JsonRpc.ResultBody, McpError.McpError>): Effect.Effect<void> | undefined {
    const { id, outlet, revision } = run
    if (Exit.isSuccess(exit)) {
      const sent = Result.try(() => outlet.answer(JsonRpc.success(id, exit.value)))
      return Result.isSuccess(sent) ? undefined : this.broken(run, Cause.die(sent.failure))
    }
    const failure = Cause.findError(exit.cause)
    if (Result.isFailure(failure)) return this.broken(run, exit.cause)
    outlet.answer(JsonRpc.failure(id, McpError.toWire(failure.success, revision)))
    return undefined
  }

  /** A defect, or an interruption that nobody here asked for: the peer learns that it failed, the log learns why. */
  private broken(run: Run, cause: Cause.Cause<unknown>): Effect.Effect<void> {
    run.outlet.answer(JsonRpc.failure(run.id, McpError.toWire(new McpError.InternalError(), run.revision)))
    return Effect.logError(`${run.method} failed`, cause)
  }
}

/**
 * An empty table; its owner closes it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeUnsafe = (options: { readonly limit: number }): InFlight => new InFlight(options.limit)

/**
 * An empty table; closing the scope interrupts what runs and waits for it.
 *
 * **Example** (Serving one request)
 *
 * ```ts
 * import { InFlight } from "@mcpfx/session"
 * import { Effect } from "effect"
 *
 * const size = Effect.scoped(Effect.map(InFlight.make({ limit: 1024 }), (inFlight) => inFlight.size))
 * Effect.runSync(size) // => 0
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: { readonly limit: number }): Effect.Effect<InFlight, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => makeUnsafe(options)),
    (inFlight) =>
      Effect.suspend(() => {
        inFlight.closeUnsafe()
        return inFlight.interruptAll
      })
  )
