/** Numbers from 0 to 1 that depend on the text of the seed alone. */
const numbers = (seed: string): () => number => {
  let state = 0x811c9dc5
  for (const unit of seed) state = Math.imul(state ^ (unit.codePointAt(0) ?? 0), 0x01000193)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x100000000
  }
}

/** `size` of the items, the same ones for the same seed, in the order of the list. */
export const sample = <A>(items: ReadonlyArray<A>, size: number, seed: string): Array<A> => {
  const next = numbers(seed)
  const ranked = items.map((item, at) => ({ item, at, rank: next() }))
  return ranked
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, size)
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
