import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as HeaderParam from "../src/HeaderParam.ts"

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more })
const mark = (header: unknown, type: unknown = "string") => ({ type, "x-mcp-header": header })
const fault = (schema: object) => Result.getOrThrow(Result.flip(HeaderParam.headerParams({ ...schema })))

describe("headerParams", () => {
  it("[XH-01] finds the marked properties, nested ones too, in their order", () => {
    assert.deepStrictEqual(
      HeaderParam.headerParams(object({
        region: mark("Region"),
        free: { type: "number" },
        target: object({ zone: mark("Zone", "integer"), dry: mark("Dry-Run", "boolean") }),
        last: mark("z!#$%&'*+-.^_`|~9")
      })),
      Result.succeed([
        { path: ["region"], header: "Region", type: "string" },
        { path: ["target", "zone"], header: "Zone", type: "integer" },
        { path: ["target", "dry"], header: "Dry-Run", type: "boolean" },
        { path: ["last"], header: "z!#$%&'*+-.^_`|~9", type: "string" }
      ])
    )
    assert.deepStrictEqual(HeaderParam.headerParams({ type: "object" }), Result.succeed([]))
  })

  it("[XH-02] [SCH-27] refuses names that are no token", () => {
    for (const name of ["", "bad name", "a:b", "a\n", "\u00e9", "a(b)", 5, null, ["Region"]]) {
      assert.match(fault(object({ a: mark(name) })), /at "a" is not a header token/, JSON.stringify(name))
    }
  })

  it("[XH-02] [SCH-27] refuses a name that is claimed twice, whatever its case", () => {
    assert.match(fault(object({ a: mark("Region"), b: mark("Region") })), /claimed twice/)
    assert.match(fault(object({ a: mark("Region"), b: object({ c: mark("rEGION") }) })), /claimed twice/)
  })

  it("[XH-04] refuses numbers, nulls, objects, lists and properties without a type", () => {
    for (const type of ["number", "null", "object", "array", ["string", "null"], undefined]) {
      assert.match(
        fault(object({ a: { type, "x-mcp-header": "A" } })),
        /not on a string, integer or boolean/,
        String(type)
      )
    }
  })

  it("[XH-05] refuses properties that are not reached through properties alone", () => {
    const inner = object({ a: mark("A") })
    const places: ReadonlyArray<object> = [
      object({ list: { type: "array", items: inner } }),
      object({ list: { type: "array", prefixItems: [mark("A")] } }),
      object({}, { allOf: [inner] }),
      object({}, { anyOf: [inner] }),
      object({}, { oneOf: [{ not: inner }] }),
      object({}, { if: inner }),
      object({}, { then: inner }),
      object({}, { $defs: { X: inner } }),
      object({}, { definitions: { X: mark("A") } }),
      object({}, { patternProperties: { "^a": mark("A") } }),
      object({}, { dependentSchemas: { a: inner } }),
      object({}, { additionalProperties: mark("A") }),
      { ...object({}), "x-mcp-header": "A" },
      object({ b: { anyOf: [object({ a: mark("A") })] } })
    ]
    for (const schema of places) assert.match(fault(schema), /reached through properties alone/, JSON.stringify(schema))
  })

  it("takes neither data nor a property of that name for the keyword", () => {
    const schema = object({
      "x-mcp-header": { type: "number" },
      a: {
        type: "object",
        default: { "x-mcp-header": "A" },
        enum: [{ "x-mcp-header": "A" }],
        const: { "x-mcp-header": "" }
      },
      properties: object({ properties: mark("P") })
    })
    assert.deepStrictEqual(
      HeaderParam.headerParams(schema),
      Result.succeed([{ path: ["properties", "properties"], header: "P", type: "string" }])
    )
  })

  it("reads a schema of any depth without running out of stack", () => {
    let schema: object = mark("Deep")
    for (let depth = 0; depth < 20_000; depth++) schema = { type: "object", properties: { a: schema } }
    assert.isTrue(Result.isSuccess(HeaderParam.headerParams({ ...schema })))
  })
})

describe("valueOf", () => {
  const param: HeaderParam.HeaderParam = { path: ["target", "zone"], header: "Zone", type: "integer" }
  it("[XH-08] reads the exact path, and nothing where the value is absent, null or of another kind", () => {
    assert.strictEqual(HeaderParam.valueOf(param, { target: { zone: 0 } }), 0)
    assert.strictEqual(HeaderParam.valueOf(param, { target: { zone: "" } }), "")
    assert.strictEqual(HeaderParam.valueOf(param, { target: { zone: false } }), false)
    for (
      const args of [{}, { zone: 1 }, { target: null }, { target: { zone: null } }, { target: { zone: {} } }, {
        target: ["zone"]
      }]
    ) {
      assert.isUndefined(HeaderParam.valueOf(param, args), JSON.stringify(args))
    }
    assert.isUndefined(HeaderParam.valueOf({ path: ["toString"], header: "X", type: "string" }, {}))
  })
})
