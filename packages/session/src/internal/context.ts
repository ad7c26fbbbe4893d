/** The facts of a request of a stateful revision, as its handler sees them. */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import type * as Implementation from "@mcpfx/schema/Implementation"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Logging from "@mcpfx/schema/Logging"
import type { McpError } from "@mcpfx/schema/McpError"
import * as Meta from "@mcpfx/schema/Meta"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import type { Exchange, Facts, Outlet } from "@mcpfx/transport/Exchange"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Run } from "../InFlight.ts"
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

/** Members that can be worked out from others, or cost something and are rarely asked for, are made when they are read. */
export class LiveContext<Message extends JsonRpc.Request | JsonRpc.Notification> {
  readonly message: Message
  readonly agreed: Agreed
  readonly facts: Facts
  readonly outlet: Outlet
  readonly progressToken: string | number | undefined
  readonly progress: Progress.Reporter | undefined
  private readonly host: Host
  private over = false
  private ownNotify: RequestContext["Service"]["notify"] | undefined = undefined
  private ownAsker: Asker | undefined = undefined

  constructor(
    host: Host,
    message: Message,
    agreed: Agreed,
    facts: Facts,
    outlet: Outlet
  ) {
    this.message = message
    this.agreed = agreed
    this.facts = facts
    this.outlet = outlet
    this.host = host
    const token = message.id === undefined ? undefined : Meta.progressToken(message.params)
    this.progressToken = token
    this.progress = token === undefined
      ? undefined
      : Progress.make({ token, send: (params) => this.notify(Methods.Progress, params) })
  }

  get method(): string {
    return this.message.method
  }

  get id(): JsonRpc.RequestId | undefined {
    return this.message.id
  }

  get revision(): Revision {
    return this.agreed.revision
  }

  get sessionId(): string | undefined {
    return this.host.visibleId
  }

  get clientCapabilities(): Capabilities.Client {
    return this.agreed.clientCapabilities
  }

  get clientInfo(): Implementation.Implementation | undefined {
    return this.agreed.clientInfo
  }

  get meta(): JsonRpc.JsonObject {
    const meta = this.message.params?.["_meta"]
    return JsonRpc.isJsonObject(meta) ? meta : noMeta
  }

  get round(): number {
    return 1
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

/** Who serves requests. */
export interface Server extends Host {
  handle(request: LiveRequest): Effect.Effect<JsonRpc.ResultBody, McpError>
  contextOf(context: LiveContext<JsonRpc.Request>): Context.Context<never>
}

/** A request, its facts and what is done for it: one object, since there is one for each. */
export class LiveRequest extends LiveContext<JsonRpc.Request> implements Run {
  /** Whether it came before the answer to `initialize`, and is served after it. */
  readonly waits: boolean
  readonly after: (() => void) | undefined
  private readonly server: Server

  constructor(
    server: Server,
    message: JsonRpc.Request,
    agreed: Agreed,
    exchange: Exchange,
    waits: boolean,
    after: (() => void) | undefined
  ) {
    super(server, message, agreed, exchange.facts, exchange.outlet)
    this.server = server
    this.waits = waits
    this.after = after
  }

  override get id(): JsonRpc.RequestId {
    return this.message.id
  }

  get watcher(): this {
    return this
  }

  begin(): Effect.Effect<JsonRpc.ResultBody, McpError> {
    return this.server.handle(this)
  }

  context(): Context.Context<never> {
    return this.server.contextOf(this)
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
