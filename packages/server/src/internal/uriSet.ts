/** The URIs that a session or a stream is subscribed to; what lies below one of them counts as it (SUB-11). */

const isBoundary = (character: string | undefined): boolean =>
  character === "/" || character === "?" || character === "#"

/** The subscribed URI that `uri` is, or lies below. Looks at each boundary of `uri` once, not at each subscription. */
export const covering = (subscribed: ReadonlySet<string>, uri: string): string | undefined => {
  if (subscribed.size === 0) return undefined
  if (subscribed.has(uri)) return uri
  for (let end = uri.length - 1; end > 0; end--) {
    if (!isBoundary(uri[end])) continue
    // `demo://a` and `demo://a/` both cover `demo://a/b`.
    const withBoundary = uri.slice(0, end + 1)
    if (subscribed.has(withBoundary)) return withBoundary
    const without = uri.slice(0, end)
    if (subscribed.has(without)) return without
  }
  return undefined
}
