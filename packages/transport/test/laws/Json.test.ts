import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { byteLength, isLongerThan, isTooDeep, parseBytes } from "../../src/internal/json.ts"
import { peek } from "../../src/internal/peek.ts"

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

describe("isTooDeep", () => {
  it("agrees with the depth of the value, brackets in strings or not", () => {
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 12, depthSize: "max" },
        fc.constantFrom<unknown>(1, "[[[", "{\"\\", "]]\"}", ""),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom("a", "{", "\"["), tie("value"), { maxKeys: 3 })
      )
    })).value
    fc.assert(
      fc.property(json, fc.integer({ min: 0, max: 10 }), (value, limit) => {
        assert.strictEqual(isTooDeep(JSON.stringify(value), limit), depthOf(value) > limit)
      }),
      { numRuns: 500 }
    )
  })
})

describe("parseBytes", () => {
  const utf8 = new TextEncoder()

  it("gives the value that was written, and no other", () => {
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 4, stringUnit: "grapheme" }), (value) => {
      const text = JSON.stringify(value)
      assert.deepStrictEqual(parseBytes(utf8.encode(text), 100), Result.succeed(JSON.parse(text)))
      assert.deepStrictEqual(parseBytes(utf8.encode(`${text}]`), 100), Result.fail("Syntax"))
    }))
  })

  it("[RPC-01] takes nothing that is not UTF-8, wherever it breaks off", () => {
    const wide = fc.constantFrom("é", "—", "🎉")
    fc.assert(fc.property(wide, fc.nat(3), fc.nat(70_000), (letter, kept, before) => {
      const whole = utf8.encode(letter)
      const part = whole.subarray(0, Math.min(1 + kept, whole.length - 1))
      const bytes = new Uint8Array([...utf8.encode(`"${"a".repeat(before)}`), ...part, 0x22])
      assert.deepStrictEqual(parseBytes(bytes, 100), Result.fail("Encoding"))
    }))
  })

  it("looks at the depth before it parses", () => {
    assert.deepStrictEqual(parseBytes(utf8.encode(`${"[".repeat(50)}${"]".repeat(50)}`), 49), Result.fail("TooDeep"))
  })
})

describe("byteLength", () => {
  it("counts what an encoder writes", () => {
    fc.assert(fc.property(fc.string({ unit: "grapheme" }), fc.nat({ max: 100 }), (text, limit) => {
      const { length } = new TextEncoder().encode(text)
      assert.strictEqual(byteLength(text), length)
      assert.strictEqual(isLongerThan(text, limit), length > limit)
    }))
  })
})

describe("peek", () => {
  const id = fc.oneof(fc.string({ maxLength: 5 }), fc.integer())
  const member = fc.tuple(fc.constantFrom("jsonrpc", "method", "params", "result", "error", "x"), fc.jsonValue())

  it("finds the id of the message or none, never another one", () => {
    fc.assert(
      fc.property(id, fc.array(member), fc.nat(5), fc.nat(200), fc.boolean(), (id, members, at, length, wide) => {
        const entries: Array<[string, unknown]> = members.map(([key, value]) => [key, { id: 99, value }])
        entries.splice(at, 0, ["id", id])
        const message = Object.fromEntries(entries)
        const text = JSON.stringify(message, null, wide ? 2 : 0)
        const whole = peek(text)
        const plain = typeof id === "number" || JSON.stringify(id) === `"${id}"`
        assert.strictEqual(whole.id, plain ? id : undefined)
        assert.strictEqual(whole.response, "result" in message || "error" in message)
        const start = peek(text.slice(0, length)).id
        assert.isTrue(start === undefined || start === id)
      })
    )
  })

  it("makes nothing of what is no object", () => {
    for (const text of ["", "[{\"id\":1}]", "\"id\"", "{", "{\"id", "{\"id\":", "{\"id\":1", "aaaa", "{\"a\" 1}"]) {
      assert.deepStrictEqual(peek(text), { id: undefined, response: false }, text)
    }
  })

  it("[RPC-02] takes no id that is none", () => {
    for (const raw of ["null", "1.5", "{}", "[1]", "true", "1e3", "12345678901234567890"]) {
      assert.isUndefined(peek(`{"id":${raw},"result":{}}`).id, raw)
    }
    assert.isTrue(JsonRpc.isRequestId(peek("{\"id\":\"a\",").id))
  })
})
