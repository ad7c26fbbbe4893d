/**
 * Answers of 2026-07-28 that may be used again, for as long as the server said (CCH-06).
 *
 * Entries are kept by method and params, private ones by the authorization context as well (CCH-03, CCH-05). The clock is
 * the fiber's; a notification that concerns an entry drops it at once. The table is bounded: the oldest entry leaves.
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { Change } from "./Subscriptions.ts"

/**
 * The kept answers of one method.
 *
 * @category models
 * @since 0.1.0
 */
export interface Table<A> {
  /** A fresh answer, or `undefined`. */
  readonly get: (params: object, now: number) => A | undefined
  /** Keeps an answer that says it may be kept; anything else is not touched (CCH-04). */
  readonly put: (params: object, result: A, now: number) => void
}

/**
 * @category models
 * @since 0.1.0
 */
export interface ResponseCache {
  /** A table for the answers of one method, made stale by the changes that `concerns` names. */
  readonly table: <A>(concerns: (change: Change, params: object) => boolean) => Table<A>
  /** Drops what a change makes stale. */
  readonly invalidate: (change: Change) => void
  /** Drops everything: another session, another caller. */
  readonly clear: () => void
  readonly size: () => number
}

interface Entry<A> {
  readonly params: object
  readonly result: A
  readonly until: number
}

const isObject = (u: unknown): u is JsonRpc.JsonObject => typeof u === "object" && u !== null && !Array.isArray(u)

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : member)

const lifetime = (result: unknown): number => {
  if (!isObject(result)) return 0
  if (result["resultType"] !== undefined && result["resultType"] !== "complete") return 0
  const ttl = result["ttlMs"]
  return typeof ttl === "number" && Number.isFinite(ttl) && ttl > 0 ? ttl : 0
}

/**
 * Whether the contents of `uri` change with those of `changed`: the same resource, or a part of it (SUB-11).
 *
 * @category predicates
 * @since 0.1.0
 */
export const isPart = (uri: string, changed: string): boolean =>
  uri === changed || changed.startsWith(uri.endsWith("/") ? uri : `${uri}/`)

/**
 * Tables of at most `capacity` answers each, 1,000 by default. They belong to one connection and so to one authorization
 * context: private answers never leave it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (capacity = 1000): ResponseCache => {
  const tables: Array<{ readonly entries: Map<string, { readonly params: object }>; readonly concerns: Concerns }> = []
  return {
    table: <A>(concerns: Concerns): Table<A> => {
      const entries = new Map<string, Entry<A>>()
      tables.push({ entries, concerns })
      return {
        get: (params, now) => {
          if (entries.size === 0 || carriesInput(params)) return undefined
          const key = canonical(params)
          const entry = entries.get(key)
          if (entry === undefined) return undefined
          if (now < entry.until) return entry.result
          entries.delete(key)
          return undefined
        },
        put: (params, result, now) => {
          const ttl = carriesInput(params) ? 0 : lifetime(result)
          if (ttl === 0) return
          const key = canonical(params)
          entries.delete(key)
          entries.set(key, { params, result, until: now + ttl })
          for (const oldest of entries.keys()) {
            if (entries.size <= capacity) break
            entries.delete(oldest)
          }
        }
      }
    },
    invalidate: (change) => {
      for (const { concerns, entries } of tables) {
        for (const [key, { params }] of entries) {
          if (concerns(change, params)) entries.delete(key)
        }
      }
    },
    clear: () => {
      for (const { entries } of tables) entries.clear()
    },
    size: () => tables.reduce((sum, { entries }) => sum + entries.size, 0)
  }
}

type Concerns = (change: Change, params: object) => boolean

const carriesInput = (params: object): boolean => "inputResponses" in params || "requestState" in params
