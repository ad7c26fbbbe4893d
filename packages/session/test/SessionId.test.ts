import { assert, describe, it } from "@effect/vitest"
import * as SessionId from "@mcpfx/session/SessionId"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"

describe("SessionId", () => {
  it.effect("[HTTP-35] [SEC-06] is visible ASCII and differs every time", () =>
    Effect.gen(function*() {
      const ids = yield* Effect.all(Array.from({ length: 1000 }, () => SessionId.make))
      assert.strictEqual(new Set(ids).size, 1000)
      for (const id of ids) assert.match(id, /^[A-Za-z0-9_-]{24}$/)
    }).pipe(Effect.provide(SecureRandom.layerWebCrypto)))

  it.effect("[HTTP-35] [SEC-06] takes at least 128 bits from the secure source, and nothing else", () =>
    Effect.gen(function*() {
      const sizes: Array<number> = []
      const random = SecureRandom.make((size) => {
        sizes.push(size)
        return new Uint8Array(size).fill(255)
      })
      const id = yield* Effect.provideService(SessionId.make, SecureRandom.SecureRandom, random)
      assert.deepStrictEqual([id, sizes], ["_".repeat(24), [18]])
    }))

  it("knows what may be an id", () => {
    const verdicts = ["a", "!~", "a b", "", "é", "a\n", "a\u007f", "a".repeat(256), "a".repeat(257)].map(
      SessionId.isSessionId
    )
    assert.deepStrictEqual(verdicts, [true, true, false, false, false, false, false, true, false])
  })
})
