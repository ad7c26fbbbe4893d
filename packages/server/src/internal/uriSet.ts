/** The URIs that a session or a stream is subscribed to; what lies below one of them counts as it (SUB-11). */

const isBoundary = (character: string | undefined): boolean =>
  character === "/" || character === "?" || character === "#"

/** The URIs that cover `uri`: itself, then what it lies below; `demo://a` and `demo://a/` both cover `demo://a/b`. */
export function* coversOf(uri: string): Generator<string> {
  yield uri
  for (let end = uri.length - 1; end > 0; end--) {
    if (!isBoundary(uri[end])) continue
    yield uri.slice(0, end + 1)
    yield uri.slice(0, end)
  }
}

/** The subscribed URI that `uri` is, or lies below. Looks at each boundary of `uri` once, not at each subscription. */
export const covering = (subscribed: ReadonlySet<string>, uri: string): string | undefined => {
  if (subscribed.size === 0) return undefined
  for (const cover of coversOf(uri)) {
    if (subscribed.has(cover)) return cover
  }
  return undefined
}
