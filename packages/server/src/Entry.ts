/**
 * What a registration is to the dispatcher: a descriptor to list, facts to check before admission, and a way to run it.
 *
 * Entries speak the neutral model; the dispatcher writes their results on the wire of the request's revision.
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import type * as Completion from "@mcpfx/schema/Completion"
import type { McpError } from "@mcpfx/schema/McpError"
import type * as Prompt from "@mcpfx/schema/Prompt"
import type * as Resource from "@mcpfx/schema/Resource"
import type * as Tool from "@mcpfx/schema/Tool"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/**
 * What every handler of a request may ask for beyond what its layer was built with.
 *
 * @category models
 * @since 0.1.0
 */
export type RequestServices = RequestContext | Scope.Scope

/**
 * The arguments do not fit the schema of the tool: a protocol error on revisions before 2025-11-25, a result with
 * `isError` from then on (TOL-13, TOL-14). The text is made when it is sent.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidArguments extends Data.TaggedError("InvalidArguments")<{
  readonly tool: string
  readonly describe: () => string
}> {}

/**
 * Facts that the endpoint checks before a request is admitted, on both eras.
 *
 * @category models
 * @since 0.1.0
 */
export interface EntryFacts {
  /** Whether this caller sees the entry; an invisible entry answers as an unknown one. `undefined`: everybody does. */
  readonly visible: ((context: RequestContext["Service"]) => boolean) | undefined
  /** Client features the handler may ask for; on 2026-07-28 refused with -32021 before the first byte (META-13). */
  readonly asks: ReadonlyArray<Capabilities.Ask>
  /** Scopes the caller's token must have. */
  readonly scopes: ReadonlyArray<string>
}

/**
 * @category models
 * @since 0.1.0
 */
export interface ToolEntry extends EntryFacts {
  readonly kind: "tool"
  readonly name: string
  readonly descriptor: Tool.Descriptor
  /** The arguments that 2026-07-28 mirrors into `Mcp-Param-*` headers (XH-01). */
  readonly headerParams: ReadonlyArray<{
    readonly path: ReadonlyArray<string>
    readonly header: string
    readonly type: "string" | "integer" | "boolean"
  }>
  readonly run: (
    params: Tool.CallParams
  ) => Effect.Effect<Tool.CallResult, McpError | InvalidArguments, RequestServices>
}

/**
 * Hints for caches (CCH-01); results of entries without any are private and stale at once.
 *
 * @category models
 * @since 0.1.0
 */
export interface CacheHint {
  readonly ttlMs: number
  readonly scope: "public" | "private"
}

/**
 * @category models
 * @since 0.1.0
 */
export interface ResourceEntry extends EntryFacts {
  readonly kind: "resource"
  readonly uri: string
  readonly descriptor: Resource.Descriptor
  readonly cache: CacheHint | undefined
  readonly read: (uri: string) => Effect.Effect<Resource.ReadResult, McpError, RequestServices>
}

/**
 * Gives the values that may follow what was typed.
 *
 * @category models
 * @since 0.1.0
 */
export type Complete = (
  value: string,
  siblings: Readonly<Record<string, string>>
) => Effect.Effect<Completion.Result, McpError, RequestServices>

/**
 * @category models
 * @since 0.1.0
 */
export interface TemplateEntry extends EntryFacts {
  readonly kind: "template"
  /** The template as written, RFC 6570. */
  readonly template: string
  readonly descriptor: Resource.TemplateDescriptor
  readonly cache: CacheHint | undefined
  /** The read to run when the URI matches and its parameters decode; `undefined` when it is not this template's. */
  readonly match: (
    uri: string
  ) => Effect.Effect<Resource.ReadResult, McpError, RequestServices> | undefined
  readonly completions: ReadonlyMap<string, Complete>
}

/**
 * @category models
 * @since 0.1.0
 */
export interface PromptEntry extends EntryFacts {
  readonly kind: "prompt"
  readonly name: string
  readonly descriptor: Prompt.Descriptor
  readonly get: (params: Prompt.GetParams) => Effect.Effect<Prompt.GetResult, McpError, RequestServices>
  readonly completions: ReadonlyMap<string, Complete>
}

/**
 * @category models
 * @since 0.1.0
 */
export type Entry = ToolEntry | ResourceEntry | TemplateEntry | PromptEntry
