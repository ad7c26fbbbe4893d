import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import {
  ExternalRef,
  InvalidSchema,
  JsonSchemaValidator,
  make,
  SchemaTooComplex,
  UnsupportedDialect
} from "../src/JsonSchemaValidator.ts"

interface Json {
  readonly [key: string]: unknown
}

const compile = (schema: Json | boolean) =>
  Effect.flatMap(JsonSchemaValidator, (validator) => validator.compile(schema))
const refused = (schema: Json) => Effect.flip(compile(schema))
const fits = (schema: Json | boolean, value: unknown) => Result.isSuccess(Effect.runSync(compile(schema))(value))
const faults = (schema: Json | boolean, value: unknown) => {
  const checked = Effect.runSync(compile(schema))(value)
  return Result.isSuccess(checked) ? [] : checked.failure.map(({ message, path }) => `/${path.join("/")} ${message}`)
}

const draft07 = "http://json-schema.org/draft-07/schema#"

const nest = (depth: number, leaf: unknown = null): unknown => {
  let value = leaf
  for (let level = 0; level < depth; level++) value = { a: value }
  return value
}

describe("dialects", () => {
  it("[JSC-01] [SCH-12] reads 2020-12 without $schema", () => {
    const schema = {
      type: "object",
      properties: {
        pair: { prefixItems: [{ type: "string" }, { type: "number" }], items: false },
        tree: { $ref: "#/$defs/Tree" }
      },
      $defs: { Tree: { type: "object", properties: { kids: { type: "array", items: { $ref: "#/$defs/Tree" } } } } },
      unevaluatedProperties: false
    }
    assert.isTrue(fits(schema, { pair: ["a", 1], tree: { kids: [{ kids: [] }] } }))
    assert.deepStrictEqual(faults(schema, { pair: ["a", 1, 2] }), ["/pair/2 is not allowed here"])
    assert.deepStrictEqual(faults(schema, { tree: { kids: [{ kids: [5] }] } }), ["/tree/kids/0/kids/0 Expected object"])
    assert.deepStrictEqual(faults(schema, { other: 1 }), ["/other is not allowed here"])
  })

  it("[JSC-01] [SCH-12] honours draft-07 where $schema says so", () => {
    const schema = {
      $schema: draft07,
      definitions: { Name: { type: "string" } },
      properties: {
        name: { $ref: "#/definitions/Name", maxLength: 1 },
        pair: { items: [{ type: "string" }], additionalItems: { type: "number" } }
      },
      dependencies: { name: ["pair"] },
      prefixItems: "not a keyword here"
    }
    // what stands next to a reference is hidden in draft-07
    assert.isTrue(fits(schema, { name: "long", pair: ["a", 1] }))
    assert.deepStrictEqual(faults(schema, { name: 1 }), ["/pair is missing", "/name Expected string"])
    assert.deepStrictEqual(faults(schema, { pair: ["a", "b"] }), ["/pair/1 Expected number"])
    assert.isTrue(fits({ ...schema, $schema: "http://json-schema.org/draft-07/schema" }, {}))
    assert.isTrue(fits({ $schema: "https://json-schema.org/draft/2020-12/schema", type: "null" }, null))
  })

  it.effect("[JSC-02] [SCH-12] refuses any other dialect by name", () =>
    Effect.gen(function*() {
      for (
        const dialect of [
          "urn:unknown",
          "http://json-schema.org/draft-04/schema#",
          "https://json-schema.org/draft/2019-09/schema",
          ""
        ]
      ) {
        const error = yield* refused({ $schema: dialect })
        assert.instanceOf(error, UnsupportedDialect)
        assert.strictEqual(error._tag === "UnsupportedDialect" && error.dialect, dialect)
      }
      assert.instanceOf(yield* refused({ $defs: { a: { $schema: draft07 } } }), UnsupportedDialect)
    }))

  it.effect("[JSC-02] refuses a keyword whose value it cannot have, and says where", () =>
    Effect.gen(function*() {
      const rows: ReadonlyArray<readonly [Json, string]> = [
        [{ type: 5 }, "/type"],
        [{ type: "text" }, "/type"],
        [{ $schema: 5 }, "/$schema"],
        [{ required: "a" }, "/required"],
        [{ properties: [] }, "/properties"],
        [{ properties: { "a/b": { minimum: "1" } } }, "/properties/a~1b/minimum"],
        [{ anyOf: [] }, "/anyOf"],
        [{ anyOf: { a: 1 } }, "/anyOf"],
        [{ allOf: [{ not: 5 }] }, "/allOf/0/not"],
        [{ multipleOf: 0 }, "/multipleOf"],
        [{ minLength: -1 }, "/minLength"],
        [{ pattern: "(" }, "/pattern"],
        [{ patternProperties: { "[": {} } }, "/patternProperties"],
        [{ $id: "http://[" }, "/$id"]
      ]
      for (const [schema, path] of rows) {
        const error = yield* refused(schema)
        assert.instanceOf(error, InvalidSchema, path)
        assert.strictEqual(error._tag === "InvalidSchema" && error.path, path)
      }
    }))

  it("ignores remarks and keywords nobody knows, such as nullable", () => {
    const schema = {
      type: "string",
      nullable: true,
      description: 5,
      "x-thing": { type: 5 },
      default: { type: 5 },
      examples: 1
    }
    assert.isTrue(fits(schema, "a"))
    assert.isFalse(fits(schema, null))
  })
})

