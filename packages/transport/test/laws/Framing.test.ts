import { assert, describe, it } from "@effect/vitest"
import * as Framing from "@mcpfx/transport/Framing"
import * as fc from "fast-check"
import { cut, cuts } from "./cuts.ts"

const run = (chunks: Iterable<Uint8Array>, maxBytes: number): Array<string> => {
  const reports: Array<string> = []
  const reader = new Framing.LineReader({
    maxBytes,
    onLine: (line) => reports.push(`line ${line}`),
    onTooLong: (bytes, head) => reports.push(`long ${bytes} ${head}`),
    onInvalid: (bytes) => reports.push(`invalid ${bytes}`)
  })
  for (const chunk of chunks) reader.push(chunk)
  reader.end()
  return reports
}

/** Bytes in which everything that matters to a splitter is likely. */
const byte = fc.oneof(
  fc.constantFrom(0x0a, 0x0d, 0x20, 0x7b, 0x22, 0xef, 0xbb, 0xbf, 0xc3, 0xa9, 0xf0, 0x9f, 0x8e, 0x89),
  fc.integer({ min: 0, max: 255 })
)
const bytes = fc.array(byte, { maxLength: 400 }).map((all) => Uint8Array.from(all))

/** Lengths on both sides of those at which buffers are kept, given back or grown. */
const lengths = fc.constantFrom(1, 40, 1_023, 1_025, 65_535, 65_536, 65_537, 131_073, 300_000)

describe("LineReader", () => {
  it("reports the same for every way to cut the same bytes", () => {
    fc.assert(fc.property(bytes, cuts, fc.integer({ min: 0, max: 60 }), (input, places, maxBytes) => {
      assert.deepStrictEqual(run(cut(input, places), maxBytes), run([input], maxBytes))
    }))
  })

  it("gives back the lines that were joined", () => {
    const line = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 })
      .filter((text) => !/[\r\n]/.test(text) && text.trim() !== "" && !text.startsWith("\ufeff"))
    fc.assert(fc.property(fc.array(line), cuts, fc.constantFrom("\n", "\r\n"), (lines, places, end) => {
      const input = new TextEncoder().encode(lines.map((text) => text + end).join(""))
      assert.deepStrictEqual(run(cut(input, places), 10_000), lines.map((text) => `line ${text}`))
    }))
  })

  it("gives back long and short lines in any order, whatever was in its buffer before", () => {
    const line = fc.tuple(fc.constantFrom("a", "é", "—", "🎉"), lengths)
      .map(([letter, length]) => `{${letter.repeat(Math.ceil(length / letter.length))}`)
    const manyShort = Array.from({ length: 20 }, (_, i) => `{${i}`)
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 6 }), cuts, fc.boolean(), (some, places, pause) => {
        const lines = pause ? [...some, ...manyShort, ...some] : some
        const input = new TextEncoder().encode(lines.map((text) => `${text}\n`).join(""))
        const chunks = cut(input, [...places, ...Array.from({ length: 20 }, (_, i) => i / 20)])
        assert.isTrue(run(chunks, 2_000_000).every((report, i) => report === `line ${lines[i]}`))
        assert.strictEqual(run(chunks, 2_000_000).length, lines.length)
      }),
      { numRuns: 40 }
    )
  })
})
