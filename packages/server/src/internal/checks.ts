/** What a tool brings along that only some servers have the parts for. */
import { InvalidContract } from "@mcpfx/schema/InvalidContract"
import type { Foreign } from "@mcpfx/schema/JsonSchema"
import type { SchemaMismatch } from "@mcpfx/schema/SchemaMismatch"
import type { TaskSupport } from "@mcpfx/schema/ToolContract"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { Registry } from "../Registry.ts"
import { baseOf } from "./ambient.ts"
import { ForeignPart, TaskPart } from "./parts.ts"

/** What is wrong with a value; `undefined` for a good one. */
export type Check = (value: unknown) => SchemaMismatch | undefined

const lacking = (name: string, reason: string) => Effect.die(new InvalidContract({ kind: "tool", name, reason }))

/** Prepares the check of a schema that is not one of Effect. A tool is not offered where nothing could check for it. */
export const makeCheck = (
  name: string,
  side: "input" | "output",
  foreign: Foreign | undefined
): Effect.Effect<Check | undefined> =>
  foreign === undefined
    ? Effect.undefined
    : Effect.flatMap(ForeignPart, (compile) =>
      compile === undefined
        ? lacking(name, `nothing here checks its ${side} schema: provide ForeignSchemas.layer to the server`)
        : compile(name, side, foreign))

/** Whether the endpoint has what runs tasks, for a tool whose calls may or must be some. */
export const requireTasks = (name: string, support: TaskSupport): Effect.Effect<void, never, Registry> =>
  support === "never"
    ? Effect.void
    : Effect.contextWith((context: Context.Context<Registry>) =>
      Context.get(baseOf(Context.get(context, Registry)) ?? context, TaskPart) === undefined
        ? lacking(name, "nothing here runs tasks: provide Tasks.layer to the server")
        : Effect.void
    )
