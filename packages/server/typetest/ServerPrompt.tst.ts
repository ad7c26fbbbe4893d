import * as Prompt from "@mcpfx/schema/PromptContract"
import { Context, Effect, type Layer, Schema } from "effect"
import { expect, test } from "tstyche"
import type { Registry } from "../src/Registry.ts"
import type { DuplicateEntry } from "../src/ServerError.ts"
import * as ServerPrompt from "../src/ServerPrompt.ts"

class Db extends Context.Service<Db, { readonly name: string }>()("Db") {}
class Names extends Context.Service<Names, { readonly all: ReadonlyArray<string> }>()("Names") {}

const Review = Prompt.make("review", { arguments: { code: Schema.String, depth: Schema.optionalKey(Schema.Int) } })

test("a handler gets decoded arguments and returns messages", () => {
  const live = ServerPrompt.prompt(Review, (args) => {
    expect(args).type.toBe<{ readonly code: string; readonly depth?: number }>()
    return Effect.map(Db, ({ name }) => [name, ServerPrompt.assistant("x")])
  })
  expect(live).type.toBe<Layer.Layer<never, DuplicateEntry, Registry | Db>>()
  expect(ServerPrompt.prompt).type.not.toBeCallableWith(Review, () => Effect.succeed(1))
  expect(ServerPrompt.prompt).type.not.toBeCallableWith(Review, () => Effect.fail("no"))
  expect(ServerPrompt.prompt).type.not.toBeCallableWith(Review, (_: { readonly code: number }) => Effect.succeed("x"))
})

test("completions are for the prompt's arguments, and what they need the layer needs", () => {
  const live = ServerPrompt.prompt(Review, () => Effect.succeed("x"), {
    complete: { code: (value) => Effect.map(Names, ({ all }) => [...all, value]) }
  })
  expect(live).type.toBe<Layer.Layer<never, DuplicateEntry, Registry | Names>>()
  expect(ServerPrompt.prompt).type.not.toBeCallableWith(Review, () => Effect.succeed("x"), { complete: { cod: ["a"] } })
})