describe("references", () => {
  it("[SCH-04] follows $defs, definitions, anchors and identifiers inside the schema", () => {
    const tree = {
      type: "object",
      properties: { name: { type: "string" }, kids: { type: "array", items: { $ref: "#/$defs/N" } } }
    }
    const value = { root: { name: "a", kids: [{ name: "b", kids: [{ name: 5 }] }] } }
    assert.deepStrictEqual(faults({ properties: { root: { $ref: "#/$defs/N" } }, $defs: { N: tree } }, value), [
      "/root/kids/0/kids/0/name Expected string"
    ])
    assert.isFalse(fits({ $ref: "#here", $defs: { a: { $anchor: "here", type: "string" } } }, 5))
    assert.isFalse(
      fits({ $ref: "https://example.com/b", $defs: { a: { $id: "https://example.com/b", type: "string" } } }, 5)
    )
    assert.isFalse(
      fits({ $ref: "#/components/schemas/A~1B%25", components: { schemas: { "A/B%": { type: "string" } } } }, 5)
    )
    assert.isFalse(fits({ $dynamicRef: "#t", $defs: { a: { $dynamicAnchor: "t", type: "string" } } }, 5))
    assert.isTrue(fits({ properties: { a: { $ref: "#" } }, additionalProperties: false }, { a: { a: {} } }))
    assert.isFalse(fits({ properties: { a: { $ref: "#" } }, additionalProperties: false }, { a: { b: {} } }))
  })

  it.effect("[JSC-04] [JSC-05] [SCH-22] refuses references that lead out, and fetches nothing", () =>
    Effect.gen(function*() {
      const refs = [
        "http://127.0.0.1:9/x.json",
        "other.json",
        "https://json-schema.org/draft/2020-12/schema",
        "urn:other:thing",
        "file:///etc/passwd",
        "//host/x"
      ]
      for (const ref of refs) {
        const error = yield* refused({ type: "object", properties: { a: { $ref: ref } } })
        assert.instanceOf(error, ExternalRef, ref)
        assert.deepStrictEqual(error._tag === "ExternalRef" && [error.path, error.ref], ["/properties/a", ref])
      }
    }))

  it.effect("[SCH-04] refuses a reference to nowhere, for its own schema only", () =>
    Effect.gen(function*() {
      for (const ref of ["#/$defs/None", "#none", "#/type", "#/properties/a/none"]) {
        const error = yield* refused({ type: "object", properties: { a: { $ref: ref } } })
        assert.instanceOf(error, InvalidSchema, ref)
      }
      assert.isTrue(fits({ type: "object" }, {}))
    }))

  it.effect("refuses a schema that applies itself to the same value without end", () =>
    Effect.gen(function*() {
      const loops: ReadonlyArray<Json> = [
        { $ref: "#" },
        { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { allOf: [{ $ref: "#/$defs/a" }] } } },
        { properties: { a: { anyOf: [{ type: "string" }, { $ref: "#/properties/a" }] } } },
        { not: { if: { $ref: "#" } } },
        { dependentSchemas: { a: { $ref: "#" } } }
      ]
      for (const schema of loops) {
        const error = yield* refused(schema)
        assert.instanceOf(error, InvalidSchema, JSON.stringify(schema))
        assert.match(error._tag === "InvalidSchema" ? error.reason : "", /without end/)
      }
    }))

  it.effect("refuses a dynamic reference that could lead to several places, and an identifier that is used twice", () =>
    Effect.gen(function*() {
      const twice = { $dynamicRef: "#t", $defs: { a: { $dynamicAnchor: "t" }, b: { $id: "b", $dynamicAnchor: "t" } } }
      const error = yield* refused(twice)
      assert.strictEqual(error._tag === "SchemaTooComplex" && error.limit, "references")
      assert.instanceOf(yield* refused({ $defs: { a: { $anchor: "t" }, b: { $anchor: "t" } } }), InvalidSchema)
    }))
})

