import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { InvalidContract } from "../src/InvalidContract.ts"
import * as Prompt from "../src/PromptContract.ts"

const Review = Prompt.make("review", {
  title: "Review",
  description: "Reviews code",
  arguments: {
    code: Schema.String.annotate({ title: "Code", description: "What to review" }),
    lang: Schema.Literals(["ts", "go"]).annotateKey({ description: "The language" }),
    depth: Schema.optionalKey(Schema.Int.annotate({ description: "How deep" })),
    strict: Schema.optional(Schema.Boolean.annotate({ description: "How strict" })),
    tone: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("kind"))),
    since: Schema.optionalKey(Schema.Date)
  }
})

const message = (of: Result.Result<unknown, { message(): string }>) => Result.getOrThrow(Result.flip(of)).message()

describe("make", () => {
  it("derives the arguments from the schemas", () => {
    assert.deepStrictEqual(Review.arguments, [
      { name: "code", title: "Code", description: "What to review", required: true },
      { name: "lang", description: "The language", required: true },
      { name: "depth", description: "How deep", required: false },
      { name: "strict", description: "How strict", required: false },
      { name: "tone", required: false },
      { name: "since", required: false }
    ])
  })

  it("throws a defect that names the prompt for an argument without a text form, and for no name", () => {
    const thrown = (run: () => unknown) => Result.getOrThrow(Result.flip(Result.try(run)))
    for (const schema of [Schema.Struct({ a: Schema.String }), Schema.Array(Schema.String)]) {
      const defect = thrown(() => Prompt.make("bad", { arguments: { ok: Schema.String, wrong: schema } }))
      assert.instanceOf(defect, InvalidContract)
      assert.strictEqual(defect.message, "prompt \"bad\": the argument \"wrong\" has no form as a string")
    }
    assert.instanceOf(thrown(() => Prompt.make("")), InvalidContract)
  })
})

describe("decodeArguments", () => {
  it("reads the text forms of values", () => {
    assert.deepStrictEqual(
      Review.decodeArguments({ code: "x", lang: "ts", depth: "2", strict: "true", since: "1970-01-01T00:00:00.000Z" }),
      Result.succeed({ code: "x", lang: "ts", depth: 2, strict: true, tone: "kind", since: new Date(0) })
    )
  })

  it("[PRM-03] names every argument that is missing", () => {
    for (const args of [undefined, {}]) {
      assert.strictEqual(message(Review.decodeArguments(args)), "code: is missing; lang: is missing")
    }
    assert.match(message(Review.decodeArguments({ code: "x", lang: "ts", depth: "two" })), /^depth: /)
    assert.match(message(Review.decodeArguments({ code: "x", lang: "rs" })), /^lang: Expected "ts" \| "go"$/)
  })

  it("[SCH-10] takes absent arguments for none, and nothing but an object for arguments", () => {
    const Plain = Prompt.make("plain")
    assert.deepStrictEqual(Plain.decodeArguments(undefined), Result.succeed({}))
    assert.deepStrictEqual(Plain.decodeArguments({ extra: "x" }), Result.succeed({}))
    for (const args of [null, [], "{}"]) {
      assert.strictEqual(message(Plain.decodeArguments(args)), "arguments must be an object")
      assert.strictEqual(message(Review.decodeArguments(args)), "arguments must be an object")
    }
  })

  it("[SCH-20] leaves strings that look like JSON alone", () => {
    const Echo = Prompt.make("echo", { arguments: { q: Schema.String } })
    for (const q of ["1", "null", "{}"]) assert.deepStrictEqual(Echo.decodeArguments({ q }), Result.succeed({ q }))
  })
})

describe("encodeArguments", () => {
  it("writes strings only, and nothing for what is absent", () => {
    assert.deepStrictEqual(
      Review.encodeArguments({ code: "x", lang: "go", depth: 2, strict: undefined, tone: "dry" }),
      Result.succeed({ code: "x", lang: "go", depth: "2", tone: "dry" })
    )
    assert.deepStrictEqual(Prompt.make("plain").encodeArguments({}), Result.succeed({}))
  })
})

describe("toDescriptor", () => {
  it("writes what is there and nothing else", () => {
    assert.deepStrictEqual(Prompt.toDescriptor(Prompt.make("plain")), { name: "plain" })
    const icons = [{ src: "https://example.com/a.png" }]
    const full = Prompt.make("full", {
      title: "T",
      description: "D",
      arguments: { a: Schema.String },
      icons,
      meta: { b: 1 },
      asks: ["sampling"],
      scopes: ["read"]
    })
    assert.deepStrictEqual(Prompt.toDescriptor(full), {
      name: "full",
      title: "T",
      description: "D",
      arguments: [{ name: "a", required: true }],
      icons,
      _meta: { b: 1 }
    })
    assert.deepStrictEqual([full.asks, full.scopes], [["sampling"], ["read"]])
    assert.isTrue(Prompt.isContract(full))
    assert.isFalse(Prompt.isContract({ _tag: "PromptContract" }))
  })
})
