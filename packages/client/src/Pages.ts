/**
 * All pages of a list, within bounds (PAG-01, PAG-02).
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
 * Follows the cursors from the first page to the last. A cursor that comes again, a page too many or an item too many is a
 * typed failure that names the server.
 *
 * @category combinators
 * @since 0.1.0
 */
export const all = <A>(
  server: string,
  bounds: Bounds,
  page: (cursor: string | undefined) => Effect.Effect<Page<A>, McpClientError>
): Effect.Effect<ReadonlyArray<A>, McpClientError> =>
  Effect.gen(function*() {
    const items: Array<A> = []
    const seen = new Set<string>()
    let cursor: string | undefined
    for (let pages = 1;; pages++) {
      if (pages > bounds.maxPages) return yield* unbounded(server, `more than ${bounds.maxPages} pages`)
      const next = yield* page(cursor)
      if (items.length + next.items.length > bounds.maxItems) {
        return yield* unbounded(server, `more than ${bounds.maxItems} items`)
      }
      for (const item of next.items) items.push(item)
      if (next.nextCursor === undefined) return items
      if (seen.has(next.nextCursor)) return yield* unbounded(server, "the cursors go in a circle")
      seen.add(next.nextCursor)
      cursor = next.nextCursor
    }
  })

const unbounded = (server: string, detail: string) => Effect.fail(fail(new PagesUnbounded({ server, detail })))
