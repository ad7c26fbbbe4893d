/** What a session and its peer have agreed on, and what the peer has asked to be kept: the state of the session. */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Logging from "@mcpfx/schema/Logging"
import * as McpError from "@mcpfx/schema/McpError"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import * as Revisions from "@mcpfx/schema/Revisions"
import type { Rejected } from "@mcpfx/transport/Endpoint"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Lifecycle from "../Lifecycle.ts"
import type { Agreed, Established, Options, Session } from "../Session.ts"
import type { CloseReason } from "../SessionError.ts"
import type { Limits } from "../SessionLimits.ts"
import * as Refusals from "./refusals.ts"
import * as Unagreed from "./unagreed.ts"

export type Served = Effect.Effect<JsonRpc.ResultBody, McpError.McpError>

const noSubscriptions: ReadonlySet<string> = new Set()

/** Whose terms they are. */
interface Owner {
  readonly session: Session
  readonly limits: Limits
}

export class Terms {
  state: Lifecycle.State<Agreed> = Lifecycle.fresh
  envelope: JsonRpc.JsonObject | undefined = undefined
  level: Logging.Level | undefined
  /** The id of the `initialize` that is being served. */
  handshakeId: JsonRpc.RequestId | undefined = undefined
  /** Succeeds with whether that was answered. */
  private handshake: Deferred.Deferred<boolean> | undefined = undefined
  private subscribed: Set<string> | undefined = undefined
  private readonly options: Options
  private readonly owner: Owner

  constructor(options: Options, owner: Owner) {
    this.options = options
    this.owner = owner
    this.level = options.defaultLogLevel
    const established = options.established ?? Unagreed.revived(options.revisions, options.record)
    if (established !== undefined) this.establish(established)
  }

  get closed(): boolean {
    return this.state._tag === "Closed"
  }

  /** The terms in force, from the moment `initialize` came. */
  get current(): Agreed | undefined {
    return this.state._tag === "Negotiating" ? this.state.agreed : Lifecycle.agreed(this.state)
  }

  /** The terms in force, from the moment `initialize` was answered. */
  get agreed(): Agreed | undefined {
    return Lifecycle.agreed(this.state)
  }

  get subscriptions(): ReadonlySet<string> {
    return this.subscribed ?? noSubscriptions
  }

  /** How errors are written. */
  get revision(): Revision {
    return this.current?.revision ?? Unagreed.revision(this.options.revisions)
  }

  /** The revision to send a method at: a client may open the conversation, a server may see whether anybody is there. */
  revisionFor(method: string): Revision | undefined {
    const { revisions, role } = this.options
    return this.current?.revision ??
      (role === "client" || method === Methods.Ping.name ? Unagreed.opening(revisions, method) : undefined)
  }

  establish(established: Established): void {
    const { clientCapabilities, clientInfo, envelope, initialized, logLevel, revision, subscriptions } = established
    const agreed: Agreed = { revision, clientInfo, clientCapabilities, initialized: initialized ?? true }
    this.state = Lifecycle.establish(this.state, agreed, agreed.initialized)
    this.envelope = envelope
    if (logLevel !== undefined) this.level = logLevel
    if (subscriptions !== undefined) this.subscribed = new Set(subscriptions)
  }

  /** `initialize` came: its terms, or why there are none. */
  negotiate(message: JsonRpc.Request): Exit.Exit<Agreed, Rejected> {
    const { params } = message
    const { revisions } = this.options
    const version = params?.["protocolVersion"]
    const requested = typeof version === "string" ? version : ""
    const revision = Revisions.negotiate(requested, revisions)
    if (revision === undefined) return Refusals.unsupported(this.revision, Revisions.versions(revisions), requested)
    const terms = revision.request(Methods.Initialize)?.decodeParams(params ?? {})
    if (terms === undefined) return Refusals.methodNotFound(revision, message.method)
    if (Result.isFailure(terms)) return Refusals.badParams(revision, terms.failure.message())
    const { capabilities, clientInfo } = terms.success
    const agreed: Agreed = { revision, clientInfo, clientCapabilities: capabilities, initialized: false }
    this.state = Lifecycle.negotiate(this.state, agreed)
    this.handshake = Deferred.makeUnsafe<boolean>()
    this.handshakeId = message.id
    return Exit.succeed(agreed)
  }

