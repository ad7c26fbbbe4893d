/**
 * Which era a server speaks, judged from its answer to `server/discover`.
 *
 * The rule is pure. On stdio and in memory every answer that is not a modern one means a stateful server, silence and exit
 * included (VER-10); on HTTP only answers that a stateful server would give do: a refusal to authenticate, a server error,
 * a broken network and silence say nothing about the era and are passed on (LIF-10 of field practice, VER-14).
 *
 * @since 0.1.0
 */
import * as Codes from "@mcpfx/schema/Codes"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Lifecycle from "@mcpfx/schema/Lifecycle"
import type { Revision, Version } from "@mcpfx/schema/Revision"
import * as Revisions from "@mcpfx/schema/Revisions"
import type { PeerFailure } from "@mcpfx/session/Peer"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Result from "effect/Result"
import type { ClientOptions } from "./ClientOptions.ts"
import type { McpClientError } from "./McpClientError.ts"

/**
 * What to do next.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict =
  /** Stay modern, at this revision. */
  | { readonly _tag: "Modern"; readonly revision: Revision; readonly discovered: Lifecycle.DiscoverResult }
  /** Ask again at this revision (VER-02). */
  | { readonly _tag: "Retry"; readonly revision: Revision }
  /** Send `initialize`. Not certain when there was no answer at all: the server may only be slow to start. */
  | { readonly _tag: "Legacy"; readonly certain: boolean }
  /** The server is modern and has no revision of ours. */
  | { readonly _tag: "NoCommon"; readonly offered: ReadonlyArray<string> }
  /** The answer says nothing about the era. */
  | { readonly _tag: "Inconclusive"; readonly failure: PeerFailure }

const newest = (
  ours: ReadonlyArray<Revision>,
  theirs: ReadonlyArray<string>,
  era: Revision["era"]
): Revision | undefined =>
  Revisions.newestOf(ours.filter((revision) => revision.era === era && theirs.includes(revision.version)))

const fromSupported = (
  ours: ReadonlyArray<Revision>,
  theirs: ReadonlyArray<string>,
  modern: (revision: Revision) => Verdict
): Verdict => {
  const common = newest(ours, theirs, "modern")
  if (common !== undefined) return modern(common)
  return newest(ours, theirs, "legacy") === undefined
    ? { _tag: "NoCommon", offered: theirs }
    : { _tag: "Legacy", certain: true }
}

const isStrings = (u: unknown): u is ReadonlyArray<string> =>
  Array.isArray(u) && u.every((member) => typeof member === "string")

const supportedOf = (data: unknown): ReadonlyArray<string> | undefined =>
  JsonRpc.isJsonObject(data) && isStrings(data["supported"]) ? data["supported"] : undefined

const errorOf = (failure: PeerFailure): JsonRpc.WireError | undefined =>
  failure._tag === "PeerError" ? failure : failure._tag === "HttpFailure" ? failure.error : undefined

/** Statuses with which stateful servers meet a request they do not know. */
const legacyStatuses: ReadonlySet<number> = new Set([400, 404, 405, 406, 415, 422])

/**
 * Errors that only a modern server sends, and after which `initialize` is out of place (VER-10). A code alone would not do:
 * up to 2025-11-25 these numbers were anybody's.
 */
const isModern = ({ code, data }: JsonRpc.WireError, transport: Transport): boolean =>
  (code === Codes.missingClientCapability && JsonRpc.isJsonObject(data) && "requiredCapabilities" in data) ||
  (transport === "http" && modernCodes.has(code))

const modernCodes: ReadonlySet<number> = new Set([
  Codes.headerMismatch,
  Codes.missingClientCapability,
  Codes.unsupportedVersion
])

type Transport = "memory" | "stdio" | "http"

/**
 * Judges the outcome of a `server/discover`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const judge = (
  transport: Transport,
  ours: ReadonlyArray<Revision>,
  outcome: Result.Result<Lifecycle.DiscoverResult, PeerFailure>
): Verdict => {
  if (Result.isSuccess(outcome)) {
    const discovered = outcome.success
    return fromSupported(ours, discovered.supportedVersions, (revision) => ({ _tag: "Modern", revision, discovered }))
  }
  const failure = outcome.failure
  const inconclusive: Verdict = { _tag: "Inconclusive", failure }
  const error = errorOf(failure)
  const supported = error?.code === Codes.unsupportedVersion ? supportedOf(error.data) : undefined
  // Also when the refusal names the very revision that was asked: it is asked once more (VER-02).
  if (supported !== undefined) return fromSupported(ours, supported, (revision) => ({ _tag: "Retry", revision }))
  if (error !== undefined && isModern(error, transport)) return inconclusive
  if (transport !== "http") return { _tag: "Legacy", certain: failure._tag !== "RequestTimeout" }
  switch (failure._tag) {
    case "PeerError":
    case "InvalidResponse":
      return { _tag: "Legacy", certain: true }
    case "HttpFailure":
      return failure.status !== undefined && legacyStatuses.has(failure.status)
        ? { _tag: "Legacy", certain: true }
        : inconclusive
    default:
      return inconclusive
  }
}

/**
 * The revision to ask for when `initialize` at `offered` was refused by a server that names what it supports (LIF-13).
 *
 * @category getters
 * @since 0.1.0
 */
