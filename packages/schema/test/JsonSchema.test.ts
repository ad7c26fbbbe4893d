import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { tidy } from "../src/internal/jsonSchemaTidy.ts"
import * as JsonSchema from "../src/JsonSchema.ts"

interface Node {
  readonly name: string
  readonly weight: number
  readonly kids: ReadonlyArray<Node>
}
const Node: Schema.Codec<Node> = Schema.Struct({
  name: Schema.String,
  weight: Schema.Number,
  kids: Schema.Array(Schema.suspend((): Schema.Codec<Node> => Node))
})
const node = {
  type: "object",
  properties: {
    name: { type: "string" },
    weight: { type: "number" },
    kids: { type: "array", items: { $ref: "#/$defs/Objects_" } }
  },
  required: ["name", "weight", "kids"]
}

const properties = (fields: Schema.Struct.Fields) => JsonSchema.fromSchema(Schema.Struct(fields))["properties"]
const decode = <S extends Schema.ConstraintCodec<unknown, unknown, never, never>>(schema: S, json: unknown) =>
  Schema.decodeUnknownResult(JsonSchema.codec<unknown, never, never>(schema))(json)
const encode = <S extends Schema.ConstraintCodec<unknown, unknown, never, never>>(schema: S, value: unknown) =>
  Schema.encodeUnknownResult(JsonSchema.codec<unknown, never, never>(schema))(value)

