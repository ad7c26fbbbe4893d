import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option, Result, Schema } from "effect"
import { InvalidContract } from "../src/InvalidContract.ts"
import * as JsonSchema from "../src/JsonSchema.ts"
import * as Tool from "../src/ToolContract.ts"

const Add = Tool.make("add", {
  title: "Add",
  description: "Adds two numbers",
  input: { a: Schema.Finite, b: Schema.Finite },
  output: { sum: Schema.Finite }
})

const message = (of: Result.Result<unknown, { message(): string }>) => Result.getOrThrow(Result.flip(of)).message()

const checkDefect = (run: () => unknown, name: string, reason: RegExp) => {
  const thrown = Result.getOrThrow(Result.flip(Result.try(run)))
  assert.instanceOf(thrown, InvalidContract)
  assert.strictEqual(thrown.name, name)
  assert.match(thrown.reason, reason)
  assert.include(thrown.message, JSON.stringify(name))
}

describe("names", () => {
  it("[TOL-11] [SCH-26] accepts 1 to 128 letters, digits, `_`, `-` and `.`", () => {
    for (const name of ["a", "a.b-c_D", "0", "x".repeat(128)]) {
      assert.isTrue(Tool.isName(name), name)
      assert.strictEqual(Tool.make(name).name, name)
    }
  })

  it("[TOL-11] [SCH-26] throws a defect that names the tool for any other name", () => {
    for (const name of ["", "a\n", "a b", "\u00e9", "x".repeat(129), "a.b-c_D/1", "a\u0000"]) {
      assert.isFalse(Tool.isName(name), name)
      checkDefect(() => Tool.make(name), name, /1 to 128/)
    }
  })
})

