/** Requests that are sent: correlated, timed, cancelled, and never left in the table. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import * as Methods from "@mcpfx/schema/Methods"
import type * as Progress from "@mcpfx/schema/Progress"
import type { Revision } from "@mcpfx/schema/Revision"
import * as Link from "@mcpfx/transport/Link"
import type { MessageTooLarge, TransportError } from "@mcpfx/transport/TransportError"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Pending from "../Pending.ts"
import { RequestTimeout, type SessionClosed } from "../SessionError.ts"
import type { Limits } from "../SessionLimits.ts"
import { type Answer, type Call, type Plan, type Read, type Route, Sent } from "./call.ts"
import { Deadlines } from "./deadlines.ts"
import type { Fibers } from "./fibers.ts"

const isEmpty = (object: JsonRpc.JsonObject): boolean => {
  for (const _ in object) return false
  return true
}

/** The params on the wire: `undefined` rather than empty, which is what most servers take (RPC-14 of field practice). */
const paramsOf = (plan: Plan, id: JsonRpc.RequestId): JsonRpc.JsonObject | undefined => {
  const { meta, onProgress, params } = plan
  const own = params["_meta"]
  if (meta === undefined && onProgress === undefined && own === undefined) return isEmpty(params) ? undefined : params
  const { [MetaKey.progressToken]: _, ...rest } = { ...(JsonRpc.isJsonObject(own) ? own : undefined), ...meta }
  return { ...params, _meta: onProgress === undefined ? rest : { ...rest, [MetaKey.progressToken]: id } }
}

interface Owner {
  /** Whether the other side waits for an answer of this one, which it may need for its own. */
  readonly isAsked: boolean
  /** Up to when somebody was waited for on behalf of this side; `-Infinity` where nobody was. */
  readonly heldUntil: (now: number) => number
}

export class Calls {
  private readonly pending: Pending.Pending<Call>
  private readonly deadlines: Deadlines
  private readonly fibers: Fibers
  private readonly limits: Limits
  private readonly terms: { readonly current: { readonly revision: Revision } | undefined }
  private readonly owner: Owner
  private over: SessionClosed | TransportError | undefined = undefined

  constructor(
    context: Context.Context<never>,
    fibers: Fibers,
    limits: Limits,
    idFormat: Pending.IdFormat | undefined,
    /** What is agreed; before anything is, nothing can be taken back. */
    terms: { readonly current: { readonly revision: Revision } | undefined },
    owner: Owner
  ) {
    this.pending = Pending.make(idFormat)
    this.deadlines = new Deadlines(context, this.pending)
    this.fibers = fibers
    this.limits = limits
    this.terms = terms
    this.owner = owner
  }

  get size(): number {
    return this.pending.size
  }

  get armed(): boolean {
    return this.deadlines.armed
  }

  /**
   * Sends a request, and calls `resume` once with what comes of it; gives how to take it back, where it is not over already.
   * What it takes to send it and to hand progress over runs in `context`.
   */
  request<A>(
    plan: Plan,
    context: Context.Context<never>,
    read: Read<A>,
    resume: (answer: Answer<A>) => void
  ): Effect.Effect<void> | undefined {
    if (this.over !== undefined) {
      resume(Effect.fail(this.over))
      return undefined
    }
    const now = this.deadlines.now()
    const call = new Sent(this, plan, context, read, resume, now)
    return this.send(call, now)
  }

  /** Sends a notification. */
  notify(route: Route, message: JsonRpc.Notification): Effect.Effect<void, SessionClosed | TransportError> {
    return Effect.suspend((): Effect.Effect<void, SessionClosed | TransportError> =>
      this.over === undefined ? route.send(message) : Effect.fail(this.over)
    )
  }

  /** Takes an answer in, or why it could not be read; whether a request waited for it (RPC-15 of field practice). */
  complete(response: JsonRpc.Response, fault?: MessageTooLarge | string): boolean {
    const call = this.pending.take(response.id)
    if (call === undefined) return false
    call.answered(response, fault)
    // Afterwards: a caller that goes on with its next request, on this stack, finds the timer running.
    this.relax()
    return true
  }

  /** Takes progress in; whether a live request asked for it (PRG-04 of field practice). */
  progress(params: Progress.Params): boolean {
    const call = this.pending.get(params.progressToken)
    if (call === undefined || call.plan.onProgress === undefined) return false
    this.prolong(call, this.deadlines.now())
    const backlog = call.backlog ??= []
    backlog.push(params)
    if (backlog.length > this.limits.progressBacklog) backlog.shift()
    if (!call.busy) {
      call.busy = true
      call.delivering = this.fibers.run(call.context, deliver(call.plan.method, backlog, call.plan.onProgress), () => {
        call.busy = false
        call.delivering = undefined
      })
    }
    return true
  }