describe("fromSchema", () => {
  it("[JSC-01] shows a struct in the plainest form, without $schema", () => {
    assert.deepStrictEqual(
      JsonSchema.fromSchema(
        Schema.Struct({ a: Schema.Finite, b: Schema.optionalKey(Schema.String), c: Schema.Boolean })
      ),
      {
        type: "object",
        properties: { a: { type: "number" }, b: { type: "string" }, c: { type: "boolean" } },
        required: ["a", "c"]
      }
    )
  })

  it("shows numbers without the words JSON lacks, with their checks", () => {
    assert.deepStrictEqual(
      properties({
        a: Schema.Number,
        b: Schema.Number.check(Schema.isGreaterThan(0)),
        c: Schema.Array(Schema.Number),
        d: Schema.Option(Schema.Number),
        e: Schema.Union([Schema.Number, Schema.String])
      }),
      {
        a: { type: "number" },
        b: { type: "number", exclusiveMinimum: 0 },
        c: { type: "array", items: { type: "number" } },
        d: {
          anyOf: [
            {
              type: "object",
              properties: { _tag: { type: "string", enum: ["Some"] }, value: { type: "number" } },
              required: ["_tag", "value"]
            },
            { type: "object", properties: { _tag: { type: "string", enum: ["None"] } }, required: ["_tag"] }
          ]
        },
        e: { type: ["number", "string"] }
      }
    )
  })

  it("[SCH-13] describes the encoded side and says what the decoded side says of itself", () => {
    assert.deepStrictEqual(
      properties({
        at: Schema.DateTimeUtcFromString.annotate({ description: "When it starts" }),
        n: Schema.FiniteFromString.annotateKey({ description: "A number as text", title: "N" }),
        due: Schema.NullOr(Schema.Date)
      }),
      {
        at: { type: "string", description: "When it starts" },
        n: { type: "string", description: "A number as text", title: "N" },
        due: { type: ["string", "null"] }
      }
    )
  })

  it("[SCH-12] shows null as a type, never as nullable", () => {
    assert.deepStrictEqual(properties({ a: Schema.NullOr(Schema.String), b: Schema.optional(Schema.Boolean) }), {
      a: { type: ["string", "null"] },
      b: { type: ["boolean", "null"] }
    })
  })

  it("[SCH-04] keeps recursion in $defs that resolve, also at the root", () => {
    assert.deepStrictEqual(JsonSchema.fromSchema(Node), { ...node, $defs: { Objects_: node } })
    assert.deepStrictEqual(JsonSchema.fromSchema(Schema.Struct({ root: Node })), {
      type: "object",
      properties: { root: { $ref: "#/$defs/Objects_" } },
      required: ["root"],
      $defs: { Objects_: node }
    })
  })

  it("[SCH-04] shares definitions by identifier and inlines one that is only the root", () => {
    class User extends Schema.Class<User>("User")({ name: Schema.String }) {}
    const user = { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
    assert.deepStrictEqual(JsonSchema.fromSchema(User), user)
    assert.deepStrictEqual(JsonSchema.fromSchema(Schema.Struct({ a: User, b: User })), {
      type: "object",
      properties: { a: { $ref: "#/$defs/UserEncoded" }, b: { $ref: "#/$defs/UserEncoded" } },
      required: ["a", "b"],
      $defs: { UserEncoded: user }
    })
  })

  it("puts remarks next to what they are about", () => {
    const Named = Schema.Struct({ a: Schema.String }).annotate({ identifier: "Named", description: "of the type" })
    assert.deepStrictEqual(
      properties({
        a: Schema.String.annotateKey({ description: "of the key" }),
        b: Schema.Finite.annotate({ description: "d", title: "t", default: 5, examples: [1, 2] }),
        c: Named.annotateKey({ description: "of the key" }),
        d: Schema.String.check(Schema.isMinLength(1), Schema.isPattern(/^a/)).annotate({ description: "checked" })
      }),
      {
        a: { type: "string", description: "of the key" },
        b: { type: "number", description: "d", title: "t", default: 5, examples: [1, 2] },
        c: { $ref: "#/$defs/Named", description: "of the key" },
        d: { type: "string", minLength: 1, pattern: "^a", description: "checked" }
      }
    )
  })

  it("[SCH-16] shows the patterns that a JSON Schema can say, and keeps enforcing the others", () => {
    const fields = {
      a: Schema.String.check(Schema.isPattern(/^a+$/)),
      b: Schema.String.check(Schema.isPattern(/^b$/u, { description: "b" })),
      c: Schema.String.check(Schema.isPattern(/^c$/i)),
      d: Schema.String.check(Schema.isPattern(new RegExp("^\\@$")))
    }
    assert.deepStrictEqual(properties(fields), {
      a: { type: "string", pattern: "^a+$" },
      b: { type: "string", pattern: "^b$", description: "b" },
      c: { type: "string" },
      d: { type: "string" }
    })
    const good = { a: "aa", b: "b", c: "C", d: "@" }
    assert.deepStrictEqual(decode(Schema.Struct(fields), good), Result.succeed(good))
    for (const bad of [{ a: "b" }, { b: "a" }, { c: "x" }, { d: "x" }]) {
      assert.isTrue(Result.isFailure(decode(Schema.Struct(fields), { ...good, ...bad })))
    }
  })

  it("keeps apart what would mean something else together", () => {
    const kept = [
      { allOf: [{ $ref: "#/$defs/A" }, { minLength: 1 }] },
      { type: "object", properties: { a: {} }, allOf: [{ additionalProperties: false }] },
      { minLength: 1, allOf: [{ minLength: 2 }] }
    ]
    for (const schema of kept) assert.deepStrictEqual(tidy(schema), schema)
    assert.deepStrictEqual(tidy({ allOf: [{ $ref: "#/$defs/A" }, { title: "t" }, { minLength: 1 }] }), {
      allOf: [{ $ref: "#/$defs/A", title: "t" }, { minLength: 1 }]
    })
    assert.deepStrictEqual(tidy({ type: "string", allOf: [{ minLength: 1, title: "t" }, { pattern: "a" }] }), {
      type: "string",
      minLength: 1,
      title: "t",
      pattern: "a"
    })
  })

  it("leaves data that looks like a schema alone", () => {
    const data = { anyOf: [{ type: "string" }, { type: "null" }], additionalProperties: true }
    assert.deepStrictEqual(
      properties({ a: Schema.Record(Schema.String, Schema.Unknown).annotate({ default: data }) }),
      {
        a: { type: "object", default: data }
      }
    )
  })

  it("[SCH-16] leaves free-form records open and says what they hold", () => {
    assert.deepStrictEqual(
      properties({
        labels: Schema.Record(Schema.String, Schema.String),
        any: Schema.Record(Schema.String, Schema.Unknown),
        rest: Schema.StructWithRest(Schema.Struct({ a: Schema.String }), [Schema.Record(Schema.String, Schema.Unknown)])
      }),
      {
        labels: { type: "object", additionalProperties: { type: "string" } },
        any: { type: "object" },
        rest: { type: "object", properties: { a: { type: "string" } }, required: ["a"] }
      }
    )
  })

  it("[SCH-16] shows additionalProperties: false at every level when excess is refused", () => {
    const schema = Schema.Struct({
      a: Schema.Struct({ b: Schema.String }),
      m: Schema.Record(Schema.String, Schema.String)
    })
    assert.deepStrictEqual(JsonSchema.fromSchema(schema, { excess: "error" }), {
      type: "object",
      properties: {
        a: { type: "object", properties: { b: { type: "string" } }, required: ["b"], additionalProperties: false },
        m: { type: "object", additionalProperties: { type: "string" } }
      },
      required: ["a", "m"],
      additionalProperties: false
    })
  })
})

describe("codec", () => {
  it("refuses what the JSON Schema does not show: words for numbers, in both directions", () => {
    const schema = Schema.Struct({ a: Schema.Number, o: Schema.Option(Schema.Number), n: Node })
    const json = {
      a: 1,
      o: { _tag: "Some", value: 2 },
      n: { name: "x", weight: 3, kids: [{ name: "y", weight: 4, kids: [] }] }
    }
    assert.isTrue(Result.isSuccess(decode(schema, json)))
    assert.isTrue(Result.isFailure(decode(schema, { ...json, a: "NaN" })))
    assert.isTrue(Result.isFailure(decode(schema, { ...json, o: { _tag: "Some", value: "Infinity" } })))
    assert.isTrue(
      Result.isFailure(decode(schema, { ...json, n: { ...json.n, kids: [{ name: "y", weight: "NaN", kids: [] }] } }))
    )
    assert.isTrue(Result.isFailure(encode(Schema.Struct({ a: Schema.Number }), { a: Number.NaN })))
    assert.isTrue(Result.isFailure(encode(Node, { name: "x", weight: Number.POSITIVE_INFINITY, kids: [] })))
  })

  it("[SCH-13] reads and writes the JSON of dates and of other values that JSON lacks", () => {
    const schema = Schema.Struct({ at: Schema.Date, due: Schema.NullOr(Schema.Date), big: Schema.BigInt })
    const json = { at: "1970-01-01T00:00:00.000Z", due: null, big: "12" }
    const value = { at: new Date(0), due: null, big: 12n }
    assert.deepStrictEqual(encode(schema, value), Result.succeed(json))
    assert.deepStrictEqual(decode(schema, json), Result.succeed(value))
  })

  it("[SCH-20] hands strings that look like JSON over as they are", () => {
    for (const q of ["123", "[1]", "null", "1e5"]) {
      assert.deepStrictEqual(decode(Schema.Struct({ q: Schema.String }), { q }), Result.succeed({ q }))
    }
  })

  it("keeps defaults, classes and unions at work", () => {
    class User extends Schema.Class<User>("User")({ age: Schema.Number }) {}
    const schema = Schema.Struct({
      user: User,
      mode: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("fast"))),
      either: Schema.Union([
        Schema.Struct({ k: Schema.Literal("a"), n: Schema.Number }),
        Schema.Struct({ k: Schema.Literal("b") })
      ])
    })
    const decoded = decode(schema, { user: { age: 3 }, either: { k: "a", n: 1 } })
    assert.deepStrictEqual(
      decoded,
      Result.succeed({ user: new User({ age: 3 }), mode: "fast", either: { k: "a", n: 1 } })
    )
    assert.isTrue(Result.isFailure(decode(schema, { user: { age: 3 }, either: { k: "a", n: "NaN" } })))
  })

  it("is the same for the same schema, so that decoders are made once", () => {
    assert.strictEqual(JsonSchema.codec(Node).ast, JsonSchema.codec(Node).ast)
  })
})

