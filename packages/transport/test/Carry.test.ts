/** The buffer in which lines wait for their end is kept while lines need it, and no longer. */
import { assert, describe, it } from "@effect/vitest"
import * as Framing from "@mcpfx/transport/Framing"
import * as Sse from "@mcpfx/transport/Sse"
import { Carry } from "../src/internal/carry.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const KiB = 1024
const nothing = () => {}

/** Bytes of the buffer behind a reader. */
const roomOf = (reader: object): number => {
  const carry: unknown = Reflect.get(reader, "carry")
  return carry instanceof Carry ? carry.view().buffer.byteLength : Number.NaN
}

const lineReader = () => {
  const reader = new Framing.LineReader({ maxBytes: 2 ** 24, onLine: nothing, onTooLong: nothing, onInvalid: nothing })
  return { reader, push: (text: string) => reader.push(bytes(text)), end: "\n" }
}

const sseParser = () => {
  const reader = new Sse.Parser({ maxBytes: 2 ** 24, onEvent: nothing, onTooLarge: nothing })
  return { reader, push: (text: string) => reader.push(bytes(text)), end: "\n\n" }
}

describe.each([["lines", lineReader], ["events", sseParser]])("the buffer of %s", (_, make) => {
  /** A message that comes in two pieces. */
  const inTwo = (size: number) => {
    const { end, push, reader } = make()
    const long = () => {
      push(`data:${"a".repeat(size)}`)
      push(end)
    }
    return { end, long, push, reader }
  }

  it("stays for the next long one, and goes when short ones come whole", () => {
    const { end, long, push, reader } = inTwo(300 * KiB)
    long()
    assert.isAbove(roomOf(reader), 300 * KiB)
    for (let i = 0; i < 4; i++) push(`data:{}${end}`)
    assert.isAbove(roomOf(reader), 300 * KiB)
    long()
    for (let i = 0; i < 32; i++) push(`data:{}${end}`)
    assert.strictEqual(roomOf(reader), 0)
  })

  it("goes when short ones come in pieces", () => {
    const { end, long, push, reader } = inTwo(300 * KiB)
    long()
    for (let i = 0; i < 32; i++) {
      push("data:")
      push(`{}${end}`)
    }
    assert.isAtMost(roomOf(reader), 64 * KiB)
  })

  it("goes at once where it is very large", () => {
    const { long, reader } = inTwo(5 * KiB * KiB)
    long()
    assert.strictEqual(roomOf(reader), 0)
  })
})