describe("input", () => {
  it("decodes fields and lists them", () => {
    assert.deepStrictEqual(Add.decodeInput({ a: 1, b: 2 }), Result.succeed({ a: 1, b: 2 }))
    assert.deepStrictEqual(Add.encodeInput({ a: 1, b: 2 }), Result.succeed({ a: 1, b: 2 }))
    assert.deepStrictEqual(Add.inputSchema, {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"]
    })
    assert.strictEqual(Add.inputSchema, Add.inputSchema)
  })

  it("[SCH-06] [SCH-10] takes no arguments without an input, sent or not", () => {
    const Now = Tool.make("now")
    assert.deepStrictEqual(Now.inputSchema, { type: "object" })
    for (const args of [undefined, {}, { extra: 1 }]) assert.deepStrictEqual(Now.decodeInput(args), Result.succeed({}))
    for (const args of [null, [], "{}", 1]) assert.isTrue(Result.isFailure(Now.decodeInput(args)), JSON.stringify(args))
    assert.deepStrictEqual(Now.encodeInput({}), Result.succeed({}))
  })

  it("[SCH-06] treats an input without fields the same", () => {
    for (const tool of [Tool.make("now", { input: {} }), Tool.make("now", { input: Schema.Struct({}) })]) {
      assert.deepStrictEqual(tool.inputSchema, { type: "object" })
      assert.isTrue(Result.isFailure(tool.decodeInput([])))
      assert.deepStrictEqual(tool.decodeInput(undefined), Result.succeed({}))
    }
  })

  it("[SCH-06] refuses any argument of a tool without input where excess is an error", () => {
    const Now = Tool.make("now", { excess: "error" })
    assert.deepStrictEqual(Now.inputSchema, { type: "object", additionalProperties: false })
    assert.deepStrictEqual(Now.decodeInput(undefined), Result.succeed({}))
    assert.match(message(Now.decodeInput({ a: 1 })), /^a: /)
  })

  it("[SCH-10] takes absent arguments for none, and nothing but an object for arguments", () => {
    const Limit = Tool.make("limit", { input: { limit: Schema.optionalKey(Schema.Int) } })
    assert.deepStrictEqual(Limit.decodeInput(undefined), Result.succeed({}))
    for (const args of [null, [], "{}", 5, true]) {
      assert.strictEqual(message(Limit.decodeInput(args)), "arguments must be an object", JSON.stringify(args))
    }
  })

  it("[SCH-11] names the argument and what was expected, and never the value", () => {
    const Limit = Tool.make("limit", {
      input: {
        limit: Schema.optionalKey(Schema.Int),
        q: Schema.String,
        deep: Schema.Array(Schema.Struct({ n: Schema.Finite }))
      }
    })
    assert.strictEqual(
      message(Limit.decodeInput({ limit: null, deep: [{ n: 1 }, { n: "secret" }] })),
      "limit: Expected number; q: is missing; deep[1].n: Expected number"
    )
    assert.match(message(Limit.decodeInput({ limit: 1.5, q: "", deep: [] })), /^limit: Expected an integer$/)
    const failed = Result.getOrThrow(Result.flip(Limit.decodeInput({})))
    assert.strictEqual(failed.name, "limit")
    assert.strictEqual(failed.side, "input")
    assert.deepStrictEqual(failed.issues(), [
      { path: ["q"], message: "is missing" },
      { path: ["deep"], message: "is missing" }
    ])
  })

  it("names ten faults at most, and counts the rest", () => {
    const Many = Tool.make("many", {
      input: Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`a${n}`, Schema.String]))
    })
    assert.match(message(Many.decodeInput({})), /a9: is missing; and 2 more$/)
  })

  it("[SCH-16] drops what the input does not name, or refuses it and shows that it does", () => {
    const open = Tool.make("open", { input: { a: Schema.String } })
    assert.deepStrictEqual(open.decodeInput({ a: "x", b: 1 }), Result.succeed({ a: "x" }))
    assert.isUndefined(open.inputSchema["additionalProperties"])
    const strict = Tool.make("strict", { input: { a: Schema.String }, excess: "error" })
    assert.strictEqual(message(strict.decodeInput({ a: "x", b: 1 })), "b: is not allowed here")
    assert.strictEqual(strict.inputSchema["additionalProperties"], false)
  })

  it("[SCH-13] gives handlers decoded values, and lists their JSON", () => {
    const At = Tool.make("at", {
      input: { at: Schema.DateTimeUtcFromString, n: Schema.FiniteFromString, wait: Schema.DurationFromMillis }
    })
    const at = DateTime.makeUnsafe(0)
    const decoded = Result.getOrThrow(At.decodeInput({ at: "1970-01-01T00:00:00Z", n: "5", wait: 10 }))
    assert.isTrue(DateTime.isUtc(decoded.at))
    assert.strictEqual(decoded.n, 5)
    assert.deepStrictEqual(
      At.encodeInput({ at: DateTime.toUtc(at), n: 5, wait: decoded.wait }),
      Result.succeed({ at: "1970-01-01T00:00:00.000Z", n: "5", wait: 10 })
    )
    assert.deepStrictEqual(At.inputSchema["properties"], {
      at: { type: "string" },
      n: { type: "string" },
      wait: { type: "number" }
    })
  })

  it("[SCH-05] wraps a union of objects under an object root", () => {
    const Either = Tool.make("either", {
      input: Schema.Union([Schema.Struct({ id: Schema.String }), Schema.Struct({ name: Schema.String })])
    })
    assert.deepStrictEqual(Either.inputSchema, {
      type: "object",
      anyOf: [
        { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
        { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
      ]
    })
    assert.deepStrictEqual(Either.decodeInput({ name: "x" }), Result.succeed({ name: "x" }))
  })

  it("[SCH-05] [TOL-05] throws a defect for an input that is not always an object", () => {
    const values = [
      Schema.Array(Schema.String),
      Schema.Union([Schema.Struct({ a: Schema.String }), Schema.Array(Schema.String)])
    ]
    for (const input of values) checkDefect(() => Tool.make("bad", { input }), "bad", /not always an object/)
    interface Loop {
      readonly next: Loop
    }
    const Loop: Schema.Codec<Loop> = Schema.suspend(() => Schema.Struct({ next: Loop }))
    assert.strictEqual(Tool.make("loop", { input: Loop }).inputSchema.type, "object")
    const late = Tool.make("late", {
      input: Schema.suspend((): Schema.Codec<ReadonlyArray<string>> => Schema.Array(Schema.String))
    })
    checkDefect(() => late.inputSchema, "late", /not always an object/)
  })

  it("[SCH-04] lists recursive inputs with definitions that resolve", () => {
    interface Node {
      readonly kids: ReadonlyArray<Node>
    }
    const Node: Schema.Codec<Node> = Schema.Struct({
      kids: Schema.Array(Schema.suspend((): Schema.Codec<Node> => Node))
    })
    const kids = { type: "array", items: { $ref: "#/$defs/Objects_" } }
    const tree: JsonSchema.ObjectRoot = { type: "object", properties: { kids }, required: ["kids"] }
    assert.deepStrictEqual(Tool.make("tree", { input: Node }).inputSchema, { ...tree, $defs: { Objects_: tree } })
  })

  it("[JSC-07] keeps a foreign schema to the letter and its arguments as they come", () => {
    const json: JsonSchema.ObjectRoot = {
      type: "object",
      $schema: "http://json-schema.org/draft-07/schema#",
      definitions: {},
      required: ["x"]
    }
    const Foreign = Tool.make("foreign", { input: JsonSchema.foreign(json) })
    assert.strictEqual(Foreign.inputSchema, json)
    assert.strictEqual(Foreign.foreignInput?.json, json)
    const args = { anything: [1] }
    assert.strictEqual(Result.getOrThrow(Foreign.decodeInput(args)), args)
    assert.deepStrictEqual(Foreign.decodeInput(undefined), Result.succeed({}))
    assert.isTrue(Result.isFailure(Foreign.decodeInput([])))
    checkDefect(
      () => Tool.make("bad", { input: JsonSchema.foreign({ type: "string" }) }).inputSchema,
      "bad",
      /"string"/
    )
  })

  it("keeps defaults", () => {
    const Mode = Tool.make("mode", {
      input: { mode: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("fast"))) }
    })
    assert.deepStrictEqual(Mode.decodeInput(undefined), Result.succeed({ mode: "fast" }))
  })
})