  /** Serves a request that came before the answer to `initialize` when that is out. */
  afterHandshake(method: string, handled: Served): Served {
    return this.handshake === undefined ? handled : Effect.flatMap(
      Deferred.await(this.handshake),
      (done) =>
        done ? handled : Effect.fail(new McpError.InvalidRequest({ detail: `${method} came before initialize` }))
    )
  }

  settleHandshake(done: boolean): void {
    const { handshake } = this
    this.handshake = undefined
    this.handshakeId = undefined
    if (handshake !== undefined) Deferred.doneUnsafe(handshake, Exit.succeed(done))
  }

  handshakeFailed(): void {
    this.state = Lifecycle.refused(this.state)
    this.settleHandshake(false)
  }

  /** `notifications/initialized` came; whether that changed anything to keep. */
  initialized(): boolean {
    const before = this.state
    this.become(Lifecycle.initialized(before))
    return before._tag === "Initializing"
  }

  /** From then on the terms say themselves that the session is ready. */
  private become(state: Lifecycle.State<Agreed>): void {
    this.state = state._tag === "Ready" && !state.agreed.initialized
      ? Lifecycle.ready({ ...state.agreed, initialized: true })
      : state
  }

  close(reason: CloseReason): void {
    this.state = Lifecycle.close(this.state, reason)
    this.settleHandshake(false)
  }

  /** Handles a request, with what a successful answer changes here before it goes out. */
  keep(message: JsonRpc.Request, handle: () => Served, revision: Revision): Served {
    switch (message.method) {
      case Methods.Initialize.name:
        return Effect.onExit(
          this.change(handle, () => {
            this.become(Lifecycle.answered(this.state))
          }),
          (exit) => Effect.sync(() => Exit.isSuccess(exit) ? this.settleHandshake(true) : this.handshakeFailed())
        )
      case Methods.LoggingSetLevel.name: {
        const terms = revision.request(Methods.LoggingSetLevel)?.decodeParams(message.params ?? {})
        if (terms === undefined || Result.isFailure(terms)) return handle()
        return this.change(handle, () => {
          this.level = terms.success.level
        })
      }
      case Methods.ResourcesSubscribe.name: {
        const uri = uriOf(message, revision)
        return uri === undefined ? handle() : this.subscribe(handle, uri)
      }
      case Methods.ResourcesUnsubscribe.name: {
        const uri = uriOf(message, revision)
        return uri === undefined ? handle() : this.change(handle, () => {
          if (this.subscribed?.delete(uri) === true) this.options.onWatched?.(uri, false)
        })
      }
      default:
        return handle()
    }
  }

  /** Keeps the state elsewhere. */
  save(): Effect.Effect<void> {
    return Effect.suspend(() => this.options.save?.(this.owner.session) ?? Effect.void)
  }

  private subscribe(handle: () => Served, uri: string): Served {
    const subscribed = this.subscribed ??= new Set()
    if (subscribed.size >= this.owner.limits.subscriptions && !subscribed.has(uri)) {
      return Effect.fail(new McpError.TooManyRequests({ limit: "subscriptions" }))
    }
    return this.change(handle, () => {
      subscribed.add(uri)
      this.options.onWatched?.(uri, true)
    })
  }

  private change(handle: () => Served, apply: () => void): Served {
    return Effect.flatMap(Effect.suspend(handle), (body) => {
      apply()
      return Effect.as(this.save(), body)
    })
  }
}

const uriOf = (message: JsonRpc.Request, revision: Revision): string | undefined => {
  const terms = revision.request(Methods.ResourcesSubscribe)?.decodeParams(message.params ?? {})
  return terms === undefined || Result.isFailure(terms) ? undefined : terms.success.uri
}