export const counterOffer = (
  ours: ReadonlyArray<Revision>,
  offered: Revision,
  failure: PeerFailure
): Revision | undefined => {
  const common = newest(ours, supportedOf(errorOf(failure)?.data) ?? [], "legacy")
  return common === offered ? undefined : common
}

/**
 * Whether a failed `initialize` speaks against a verdict that was kept from before. What says nothing about the era does
 * not: a refusal to authenticate, a server error, a broken network, silence.
 *
 * @category predicates
 * @since 0.1.0
 */
export const disproves = ({ reason }: McpClientError): boolean => {
  switch (reason._tag) {
    case "Refused":
    case "BadAnswer":
    case "NoCommonRevision":
    case "ConnectionLost":
      return true
    case "HttpRefused":
      return reason.status !== undefined && legacyStatuses.has(reason.status)
    default:
      return false
  }
}

/** What a server without Streamable HTTP says to a POST. */
const withoutTransport: ReadonlySet<number> = new Set([400, 404, 405])

/**
 * Whether a server that refused `initialize` so may be one that has no Streamable HTTP, and is worth a GET (VER-16, SSE-06):
 * only with these statuses, and not if it answered in the terms of the protocol.
 *
 * @category predicates
 * @since 0.1.0
 */
export const lacksTransport = (failure: PeerFailure): boolean =>
  failure._tag === "HttpFailure" && failure.status !== undefined && withoutTransport.has(failure.status) &&
  (failure.error === undefined || !isModernAnswer(failure.error, failure.status))

/** With 404 the code says that a server of 2026-07-28 lacks the method. */
const isModernAnswer = (error: JsonRpc.WireError, status: number): boolean =>
  isModern(error, "http") || (status === 404 && error.code === Codes.methodNotFound)

/**
 * Whether a stream of HTTP+SSE that could not be opened says more than the refusal of `initialize` before it: it asks for a
 * token, or it was there and wants something that is not done.
 *
 * @category predicates
 * @since 0.1.0
 */
export const showsSse = ({ reason }: McpClientError): boolean =>
  reason._tag === "ConnectionLost" ||
  (reason._tag === "HttpRefused" && (reason.status === 401 || reason.status === 403))

/**
 * Whether a failure speaks against the verdict, kept from before, that a server has no Streamable HTTP: it opens no stream
 * of the other kind any more.
 *
 * @category predicates
 * @since 0.1.0
 */
export const disprovesSse = (error: McpClientError): boolean => {
  const { reason } = error
  const opensAnother = reason._tag === "HttpRefused" && reason.status !== undefined && reason.status < 300
  return opensAnother || disproves(error)
}

/**
 * What is known of a server: the revision of 2026-07-28 or later that it was found to speak, that it is a stateful one, or
 * that it is one that has HTTP+SSE alone.
 *
 * @category models
 * @since 0.1.0
 */
export type Era = Version | "legacy" | "sse"

/**
 * Eras known from earlier connections, by target, so that one probe serves many connections (VER-15). A verdict that
 * proves wrong is dropped and the server probed anew. Kept in memory; at most 1,000 targets.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentEraCache = Context.Reference<EraCache>("@mcpfx/client/CurrentEraCache", {
  defaultValue: () => makeEraCache()
})

/**
 * @category models
 * @since 0.1.0
 */
export interface EraCache {
  readonly get: (target: string) => Era | undefined
  readonly set: (target: string, verdict: Era) => void
  readonly forget: (target: string) => void
}

/**
 * An empty cache of verdicts.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeEraCache = (capacity = 1000): EraCache => {
  const verdicts = new Map<string, Era>()
  return {
    get: (target) => verdicts.get(target),
    set: (target, verdict) => {
      verdicts.delete(target)
      verdicts.set(target, verdict)
      for (const oldest of verdicts.keys()) {
        if (verdicts.size <= capacity) break
        verdicts.delete(oldest)
      }
    },
    forget: (target) => {
      verdicts.delete(target)
    }
  }
}

/**
 * The revisions a client with these options speaks, newest first; `undefined` when the options leave none.
 *
 * @category getters
 * @since 0.1.0
 */
export const revisionsOf = (
  all: ReadonlyArray<Revision>,
  { revisions }: Pick<ClientOptions, "revisions">
): Arr.NonEmptyReadonlyArray<Revision> | undefined => {
  const spoken = (revisions === undefined ? all : all.filter(({ version }) => revisions.includes(version)))
    .toSorted((a, b) => b.ordinal - a.ordinal)
  return Arr.isReadonlyArrayNonEmpty(spoken) ? spoken : undefined
}
