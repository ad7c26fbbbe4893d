/** The facts of a request that brings everything with it, or of one that its session is not asked about any more. */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import type * as Implementation from "@mcpfx/schema/Implementation"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Logging from "@mcpfx/schema/Logging"
import * as Meta from "@mcpfx/schema/Meta"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import * as Progress from "@mcpfx/session/Progress"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import { type Facts, noOutlet, type Outlet } from "@mcpfx/transport/Exchange"
import * as Effect from "effect/Effect"

type Request = RequestContext["Service"]

const noMeta: JsonRpc.JsonObject = {}

/** What is known about the client and the way it came. */
export interface Client {
  readonly revision: Revision
  readonly facts: Facts
  readonly clientCapabilities: Capabilities.Client
  readonly clientInfo?: Implementation.Implementation | undefined
  readonly logLevel?: Logging.Level | undefined
  readonly sessionId?: string | undefined
}

export class Single implements Request {
  readonly method: string
  readonly id: JsonRpc.RequestId
  readonly revision: Revision
  readonly sessionId: string | undefined
  readonly facts: Facts
  readonly clientCapabilities: Capabilities.Client
  readonly clientInfo: Implementation.Implementation | undefined
  readonly meta: JsonRpc.JsonObject
  readonly progressToken: string | number | undefined
  readonly progress: Progress.Reporter | undefined
  readonly logLevel: Logging.Level | undefined
  readonly notify: Request["notify"]
  readonly asker = undefined
  readonly round = 1
  private over = false

  constructor(request: JsonRpc.Request, client: Client, outlet: Outlet = noOutlet) {
    this.method = request.method
    this.id = request.id
    this.revision = client.revision
    this.sessionId = client.sessionId
    this.facts = client.facts
    this.clientCapabilities = client.clientCapabilities
    this.clientInfo = client.clientInfo
    const meta = request.params?.["_meta"]
    this.meta = JsonRpc.isJsonObject(meta) ? meta : noMeta
    const notify: Request["notify"] = <Name extends string, Params>(
      method: Method.NotificationMethod<Name, Params>,
      params: Params
    ): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (this.over) return Effect.void
        const codec = client.revision.notification(method)
        // A notification that the revision does not have is left out.
        return codec === undefined
          ? Effect.void
          : outlet.push(JsonRpc.notification(method.name, codec.encodeParams(params)))
      })
    this.notify = notify
    // A listen stream carries changes and nothing else (SUB-10).
    const listens = request.method === Methods.SubscriptionsListen.name
    this.logLevel = listens ? undefined : client.logLevel
    const token = listens || this.meta === noMeta ? undefined : Meta.progressToken(request.params)
    this.progressToken = token
    this.progress = token === undefined
      ? undefined
      : Progress.make({ token, send: (params) => notify(Methods.Progress, params) })
  }

  /** Nothing more is sent about this request (PRG-03, STD-14). */
  finish(): void {
    this.over = true
  }
}
