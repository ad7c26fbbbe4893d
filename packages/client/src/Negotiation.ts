/**
 * Which era a server speaks, judged from its answer to `server/discover`.
 *
 * The rule is pure. On stdio and in memory every answer that is not a modern one means a stateful server, silence and exit
 * included (VER-10); on HTTP only answers that a stateful server would give do: a refusal to authenticate, a server error,
 * a broken network and silence say nothing about the era and are passed on (LIF-10 of the field, VER-14).
 *
 * @since 0.1.0
 */
import * as Codes from "@mcpfx/schema/Codes"
import type * as Lifecycle from "@mcpfx/schema/Lifecycle"
import type { Revision, Version } from "@mcpfx/schema/Revision"
import type { PeerFailure } from "@mcpfx/session/Peer"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Result from "effect/Result"
import type { ClientOptions } from "./ClientOptions.ts"

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
  /** Send `initialize`. */
  | { readonly _tag: "Legacy" }
  /** The server is modern and has no revision of ours. */
  | { readonly _tag: "NoCommon"; readonly offered: ReadonlyArray<string> }
  /** The answer says nothing about the era. */
  | { readonly _tag: "Inconclusive"; readonly failure: PeerFailure }

const newest = (
  ours: ReadonlyArray<Revision>,
  theirs: ReadonlyArray<string>,
  era: Revision["era"]
): Revision | undefined =>
  ours.filter((revision) => revision.era === era && theirs.includes(revision.version))
    .reduce<Revision | undefined>((a, b) => a === undefined || b.ordinal > a.ordinal ? b : a, undefined)

const fromSupported = (
  ours: ReadonlyArray<Revision>,
  theirs: ReadonlyArray<string>,
  modern: (revision: Revision) => Verdict
): Verdict => {
  const common = newest(ours, theirs, "modern")
  if (common !== undefined) return modern(common)
  return newest(ours, theirs, "legacy") === undefined
    ? { _tag: "NoCommon", offered: theirs }
    : { _tag: "Legacy" }
}

const isStrings = (u: unknown): u is ReadonlyArray<string> =>
  Array.isArray(u) && u.every((member) => typeof member === "string")

const supportedOf = (data: unknown): ReadonlyArray<string> | undefined => {
  if (typeof data !== "object" || data === null || !("supported" in data)) return undefined
  return isStrings(data.supported) ? data.supported : undefined
}

/** Statuses with which stateful servers meet a request they do not know. */
const legacyStatuses: ReadonlySet<number> = new Set([400, 404, 405, 406, 415, 422])

/**
 * Judges the outcome of a `server/discover` that was sent at `asked`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const judge = (
  transport: "memory" | "stdio" | "http",
  ours: ReadonlyArray<Revision>,
  asked: Revision,
  outcome: Result.Result<Lifecycle.DiscoverResult, PeerFailure>
): Verdict => {
  if (Result.isSuccess(outcome)) {
    const discovered = outcome.success
    return fromSupported(ours, discovered.supportedVersions, (revision) => ({ _tag: "Modern", revision, discovered }))
  }
  const failure = outcome.failure
  const error = failure._tag === "PeerError"
    ? failure
    : failure._tag === "HttpFailure"
    ? failure.error
    : undefined
  if (error?.code === Codes.unsupportedVersion) {
    const supported = supportedOf(error.data)
    if (supported !== undefined) {
      return fromSupported(
        ours,
        supported,
        (revision) =>
          revision.version === asked.version
            ? { _tag: "Inconclusive", failure }
            : { _tag: "Retry", revision }
      )
    }
  }
  if (transport !== "http") return { _tag: "Legacy" }
  if (error?.code === Codes.headerMismatch || error?.code === Codes.missingClientCapability) {
    return { _tag: "Inconclusive", failure }
  }
  switch (failure._tag) {
    case "PeerError":
    case "InvalidResponse":
      return { _tag: "Legacy" }
    case "HttpFailure":
      return failure.status !== undefined && legacyStatuses.has(failure.status)
        ? { _tag: "Legacy" }
        : { _tag: "Inconclusive", failure }
    default:
      return { _tag: "Inconclusive", failure }
  }
}

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
  readonly get: (target: string) => Version | "legacy" | undefined
  readonly set: (target: string, verdict: Version | "legacy") => void
  readonly forget: (target: string) => void
}

/**
 * An empty cache of verdicts.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeEraCache = (capacity = 1000): EraCache => {
  const verdicts = new Map<string, Version | "legacy">()
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
