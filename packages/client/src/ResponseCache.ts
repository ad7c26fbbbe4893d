/**
 * Answers of 2026-07-28 that may be used again, for as long as the server said (CCH-06).
 *
 * Entries are kept by method and params, private ones by caller as well (CCH-03, CCH-05). The clock is the fiber's; a
 * notification that concerns an entry drops it at once, and an answer that was on its way meanwhile is not kept. The table
 * is bounded: the oldest entry leaves.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { Change } from "./Subscriptions.ts"

/**
 * The kept answers of one method.
 *
 * @category models
 * @since 0.1.0
 */
export interface Table<A> {
  /** A fresh answer, or `undefined`. */
  readonly get: (params: object, caller: string, now: number) => A | undefined
  /**
   * Keeps an answer that says it may be kept; anything else is not touched (CCH-04). Nor is one that was asked for before
   * the last change of anything: `since` is what {@link Table.changes} said then.
   */
  readonly put: (params: object, caller: string, result: A, now: number, since: number) => void
  /** Counts the changes so far. */
  readonly changes: () => number
}

/**
 * @category models
 * @since 0.1.0
 */
export interface ResponseCache {
  /**
   * A table for the answers of one method, made stale by the changes that `concerns` names. `size` weighs an answer, in
   * characters; without it answers weigh nothing.
   */
  readonly table: <A>(
    concerns: (change: Change, params: object) => boolean,
    size?: (result: A) => number
  ) => Table<A>
  /** Drops what a change makes stale. */
  readonly invalidate: (change: Change) => void
  /** Drops everything: another session. */
  readonly clear: () => void
  readonly size: () => number
}

/** How much the answers of one table may weigh. */
const maxWeight = 64 * 1024 * 1024

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    JsonRpc.isJsonObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : member)

const lifetime = (result: unknown): number => {
  if (!JsonRpc.isJsonObject(result)) return 0
  if (result["resultType"] !== undefined && result["resultType"] !== "complete") return 0
  const ttl = result["ttlMs"]
  return typeof ttl === "number" && Number.isFinite(ttl) && ttl > 0 ? ttl : 0
}

const isPublic = (result: unknown): boolean => JsonRpc.isJsonObject(result) && result["cacheScope"] === "public"

const carriesInput = (params: object): boolean => "inputResponses" in params || "requestState" in params

/**
 * Whether `uri` is `whole` or a part of it (SUB-11).
 *
 * @category predicates
 * @since 0.1.0
 */
export const isPart = (whole: string, uri: string): boolean =>
  whole === uri || uri.startsWith(whole.endsWith("/") ? whole : `${whole}/`)

type Concerns = (change: Change, params: object) => boolean

interface Entry<A> {
  readonly params: object
  readonly result: A
  readonly from: number
  readonly until: number
  readonly weight: number
}

class TableOf<A> implements Table<A> {
  private readonly entries = new Map<string, Entry<A>>()
  private readonly concerns: Concerns
  private readonly weigh: (result: A) => number
  private readonly capacity: number
  private weight = 0
  private count = 0

  constructor(concerns: Concerns, weigh: (result: A) => number, capacity: number) {
    this.concerns = concerns
    this.weigh = weigh
    this.capacity = capacity
  }

  get size(): number {
    return this.entries.size
  }

  readonly changes = (): number => this.count

  readonly get = (params: object, caller: string, now: number): A | undefined => {
    if (this.entries.size === 0 || carriesInput(params)) return undefined
    const key = canonical(params)
    return this.fresh(ofCaller(caller, key), now) ?? this.fresh(ofAll(key), now)
  }

  readonly put = (params: object, caller: string, result: A, now: number, since: number): void => {
    const ttl = carriesInput(params) || since !== this.count ? 0 : lifetime(result)
    if (ttl === 0) return
    const key = isPublic(result) ? ofAll(canonical(params)) : ofCaller(caller, canonical(params))
    const weight = this.weigh(result)
    this.drop(key)
    this.entries.set(key, { params, result, from: now, until: now + ttl, weight })
    this.weight += weight
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.capacity && this.weight <= maxWeight) break
      this.drop(oldest)
    }
  }

  invalidate(change: Change): void {
    this.count++
    for (const [key, { params }] of this.entries) {
      if (this.concerns(change, params)) this.drop(key)
    }
  }

  clear(): void {
    this.entries.clear()
    this.weight = 0
    this.count++
  }

  private fresh(key: string, now: number): A | undefined {
    const entry = this.entries.get(key)
    if (entry === undefined) return undefined
    if (entry.from <= now && now < entry.until) return entry.result
    this.drop(key)
    return undefined
  }

  private drop(key: string): void {
    const entry = this.entries.get(key)
    if (entry === undefined) return
    this.entries.delete(key)
    this.weight -= entry.weight
  }
}

const ofAll = (key: string): string => `*${key}`
const ofCaller = (caller: string, key: string): string => `${caller.length}:${caller}${key}`

/**
 * Tables of at most `capacity` answers each, 1,000 by default, and 64 Mi characters.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (capacity = 1000): ResponseCache => {
  const tables: Array<{ readonly size: number; invalidate(change: Change): void; clear(): void }> = []
  return {
    table: <A>(concerns: Concerns, size: (result: A) => number = () => 0): Table<A> => {
      const table = new TableOf(concerns, size, capacity)
      tables.push(table)
      return table
    },
    invalidate: (change) => {
      for (const table of tables) table.invalidate(change)
    },
    clear: () => {
      for (const table of tables) table.clear()
    },
    size: () => tables.reduce((sum, { size }) => sum + size, 0)
  }
}
