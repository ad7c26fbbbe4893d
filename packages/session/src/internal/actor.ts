/** The session itself: state, what it serves, what it sends, and its end. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Logging from "@mcpfx/schema/Logging"
import * as McpError from "@mcpfx/schema/McpError"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import type { Admission, Rejected } from "@mcpfx/transport/Endpoint"
import { type Exchange, type Facts, noOutlet, type Outlet } from "@mcpfx/transport/Exchange"
import type { Link } from "@mcpfx/transport/Link"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import type { TransportError } from "@mcpfx/transport/TransportError"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as InFlight from "../InFlight.ts"
import * as Lifecycle from "../Lifecycle.ts"
import * as Peer from "../Peer.ts"
import { RequestContext } from "../RequestContext.ts"
import type { Agreed, Established, Load, Options, Session } from "../Session.ts"
import { type CloseReason, SessionClosed } from "../SessionError.ts"
import type { Limits } from "../SessionLimits.ts"
import * as Telemetry from "../Telemetry.ts"
import { Calls, type Route } from "./calls.ts"
import { type Host, LiveContext } from "./context.ts"
import { Fibers } from "./fibers.ts"
import * as Refusals from "./refusals.ts"
import * as Revisions from "./revisions.ts"

type Admitted = Exit.Exit<Admission, Rejected>
type Served = Effect.Effect<JsonRpc.ResultBody, McpError.McpError>

const admitted: Admitted = Exit.succeed({})
const pong: JsonRpc.JsonObject = {}
const noSubscriptions: ReadonlySet<string> = new Set()

export class Actor implements Host {
  readonly session: Session
  readonly visibleId: string | undefined
  private readonly options: Options
  private readonly limits: Limits
  private readonly services: Context.Context<never>
  private readonly inFlight: InFlight.InFlight
  private readonly fibers = new Fibers()
  private readonly calls: Calls
  private readonly peerOptions: Peer.Options
  private readonly listener: Telemetry.Listener | undefined
  private readonly ended: (reason: string) => void
  private readonly over = Deferred.makeUnsafe<CloseReason>()
  private readonly links: Array<Link> = []
  private state: Lifecycle.State<Agreed> = Lifecycle.fresh
  /** Succeeds with whether the handshake that is being served was answered. */
  private handshake: Deferred.Deferred<boolean> | undefined = undefined
  private handshakeId: JsonRpc.RequestId | undefined = undefined
  private envelope: JsonRpc.JsonObject | undefined = undefined
  private level: Logging.Level | undefined
  private subscribed: Set<string> | undefined = undefined
  private transport: Facts["transport"] | undefined = undefined

  constructor(options: Options, limits: Limits, services: Context.Context<never>) {
    this.options = options
    this.limits = limits
    // A flat context: what is added for a request stays a short chain on top of it.
    this.services = Context.makeUnsafe(new Map(Context.add(services, CurrentPrincipal, Option.none()).mapUnsafe))
    this.visibleId = options.stateless === true ? undefined : options.id
    this.level = options.defaultLogLevel
    this.inFlight = InFlight.makeUnsafe({ limit: limits.requestsInFlight })
    this.calls = new Calls({
      clock: Context.get(services, Clock.Clock),
      context: this.services,
      fibers: this.fibers,
      limits,
      idFormat: options.idFormat,
      revision: () => Lifecycle.agreed(this.state)?.revision
    })
    this.listener = Telemetry.listener(this.services)
    this.ended = this.listener?.session(options.role, () => Lifecycle.agreed(this.state)?.revision) ?? (() => {})
    this.peerOptions = {
      role: options.role,
      calls: this.calls,
      route: () => this.links[this.links.length - 1] ?? options.link,
      revision: (method) => Lifecycle.agreed(this.state)?.revision ?? Revisions.opening(options.revisions, method),
      envelope: () => this.envelope,
      limits,
      timeout: limits.requestTimeout,
      listener: this.listener,
      sessionId: this.visibleId,
      transport: () => this.transport
    }
    const established = options.established ?? Revisions.revived(options.revisions, options.record)
    if (established !== undefined) this.establish(established)
    this.session = this.makeSession()
  }

  // What the handlers of requests see.

  askerOn(outlet: Outlet): Peer.Asker | undefined {
    if (this.options.stateless === true) return undefined
    if (this.options.role === "client") return this.session.peer
    if (outlet === noOutlet || outlet.oneShot === true) {
      return this.peerOptions.route() === undefined ? undefined : this.session.peer
    }
    const route: Route = { send: (message) => outlet.push(message) }
    return Peer.makeAsker({ ...this.peerOptions, route: () => route, timeout: this.limits.askTimeout })
  }

  readonly currentLevel = (): Logging.Level | undefined => this.level

  // The end.

  /** The connection is gone. */
  lost(error: TransportError): Effect.Effect<void> {
    return Effect.sync(() => this.finish("disconnected", error))
  }

  readonly close = (reason: CloseReason): Effect.Effect<void> =>
    Effect.withFiber((fiber) => {
      this.finish(reason, new SessionClosed({ reason }))
      const inside = Context.getOrUndefined(fiber.context, RequestContext)
      // A handler that closes its own session cannot wait for itself.
      if (inside !== undefined && inside.sessionId === this.visibleId && this.visibleId !== undefined) {
        return Effect.void
      }
      if (Deferred.isDoneUnsafe(this.over)) return Effect.void
      return Effect.timeoutOrElse(Effect.asVoid(Deferred.await(this.over)), {
        duration: this.limits.closeGrace,
        orElse: () => Effect.logWarning(`session ended with requests that do not end: ${this.inFlight.size}`)
      })
    })

  /** Synchronous, so that nothing comes in between. */
  private finish(reason: CloseReason, error: SessionClosed | TransportError): void {
    if (this.state._tag === "Closed") return
    this.state = Lifecycle.close(this.state, reason)
    this.inFlight.closeUnsafe()
    this.calls.close(error)
    this.settleHandshake(false)
    this.inFlight.interruptAllUnsafe()
    for (const fiber of this.fibers.all()) fiber.interruptUnsafe()
    for (const link of this.links.splice(0)) {
      if (link.close !== undefined) this.fibers.run(this.services, link.close)
    }
    this.ended(reason)
    this.options.onClosed?.(reason)
    const rest = [...this.inFlight.fibers(), ...this.fibers.all()]
    let running = rest.length
    const done = () => Deferred.doneUnsafe(this.over, Exit.succeed(reason))
    if (running === 0) done()
    for (const fiber of rest) {
      fiber.addObserver(() => {
        running -= 1
        if (running === 0) done()
      })
    }
  }

  // What comes in.

  readonly accept = (exchange: Exchange): Admitted => {
    const taken = Result.try(() => this.take(exchange))
    return Result.isSuccess(taken) ? taken.success : this.broken(taken.failure)
  }

  private take(exchange: Exchange): Admitted {
    const { message } = exchange
    this.transport = exchange.facts.transport
    if (JsonRpc.isRequest(message)) {
      return this.options.role === "server" ? this.request(message, exchange) : this.peerRequest(message, exchange)
    }
    if ("method" in message) return this.notification(message, exchange)
    if (!this.calls.complete(message)) this.unexpected(message)
    return admitted
  }

  private request(message: JsonRpc.Request, exchange: Exchange): Admitted {
    const verdict = Lifecycle.request(this.state, message.method)
    switch (verdict) {
      case "Serve":
        return this.state._tag === "Ready" || this.state._tag === "Initializing"
          ? this.serve(message, exchange, this.state.agreed, undefined)
          : this.refuse(verdict, message)
      case "Wait":
        return this.state._tag === "Negotiating" && this.handshake !== undefined
          ? this.serve(message, exchange, this.state.agreed, this.handshake)
          : this.refuse(verdict, message)
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
    const modern = Lifecycle.agreed(this.state)?.revision.era === "modern"
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

  private serve(
    message: JsonRpc.Request,
    exchange: Exchange,
    agreed: Agreed,
    after: Deferred.Deferred<boolean> | undefined
  ): Admitted {
    const { facts, outlet } = exchange
    const context = new LiveContext(this, message, agreed, facts, outlet)
    const handled: Served = Effect.suspend(() => this.options.handler.request(message, context))
    const kept = this.keep(message, handled, agreed.revision)
    const served = after === undefined ? kept : afterHandshake(after, message.method, kept)
    const refusal = this.inFlight.start({
      id: message.id,
      method: message.method,
      outlet,
      revision: agreed.revision,
      context: this.contextOf(context, facts),
      effect: this.listener === undefined
        ? served
        : this.listener.serve(served, this.operation(message, agreed), facts),
      settled: context.finish
    })
    return refusal === undefined ? admitted : this.refuse(refusal, message)
  }

  private contextOf(context: RequestContext["Service"], facts: Facts): Context.Context<never> {
    const added = Context.add(this.services, RequestContext, context)
    return Option.isNone(facts.principal) ? added : Context.add(added, CurrentPrincipal, facts.principal)
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
    const { params } = message
    const { revisions } = this.options
    const requested = params?.["protocolVersion"]
    const revision = Revisions.negotiate(revisions, requested)
    if (revision === undefined) {
      const versions = revisions.map((revision) => revision.version)
      return Refusals.unsupported(this.lastResort(), versions, typeof requested === "string" ? requested : "")
    }
    const terms = revision.request(Methods.Initialize)?.decodeParams(params ?? {})
    if (terms === undefined) return Refusals.notInitialized(revision, message.method)
    if (Result.isFailure(terms)) return Refusals.badParams(revision, terms.failure.message())
    const { capabilities, clientInfo } = terms.success
    const agreed: Agreed = { revision, clientInfo, clientCapabilities: capabilities, initialized: false }
    this.state = Lifecycle.negotiate(this.state, agreed)
    this.handshake = Deferred.makeUnsafe<boolean>()
    this.handshakeId = message.id
    const outcome = this.serve(message, exchange, agreed, undefined)
    if (Exit.isFailure(outcome)) this.handshakeFailed()
    return Exit.isFailure(outcome) || this.visibleId === undefined || this.state._tag === "Closed"
      ? outcome
      : Exit.succeed({ sessionId: this.visibleId })
  }

  /** What a successful answer changes here, before it goes out. */
  private keep(message: JsonRpc.Request, handled: Served, revision: Revision): Served {
    switch (message.method) {
      case Methods.Initialize.name:
        return Effect.onExit(
          Effect.flatMap(handled, (body) => Effect.as(this.save(Lifecycle.answered), body)),
          (exit) => Effect.sync(() => Exit.isSuccess(exit) ? this.settleHandshake(true) : this.handshakeFailed())
        )
      case Methods.LoggingSetLevel.name: {
        const terms = revision.request(Methods.LoggingSetLevel)?.decodeParams(message.params ?? {})
        if (terms === undefined || Result.isFailure(terms)) return handled
        return this.change(handled, () => {
          this.level = terms.success.level
        })
      }
      case Methods.ResourcesSubscribe.name:
      case Methods.ResourcesUnsubscribe.name: {
        const terms = revision.request(Methods.ResourcesSubscribe)?.decodeParams(message.params ?? {})
        if (terms === undefined || Result.isFailure(terms)) return handled
        const { uri } = terms.success
        return message.method === Methods.ResourcesSubscribe.name
          ? this.subscribe(handled, uri)
          : this.change(handled, () => this.subscribed?.delete(uri))
      }
      default:
        return handled
    }
  }

  private subscribe(handled: Served, uri: string): Served {
    const subscribed = this.subscribed ??= new Set()
    if (subscribed.size >= this.limits.subscriptions && !subscribed.has(uri)) {
      return Effect.fail(new McpError.TooManyRequests({ limit: "subscriptions" }))
    }
    return this.change(handled, () => subscribed.add(uri))
  }

  private change(handled: Served, apply: () => unknown): Served {
    return Effect.flatMap(handled, (body) => {
      apply()
      return Effect.as(this.save((state) => state), body)
    })
  }

  private save(transition: (state: Lifecycle.State<Agreed>) => Lifecycle.State<Agreed>): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.state = transition(this.state)
      return this.options.save?.(this.session) ?? Effect.void
    })
  }

  private settleHandshake(done: boolean): void {
    const { handshake } = this
    this.handshake = undefined
    this.handshakeId = undefined
    if (handshake !== undefined) Deferred.doneUnsafe(handshake, Exit.succeed(done))
  }

  /** A session that HTTP opened for this handshake is of no use to anyone any more. */
  private handshakeFailed(): void {
    this.state = Lifecycle.refused(this.state)
    this.settleHandshake(false)
    if (this.options.link === undefined) this.finish("failed", new SessionClosed({ reason: "failed" }))
  }

  private notification(message: JsonRpc.Notification, exchange: Exchange): Admitted {
    switch (message.method) {
      case Methods.Cancelled.name:
        this.cancelled(message)
        return admitted
      case Methods.Progress.name:
        this.progressed(message)
        return admitted
      case Methods.Initialized.name:
        if (this.options.role === "server") this.initialized()
        break
    }
    const agreed = this.state._tag === "Negotiating" ? this.state.agreed : Lifecycle.agreed(this.state)
    if (agreed === undefined || this.state._tag === "Closed") return admitted
    if (this.fibers.size >= this.limits.requestsInFlight) {
      this.debug(`dropped a notification, too many are being handled: ${message.method}`)
      return admitted
    }
    const context = new LiveContext(this, message, agreed, exchange.facts, exchange.outlet)
    this.fibers.run(
      this.contextOf(context, exchange.facts),
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
    if (!JsonRpc.isRequestId(id) || id === this.handshakeId) return
    const reason = message.params?.["reason"]
    if (this.inFlight.interrupt(id) && typeof reason === "string") {
      this.debug(`request ${JSON.stringify(id)} was cancelled: ${reason}`)
    }
  }

  private progressed(message: JsonRpc.Notification): void {
    const revision = this.peerOptions.revision(Methods.Progress.name)
    const params = revision?.notification(Methods.Progress)?.decodeParams(message.params ?? {})
    if (params !== undefined && Result.isSuccess(params)) this.calls.progress(params.success)
  }

  private initialized(): void {
    const before = this.state
    this.state = Lifecycle.initialized(before)
    if (before._tag === "Initializing" && this.options.save !== undefined) {
      this.fibers.run(this.services, this.options.save(this.session))
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

  private refuse(why: Lifecycle.Verdict | InFlight.Refusal, message: JsonRpc.Request): Refusals.Refused {
    const revision = Lifecycle.agreed(this.state)?.revision ?? this.lastResort()
    switch (why) {
      case "AlreadyInitialized":
        return Refusals.alreadyInitialized(revision)
      case "Taken":
        return Refusals.taken(revision, message.id)
      case "Full":
        return Refusals.full(revision, "requestsInFlight")
      case "Closed":
        return this.state._tag === "Closed" ? Refusals.over(revision) : Refusals.draining(revision)
      default:
        return Refusals.notInitialized(revision, message.method)
    }
  }

  /** A defect in the session's own code: it ends, and the peer begins anew. */
  private broken(defect: unknown): Refusals.Refused {
    this.fibers.run(this.services, Effect.logError("the session broke", Cause.die(defect)))
    this.finish("failed", new SessionClosed({ reason: "failed" }))
    return Refusals.broken(this.lastResort())
  }

  /** How errors are written where nothing is agreed. */
  private lastResort(): Revision {
    return Revisions.newestLegacy(this.options.revisions)
  }

  private debug(text: string): void {
    this.fibers.run(this.services, Effect.logDebug(text))
  }

  private establish(established: Established): void {
    const { clientCapabilities, clientInfo, envelope, initialized, logLevel, revision, subscriptions } = established
    const agreed: Agreed = { revision, clientInfo, clientCapabilities, initialized: initialized ?? true }
    this.state = Lifecycle.establish(this.state, agreed)
    this.envelope = envelope
    if (logLevel !== undefined) this.level = logLevel
    if (subscriptions !== undefined) this.subscribed = new Set(subscriptions)
  }

  private makeSession(): Session {
    const { id, principalKey, role } = this.options
    return {
      id,
      role,
      principalKey: principalKey ?? "",
      accept: this.accept,
      peer: Peer.make(this.peerOptions),
      attach: (link) => this.attach(link),
      establish: (established) => this.establish(established),
      agreed: () => this.agreement(),
      logLevel: this.currentLevel,
      subscriptions: () => this.subscribed ?? noSubscriptions,
      close: this.close,
      drain: (deadline: Duration.Input) => this.inFlight.drain(deadline),
      closed: Deferred.await(this.over),
      busy: () => this.inFlight.size > 0 || this.links.length > 0 || this.calls.size > 0 || this.fibers.size > 0,
      load: () => this.load()
    }
  }

  private agreement(): Agreed | undefined {
    const agreed = Lifecycle.agreed(this.state)
    const initialized = this.state._tag === "Ready"
    return agreed === undefined || agreed.initialized || !initialized ? agreed : { ...agreed, initialized }
  }

  private load(): Load {
    return {
      serving: this.inFlight.size,
      waiting: this.calls.size,
      fibers: this.fibers.size,
      streams: this.links.length,
      timer: this.calls.armed
    }
  }

  private attach(link: Link): Effect.Effect<void, Rejected, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.suspend((): Effect.Effect<void, Rejected> => {
        if (this.state._tag === "Closed") return Refusals.over(this.lastResort())
        this.links.push(link)
        return Effect.void
      }),
      () =>
        Effect.sync(() => {
          const index = this.links.indexOf(link)
          if (index >= 0) this.links.splice(index, 1)
        })
    )
  }
}

const afterHandshake = (handshake: Deferred.Deferred<boolean>, method: string, handled: Served): Served =>
  Effect.flatMap(
    Deferred.await(handshake),
    (done) => done ? handled : Effect.fail(new McpError.InvalidRequest({ detail: `${method} came before initialize` }))
  )
