import { Schema } from "effect"
import { describe, expect, test } from "tstyche"
import * as Resource from "../src/ResourceContract.ts"
import type * as UriTemplate from "../src/UriTemplate.ts"

describe("NamesOf", () => {
  test("reads the variables of a literal template", () => {
    expect<UriTemplate.NamesOf<"notes://{id}">>().type.toBe<"id">()
    expect<UriTemplate.NamesOf<"a{b,c}{/d*}{?e,f:3}{#g}{+h}{.i}{;j}{&k}">>().type.toBe<
      "b" | "c" | "d" | "e" | "f" | "g" | "h" | "i" | "j" | "k"
    >()
    expect<UriTemplate.NamesOf<"notes://all">>().type.toBe<never>()
    expect<UriTemplate.NamesOf<string>>().type.toBe<string>()
  })
})

describe("template", () => {
  const Note = Resource.template("notes://{id}{?lines}", {
    name: "note",
    params: { id: Schema.Int, lines: Schema.optionalKey(Schema.Int) },
    content: Schema.Struct({ text: Schema.String })
  })

  test("gives decoded params and content", () => {
    expect<Resource.ParamsOf<typeof Note>>().type.toBe<{ readonly id: number; readonly lines?: number }>()
    expect<Resource.ContentOf<typeof Note>>().type.toBe<{ readonly text: string }>()
    expect(Note).type.toBeAssignableTo<Resource.AnyTemplateContract>()
  })

  test("wants a schema for each variable, and for nothing else", () => {
    const name = "n"
    expect(Resource.template).type.toBeCallableWith("notes://{id}", { name, params: { id: Schema.Int } })
    expect(Resource.template).type.not.toBeCallableWith("notes://{id}", { name, params: {} })
    expect(Resource.template).type.not.toBeCallableWith("notes://{id}", {
      name,
      params: { id: Schema.Int, other: Schema.Int }
    })
    expect(Resource.template).type.not.toBeCallableWith("notes://{id}", { name })
  })
})

describe("make", () => {
  test("keeps the URI, and has no content type without a schema", () => {
    const plain = Resource.make("app://x", { name: "x" })
    expect(plain.uri).type.toBe<"app://x">()
    expect<Resource.ContentOf<typeof plain>>().type.toBe<never>()
    const typed = Resource.make("app://x", { name: "x", content: Schema.Finite })
    expect<Resource.ContentOf<typeof typed>>().type.toBe<number>()
    expect(typed).type.toBeAssignableTo<Resource.AnyContract>()
  })
})
