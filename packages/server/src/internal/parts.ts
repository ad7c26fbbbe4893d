/**
 * Parts that only some servers need, each with what it needs in turn. `McpServer` and `McpHttp` bring all of them; `McpStdio`
 * brings none, so that a small program is small, and takes those that a layer of its own brings.
 */
import type { Foreign } from "@mcpfx/schema/JsonSchema"
import type * as Outcome from "@mcpfx/schema/Outcome"
import type * as Tool from "@mcpfx/schema/Tool"
import type { Peer } from "@mcpfx/session/Peer"
import * as Context from "effect/Context"
import type { SecureRandom } from "effect/crypto/SecureRandom"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ToolEntry } from "../Entry.ts"
import type { Also } from "../Listen.ts"
import type { Check } from "./checks.ts"
import type { Gate } from "./entryRoutes.ts"
import type { Answer, Lane, Request, Wire } from "./lane.ts"
import type { Settings } from "./settings.ts"

/** The tasks of one endpoint, as the rest of it sees them. */
export interface Tasks {
  /** Adds the methods that the lane's revision has. */
  readonly addRoutes: (lane: Lane) => void
  /** The answer to a call that is, or has to be, a task; `undefined` for one that is to be served as any other. */
  readonly call: (
    lane: Lane,
    gate: Gate,
    wire: Wire<unknown, Outcome.ToolCall>
  ) => (entry: ToolEntry, params: Tool.CallParams, request: Request) => Answer | undefined
  /** The tasks that a listener may hear of: those that are there, and its own. */
  readonly also: (lane: Lane, wanted: ReadonlyArray<string>, context: Request) => Effect.Effect<Also>
  /** Who is at the other end of a session of this process; said by whoever opens sessions. */
  readonly peers: { of: (sessionId: string) => Peer | undefined }
  readonly drain: (deadline: Duration.Input) => Effect.Effect<void>
}

/** Runs tasks; their handlers end with the scope. */
export const TaskPart = Context.Reference<
  ((settings: Settings) => Effect.Effect<Tasks, never, SecureRandom | Scope.Scope>) | undefined
>("@mcpfx/server/TaskPart", { defaultValue: () => undefined })

/** Prepares a JSON Schema from elsewhere, which is not one of Effect. */
export const ForeignPart = Context.Reference<
  ((name: string, side: "input" | "output", foreign: Foreign) => Effect.Effect<Check>) | undefined
>("@mcpfx/server/ForeignPart", { defaultValue: () => undefined })
