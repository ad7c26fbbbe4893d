import * as CustomMethod from "@mcpfx/schema/CustomMethod"
import * as Extension from "@mcpfx/schema/Extension"
import { RequestContext } from "@mcpfx/session/RequestContext"
import { Context, Effect, type Layer, type Option, Schema } from "effect"
import { expect, test } from "tstyche"
import type { Registry } from "../src/Registry.ts"
import type { DuplicateEntry } from "../src/ServerError.ts"
import * as ServerExtension from "../src/ServerExtension.ts"
import * as ServerMethod from "../src/ServerMethod.ts"

class Db extends Context.Service<Db, { readonly rows: number }>()("Db") {}

const Search = CustomMethod.request("com.example/search", {
  params: { since: Schema.DateFromString },
  result: { hits: Schema.Int }
})
const Pushed = CustomMethod.request("com.example/pushed", { sender: "server" })
const Here = CustomMethod.notification("com.example/here", { params: { at: Schema.String }, sender: "client" })
const Found = Extension.make("com.example/found", {
  serverSettings: { languages: Schema.Array(Schema.String) },
  clientSettings: { most: Schema.optionalKey(Schema.Int) },
  requests: [Search, Pushed],
  notifications: [Here]
})
const Bare = Extension.make("com.example/bare")

test("handlers get decoded params, and what they ask for the layer asks for", () => {
  const live = ServerExtension.layer(Found, {
    settings: { languages: ["en"] },
    handlers: {
      "com.example/search": ({ since }) => {
        expect(since).type.toBe<Date>()
        return Effect.gen(function*() {
          yield* RequestContext
          return { hits: (yield* Db).rows }
        })
      }
    },
    listeners: { "com.example/here": ({ at }) => Effect.log(at) }
  })
  expect(live).type.toBe<Layer.Layer<never, DuplicateEntry, Registry | Db>>()
  expect(ServerExtension.layer(Bare)).type.toBe<Layer.Layer<never, DuplicateEntry, Registry>>()
})

test("a handler for each request that clients send, and settings where there are any", () => {
  const settings = { languages: ["en"] }
  expect(ServerExtension.layer).type.not.toBeCallableWith(Found)
  expect(ServerExtension.layer).type.not.toBeCallableWith(Found, { settings })
  expect(ServerExtension.layer).type.not.toBeCallableWith(Found, {
    settings: { languages: "en" },
    handlers: { "com.example/search": () => Effect.succeed({ hits: 1 }) }
  })
  expect(ServerExtension.layer).type.not.toBeCallableWith(Found, {
    settings,
    handlers: { "com.example/search": () => Effect.succeed({ hits: "1" }) }
  })
  expect(ServerExtension.layer).type.not.toBeCallableWith(Found, {
    settings,
    handlers: { "com.example/search": () => Effect.fail("no") }
  })
})

test("what a client said has the type of the extension", () => {
  expect(ServerExtension.client(Found)).type.toBe<
    Effect.Effect<Option.Option<{ readonly most?: number }>, never, RequestContext>
  >()
})

test("methods alone", () => {
  const live = ServerMethod.method(Search, () => Effect.map(Db, ({ rows }) => ({ hits: rows })))
  expect(live).type.toBe<Layer.Layer<never, DuplicateEntry, Registry | Db>>()
  expect(ServerMethod.method).type.not.toBeCallableWith(Search, () => Effect.succeed({ hits: "1" }))
  expect(ServerMethod.method).type.not.toBeCallableWith(Pushed, () => Effect.void)
  expect(ServerMethod.announce).type.not.toBeCallableWith(Here, { at: "" })
})
