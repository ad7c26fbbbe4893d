import { assert, describe, it } from "@effect/vitest"
import { SecureRandom } from "effect/crypto"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Nonces from "../../src/internal/nonces.ts"

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** Bytes that count, so that each can be told apart from every other. */
const counting = () => {
  const drawn: Array<Uint8Array> = []
  let next = 0
  const random = SecureRandom.make((size) => {
    const bytes = Uint8Array.from({ length: size }, (_, index) => (next + index >> (index % 2) * 8) & 0xff)
    next += size
    drawn.push(bytes)
    return bytes
  })
  return { drawn, random }
}

describe("nonces", () => {
  it.effect("are what the platform gave, in its order: each byte once, and wiped where it was", () =>
    Effect.gen(function*() {
      const { drawn, random } = counting()
      const { random: same } = counting()
      const nonce = Nonces.make(random)
      const given: Array<string> = []
      for (let i = 0; i < 64; i++) {
        given.push(hex(yield* nonce))
        assert.isTrue(drawn[0]?.subarray(0, (i + 1) * Nonces.nonceLength).every((byte) => byte === 0))
      }
      assert.lengthOf(drawn, 1)
      const all = hex(yield* same.randomBytes(64 * Nonces.nonceLength))
      assert.strictEqual(given.join(""), all)
      yield* nonce
      assert.lengthOf(drawn, 2)
    }))

  it.live("never come twice, whoever draws them", () =>
    Effect.gen(function*() {
      const random = yield* SecureRandom.SecureRandom
      const one = Nonces.make(random)
      const two = Nonces.make(random)
      const seen = new Set<string>()
      for (let i = 0; i < 2000; i++) seen.add(hex(yield* one)).add(hex(yield* two))
      const many = yield* Effect.all(Array.from({ length: 500 }, () => Effect.andThen(Effect.yieldNow, one)), {
        concurrency: "unbounded"
      })
      for (const nonce of many) seen.add(hex(nonce))
      assert.strictEqual(seen.size, 4500)
      for (const nonce of seen) assert.lengthOf(nonce, 2 * Nonces.nonceLength)
    }).pipe(Effect.provide(SecureRandom.layerWebCrypto)))

  it.effect("differ between copies of a process that draw the same bytes at other times", () =>
    Effect.gen(function*() {
      const one = Nonces.make(counting().random)
      const copy = Nonces.make(counting().random)
      const first = hex(yield* one)
      assert.strictEqual(hex(yield* copy), first)
      const second = hex(yield* one)
      yield* TestClock.adjust("1 nanos")
      assert.notStrictEqual(hex(yield* copy), second)
    }))
})
