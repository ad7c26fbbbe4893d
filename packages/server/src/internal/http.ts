/** What an endpoint has for HTTP: one that is reached over connections alone has it replaced by refusals. */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { Revision } from "@mcpfx/schema/Revision"
import type { Admission, Endpoint, Rejected } from "@mcpfx/transport/Endpoint"
import type { Exchange, Facts } from "@mcpfx/transport/Exchange"
import type * as Guard from "@mcpfx/transport/Guard"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { Entry } from "../Entry.ts"
import type { Registry } from "../Registry.ts"
import type { InvalidOptions } from "../ServerError.ts"
import type { Gateway } from "./gateway.ts"
import type { Request } from "./lane.ts"
import type { Settings } from "./settings.ts"
import type { Client } from "./single.ts"

/** Requests that stand alone, by caller. */
export interface Callers {
  /** Requests that run. */
  readonly size: number
  readonly drain: (deadline: Duration.Input) => Effect.Effect<void>
  /** Interrupts everything at once. */
  readonly close: Effect.Effect<void>
}

/** The door for what comes with no connection. */
export interface HttpDoor extends Pick<Endpoint["Service"], "attach" | "terminate"> {
  readonly callers: Callers
  readonly handle: (exchange: Exchange) => Effect.Effect<Admission, Rejected>
  readonly modern: (exchange: Exchange, request: JsonRpc.Request, client: Client) => Exit.Exit<Admission, Rejected>
  readonly verify: (facts: Facts) => Effect.Effect<void, Rejected>
  /** The revision a batch comes in at. */
  readonly batchRevision: (facts: Facts) => Effect.Effect<Revision | undefined, Rejected>
}

export interface Http {
  readonly door: (gateway: Gateway) => HttpDoor
  /** What a request of 2026-07-28 for an entry did not say in its headers. */
  readonly refusal: (entry: Entry, request: JsonRpc.Request, context: Request) => Rejected | undefined
  /** Fails where entries ask and answers could come to an instance that has not their key. */
  readonly requireKeys: (
    options: Pick<Guard.Options, "allowedHosts">,
    settings: Settings
  ) => Effect.Effect<void, InvalidOptions, Registry>
}
