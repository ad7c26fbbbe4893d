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
import { RequestContext } from "@mcpfx/session/RequestContext"
import { type Facts, noOutlet, type Outlet } from "@mcpfx/transport/Exchange"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { Asks } from "./asks.ts"
import type { Interaction } from "./interaction.ts"
import { mayAsk } from "./retry.ts"
import type { Ending, Rounds } from "./rounds.ts"

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
  progress: Progress.Reporter | undefined
  readonly logLevel: Logging.Level | undefined
  readonly notify: Request["notify"]
  readonly asker = undefined
  round = 1
  private over = false
  /** A pass over a handler says nothing that the pass before it has said. */
  private quiet = false
  /** Contexts that are made of this one have it as their prototype; what changes is here. */
  private readonly self: Single = this
  /** The way to ask in rounds, on the revision that has them, and what it takes. */
  asks: Asks | undefined = undefined
  request: JsonRpc.Request | undefined = undefined
  /** The fiber that serves the request. */
  fiber: Fiber.Fiber<unknown, unknown> | undefined = undefined
  private rounds: Rounds | undefined = undefined

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
        if (this.over || (this.quiet && repeats(method.name))) return Effect.void
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

  get isOver(): boolean {
    return this.over
  }

  /** Made at the first question: a request that asks nothing pays nothing. `undefined` where there are no rounds. */
  inRounds(): Interaction | undefined {
    const { self } = this
    return self.asks === undefined || !mayAsk(self.method) ? undefined : self.rounds ??= self.asks.open(self)
  }

  /** Whether the handler ended at a question. */
  get suspending(): boolean {
    return this.self.rounds?.suspending === true
  }

  /** This is another pass over the handler: it repeats `rounds.round - 1` others up to where they stopped. */
  replay(rounds: Rounds, progress: number | undefined): void {
    this.rounds = rounds
    this.round = rounds.round
    this.quiet = true
    const token = this.progressToken
    if (token === undefined) return
    this.progress = Progress.make({ token, send: (params) => this.notify(Methods.Progress, params), after: progress })
  }

  /** From here on the pass does what none before it did. */
  loud(): void {
    this.quiet = false
  }

  /** The request has ended; what there is to do before it is answered. */
  ending(exit: Exit.Exit<unknown, unknown>): Ending | undefined {
    return this.rounds?.ending(exit)
  }
}

const repeats = (method: string): boolean => method === Methods.Progress.name || method === Methods.LoggingMessage.name

/** Whether the handler that runs in this context is ending at a question. */
export const isSuspending = (context: Context.Context<never>): boolean => {
  const request = Context.getOrUndefined(context, RequestContext)
  return request instanceof Single && request.suspending
}
