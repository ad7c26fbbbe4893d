import { assert, describe, it } from "@effect/vitest"
import * as Encoding from "effect/encoding/Base64Url"
import * as fc from "fast-check"
import * as Base64Url from "../../src/internal/base64Url.ts"

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

describe("base64url", () => {
  it("is written as everywhere else, for bytes of every number", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      assert.strictEqual(Base64Url.encode(bytes), Encoding.encode(bytes))
    }))
    for (let length = 0; length < 100; length++) {
      const bytes = new Uint8Array(length).fill(0xff)
      assert.strictEqual(Base64Url.encode(bytes), Encoding.encode(bytes))
    }
  })

  it("bytes come back", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      assert.deepStrictEqual(Base64Url.decode(Base64Url.encode(bytes)), bytes)
    }))
  })

  it("[MRT-06] a text is read if it is the one that is written for some bytes, and no other", () => {
    const near = fc.string({
      unit: fc.constantFrom(...alphabet, "=", "+", "/", "\n", "é", "\u0100", "💶"),
      maxLength: 9
    })
    const text = fc.oneof(near, fc.base64String(), fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 40 }))
    fc.assert(
      fc.property(text, (one) => {
        const bytes = Base64Url.decode(one)
        if (bytes !== undefined) assert.strictEqual(Encoding.encode(bytes), one)
        else {
          const lenient = Encoding.decode(one)
          assert.isTrue(lenient._tag === "Failure" || Encoding.encode(lenient.success) !== one)
        }
      }),
      { numRuns: 2000 }
    )
  })

  it("no last character stands for another", () => {
    for (const length of [1, 2]) {
      const start = "A".repeat(length)
      const read = [...alphabet].filter((one) => Base64Url.decode(start + one) !== undefined)
      assert.lengthOf(read, length === 1 ? 4 : 16)
    }
  })
})
