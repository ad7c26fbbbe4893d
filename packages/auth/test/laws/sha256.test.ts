import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { createHash } from "node:crypto"
import { sha256 } from "../../src/internal/sha256.ts"

const platform = (text: string) => createHash("sha256").update(text).digest("base64url")

describe("sha256", () => {
  it("is the digest of the platform, at each length around a block and for any text", () => {
    for (const length of [0, 1, 54, 55, 56, 57, 63, 64, 65, 118, 119, 120, 8192, 40_000]) {
      assert.strictEqual(sha256("x".repeat(length)), platform("x".repeat(length)), String(length))
    }
    fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => sha256(text) === platform(text)))
  })
})
