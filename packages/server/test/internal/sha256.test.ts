import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { sha256 } from "../../src/internal/sha256.ts"

const platform = async (text: string) =>
  Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toString("base64url")

describe("sha256", () => {
  it("is the digest of the platform, for texts of every length", async () => {
    for (let length = 0; length < 200; length++) {
      const text = "é".repeat(length >> 1) + "a".repeat(length & 1)
      assert.strictEqual(sha256(text), await platform(text))
    }
    await fc.assert(fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 300 }), async (text) => {
      assert.strictEqual(sha256(text), await platform(text))
    }))
  })
})
