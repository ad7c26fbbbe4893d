/**
 * Lists in pages, with cursors that stay good while the list changes.
 *
 * A cursor names the last entry that was given, in the sorted order of its list. The next page goes on after that name,
 * whether or not the entry is still there: an entry that stays is given exactly once, however much comes and goes around it
 * (PAG-05 of field practice).
 *
 * **Details** (Why cursors are not encrypted)
 *
 * A cursor gives no right to anything. Where it points, the same caller sees the same entries as without it, since each
 * page is filtered by visibility again, and the name inside is one that was shown to whoever got the cursor. So it carries
 * a checksum and no secret: it is made and read without waiting, and every node of a server reads what another one made,
 * with no keys to share. The checksum and the kind of list inside find cursors that were cut, altered, made up or used on
 * another list, and those are refused (PAG-04).
 *
 * @since 0.1.0
 */
import { InvalidCursor } from "@mcpfx/schema/McpError"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"
import { byName } from "./internal/shelf.ts"

/**
 * The lists that come in pages.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "tools" | "resources" | "templates" | "prompts" | "tasks" | "skills" | "directory"

/**
 * @category models
 * @since 0.1.0
 */
export interface Page<E> {
  readonly items: ReadonlyArray<E>
  /** `undefined` on the last page. */
  readonly nextCursor: string | undefined
}

const checkLength = 8

/** FNV-1a over UTF-16 units, in eight hexadecimal digits: for mishaps, not against forgers. */
const checksum = (text: string): string => {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(16).padStart(checkLength, "0")
}

/**
 * The cursor behind the entry called `last` in the list `kind`.
 *
 * @category encoding
 * @since 0.1.0
 */
export const cursor = (kind: Kind, last: string): string => {
  const payload = JSON.stringify([kind, last])
  return Base64Url.encode(checksum(payload) + payload)
}

/**
 * The name inside a cursor. Fails for anything that {@link cursor} did not make for this list; the empty string is such a
 * thing, not the absence of a cursor (PAG-02).
 *
 * @category decoding
 * @since 0.1.0
 */
export const lastOf = (kind: Kind, cursor: string): Result.Result<string, InvalidCursor> => {
  const invalid = Result.fail(new InvalidCursor({}))
  const text = Base64Url.decodeString(cursor)
  if (Result.isFailure(text)) return invalid
  const payload = text.success.slice(checkLength)
  if (text.success.slice(0, checkLength) !== checksum(payload)) return invalid
  const parsed = Result.getOrUndefined(Result.try((): unknown => JSON.parse(payload)))
  if (!Array.isArray(parsed) || parsed.length !== 2 || parsed[0] !== kind) return invalid
  const last: unknown = parsed[1]
  return typeof last === "string" ? Result.succeed(last) : invalid
}

/** How many entries of a sorted list come up to `last` or before it. */
const countUpTo = <E>(sorted: ReadonlyArray<E>, nameOf: (entry: E) => string, last: string): number => {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const entry = sorted[middle]
    if (entry !== undefined && byName(nameOf(entry), last) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * One page of a list that is sorted by name, in the order of UTF-16 units as {@link Snapshot} has it. `size` is at least 1.
 *
 * **Example** (Two pages)
 *
 * ```ts
 * import { Pages } from "@mcpfx/server"
 * import { Result } from "effect"
 *
 * const page = (cursor: string | undefined) =>
 *   Result.getOrThrow(Pages.page("tools", ["a", "b", "c"], (name) => name, { cursor, size: 2 }))
 * const first = page(undefined)
 * first.items // => ["a", "b"]
 * page(first.nextCursor).items // => ["c"]
 * ```
 *
 * @category paging
 * @since 0.1.0
 */
export const page = <E>(
  kind: Kind,
  sorted: ReadonlyArray<E>,
  nameOf: (entry: E) => string,
  options: { readonly cursor: string | undefined; readonly size: number }
): Result.Result<Page<E>, InvalidCursor> => {
  const start = options.cursor === undefined
    ? Result.succeed(0)
    : Result.map(lastOf(kind, options.cursor), (last) => countUpTo(sorted, nameOf, last))
  return Result.map(start, (from) => {
    const to = from + options.size
    const last = sorted[to - 1]
    return {
      items: from === 0 && to >= sorted.length ? sorted : sorted.slice(from, to),
      nextCursor: last === undefined || to >= sorted.length ? undefined : cursor(kind, nameOf(last))
    }
  })
}