  /** Nothing is sent any more: what will be asked for fails, and nothing is taken back. */
  shut(error: SessionClosed | TransportError): void {
    this.over ??= error
    this.deadlines.disarm()
  }

  /** Fails all that waits (SHT-06 of field practice). */
  failAll(error: SessionClosed | TransportError): void {
    for (const call of this.pending.takeAll()) call.settle(Effect.fail(error))
  }

  /** An answer of this side is out: the other one has its full time again. */
  answered(): void {
    const now = this.deadlines.now()
    for (const call of this.pending.values()) this.prolong(call, now)
  }

  private prolong(call: Call, now: number): void {
    call.deadline = Math.min(Math.max(call.deadline, now + call.plan.timeout), call.latest)
  }

  /**
   * The time of a call is up: its peer is told, its caller fails (LIF-14). A peer that asks something meanwhile is not silent,
   * and people take their time: it has until the latest moment that progress could win for it. The time in which this side
   * waited for somebody, as for a login, does not count at all.
   */
  expire(call: Call, now: number): void {
    const held = this.owner.heldUntil(now)
    if (held > call.start) {
      call.latest = Math.max(call.latest, held + call.plan.maxTimeout)
      call.deadline = Math.max(call.deadline, Math.min(held + call.plan.timeout, call.latest))
      if (now < call.deadline) return
    }
    if (now < call.latest && this.owner.isAsked) return this.prolong(call, now)
    call.done = true
    this.pending.remove(call.id)
    this.relax()
    call.delivering?.interruptUnsafe()
    this.takeBack(call, "timeout")
    call.settle(Effect.fail(new RequestTimeout({ method: call.plan.method, millis: Math.round(now - call.start) })))
  }

  private send(call: Call, now: number): Effect.Effect<void> | undefined {
    const { context, plan } = call
    call.id = this.pending.add(call)
    if (plan.onSent !== undefined) {
      const told = Result.try(() => plan.onSent?.(call.id))
      if (Result.isFailure(told)) {
        this.pending.remove(call.id)
        call.settle(Effect.die(told.failure))
        return undefined
      }
    }
    const message = JsonRpc.request(call.id, plan.method, paramsOf(plan, call.id))
    const sending = plan.route.send(message, plan.send)
    const sent = Link.attempt(sending)
    if (sent === undefined) {
      call.sending = this.fibers.run(context, sending, (exit) => {
        call.sending = undefined
        if (Exit.isFailure(exit)) this.unsent(call, exit)
      })
    } else if (Exit.isFailure(sent)) this.unsent(call, sent)
    if (call.done) return undefined
    this.deadlines.arm(call.deadline, now)
    return Effect.sync(() => this.abandon(call))
  }

  /** A request that cannot be sent is not waited for (MEM-05 of field practice). */
  private unsent(call: Call, exit: Exit.Failure<void, TransportError>): void {
    if (call.done) return
    this.pending.remove(call.id)
    this.relax()
    call.delivering?.interruptUnsafe()
    call.settle(Effect.failCause(exit.cause))
  }

  /** The caller was interrupted. */
  private abandon(call: Call): void {
    call.delivering?.interruptUnsafe()
    if (call.done) return
    call.done = true
    this.pending.remove(call.id)
    this.relax()
    this.takeBack(call, "cancelled")
  }

  /**
   * Stops the sending, and tells the peer: by notification, or on 2026-07-28, where the exchange of the request is still
   * open, by its closing alone. Never for `initialize` (LIF-10). Waits for nothing.
   */
  private takeBack(call: Call, reason: string): void {
    const sending = call.sending
    sending?.interruptUnsafe()
    const revision = this.terms.current?.revision
    if (this.over !== undefined || revision === undefined || call.plan.method === Methods.Initialize.name) return
    if (revision.era === "modern" && sending !== undefined) return
    const notice = JsonRpc.notification(Methods.Cancelled.name, { requestId: call.id, reason })
    this.fibers.run(
      call.context,
      Effect.timeoutOption(Effect.ignore(call.plan.route.send(notice)), this.limits.cancelGrace)
    )
  }

  private relax(): void {
    if (this.pending.size === 0) this.deadlines.disarm()
  }
}

/** Hands progress over in the order it came, one at a time. */
const deliver = (
  method: string,
  backlog: Array<Progress.Params>,
  onProgress: (progress: Progress.Params) => Effect.Effect<void>
): Effect.Effect<void> =>
  Effect.whileLoop({
    while: () => backlog.length > 0,
    body: () => {
      const params = backlog.shift()
      return params === undefined
        ? Effect.void
        : Effect.catchDefect(
          Effect.suspend(() => onProgress(params)),
          (defect) => Effect.logError(`onProgress of ${method} failed`, defect)
        )
    },
    step: () => {}
  })
