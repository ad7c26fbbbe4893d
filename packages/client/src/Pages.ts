/**
 * All pages of a list (PAG-02), within bounds (PAG-01 of field practice).
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { fail, type McpClientError, PagesUnbounded } from "./McpClientError.ts"

/**
 * Bounds on the pages of one list.
 *
 * @category models
 * @since 0.1.0
 */
export interface Bounds {
  /** 100 by default. */
  readonly maxPages: number
  /** 10,000 by default. */
  readonly maxItems: number
}

/**
 * @category models
 * @since 0.1.0
 */
export const defaults: Bounds = { maxPages: 100, maxItems: 10_000 }

/**
 * One page of a list.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** Where the next page starts; only an absent cursor ends the list, an empty string is a cursor. */
  readonly nextCursor: string | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options<A> {
  /** Names the server in failures. */
  readonly server: string
  readonly bounds: Bounds
  readonly page: (cursor: string | undefined) => Effect.Effect<Page<A>, McpClientError>
  /**
   * What tells an item from the others: one that is listed again, because the list moved meanwhile, is left out (PAG-05 of
   * field practice).
   */
  readonly key: (item: A) => string
  /** Whether a failure means that the cursor is not valid any more: then the list is read from its start, twice at most. */
  readonly isStale?: ((error: McpClientError) => boolean) | undefined
  /**
   * Whether the list is another one since its first page was asked for. Then pages that are there already do not go with
   * those to come, and it is read from its start: twice at most, after that it counts as it is.
   */
  readonly hasMoved?: (() => boolean) | undefined
}

/** How often a list is begun anew, for either reason. */
const maxRestarts = 2

/**
 * Follows the cursors from the first page to the last. A cursor that comes again, a page too many or an item too many is a
 * typed failure that names the server.
 *
 * @category combinators
 * @since 0.1.0
 */
export const all = <A>(options: Options<A>): Effect.Effect<ReadonlyArray<A>, McpClientError> =>
  Effect.gen(function*() {
    const { bounds, hasMoved = () => false, isStale = () => false, key, page, server } = options
    const items = new Map<string, A>()
    const seen = new Set<string>()
    let cursor: string | undefined
    let restarts = 0
    let count = 0
    for (let pages = 1;; pages++) {
      if (pages > bounds.maxPages) return yield* unbounded(server, `more than ${bounds.maxPages} pages`)
      const next = yield* Effect.catch(page(cursor), (error) =>
        cursor !== undefined && restarts < maxRestarts && isStale(error) ? Effect.undefined : Effect.fail(error))
      const isAlone = cursor === undefined && next?.nextCursor === undefined
      if (next === undefined || (!isAlone && restarts < maxRestarts && hasMoved())) {
        restarts++
        cursor = undefined
        count = 0
        items.clear()
        seen.clear()
        continue
      }
      count += next.items.length
      if (count > bounds.maxItems) {
        return yield* unbounded(server, `more than ${bounds.maxItems} items`)
      }
      for (const item of next.items) {
        const name = key(item)
        if (!items.has(name)) {
          items.set(name, item)
        }
      }
      if (next.nextCursor === undefined) {
        return [...items.values()]
      }
      if (seen.has(next.nextCursor)) {
        return yield* unbounded(server, "the cursors go in a circle")
      }
      seen.add(next.nextCursor)
      cursor = next.nextCursor
    }
  })

const unbounded = (server: string, detail: string) => fail(new PagesUnbounded({ server, detail }))
