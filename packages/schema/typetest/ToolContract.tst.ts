import type { DateTime } from "effect"
import { Schema } from "effect"
import { describe, expect, test } from "tstyche"
import * as JsonSchema from "../src/JsonSchema.ts"
import * as Tool from "../src/ToolContract.ts"

class NotFound extends Schema.TaggedError<NotFound>("test/NotFound")("NotFound", { id: Schema.Int }) {}
class Busy extends Schema.TaggedError<Busy>("test/Busy")("Busy", {}) {}

const Add = Tool.make("add", {
  input: { a: Schema.Finite, b: Schema.optionalKey(Schema.Finite) },
  output: { sum: Schema.Finite },
  failure: Schema.Union([NotFound, Busy])
})

describe("make", () => {
  test("keeps the name, and the types of fields", () => {
    expect<Tool.NameOf<typeof Add>>().type.toBe<"add">()
    expect<Tool.InputOf<typeof Add>>().type.toBe<{ readonly a: number; readonly b?: number }>()
    expect<Tool.OutputOf<typeof Add>>().type.toBe<{ readonly sum: number }>()
    expect<Tool.FailureOf<typeof Add>>().type.toBe<NotFound | Busy>()
  })

  test("gives decoded types for transforming schemas", () => {
    const At = Tool.make("at", { input: { at: Schema.DateTimeUtcFromString, n: Schema.FiniteFromString } })
    expect<Tool.InputOf<typeof At>>().type.toBe<{ readonly at: DateTime.Utc; readonly n: number }>()
  })

  test("takes structs, unions and classes", () => {
    class User extends Schema.Class<User>("User")({ name: Schema.String }) {}
    const Union = Tool.make("union", {
      input: Schema.Union([Schema.Struct({ a: Schema.String }), User]),
      output: Schema.Array(User)
    })
    expect<Tool.InputOf<typeof Union>>().type.toBe<User | { readonly a: string }>()
    expect<Tool.OutputOf<typeof Union>>().type.toBe<ReadonlyArray<User>>()
  })

  test("has nothing where nothing is declared", () => {
    const Now = Tool.make("now")
    expect<Tool.InputOf<typeof Now>>().type.toBe<{}>()
    expect<Tool.OutputOf<typeof Now>>().type.toBe<never>()
    expect<Tool.FailureOf<typeof Now>>().type.toBe<never>()
  })

  test("gives foreign arguments as a record and foreign output as anything", () => {
    const Foreign = Tool.make("foreign", {
      input: JsonSchema.foreign({ type: "object" }),
      output: JsonSchema.foreign({ type: "array" })
    })
    expect<Tool.InputOf<typeof Foreign>>().type.toBeAssignableTo<{ readonly [key: string]: unknown }>()
    expect<Tool.OutputOf<typeof Foreign>>().type.toBe<unknown>()
  })

  test("refuses an input that is no object, and schemas that need services", () => {
    interface Service {
      readonly _: "Service"
    }
    const Served = Schema.make<Schema.Codec<{ readonly a: string }, { readonly a: string }, Service>>(
      Schema.Struct({}).ast
    )
    expect(Tool.make).type.not.toBeCallableWith("bad", { input: Served })
    expect(Tool.make).type.not.toBeCallableWith("bad", { output: Served })
    expect(Tool.make).type.not.toBeCallableWith("bad", { input: { a: Served } })
    expect(Tool.make).type.not.toBeCallableWith("bad", { input: Schema.String })
    expect(Tool.make).type.not.toBeCallableWith("bad", { input: { a: 1 } })
    expect(Tool.make).type.not.toBeCallableWith("bad", { failure: Schema.String })
    expect(Tool.make).type.not.toBeCallableWith("bad", { task: "always" })
    expect(Tool.make).type.not.toBeCallableWith("bad", { asks: ["anything"] })
  })

  test("is a contract of any kind", () => {
    expect(Add).type.toBeAssignableTo<Tool.AnyContract>()
    expect(Tool.make("now")).type.toBeAssignableTo<Tool.AnyContract>()
  })
})

describe("CallArguments", () => {
  test("may be left out when nothing is required", () => {
    const Limit = Tool.make("limit", { input: { limit: Schema.optionalKey(Schema.Int) } })
    const Now = Tool.make("now")
    expect<Tool.CallArguments<typeof Add>>().type.toBe<readonly [input: { readonly a: number; readonly b?: number }]>()
    expect<Tool.CallArguments<typeof Limit>>().type.toBe<readonly [input?: { readonly limit?: number }]>()
    expect<Tool.CallArguments<typeof Now>>().type.toBe<readonly [input?: {}]>()
  })
})

describe("result", () => {
  test("knows its structured type", () => {
    expect(Tool.result({ structured: { sum: 1 } })).type.toBe<Tool.Result<{ sum: number }>>()
    expect(Tool.result({ content: "x" })).type.toBe<Tool.Result>()
    expect(Tool.result({})).type.toBeAssignableTo<Tool.Result<{ sum: number }>>()
  })
})

describe("header", () => {
  test("keeps the schema, and goes on strings, numbers and booleans only", () => {
    expect(Schema.String.pipe(Tool.header("Region"))).type.toBe<Schema.String>()
    expect(Tool.header("Region")).type.not.toBeCallableWith(Schema.Array(Schema.String))
  })
})
