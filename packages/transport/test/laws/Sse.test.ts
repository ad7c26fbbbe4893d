import { assert, describe, it } from "@effect/vitest"
import * as Sse from "@mcpfx/transport/Sse"
import * as fc from "fast-check"
import { cut, cuts } from "./cuts.ts"

const run = (chunks: Iterable<Uint8Array>, maxBytes: number) => {
  const reports: Array<Sse.Event | "too large"> = []
  const parser = new Sse.Parser({
    maxBytes,
    onEvent: (event) => reports.push(event),
    onTooLarge: () => reports.push("too large")
  })
  for (const chunk of chunks) parser.push(chunk)
  return { reports, lastEventId: parser.lastEventId, retry: parser.retry }
}

const piece = fc.oneof(
  fc.constantFrom(
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "data",
    "data:",
    "data: x",
    "id: 1",
    "id",
    "event: e",
    "retry: 10",
    ":c",
    " "
  ),
  fc.string({ unit: "grapheme", maxLength: 5 }),
  fc.constantFrom("\ufeff", "\0", "🎉")
)
const stream = fc.array(piece, { maxLength: 60 }).map((parts) => new TextEncoder().encode(parts.join("")))

describe("Parser", () => {
  it("reports the same for every way to cut the same bytes", () => {
    fc.assert(fc.property(stream, cuts, fc.integer({ min: 0, max: 80 }), (input, places, maxBytes) => {
      assert.deepStrictEqual(run(cut(input, places), maxBytes), run([input], maxBytes))
    }))
  })

  it("reads what encode writes", () => {
    const oneLine = fc.string({ unit: "grapheme", maxLength: 10 }).filter((text) => !/[\r\n\0]/.test(text))
    const event = fc.record({
      event: fc.option(oneLine.filter((text) => text !== ""), { nil: undefined }),
      data: fc.string({ unit: "grapheme", maxLength: 30 }).filter((text) => !text.includes("\r")),
      id: fc.option(oneLine, { nil: undefined }),
      retry: fc.option(fc.nat(), { nil: undefined })
    })
    fc.assert(fc.property(fc.array(event), cuts, (events, places) => {
      const input = new TextEncoder().encode(events.map(Sse.encode).join(Sse.comment("keep-alive")))
      assert.deepStrictEqual(run(cut(input, places), 10_000).reports, events)
    }))
  })
})
