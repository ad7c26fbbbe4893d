import * as fc from "fast-check"

/** Places to cut at, as parts of the whole. */
export const cuts: fc.Arbitrary<ReadonlyArray<number>> = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
  maxLength: 30
})

export const cut = (bytes: Uint8Array, places: ReadonlyArray<number>): Array<Uint8Array> => {
  const ends = places.map((place) => Math.floor(place * bytes.length)).sort((a, b) => a - b)
  const chunks: Array<Uint8Array> = []
  let from = 0
  for (const end of [...ends, bytes.length]) {
    chunks.push(bytes.slice(from, end))
    from = end
  }
  return chunks
}