describe("headers", () => {
  it("[XH-01] mirrors marked fields, refined, optional and nested ones too", () => {
    const Deploy = Tool.make("deploy", {
      input: {
        region: Schema.String.pipe(Tool.header("Region")).annotate({ description: "Where" }),
        tries: Schema.Int.check(Schema.isGreaterThan(0)).pipe(Tool.header("Tries")),
        target: Schema.Struct({ dry: Schema.optionalKey(Schema.Boolean).pipe(Tool.header("Dry")) })
      }
    })
    assert.deepStrictEqual(Deploy.headerParams, [
      { path: ["region"], header: "Region", type: "string" },
      { path: ["tries"], header: "Tries", type: "integer" },
      { path: ["target", "dry"], header: "Dry", type: "boolean" }
    ])
    assert.deepStrictEqual(
      Deploy.decodeInput({ region: "eu", tries: 1, target: {} }),
      Result.succeed({ region: "eu", tries: 1, target: {} })
    )
    assert.deepStrictEqual(Add.headerParams, [])
  })

  it("[XH-02] [XH-04] [XH-05] throws a defect when a wrong header would be listed", () => {
    const wrong: ReadonlyArray<readonly [Tool.Fields, RegExp]> = [
      [{ a: Schema.String.pipe(Tool.header("bad name")) }, /token/],
      [{ a: Schema.String.pipe(Tool.header("A")), b: Schema.String.pipe(Tool.header("a")) }, /twice/],
      [{ a: Schema.Finite.pipe(Tool.header("A")) }, /"number"/],
      [{ a: Schema.Array(Schema.String.pipe(Tool.header("A"))) }, /properties alone/]
    ]
    for (const [input, reason] of wrong) {
      const tool = Tool.make("bad", { input })
      checkDefect(() => tool.inputSchema, "bad", reason)
      checkDefect(() => tool.headerParams, "bad", reason)
    }
  })
})

describe("output", () => {
  it("encodes and decodes fields, and drops what they do not name", () => {
    assert.deepStrictEqual(Add.encodeOutput({ sum: 3 }), Result.succeed({ sum: 3 }))
    assert.deepStrictEqual(Add.decodeOutput({ sum: 3, extra: 1 }), Result.succeed({ sum: 3 }))
    assert.strictEqual(message(Add.decodeOutput({ sum: "x" })), "sum: Expected number")
    assert.strictEqual(message(Add.decodeOutput({})), "sum: is missing")
    assert.isTrue(Result.isFailure(Add.encodeOutput({ sum: Number.NaN })))
    assert.deepStrictEqual(Add.outputSchema, {
      type: "object",
      properties: { sum: { type: "number" } },
      required: ["sum"]
    })
  })

  it("[SCH-13] encodes dates before they are checked", () => {
    const At = Tool.make("at", { output: { at: Schema.Date, due: Schema.NullOr(Schema.Date) } })
    assert.deepStrictEqual(
      At.encodeOutput({ at: new Date(0), due: null }),
      Result.succeed({ at: "1970-01-01T00:00:00.000Z", due: null })
    )
  })

  it("[SCH-15] [TOL-06] takes any type, and gives objects an object root", () => {
    const list = Tool.make("list", { output: Schema.Array(Schema.Int) })
    assert.strictEqual(list.outputSchema?.["type"], "array")
    assert.deepStrictEqual(list.encodeOutput([1, 2]), Result.succeed([1, 2]))
    assert.deepStrictEqual(Tool.make("nil", { output: Schema.Null }).encodeOutput(null), Result.succeed(null))
    const union = Tool.make("union", {
      output: Schema.Union([Schema.Struct({ a: Schema.String }), Schema.Struct({ b: Schema.String })])
    })
    assert.strictEqual(union.outputSchema?.["type"], "object")
    const mixed = Tool.make("mixed", { output: Schema.Union([Schema.Struct({ a: Schema.String }), Schema.Null]) })
    assert.notProperty(mixed.outputSchema, "type")
  })

  it("has none unless declared, and keeps a foreign one to the letter", () => {
    const none = Tool.make("none")
    assert.isUndefined(none.outputSchema)
    assert.isFalse(none.hasOutput)
    assert.match(message(none.decodeOutput({})), /declares no output/)
    const json = { anyOf: [{ type: "string" }] }
    const foreign = Tool.make("foreign", { output: JsonSchema.foreign(json) })
    assert.strictEqual(foreign.outputSchema, json)
    assert.deepStrictEqual(foreign.encodeOutput(null), Result.succeed(null))
    assert.isTrue(Result.isFailure(foreign.encodeOutput(undefined)))
  })
})

