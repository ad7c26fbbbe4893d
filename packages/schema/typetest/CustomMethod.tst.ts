import { Schema } from "effect"
import { expect, test } from "tstyche"
import * as CustomMethod from "../src/CustomMethod.ts"
import * as Extension from "../src/Extension.ts"
import * as Revisions from "../src/Revisions.ts"

const Search = CustomMethod.request("com.example/search", {
  params: { since: Schema.DateFromString, more: Schema.optionalKey(Schema.Boolean) },
  result: { hits: Schema.Array(Schema.String) }
})

test("a request has the types of its schemas", () => {
  expect(Search).type.toBe<
    CustomMethod.Request<
      "com.example/search",
      { readonly since: Date; readonly more?: boolean },
      { readonly hits: ReadonlyArray<string> },
      "client"
    >
  >()
  const codec = Revisions.newest.request(Search)
  if (codec === undefined) return
  expect(codec.encodeParams).type.toBeCallableWith({ since: new Date() })
  expect(codec.encodeParams).type.not.toBeCallableWith({ since: "2026" })
})

test("without shapes it takes nothing and gives nothing", () => {
  expect(CustomMethod.request("com.example/bare")).type.toBe<
    CustomMethod.Request<"com.example/bare", {}, void, "client">
  >()
  expect(CustomMethod.notification("com.example/bare")).type.toBe<
    CustomMethod.Notification<"com.example/bare", {}, "server">
  >()
})

test("shapes are objects on the wire", () => {
  expect(CustomMethod.request).type.not.toBeCallableWith("com.example/x", { params: Schema.String })
})

test("an extension has the settings of both sides", () => {
  const Sized = Extension.make("com.example/sized", { serverSettings: { n: Schema.Int }, requests: [Search] })
  expect(Sized).type.toBe<
    Extension.Extension<"com.example/sized", { readonly n: number }, {}, typeof Search, never>
  >()
})
