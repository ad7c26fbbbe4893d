import * as Resource from "@mcpfx/schema/ResourceContract"
import { Context, Effect, type Layer, Schema } from "effect"
import { expect, test } from "tstyche"
import type { Registry } from "../src/Registry.ts"
import type { DuplicateEntry } from "../src/ServerError.ts"
import * as ServerResource from "../src/ServerResource.ts"

class Db extends Context.Service<Db, { readonly name: string }>()("Db") {}
class Names extends Context.Service<Names, { readonly all: ReadonlyArray<string> }>()("Names") {}

const Note = Resource.make("note://one", { name: "one" })
const Settings = Resource.make("app://settings", { name: "settings", content: Schema.Struct({ at: Schema.Date }) })
const Item = Resource.template("item://{id}{?lines}", {
  name: "item",
  params: { id: Schema.Int, lines: Schema.optionalKey(Schema.Int) }
})

test("a resource is read from a value, an effect or a function", () => {
  expect(ServerResource.resource(Note, "x")).type.toBe<Layer.Layer<never, DuplicateEntry, Registry>>()
  expect(ServerResource.resource(Note, Effect.map(Db, ({ name }) => name)))
    .type.toBe<Layer.Layer<never, DuplicateEntry, Registry | Db>>()
  expect(ServerResource.resource(Note, (uri) => Effect.map(Db, () => uri)))
    .type.toBe<Layer.Layer<never, DuplicateEntry, Registry | Db>>()
  expect(ServerResource.resource).type.toBeCallableWith(Note, new Uint8Array())
  expect(ServerResource.resource).type.not.toBeCallableWith(Note, 1)
})

test("content with a schema is a value of it", () => {
  expect(ServerResource.resource).type.toBeCallableWith(Settings, { at: new Date() })
  expect(ServerResource.resource).type.toBeCallableWith(Settings, ServerResource.result({ value: { at: new Date() } }))
  expect(ServerResource.resource).type.not.toBeCallableWith(Settings, "x")
  expect(ServerResource.resource).type.not.toBeCallableWith(Settings, { at: "1970" })
})

test("a template's handler gets decoded variables", () => {
  const live = ServerResource.template(Item, (params, uri) => {
    expect(params).type.toBe<{ readonly id: number; readonly lines?: number }>()
    expect(uri).type.toBe<string>()
    return Effect.map(Db, ({ name }) => name)
  })
  expect(live).type.toBe<Layer.Layer<never, DuplicateEntry, Registry | Db>>()
  expect(ServerResource.template).type.not.toBeCallableWith(Item, (_: { readonly id: string }) => Effect.succeed("x"))
})

test("completions are for the template's variables, and what they need the layer needs", () => {
  const live = ServerResource.template(Item, () => Effect.succeed("x"), {
    complete: {
      id: ["7"],
      lines: (value, siblings) => Effect.map(Names, ({ all }) => [...all, value, siblings["id"] ?? ""])
    }
  })
  expect(live).type.toBe<Layer.Layer<never, DuplicateEntry, Registry | Names>>()
  expect(ServerResource.template).type.not.toBeCallableWith(Item, () => Effect.succeed("x"), {
    complete: { other: ["7"] }
  })
  expect(ServerResource.template).type.not.toBeCallableWith(Item, () => Effect.succeed("x"), { complete: { id: [7] } })
})