describe("foreign", () => {
  it("[JSC-07] [SCH-04] keeps a schema to the letter", () => {
    const json = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      nullable: true,
      properties: { root: { $ref: "#/definitions/Node" } },
      definitions: { Node: { type: "object", additionalProperties: true, allOf: [{ description: "x" }] } }
    }
    assert.strictEqual(JsonSchema.foreign(json).json, json)
    assert.isTrue(JsonSchema.isForeign(JsonSchema.foreign(json)))
    assert.isFalse(JsonSchema.isForeign({ json }))
  })
})

describe("rootObject", () => {
  it("[SCH-05] [TOL-05] gives an open root its type and keeps what is below", () => {
    assert.deepStrictEqual(JsonSchema.rootObject({}), Result.succeed({ type: "object" }))
    assert.deepStrictEqual(
      JsonSchema.rootObject({ anyOf: [{ type: "object" }] }),
      Result.succeed({ type: "object", anyOf: [{ type: "object" }] })
    )
    assert.deepStrictEqual(
      JsonSchema.rootObject({ $schema: "http://json-schema.org/draft-07/schema#" }),
      Result.succeed({ type: "object", $schema: "http://json-schema.org/draft-07/schema#" })
    )
    assert.deepStrictEqual(JsonSchema.rootObject({ type: ["object", "null"] }), Result.succeed({ type: "object" }))
  })

  it("[SCH-06] returns a good root as it is, and refuses null and other types", () => {
    const good: ReadonlyArray<JsonSchema.ObjectRoot> = [
      { type: "object" },
      { type: "object", properties: {} },
      { type: "object", additionalProperties: false }
    ]
    for (const json of good) {
      assert.strictEqual(Result.getOrThrow(JsonSchema.rootObject(json)), json)
    }
    for (const json of [null, [], true, "object", { type: "string" }, { type: null }, { type: ["string", "null"] }]) {
      assert.isTrue(Result.isFailure(JsonSchema.rootObject(json)), JSON.stringify(json))
    }
  })
})

describe("isObjectOnly", () => {
  it("sees through branches and references, and not through loops", () => {
    const objects = [
      { type: "object" },
      { anyOf: [{ type: "object" }, { $ref: "#/$defs/A" }], $defs: { A: { oneOf: [{ type: "object" }] } } },
      { allOf: [{ title: "x" }, { type: "object" }] },
      { $ref: "#/$defs/a~1b%25", $defs: { "a/b%": { type: "object" } } }
    ]
    for (const json of objects) assert.isTrue(JsonSchema.isObjectOnly(json), JSON.stringify(json))
    const others = [
      {},
      { type: ["object"] },
      { anyOf: [] },
      { anyOf: [{ type: "object" }, { type: "null" }] },
      { $ref: "#/$defs/A", $defs: { A: { $ref: "#/$defs/A" } } },
      { $ref: "#/$defs/%zz" },
      { properties: {} }
    ]
    for (const json of others) assert.isFalse(JsonSchema.isObjectOnly(json), JSON.stringify(json))
  })
})
