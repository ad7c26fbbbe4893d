/**
 * What a registration is to the dispatcher: a descriptor to list, facts to check before admission, and a way to run it.
 *
 * Entries speak the neutral model; the dispatcher writes their results on the wire of the request's revision.
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import type * as Completion from "@mcpfx/schema/Completion"
import type { JsonObject } from "@mcpfx/schema/JsonRpc"
import type { McpError } from "@mcpfx/schema/McpError"
import type * as Prompt from "@mcpfx/schema/Prompt"
import type * as Resource from "@mcpfx/schema/Resource"
import type { InvalidShape, Revision } from "@mcpfx/schema/Revision"
import type * as Tool from "@mcpfx/schema/Tool"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { Options as TaskOptions } from "./Tasks.ts"

/**
 * What every handler of a request may ask for beyond what its layer was built with.
 *
 * @category models
 * @since 0.1.0
 */
export type RequestServices = RequestContext | Scope.Scope

/**
 * That somebody can be asked: handlers of tools, prompts and resources have it, completions and other requests do not
 * (MRT-02). It is known to the types alone.
 *
 * @category services
 * @since 0.1.0
 */
export class Asking extends Context.Service<Asking, never>()("@mcpfx/server/Asking") {}

/**
 * What handlers of tools, prompts and resources may ask for beyond what their layer was built with.
 *
 * @category models
 * @since 0.1.0
 */
export type HandlerServices = RequestServices | Asking

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
 * How calls of a tool run as tasks.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskPolicy extends TaskOptions {
  /** Whether they may or must. */
  readonly support: "may" | "must"
}

/**
 * A tool, and how it is called.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolEntry extends EntryFacts {
  readonly kind: "tool"
  readonly name: string
  /** `undefined` where calls never run as tasks. */
  readonly task?: TaskPolicy | undefined
  readonly descriptor: Tool.Descriptor
  /** The arguments that 2026-07-28 mirrors into `Mcp-Param-*` headers (XH-01). */
  readonly headerParams: ReadonlyArray<{
    readonly path: ReadonlyArray<string>
    readonly header: string
    readonly type: "string" | "integer" | "boolean"
  }>
  /** Calls the tool. What it throws, as handlers may, is a defect like one in the effect. */
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
 * A resource of one URI, and how it is read.
 *
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
 * Resources of one URI template, and how they are read.
 *
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
 * A prompt, and how it is got.
 *
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
 * Reads the params of a request as they came; what they lead to gives the result as it is written.
 *
 * @category models
 * @since 0.1.0
 */
export type Answering = (
  params: unknown
) => Result.Result<Effect.Effect<JsonObject, McpError, RequestServices>, InvalidShape>

/**
 * Answers a request that is not the protocol's own.
 *
 * @category models
 * @since 0.1.0
 */
export interface MethodEntry extends EntryFacts {
  readonly kind: "method"
  readonly name: string
  /** The extension it belongs to: clients that did not announce it are refused (EXT-04). */
  readonly extension: ExtensionEntry | undefined
  /** How it is answered on a revision; `undefined` where it does not exist. */
  readonly on: (revision: Revision) => Answering | undefined
}

/**
 * Reads the params of a notification as they came; what they lead to is run.
 *
 * @category models
 * @since 0.1.0
 */
export type Hearing = (params: unknown) => Result.Result<Effect.Effect<void, never, RequestServices>, InvalidShape>

/**
 * Hears a notification that is not the protocol's own.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListenerEntry extends EntryFacts {
  readonly kind: "notification"
  readonly name: string
  readonly extension: ExtensionEntry | undefined
  /** How it is heard on a revision; `undefined` where it does not exist. */
  readonly on: (revision: Revision) => Hearing | undefined
}

/**
 * A notification that is not the protocol's own and that clients may ask to hear of.
 *
 * @category models
 * @since 0.1.0
 */
export interface AnnouncementEntry extends EntryFacts {
  readonly kind: "announcement"
  readonly name: string
  readonly extension: ExtensionEntry | undefined
  /** The member of a listen filter that asks for it. */
  readonly filter: string
  /** Whether listeners name what they want to hear of. */
  readonly hasTopics: boolean
  readonly existsOn: (revision: Revision) => boolean
}

/**
 * An extension that is announced, with its settings (EXT-02).
 *
 * @category models
 * @since 0.1.0
 */
export interface ExtensionEntry extends EntryFacts {
  readonly kind: "extension"
  readonly name: string
  readonly settings: JsonObject
  /** The revisions that have it. */
  readonly existsOn: (revision: Revision) => boolean
  /** Whether a client announced it, with settings that can be read. */
  readonly spokenBy: (capabilities: Capabilities.Client) => boolean
}

/**
 * Whatever can be registered.
 *
 * @category models
 * @since 0.1.0
 */
export type Entry =
  | ToolEntry
  | ResourceEntry
  | TemplateEntry
  | PromptEntry
  | MethodEntry
  | ListenerEntry
  | AnnouncementEntry
  | ExtensionEntry
