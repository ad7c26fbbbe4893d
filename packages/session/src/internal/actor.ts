/** The session itself: state, what it serves, what it sends, and its end. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import type { Admission, Rejected } from "@mcpfx/transport/Endpoint"
import { type Exchange, type Facts, noOutlet, type Outlet } from "@mcpfx/transport/Exchange"
import type { Link, LinkHolder } from "@mcpfx/transport/Link"
import { CurrentPatience } from "@mcpfx/transport/Patience"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import type { TransportError } from "@mcpfx/transport/TransportError"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as InFlight from "../InFlight.ts"
import * as Lifecycle from "../Lifecycle.ts"
import * as Peer from "../Peer.ts"
import type { IdFormat } from "../Pending.ts"
import { RequestContext } from "../RequestContext.ts"
import type { Agreed, Load, Options, Session } from "../Session.ts"
import { type CloseReason, SessionClosed } from "../SessionError.ts"
import type { Limits } from "../SessionLimits.ts"
import * as Telemetry from "../Telemetry.ts"
import type { Route } from "./call.ts"
import { Calls } from "./calls.ts"
import { baseContext, LiveContext, LiveRequest, type Server } from "./context.ts"
import { Fibers } from "./fibers.ts"
import { LiveSession } from "./liveSession.ts"
import { nestedOn } from "./nested.ts"
import * as Refusals from "./refusals.ts"
import { type Served, Terms } from "./terms.ts"

type Admitted = Exit.Exit<Admission, Rejected>

const admitted: Admitted = Exit.succeed({})
const pong: JsonRpc.JsonObject = {}

export class Actor implements Server, LinkHolder, Peer.Sender {
  readonly session: Session
  readonly limits: Limits
  readonly listener: Telemetry.Listener | undefined
  transport: Facts["transport"] | undefined = undefined
  readonly options: Options
  private readonly services: Context.Context<never>
  readonly terms: Terms
  private readonly inFlight: InFlight.InFlight
  private readonly fibers = new Fibers()
  /** Why it is over, once every fiber of it has ended, and where others wait for that. */
  private over: CloseReason | undefined = undefined
  private ending: Deferred.Deferred<CloseReason> | undefined = undefined
  private readonly ended: ((reason: string) => void) | undefined
  /** The newest stream, and those before it: most sessions have one at the most. */
  private newest: Link | undefined = undefined
  private older: Array<Link> | undefined = undefined
  /** What is sent; most sessions of a server never send anything that is to be answered. */
  private sent: Calls | undefined = undefined
  /** Why nothing is sent any more. */
  private lastly: SessionClosed | TransportError | undefined = undefined
  private readonly idFormat: IdFormat | undefined
  private ownPeer: Peer.Peer | undefined = undefined

  constructor(
    options: Options,
    limits: Limits,
    services: Context.Context<never>,
    idFormat: IdFormat | undefined
  ) {
    this.options = options
    this.limits = limits
    this.idFormat = idFormat
    this.services = baseContext(services)
    this.terms = new Terms(options, this)
    this.inFlight = InFlight.makeUnsafe({ limit: limits.requestsInFlight })
    this.listener = Telemetry.listener(this.services)
    this.ended = this.listener?.session(options.role, () => this.terms.current?.revision)
    this.session = new LiveSession(this)
  }

  get role(): "server" | "client" {
    return this.options.role
  }

  get visibleId(): string | undefined {
    return this.options.stateless === true ? undefined : this.options.id
  }

  // What is sent, and how.

  get envelope(): JsonRpc.JsonObject | undefined {
    return this.terms.envelope
  }

  get calls(): Calls {
    if (this.sent !== undefined) return this.sent
    const calls = new Calls(this.services, this.fibers, this.limits, this.idFormat, this.terms, this)
    if (this.lastly !== undefined) calls.shut(this.lastly)
    this.sent = calls
    return calls
  }

  get peer(): Peer.Peer {
    return this.ownPeer ??= Peer.make(this)
  }

  route(): Route | undefined {
    return this.newest ?? this.options.link
  }

  revisionFor(method: string): Revision | undefined {
    return this.terms.revisionFor(method)
  }

  askerOn(outlet: Outlet): Peer.Asker | undefined {
    if (this.options.stateless === true) return undefined
    if (this.role === "client") return this.peer
    if (outlet === noOutlet || outlet.oneShot === true) return this.route() === undefined ? undefined : this.peer
    return Peer.makeAsker(this, nestedOn(outlet))
  }

  currentLevel(): ReturnType<Session["logLevel"]> {
    return this.terms.level
  }

  // The end.

  /** The connection is gone. */
  lost(error: TransportError): Effect.Effect<void> {
    return Effect.sync(() => this.finish("disconnected", error))
  }

  close(reason: CloseReason): Effect.Effect<void> {
    return Effect.withFiber((fiber) => {
      this.finish(reason, new SessionClosed({ reason }))
      const inside = Context.getOrUndefined(fiber.context, RequestContext)
      // A handler that closes its own session cannot wait for itself.
      if (inside !== undefined && inside.sessionId === this.visibleId && this.visibleId !== undefined) {
        return Effect.void
      }
      if (this.over !== undefined) return Effect.void
      return Effect.timeoutOrElse(Effect.asVoid(this.closed), {
        duration: this.limits.closeGrace,
        orElse: () => {
          this.done(reason)
          return Effect.logWarning(`a session ended with requests that do not end: ${this.inFlight.size}`)
        }
      })
    })
  }

  /** Completes with the reason once it is over. */
  get closed(): Effect.Effect<CloseReason> {
    return Effect.suspend(() =>
      this.over === undefined
        ? Deferred.await(this.ending ??= Deferred.makeUnsafe<CloseReason>())
        : Effect.succeed(this.over)
    )
  }

  private done(reason: CloseReason): void {
    if (this.over !== undefined) return
    this.over = reason
    if (this.ending !== undefined) Deferred.doneUnsafe(this.ending, Exit.succeed(reason))
  }

  /** Synchronous, so that nothing comes in between. */
  private finish(reason: CloseReason, error: SessionClosed | TransportError): void {
    if (this.terms.closed) return
    this.terms.close(reason)
    this.inFlight.closeUnsafe()
    this.lastly = error
    this.sent?.shut(error)
    // First, so that a handler that waits for an answer ends with its session and does not go on without it.
    this.inFlight.interruptAllUnsafe()
    this.sent?.failAll(error)
    for (const fiber of this.fibers.all()) fiber.interruptUnsafe()
    for (const link of [...this.detached(), this.options.link]) {
      if (link?.close !== undefined) this.fibers.run(this.services, link.close)
    }
    this.ended?.(reason)
    this.options.onClosed?.(reason)
    const rest = [...this.inFlight.fibers(), ...this.fibers.all()]
    let running = rest.length
    if (running === 0) this.done(reason)
    for (const fiber of rest) {
      fiber.addObserver(() => {
        running -= 1
        if (running === 0) this.done(reason)
      })
    }
  }

  // What comes in.

  accept(exchange: Exchange): Admitted {
    const taken = Result.try(() => this.take(exchange))
    return Result.isSuccess(taken) ? taken.success : this.broken(taken.failure)
  }

  private take(exchange: Exchange): Admitted {
    const { message } = exchange
    this.transport = exchange.facts.transport
    if (JsonRpc.isRequest(message)) {
      return this.role === "server" ? this.request(message, exchange) : this.peerRequest(message, exchange)
    }
    if ("method" in message) return this.notification(message, exchange)
    if (this.sent?.complete(message, exchange.fault) !== true) this.unexpected(message)
    return admitted
  }

  private request(message: JsonRpc.Request, exchange: Exchange): Admitted {
    const verdict = Lifecycle.request(this.terms.state, message.method)
    switch (verdict) {
      case "Serve":
      case "Wait": {
        const { current } = this.terms
        return current === undefined
          ? this.refuse("NotInitialized", message)
          : this.serve(message, exchange, current, verdict === "Wait", this.afterAsk())
      }
      case "Ping":
        exchange.outlet.answer(JsonRpc.success(message.id, pong))
        return admitted
      case "Initialize":
        return this.initialize(message, exchange)
      default:
        return this.refuse(verdict, message)
    }
  }

  /** A request of the server to this client. A server of 2026-07-28 sends none: what comes is not answered (RPC-17). */
  private peerRequest(message: JsonRpc.Request, exchange: Exchange): Admitted {
    const modern = this.terms.current?.revision.era === "modern"
    if (modern || message.method === Methods.Initialize.name) {
      exchange.outlet.end()
      this.debug(`ignored a request of the server: ${message.method}`)
      return admitted
    }
    const outcome = this.request(message, exchange)
    if (Exit.isFailure(outcome)) {
      const rejected = Cause.findError(outcome.cause)
      if (Result.isSuccess(rejected)) exchange.outlet.answer(JsonRpc.failure(message.id, rejected.success.error))
    }
    return admitted
  }

  /** What a server asks is part of what it was asked; a server's own questions have their time, whatever else it serves. */
  get isAsked(): boolean {
    return this.role === "client" && this.inFlight.size > 0
  }

  /** A person who is asked to log in is one that a client waits for; a server has nobody to ask so. */
  heldUntil(now: number): number {
    const patience = this.role === "client" ? Context.get(this.services, CurrentPatience) : undefined
    return patience?.heldUntil(now) ?? Number.NEGATIVE_INFINITY
  }

  private afterAsk(): (() => void) | undefined {
    return this.role === "client" ? () => this.sent?.answered() : undefined
  }

  private serve(
    message: JsonRpc.Request,
    exchange: Exchange,
    agreed: Agreed,
    waits: boolean,
    after?: () => void
  ): Admitted {
    const refusal = this.inFlight.start(new LiveRequest(this, message, agreed, exchange, waits, after))
    return refusal === undefined ? admitted : this.refuse(refusal, message)
  }

  /** Begins to serve a request that was taken in. */
  handle(request: LiveRequest): Served {
    const { listener } = this
    if (listener === undefined && !request.waits) return this.answer(request)
    const answered = Effect.suspend(() => this.answer(request))
    const served = request.waits ? this.terms.afterHandshake(request.method, answered) : answered
    return listener === undefined
      ? served
      : listener.serve(served, this.operation(request.message, request.agreed), request.facts)
  }

  private answer(request: LiveRequest): Served {
    return this.terms.keep(
      request.message,
      () => this.options.handler.request(request.message, request),
      request.revision
    )
  }

  contextOf(context: LiveContext<JsonRpc.Request | JsonRpc.Notification>): Context.Context<never> {
    const added = Context.add(this.services, RequestContext, context)
    const { principal } = context.facts
    return Option.isNone(principal) ? added : Context.add(added, CurrentPrincipal, principal)
  }

  private operation(message: JsonRpc.Request, agreed: Agreed): Telemetry.Operation {
    return {
      method: message.method,
      params: message.params,
      id: message.id,
      revision: agreed.revision,
      sessionId: this.visibleId,
      transport: this.transport
    }
  }

  private initialize(message: JsonRpc.Request, exchange: Exchange): Admitted {
    const terms = this.terms.negotiate(message)
    if (Exit.isFailure(terms)) {
      this.handshakeOver()
      return Exit.failCause(terms.cause)
    }
    const outcome = this.serve(message, exchange, terms.value, false, () => this.handshakeOver())
    if (Exit.isFailure(outcome)) {
      this.terms.handshakeFailed()
      this.handshakeOver()
    }
    return Exit.isFailure(outcome) || this.visibleId === undefined || this.terms.closed
      ? outcome
      : Exit.succeed({ sessionId: this.visibleId })
  }

  /** A session that was opened for a handshake that failed is of no use to anyone. */
  private handshakeOver(): void {
    if (this.terms.current !== undefined || this.options.link !== undefined) return
    this.finish("failed", new SessionClosed({ reason: "failed" }))
  }

  private notification(message: JsonRpc.Notification, exchange: Exchange): Admitted {
    switch (message.method) {
      case Methods.Cancelled.name:
        this.cancelled(message)
        return admitted
      case Methods.Progress.name:
        // Progress of a task goes on when its request is answered (PRG-07): then it is for whoever waits for the task.
        if (this.progressed(message) || this.role === "server") return admitted
        break
      case Methods.Initialized.name:
        if (this.role === "server") this.initialized()
        break
    }
    const agreed = this.terms.current
    if (agreed === undefined || this.terms.closed) return admitted
    if (this.fibers.size >= this.limits.requestsInFlight) {
      this.debug(`dropped a notification, too many are being handled: ${message.method}`)
      return admitted
    }
    const context = new LiveContext(this, message, agreed, exchange.facts, exchange.outlet)
    this.fibers.run(
      this.contextOf(context),
      Effect.catchCause(
        Effect.suspend(() => this.options.handler.notification(message, context)),
        (cause) => Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError(`${message.method} failed`, cause)
      )
    )
    return admitted
  }

  /** Malformed notices, unknown ids and `initialize` are left alone (CAN-04, LIF-10). */
  private cancelled(message: JsonRpc.Notification): void {
    const id = message.params?.["requestId"]
    if (!JsonRpc.isRequestId(id) || id === this.terms.handshakeId) return
    const reason = message.params?.["reason"]
    if (this.inFlight.interrupt(id) && typeof reason === "string") {
      this.debug(`request ${JSON.stringify(id)} was cancelled: ${reason}`)
    }
  }

  /** Whether a request waits for this. */
  private progressed(message: JsonRpc.Notification): boolean {
    const revision = this.terms.revisionFor(Methods.Progress.name)
    const params = revision?.notification(Methods.Progress)?.decodeParams(message.params ?? {})
    return params !== undefined && Result.isSuccess(params) && this.sent?.progress(params.success) === true
  }

  private initialized(): void {
    if (this.terms.initialized() && this.options.save !== undefined) {
      this.fibers.run(this.services, this.terms.save())
    }
  }

  private unexpected(response: JsonRpc.Response): void {
    if (JsonRpc.isFailure(response) && (response.id === undefined || response.id === null)) {
      const { code, message } = response.error
      this.fibers.run(this.services, Effect.logWarning(`the other side could not read a message: ${code} ${message}`))
      return
    }
    this.debug(`ignored an answer to no request: ${JSON.stringify(response.id)}`)
  }

  private refuse(why: Refusals.Reason, message: JsonRpc.Request): Refusals.Refused {
    const { closed, revision } = this.terms
    return Refusals.of(closed ? "Over" : why, revision, message)
  }

  /** A defect in the session's own code: it ends, and the peer begins anew. */
  private broken(defect: unknown): Refusals.Refused {
    this.fibers.run(this.services, Effect.logError("the session broke", Cause.die(defect)))
    this.finish("failed", new SessionClosed({ reason: "failed" }))
    return Refusals.broken(this.terms.revision)
  }

  private debug(text: string): void {
    this.fibers.run(this.services, Effect.logDebug(text))
  }

  /** Requests sent and not answered. */
  private get waiting(): number {
    return this.sent === undefined ? 0 : this.sent.size
  }

  private get streams(): number {
    if (this.newest === undefined) return 0
    return this.older === undefined ? 1 : this.older.length + 1
  }

  /** A connection is an open stream: its session lasts as long as it does. */
  get busy(): boolean {
    return this.options.link !== undefined || this.inFlight.size > 0 || this.streams > 0 || this.waiting > 0 ||
      this.fibers.size > 0
  }

  drain(deadline: Duration.Input): Effect.Effect<void> {
    return this.inFlight.drain(deadline)
  }

  load(): Load {
    return {
      serving: this.inFlight.size,
      waiting: this.waiting,
      fibers: this.fibers.size,
      streams: this.streams,
      timer: this.sent?.armed === true
    }
  }

  attach(link: Link): Effect.Effect<void, Rejected, Scope.Scope> {
    const hold = Effect.suspend(() => this.hold(link))
    if (link.heldBy !== undefined) return hold
    return Effect.flatMap(Effect.scope, (scope) =>
      Effect.andThen(
        Scope.addFinalizerExit(scope, () => Effect.sync(() => this.release(link))),
        hold
      ))
  }

  private hold(link: Link): Effect.Effect<void, Rejected> {
    if (this.terms.closed) return Refusals.over(this.terms.revision)
    if (this.newest !== undefined) {
      this.older ??= []
      this.older.push(this.newest)
    }
    this.newest = link
    link.heldBy?.(this)
    this.options.onAttached?.()
    return Effect.void
  }

  /** A link has ended. */
  release(link: Link): void {
    if (this.newest === link) {
      this.newest = this.older?.pop()
      return
    }
    const index = this.older?.indexOf(link) ?? -1
    if (index >= 0) this.older?.splice(index, 1)
  }

  /** All streams, oldest first, which are let go of. */
  private detached(): ReadonlyArray<Link | undefined> {
    const all = [...this.older?.splice(0) ?? [], this.newest]
    this.newest = undefined
    return all
  }
}