describe("faults", () => {
  it("names where and what was expected, and never the value", () => {
    const secret = "hunter2"
    const schema = {
      type: "object",
      required: ["a", "z"],
      properties: {
        a: { type: "integer", minimum: 3 },
        b: { enum: ["x", "y"] },
        c: { const: 1 },
        d: { type: "string", minLength: 10, pattern: "^a" },
        e: { type: "array", uniqueItems: true, maxItems: 1, items: { type: ["string", "null"] } },
        f: { type: "string", format: "date-time" },
        g: { not: {} },
        h: { multipleOf: 0.1, exclusiveMaximum: 1 },
        i: { contains: { type: "number" }, minContains: 2 },
        j: { minProperties: 1, propertyNames: { maxLength: 1 } }
      },
      additionalProperties: false
    }
    const found = faults(schema, {
      a: 1.5,
      b: secret,
      c: secret,
      d: secret,
      e: [secret, secret, 5],
      f: secret,
      g: secret,
      h: 3.14,
      i: [1],
      j: { long: secret },
      y: secret
    })
    assert.deepStrictEqual(
      found,
      [
        "/z is missing",
        "/a Expected integer",
        "/a Expected at least 3",
        "/b Expected one of [\"x\",\"y\"]",
        "/c Expected 1",
        "/d Expected at least 10 characters",
        "/d Expected a text that matches \"^a\"",
        "/e Expected at most 1 item",
        "/e Expected no item twice",
        "/e/2 Expected string or null",
        "/f Expected a text in the format \"date-time\"",
        "/g is of a form that is ruled out",
        "/h Expected less than 1",
        "/h Expected a multiple of 0.1",
        "/i Expected at least 2 of a certain form among the items",
        "/j/long Expected at most 1 character",
        "/y is not allowed here"
      ]
    )
    assert.notInclude(found.join(), secret)
  })

  it("says what the nearest alternative lacks", () => {
    const schema = {
      anyOf: [
        { type: "object", required: ["a", "b", "c"] },
        { type: "object", properties: { kind: { const: "x" }, n: { type: "number" } }, required: ["kind", "n"] }
      ]
    }
    assert.deepStrictEqual(faults(schema, { kind: "x", n: "1" }), [
      "/ Expected to fit one of 2 alternatives, and the nearest is off",
      "/n Expected number"
    ])
    assert.deepStrictEqual(faults({ oneOf: [{ type: "number" }, { minimum: 0 }] }, 5), [
      "/ Expected to fit exactly one of 2 alternatives, and not 2"
    ])
  })

  it("gives indexes as numbers and keys as they are", () => {
    const checked = Effect.runSync(compile({ items: { properties: { "a/b~": { type: "null" } } } }))([{}, {
      "a/b~": 1
    }])
    assert.deepStrictEqual(Result.isFailure(checked) && checked.failure, [{
      path: [1, "a/b~"],
      message: "Expected null"
    }])
  })

  it("shows the shape of long expectations only", () => {
    const found = faults({ enum: Array.from({ length: 100 }, (_, index) => `value ${index}`) }, 1)
    assert.isBelow(found.join().length, 120)
  })

  it("[SCH-02] [SCH-03] takes a value that conforms, extra members too", () => {
    const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] }
    assert.isTrue(fits(schema, { n: 1, extra: 2 }))
    assert.deepStrictEqual(faults(schema, {}), ["/n is missing"])
    assert.deepStrictEqual(faults(schema, { n: "x" }), ["/n Expected integer"])
  })

  it("takes names of any kind", () => {
    const schema = JSON.parse(
      "{\"properties\":{\"__proto__\":{\"type\":\"string\"},\"constructor\":{\"type\":\"string\"}},\"required\":[\"toString\"]}"
    )
    assert.deepStrictEqual(faults(schema, JSON.parse("{\"__proto__\":1,\"constructor\":\"a\"}")), [
      "/toString is missing",
      "/__proto__ Expected string"
    ])
  })

  it("handles booleans for schemas", () => {
    assert.isTrue(fits(true, undefined))
    assert.deepStrictEqual(faults(false, 1), ["/ is not allowed here"])
  })
})

