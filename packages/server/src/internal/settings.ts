/** What an endpoint is told about itself, with every default filled in. */
import type * as Implementation from "@mcpfx/schema/Implementation"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Logging from "@mcpfx/schema/Logging"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import type { Revision, Version } from "@mcpfx/schema/Revision"
import * as Revisions from "@mcpfx/schema/Revisions"
import type { Limits as SessionLimits } from "@mcpfx/session/SessionLimits"
import type { Limits as TransportLimits } from "@mcpfx/transport/Limits"
import * as Arr from "effect/Array"
import type * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import type { CacheHint } from "../Entry.ts"
import type { Key } from "../RequestState.ts"
import { InvalidOptions } from "../ServerError.ts"
import type { ServerLimits } from "../ServerLimits.ts"

/**
 * What a server says it offers. A kind that is left out is offered while something of it is registered; `true` offers it
 * even while its lists are empty, `false` never.
 */
export interface Declared {
  readonly tools?: boolean | { readonly listChanged?: boolean | undefined } | undefined
  readonly prompts?: boolean | { readonly listChanged?: boolean | undefined } | undefined
  readonly resources?:
    | boolean
    | { readonly listChanged?: boolean | undefined; readonly subscribe?: boolean | undefined }
    | undefined
  readonly completions?: boolean | undefined
  /** Log messages to clients; offered unless `false` (LOG-01). */
  readonly logging?: boolean | undefined
}

export interface ServerOptions {
  /** How the server calls itself. */
  readonly name: string
  readonly version: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly websiteUrl?: string | undefined
  readonly icons?: ReadonlyArray<Implementation.Icon> | undefined
  /** What a model should know about using the server. */
  readonly instructions?: string | undefined
  /** The revisions served; all by default. */
  readonly revisions?: ReadonlyArray<Version> | undefined
  /**
   * How HTTP serves the revisions up to 2025-11-25. `stateful`, the default, keeps sessions. `stateless` serves each POST on
   * its own, at the version of its header: no session id, no stream, nothing asked, nothing announced.
   */
  readonly sessions?: "stateful" | "stateless" | undefined
  /** Entries on one page of a list; 100 by default. */
  readonly pageSize?: number | undefined
  /** How long, and for whom, lists and the answer to `server/discover` may be kept: not at all by default (CCH-01). */
  readonly cache?: Partial<CacheHint> | undefined
  readonly capabilities?: Declared | undefined
  /** Capabilities outside the protocol. */
  readonly experimental?: Readonly<Record<string, JsonRpc.JsonObject>> | undefined
  /** Extensions the server supports, by identifier, with their settings (EXT-02). */
  readonly extensions?: Readonly<Record<string, JsonRpc.JsonObject>> | undefined
  /** Bounds of the server, its sessions and its transports, by name. */
  readonly limits?: Partial<ServerLimits & SessionLimits & TransportLimits> | undefined
  /**
   * The secrets that seal what travels between the rounds of a request (2026-07-28): the first seals, all open, so that they
   * can be changed. Each has at least 32 characters. All instances that serve the same clients have the same ones. Without
   * any, a secret of the process is used, which a server that is reached from other machines may not do where its contracts
   * ask (MRT-06).
   */
  readonly requestState?: { readonly keys: ReadonlyArray<Key> } | undefined
  /** The floor of log messages for clients of up to 2025-11-25 that have not set one; `info` by default (LOG-02). */
  readonly logLevel?: Logging.Level | undefined
  /**
   * Whether what handlers log with Effect's logger goes to the client that waits for them, too; `true` by default. Causes,
   * annotations and the insides of errors never do. `McpServer.log` is not touched by this.
   */
  readonly forwardLogs?: boolean | undefined
  /**
   * How often to ask a client whether it is still there, on revisions with sessions and while there is a stream to ask on
   * (PNG-02). One that does not answer within the `requestTimeout` of `limits` loses its session. Never by default.
   */
  readonly heartbeat?: Duration.Input | undefined
}