describe("failure", () => {
  class NotFound extends Schema.TaggedError<NotFound>("test/NotFound")("NotFound", { id: Schema.Int }) {}
  class Busy extends Schema.TaggedError<Busy>("test/Busy")("Busy", {}) {}

  it("goes to the wire and comes back as an instance", () => {
    const Find = Tool.make("find", { failure: Schema.Union([NotFound, Busy]) })
    const encoded = Result.getOrThrow(Find.encodeFailure(new NotFound({ id: 7 })))
    assert.deepStrictEqual(encoded, { _tag: "NotFound", id: 7 })
    const decoded = Result.getOrThrow(Find.decodeFailure(JSON.parse(JSON.stringify(encoded))))
    assert.instanceOf(decoded, NotFound)
    assert.isTrue(Result.isFailure(Find.decodeFailure({ _tag: "Other" })))
    assert.match(message(Add.decodeFailure({ _tag: "NotFound", id: 7 })), /declares no failure/)
  })
})

describe("result", () => {
  it("is recognised as an instance, and tells null from nothing", () => {
    const full = Tool.result({ structured: null, content: "text", meta: { a: 1 }, isError: true })
    assert.instanceOf(full, Tool.Result)
    assert.deepStrictEqual(full.structured, Option.some(null))
    assert.deepStrictEqual(full.content, [{ type: "text", text: "text" }])
    assert.deepStrictEqual(full.meta, { a: 1 })
    assert.isTrue(full.isError)
    const bare = Tool.result({})
    assert.deepStrictEqual(bare.structured, Option.none())
    assert.deepStrictEqual(bare.content, [])
    assert.isFalse(bare.isError)
    assert.notInstanceOf({ ...bare }, Tool.Result)
  })

  it("takes texts and blocks, alone and mixed", () => {
    const image = { type: "image", data: "AAAA", mimeType: "image/png" } as const
    assert.deepStrictEqual(Tool.result({ content: image }).content, [image])
    assert.deepStrictEqual(Tool.result({ content: ["a", image] }).content, [{ type: "text", text: "a" }, image])
  })
})

describe("toDescriptor", () => {
  it("[TOL-05] writes what is there and nothing else", () => {
    assert.deepStrictEqual(Tool.toDescriptor(Tool.make("now")), { name: "now", inputSchema: { type: "object" } })
    const icons = [{ src: "data:image/png;base64,AAAA" }]
    const full = Tool.make("full", {
      title: "T",
      description: "D",
      output: { n: Schema.Int },
      annotations: { readOnlyHint: true },
      icons,
      meta: { a: 1 },
      asks: ["elicitation.form"],
      scopes: ["write"],
      task: "may"
    })
    assert.deepStrictEqual(Tool.toDescriptor(full), {
      name: "full",
      title: "T",
      description: "D",
      inputSchema: { type: "object" },
      outputSchema: full.outputSchema ?? {},
      annotations: { readOnlyHint: true },
      execution: { taskSupport: "optional" },
      icons,
      _meta: { a: 1 }
    })
    assert.deepStrictEqual(Tool.toDescriptor(Tool.make("t", { task: "must" })).execution, { taskSupport: "required" })
    assert.deepStrictEqual([full.asks, full.scopes, full.task], [["elicitation.form"], ["write"], "may"])
    assert.deepStrictEqual([Add.asks, Add.scopes, Add.task], [[], [], "never"])
  })

  it("tells contracts from other values", () => {
    assert.isTrue(Tool.isContract(Add))
    assert.isFalse(Tool.isContract({ _tag: "ToolContract" }))
  })
})