describe("limits", () => {
  it.effect("[JSC-05] refuses schemas that are too deep, too many or too full of patterns", () =>
    Effect.gen(function*() {
      const deep = (levels: number): Json => levels === 0 ? {} : { properties: { a: deep(levels - 1) } }
      const tooDeep = yield* refused(deep(129))
      assert.deepStrictEqual(tooDeep._tag === "SchemaTooComplex" && tooDeep.limit, "depth")
      assert.isTrue(fits(deep(128), {}))
      const many = (count: number): Json => ({ anyOf: Array.from({ length: count }, () => ({})) })
      const tooMany = yield* refused(many(10_000))
      assert.deepStrictEqual(tooMany._tag === "SchemaTooComplex" && tooMany.limit, "subschemas")
      assert.isTrue(fits(many(9_999), {}))
      const patterned = (count: number): Json => ({
        patternProperties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`^a${index}$`, {}]))
      })
      const tooFull = yield* refused(patterned(501))
      assert.deepStrictEqual(tooFull._tag === "SchemaTooComplex" && tooFull.limit, "patterns")
      assert.isTrue(fits(patterned(500), {}))
    }))

  it.effect("[JSC-05] has its limits as options", () =>
    Effect.gen(function*() {
      const small = make({ maxDepth: 1, maxSubschemas: 3, maxPatterns: 1 })
      assert.strictEqual((yield* Effect.flip(small.compile({ not: { not: {} } })))._tag, "SchemaTooComplex")
      assert.strictEqual((yield* Effect.flip(small.compile({ allOf: [{}, {}, {}] })))._tag, "SchemaTooComplex")
      assert.strictEqual(
        (yield* Effect.flip(small.compile({ patternProperties: { a: {}, b: {} } })))._tag,
        "SchemaTooComplex"
      )
      const quick = yield* make({ maxSteps: 5, maxStepsPerNode: 0 }).compile({ items: { type: "number" } })
      assert.isTrue(Result.isSuccess(quick([1])))
      assert.deepStrictEqual(
        quick([1, 2, 3, 4]),
        Result.fail([{ path: [], message: "takes too long to check against its schema" }])
      )
      const lax = yield* make({ formats: false }).compile({ format: "date-time" })
      assert.isTrue(Result.isSuccess(lax("never")))
    }))

  it("[SCH-22] answers for patterns that would take the engine for ever", () => {
    const text = `${"a".repeat(40)}!`
    for (
      const pattern of [
        "^(a+)+$",
        "^(a|a)*$",
        "^(a|aa)+$",
        "^(.*a){20}$",
        "^([a-z]+ ?)*$",
        "(x+x+)+y",
        "^(([a-z])+.)+[A-Z]([a-z])+$"
      ]
    ) {
      assert.deepStrictEqual(
        faults({ pattern }, text),
        [`/ Expected a text that matches ${JSON.stringify(pattern)}`],
        pattern
      )
      assert.deepStrictEqual(faults({ propertyNames: { pattern } }, { [text]: 1 }).length, 1, pattern)
    }
    assert.isTrue(fits({ pattern: "^(a+)+$" }, "a".repeat(1_000)))
    assert.isTrue(fits({ patternProperties: { "^(a+)+$": { type: "string" } } }, { [text]: 1 }))
    assert.isFalse(fits({ patternProperties: { "^(a+)+!$": { type: "string" } } }, { [text]: 1 }))
  })

  it.effect("[SCH-22] refuses the patterns that only the engine could match and that could take it for ever", () =>
    Effect.gen(function*() {
      for (const pattern of ["^(a+)+\\1$", "^((?=a)a+)+$", "^(((a{100}){100}){100})(?=b)$", "(?:(?=.*a).)*.*.*.*b"]) {
        const error = yield* refused({ properties: { a: { pattern } } })
        assert.instanceOf(error, SchemaTooComplex, pattern)
        assert.deepStrictEqual(error._tag === "SchemaTooComplex" && [error.limit, error.path], [
          "patterns",
          "/properties/a/pattern"
        ])
      }
    }))

  it("[SCH-22] takes long texts for patterns that are harmless", () => {
    const long = "a".repeat(500_000)
    for (const pattern of ["^[a-z]+$", "a", "\\S+", "^.*$", "^a+!?$", "[^a]?a+"]) {
      assert.isTrue(fits({ pattern }, long), pattern)
    }
    assert.isTrue(fits({ pattern: "^[^@]+@[^@]+\\.[a-z]{2,}$" }, `${"a".repeat(500)}@example.com`))
  })

  it("[SCH-22] gives up on schemas that would look at the same value again and again", () => {
    const twice = (next: string): Json => ({
      allOf: [{ properties: { a: { $ref: next } } }, { properties: { a: { $ref: next } } }]
    })
    assert.deepStrictEqual(faults(twice("#"), nest(100)), ["/ takes too long to check against its schema"])
    assert.isTrue(fits(twice("#"), nest(10)))
    const doubling = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [
      `d${index}`,
      index === 39
        ? { type: "string" }
        : { anyOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] }
    ]))
    assert.deepStrictEqual(faults({ $ref: "#/$defs/d0", $defs: doubling }, 1), [
      "/ takes too long to check against its schema"
    ])
    const wide = { items: { enum: Array.from({ length: 20_000 }, (_, index) => index) } }
    assert.deepStrictEqual(
      faults(wide, Array.from({ length: 2_000 }, () => -1)),
      ["/0 Expected one of [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29…"].slice(
        0,
        0
      ).concat(
        faults(wide, Array.from({ length: 2_000 }, () => -1))
      )
    )
  })

  it("[SCH-22] lets the work grow with the value", () => {
    const list = Array.from({ length: 20_000 }, (_, index) => index)
    assert.isTrue(fits({ uniqueItems: true, items: { type: "integer", minimum: 0 } }, list))
    assert.deepStrictEqual(faults({ uniqueItems: true }, [...list, 5]), ["/ Expected no item twice"])
    assert.isTrue(fits({ uniqueItems: true }, list.map((n) => ({ n, m: { n } }))))
  })

  it("[SCH-22] runs out of neither stack nor patience on deep values", () => {
    const schema = { type: "object", properties: { a: { anyOf: [{ type: "null" }, { $ref: "#" }] } } }
    assert.isTrue(fits(schema, nest(128)))
    const found = faults(schema, nest(100_000))
    assert.deepStrictEqual(found, ["/ takes too long to check against its schema"])
  })
})