export interface Settings {
  readonly info: Implementation.Implementation
  readonly instructions: string | undefined
  /** Oldest first. */
  readonly revisions: Arr.NonEmptyReadonlyArray<Revision>
  readonly byVersion: ReadonlyMap<string, Revision>
  /** Every version served, newest first. */
  readonly supported: ReadonlyArray<Version>
  readonly newestLegacy: Revision | undefined
  readonly newestModern: Revision | undefined
  readonly sessions: "stateful" | "stateless"
  readonly cache: CacheHint
  readonly declared: Declared
  readonly experimental: Readonly<Record<string, JsonRpc.JsonObject>> | undefined
  readonly extensions: Readonly<Record<string, JsonRpc.JsonObject>> | undefined
  readonly limits: ServerLimits
  readonly logLevel: Logging.Level
  readonly forwardLogs: boolean
  /** `undefined` where the process makes a key of its own. */
  readonly stateKeys: ReadonlyArray<Key> | undefined
  readonly heartbeat: Duration.Input | undefined
}

const infoOf = (options: ServerOptions): Implementation.Implementation => ({
  name: options.name,
  version: options.version,
  ...(options.title === undefined ? undefined : { title: options.title }),
  ...(options.description === undefined ? undefined : { description: options.description }),
  ...(options.websiteUrl === undefined ? undefined : { websiteUrl: options.websiteUrl }),
  ...(options.icons === undefined ? undefined : { icons: options.icons })
})

const limitsOf = (options: ServerOptions, limits: ServerLimits): ServerLimits =>
  options.pageSize === undefined ? limits : { ...limits, pageSize: options.pageSize }

const fault = (options: ServerOptions, limits: ServerLimits): string | undefined => {
  if (options.name === "") return "name must not be empty"
  if (!Number.isInteger(limits.rounds) || limits.rounds < 1) return "rounds must be a positive integer"
  if (!Number.isInteger(limits.pageSize) || limits.pageSize < 1) return "pageSize must be a positive integer"
  const { concurrency } = limits
  if (concurrency !== Number.POSITIVE_INFINITY && (!Number.isInteger(concurrency) || concurrency < 1)) {
    return "concurrency must be a positive integer or Infinity"
  }
  const ttlMs = options.cache?.ttlMs
  if (ttlMs !== undefined && (!Number.isInteger(ttlMs) || ttlMs < 0)) return "cache.ttlMs must be an integer from 0"
  const extension = Object.keys(options.extensions ?? {}).find((id) => !MetaKey.isExtensionId(id))
  return extension === undefined ? undefined : `extensions: "${extension}" is not a name with a prefix`
}

export const make = (options: ServerOptions, limits: ServerLimits): Result.Result<Settings, InvalidOptions> => {
  const revisions = Revisions.all.filter((revision) => options.revisions?.includes(revision.version) ?? true)
  const all = limitsOf(options, limits)
  const reason = fault(options, all)
  if (reason !== undefined) return Result.fail(new InvalidOptions({ reason }))
  if (!Arr.isReadonlyArrayNonEmpty(revisions)) {
    return Result.fail(new InvalidOptions({ reason: "revisions must name at least one revision" }))
  }
  return Result.succeed({
    info: infoOf(options),
    instructions: options.instructions,
    revisions,
    byVersion: new Map(revisions.map((revision) => [revision.version, revision])),
    supported: revisions.map((revision) => revision.version).reverse(),
    newestLegacy: revisions.findLast((revision) => revision.era === "legacy"),
    newestModern: revisions.findLast((revision) => revision.era === "modern"),
    sessions: options.sessions ?? "stateful",
    cache: { ttlMs: options.cache?.ttlMs ?? 0, scope: options.cache?.scope ?? "private" },
    declared: options.capabilities ?? {},
    experimental: options.experimental,
    extensions: options.extensions,
    limits: all,
    logLevel: options.logLevel ?? "info",
    forwardLogs: options.forwardLogs ?? true,
    stateKeys: options.requestState?.keys,
    heartbeat: options.heartbeat
  })
}
