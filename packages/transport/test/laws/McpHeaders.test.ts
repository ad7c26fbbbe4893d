import { assert, describe, it } from "@effect/vitest"
import * as McpHeaders from "@mcpfx/transport/McpHeaders"
import { Result } from "effect"
import * as fc from "fast-check"

const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "binary-ascii" }),
  fc.string().map((inner) => `=?base64?${inner}?=`)
)

describe("values", () => {
  it("[XH-09] survive the way through a header, which only has visible ASCII and inner spaces", () => {
    fc.assert(fc.property(text, (value) => {
      const header = McpHeaders.encodeValue(value)
      assert.match(header, /^(?:[!-~](?:[ -~]*[!-~])?)?$/)
      assert.deepStrictEqual(McpHeaders.decodeValue(header), Result.succeed(value))
      assert.deepStrictEqual(McpHeaders.decodeValue(` \t${header} `), Result.succeed(value))
    }))
  })
})

describe("params", () => {
  it("[XH-08] [XH-11] are accepted as written, and refused for other arguments", () => {
    const value = fc.oneof(text, fc.maxSafeInteger(), fc.boolean(), fc.constant(null))
    const annotations: ReadonlyArray<McpHeaders.ParamAnnotation> = [
      { path: ["a", "b"], header: "X", type: "integer" },
      { path: ["c"], header: "Y", type: "string" }
    ]
    fc.assert(fc.property(value, value, value, (b, c, other) => {
      const headers = McpHeaders.mirrorParams(annotations, { a: { b }, c })
      assert.isUndefined(McpHeaders.checkParams(headers, annotations, { a: { b }, c }))
      if (other === null || String(other) === String(c)) return
      assert.isDefined(McpHeaders.checkParams(headers, annotations, { a: { b }, c: other }))
    }))
  })
})