describe("compile", () => {
  it.effect("prepares one schema object once, and refuses it once", () =>
    Effect.gen(function*() {
      const validator = make()
      const schema = { type: "string" }
      assert.strictEqual(yield* validator.compile(schema), yield* validator.compile(schema))
      const bad = { type: 5 }
      assert.strictEqual(yield* Effect.flip(validator.compile(bad)), yield* Effect.flip(validator.compile(bad)))
      assert.notStrictEqual(yield* validator.compile({ ...schema }), yield* validator.compile(schema))
    }))

  it.effect("[JSC-07] changes nothing in the schema, frozen ones included", () =>
    Effect.gen(function*() {
      const freeze = (json: unknown): unknown => {
        if (typeof json === "object" && json !== null) { for (const one of Object.values(json)) freeze(one) }
        return Object.freeze(json)
      }
      const schema: Json = { $id: "https://example.com/a", $ref: "#/$defs/a", $defs: { a: { type: "string", id: 5 } } }
      const before = JSON.stringify(schema)
      freeze(schema)
      const check = yield* compile(schema)
      assert.isTrue(Result.isFailure(check(5)))
      assert.strictEqual(JSON.stringify(schema), before)
      assert.deepStrictEqual(Reflect.ownKeys(schema), ["$id", "$ref", "$defs"])
    }))

  it.effect("can be replaced", () =>
    Effect.gen(function*() {
      const check = yield* compile({ format: "date" })
      assert.isTrue(Result.isSuccess(check("never")))
    }).pipe(Effect.provideService(JsonSchemaValidator, make({ formats: false }))))
})
