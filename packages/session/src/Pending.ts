/**
 * The requests that were sent and are not answered yet, by their ids.
 *
 * Pure bookkeeping: no fiber, no clock, no IO. Ids count up from 1 and never repeat within a table, so they are unique over
 * a session (RPC-03) and never falsy. An entry is added before its request is sent, so that no answer can come too early
 * (FRM-19 of field practice).
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { IdTable } from "./internal/idTable.ts"

/**
 * How the n-th id looks; n counts from 1. Different numbers must give different ids.
 *
 * @category models
 * @since 0.1.0
 */
export type IdFormat = (n: number) => JsonRpc.RequestId

const itself: IdFormat = (n) => n
const canonicalInteger = /^(?:0|[1-9]\d{0,15})$/

/**
 * @category models
 * @since 0.1.0
 */
export class Pending<A> {
  private readonly entries = new IdTable<A>()
  private readonly format: IdFormat
  private last = 0

  constructor(format: IdFormat = itself) {
    this.format = format
  }

  /** How many requests wait for an answer. */
  get size(): number {
    return this.entries.size
  }

  /** Puts an entry in and gives the id to send its request under. */
  add(entry: A): JsonRpc.RequestId {
    this.last += 1
    const id = this.format(this.last)
    this.entries.add(id, entry)
    return id
  }

  /**
   * The entry an id or a progress token of the peer means; `undefined` for one that is unknown or answered (RPC-15 of field
   * practice).
   */
  get(id: unknown): A | undefined {
    return this.entries.get(this.key(id))
  }

  /** Takes the entry out that an answer is for; a second answer finds nothing. */
  take(id: unknown): A | undefined {
    return this.entries.take(this.key(id))
  }

  /** Takes an entry out that will not be answered; whether it was there. */
  remove(id: JsonRpc.RequestId): boolean {
    return this.entries.take(id) !== undefined
  }

  /** Takes everything out, oldest first. */
  takeAll(): ReadonlyArray<A> {
    const all = this.entries.values()
    this.entries.clear()
    return all
  }

  /** What waits, oldest first. */
  values(): ReadonlyArray<A> {
    return this.entries.values()
  }

  /**
   * Some peers echo an integer as a string. That is understood where it can mean one thing only: the string is the
   * integer's own spelling and no entry has the string itself as its id.
   */
  private key(id: unknown): unknown {
    if (typeof id !== "string" || this.entries.has(id) || !canonicalInteger.test(id)) return id
    const integer = Number(id)
    return this.entries.has(integer) ? integer : id
  }
}

/**
 * An empty table.
 *
 * **Example** (Matching an answer)
 *
 * ```ts
 * import { Pending } from "@mcpfx/session"
 *
 * const pending = Pending.make<string>()
 * const id = pending.add("tools/list")
 * pending.take(id) // => "tools/list"
 * pending.take(id) // => undefined
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <A>(format?: IdFormat): Pending<A> => new Pending(format)
