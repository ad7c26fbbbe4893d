import { assert, describe, it } from "@effect/vitest"
import * as Framing from "@mcpfx/transport/Framing"

const encoder = new TextEncoder()

type Report =
  | { readonly line: string }
  | { readonly tooLong: number; readonly head: string }
  | { readonly invalid: number }

const collect = (chunks: Iterable<Uint8Array>, maxBytes = 1024): Array<Report> => {
  const reports: Array<Report> = []
  const reader = new Framing.LineReader({
    maxBytes,
    onLine: (line) => reports.push({ line }),
    onTooLong: (tooLong, head) => reports.push({ tooLong, head }),
    onInvalid: (invalid) => reports.push({ invalid })
  })
  for (const chunk of chunks) reader.push(chunk)
  reader.end()
  return reports
}

const lines = (...texts: ReadonlyArray<string>): Array<Report> => texts.map((line) => ({ line }))
const bytewise = (bytes: Uint8Array): Array<Uint8Array> => Array.from(bytes, (byte) => Uint8Array.of(byte))
const concat = (...parts: ReadonlyArray<Uint8Array>): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => Array.from(part)))

describe("LineReader", () => {
  it("[STD-01] splits at line feeds, over the borders of chunks", () => {
    assert.deepStrictEqual(
      collect([encoder.encode("{\"a\":1}\n{\"b\""), encoder.encode(":2}\n{\"c\":3}\n")]),
      lines("{\"a\":1}", "{\"b\":2}", "{\"c\":3}")
    )
  })

  it("[FRM-01] takes CRLF for a line end and skips blank lines", () => {
    const bytes = encoder.encode("{\"id\":1}\r\n\r\n\n  \t\r\n{\"id\":2}\n")
    assert.deepStrictEqual(collect([bytes]), lines("{\"id\":1}", "{\"id\":2}"))
    assert.deepStrictEqual(collect(bytewise(bytes)), lines("{\"id\":1}", "{\"id\":2}"))
  })

  it("[FRM-01] strips one carriage return, at the end only", () => {
    assert.deepStrictEqual(collect([encoder.encode("a\r\r\n\rb\n")]), lines("a\r", "\rb"))
  })

  it("[FRM-02] keeps a character that is cut between two chunks", () => {
    const bytes = encoder.encode("{\"t\":\"é—🎉\"}\n")
    assert.deepStrictEqual(collect(bytewise(bytes)), lines("{\"t\":\"é—🎉\"}"))
  })

  it("[SHT-01] takes what is left at the end of the input for a line", () => {
    assert.deepStrictEqual(collect([encoder.encode("{\"id\":1}\n{\"id\":2}")]), lines("{\"id\":1}", "{\"id\":2}"))
    assert.deepStrictEqual(collect([encoder.encode("a"), encoder.encode("b")]), lines("ab"))
  })

  it("drops a byte order mark at the start and nowhere else", () => {
    const bytes = encoder.encode("\ufeff{\"a\":1}\n\ufeffb\n")
    assert.deepStrictEqual(collect([bytes]), lines("{\"a\":1}", "\ufeffb"))
    assert.deepStrictEqual(collect(bytewise(bytes)), lines("{\"a\":1}", "\ufeffb"))
    assert.deepStrictEqual(collect([encoder.encode("\ufeff\n{}\n")]), lines("{}"))
  })

  it("[FRM-14] reports a line past the limit once, with its size and start, and goes on", () => {
    const bytes = encoder.encode(`ok\n${"x".repeat(5000)}\nnext\n`)
    const expected = [{ line: "ok" }, { tooLong: 5000, head: "x".repeat(1024) }, { line: "next" }]
    assert.deepStrictEqual(collect([bytes], 2000), expected)
    assert.deepStrictEqual(collect(bytewise(bytes), 2000), expected)
  })

  it("[FRM-14] measures the limit in bytes: what is exactly as long is read", () => {
    assert.deepStrictEqual(collect([encoder.encode("ééé\n")], 6), lines("ééé"))
    assert.deepStrictEqual(collect([encoder.encode("éééa\n")], 6), [{ tooLong: 7, head: "éééa" }])
  })

  it("[FRM-14] reports a line past the limit that the input ends in", () => {
    assert.deepStrictEqual(collect([encoder.encode("abc"), encoder.encode("def")], 4), [{ tooLong: 6, head: "abcdef" }])
  })

  it("[FRM-14] keeps nothing of 64 MiB without a line end", () => {
    const chunk = new Uint8Array(65_536).fill(97)
    const reports: Array<number> = []
    let kept = ""
    const reader = new Framing.LineReader({
      maxBytes: 1_048_576,
      onLine: (line) => {
        kept = line
      },
      onTooLong: (bytes) => reports.push(bytes),
      onInvalid: () => reports.push(-1)
    })
    const before = process.memoryUsage().arrayBuffers
    for (let i = 0; i < 1024; i++) reader.push(chunk)
    assert.isBelow(process.memoryUsage().arrayBuffers - before, 8 * 1_048_576)
    reader.push(encoder.encode("\n{\"method\":\"ping\"}\n"))
    assert.deepStrictEqual(reports, [64 * 1_048_576])
    assert.strictEqual(kept, "{\"method\":\"ping\"}")
  })

  it("[FRM-14] gathers 10 MB from 4 KiB chunks intact", () => {
    const text = JSON.stringify({ t: "ab".repeat(5_000_000) })
    const bytes = encoder.encode(`${text}\n`)
    const chunks: Array<Uint8Array> = []
    for (let at = 0; at < bytes.length; at += 4096) chunks.push(bytes.subarray(at, at + 4096))
    const [report] = collect(chunks, 16 * 1_048_576)
    assert.isTrue(report !== undefined && "line" in report && report.line === text)
  })

  it("[FRM-02] says so where a line is not UTF-8, and reads its neighbours", () => {
    const bytes = concat(encoder.encode("a\n"), Uint8Array.of(0x22, 0xff, 0x22, 0x0a), encoder.encode("b\n"))
    assert.deepStrictEqual(collect([bytes]), [{ line: "a" }, { invalid: 3 }, { line: "b" }])
    assert.deepStrictEqual(collect(bytewise(bytes)), [{ line: "a" }, { invalid: 3 }, { line: "b" }])
  })

  it("does not keep the chunks it is given", () => {
    const chunk = encoder.encode("{\"id\"")
    const reports: Array<string> = []
    const reader = new Framing.LineReader({
      maxBytes: 100,
      onLine: (line) => reports.push(line),
      onTooLong: () => {},
      onInvalid: () => {}
    })
    reader.push(chunk)
    chunk.fill(0)
    reader.push(encoder.encode(":1}\n"))
    assert.deepStrictEqual(reports, ["{\"id\":1}"])
  })
})
