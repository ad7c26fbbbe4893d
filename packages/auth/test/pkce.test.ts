import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { token } from "../src/internal/random.ts"
import { sha256 } from "../src/internal/sha256.ts"

it("[ACL-14] makes the challenge of the example in RFC 7636, appendix B", () => {
  assert.strictEqual(
    sha256("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
    "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
  )
})

it.effect("makes texts of unreserved characters, no two alike (RFC 7636, 4.1)", () =>
  Effect.gen(function*() {
    const texts = yield* Effect.all(Array.from({ length: 100 }, () => token(32)))
    for (const text of texts) assert.match(text, /^[A-Za-z0-9_-]{43}$/)
    assert.strictEqual(new Set(texts).size, 100)
  }))
