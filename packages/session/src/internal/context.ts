/** The facts of a request of a stateful revision, as its handler sees them. */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import type * as Implementation from "@mcpfx/schema/Implementation"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Logging from "@mcpfx/schema/Logging"
import * as Meta from "@mcpfx/schema/Meta"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import type { Facts, Outlet } from "@mcpfx/transport/Exchange"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Asker, Peer } from "../Peer.ts"
import * as Progress from "../Progress.ts"
import type { RequestContext } from "../RequestContext.ts"
import type { Agreed } from "../Session.ts"

/** What a request context asks its session for. */
export interface Host {
  readonly visibleId: string | undefined
  currentLevel(): Logging.Level | undefined
  askerOn(outlet: Outlet): Asker | undefined
  /** The other side, over whatever is open to it. */
  readonly peer: Peer
}

const noMeta: JsonRpc.JsonObject = {}

/** Members that cost something and are rarely asked for are made when they are read. */
export class LiveContext {
  readonly method: string
  readonly id: JsonRpc.RequestId | undefined
  readonly revision: Revision
  readonly sessionId: string | undefined
  readonly facts: Facts
  readonly clientCapabilities: Capabilities.Client
  readonly clientInfo: Implementation.Implementation | undefined
  readonly meta: JsonRpc.JsonObject
  readonly progressToken: string | number | undefined
  readonly progress: Progress.Reporter | undefined
  readonly round = 1
  private readonly host: Host
  private readonly outlet: Outlet
  private over = false
  private ownNotify: RequestContext["Service"]["notify"] | undefined = undefined
  private ownAsker: Asker | undefined = undefined

  constructor(
    host: Host,
    message: JsonRpc.Request | JsonRpc.Notification,
    agreed: Agreed,
    facts: Facts,
    outlet: Outlet
  ) {
    const meta = message.params?.["_meta"]
    this.host = host
    this.outlet = outlet
    this.method = message.method
    this.id = message.id
    this.revision = agreed.revision
    this.sessionId = host.visibleId
    this.facts = facts
    this.clientCapabilities = agreed.clientCapabilities
    this.clientInfo = agreed.clientInfo
    this.meta = JsonRpc.isJsonObject(meta) ? meta : noMeta
    this.progressToken = message.id === undefined || this.meta === noMeta
      ? undefined
      : Meta.progressToken({ _meta: this.meta })
    this.progress = this.progressToken === undefined
      ? undefined
      : Progress.make({ token: this.progressToken, send: (params) => this.notify(Methods.Progress, params) })
  }

  get logLevel(): Logging.Level | undefined {
    return this.host.currentLevel()
  }

  get asker(): Asker | undefined {
    return this.ownAsker ??= this.host.askerOn(this.outlet)
  }

  get notify(): RequestContext["Service"]["notify"] {
    return this.ownNotify ??= <Name extends string, Params>(
      method: Method.NotificationMethod<Name, Params>,
      params: Params
    ): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (this.over) return Effect.void
        const codec = this.revision.notification(method)
        return codec === undefined
          ? Effect.void
          : this.outlet.push(JsonRpc.notification(method.name, codec.encodeParams(params)))
      })
  }

  get hangUp(): RequestContext["Service"]["hangUp"] {
    const { outlet } = this
    return outlet.closeStream === undefined
      ? undefined
      : (retry) =>
        Effect.suspend(() => this.over ? Effect.succeed(false) : outlet.closeStream?.(retry) ?? Effect.succeed(false))
  }

  /** While the request is served on its stream, afterwards on any of the session. */
  get announce(): RequestContext["Service"]["announce"] {
    return (method, params) =>
      Effect.suspend(() =>
        this.over ? Effect.ignore(this.host.peer.notify(method, params)) : this.notify(method, params)
      )
  }

  /** Nothing more is sent about this request (PRG-03). */
  finish(): void {
    this.over = true
  }
}

const bases = new WeakMap<Context.Context<never>, Context.Context<never>>()

/**
 * What requests start from: the services, and no caller. Flat, so that what a request adds stays a short chain on top of
 * it; one for all sessions of an endpoint, which makes them small.
 */
export const baseContext = (services: Context.Context<never>): Context.Context<never> => {
  const known = bases.get(services)
  if (known !== undefined) return known
  const base = Context.makeUnsafe<never>(new Map(Context.add(services, CurrentPrincipal, Option.none()).mapUnsafe))
  bases.set(services, base)
  return base
}
