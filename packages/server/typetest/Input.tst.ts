import * as Prompt from "@mcpfx/schema/PromptContract"
import type * as Sampling from "@mcpfx/schema/Sampling"
import * as Tool from "@mcpfx/schema/ToolContract"
import { Effect, type Layer, Schema } from "effect"
import { expect, test } from "tstyche"
import type { Asking } from "../src/Entry.ts"
import * as Input from "../src/Input.ts"
import type { Registry } from "../src/Registry.ts"
import type { DuplicateEntry, InputError, StepInDoubt } from "../src/ServerError.ts"
import * as ServerPrompt from "../src/ServerPrompt.ts"
import * as ServerTool from "../src/ServerTool.ts"
import * as Step from "../src/Step.ts"

const Say = Tool.make("say", { input: { at: Schema.Date } })
const Greet = Prompt.make("greet", { arguments: { name: Schema.String } })
const ask = Input.elicit("?", Schema.Struct({ a: Schema.Int, b: Schema.optionalKey(Schema.String) }))

test("a question has the type of its form", () => {
  expect(ask).type.toBe<
    Effect.Effect<{ readonly a: number; readonly b?: string }, InputError, Input.Services>
  >()
  expect(Input.choices({ x: "X", y: "Y" })).type.toBe<Schema.Codec<"x" | "y">>()
})

test("handlers of tools and prompts may ask, completions may not", () => {
  expect(ServerTool.tool(Say, () => Effect.asVoid(ask))).type.toBe<Layer.Layer<never, DuplicateEntry, Registry>>()
  expect(ServerPrompt.prompt(Greet, () => Effect.as(ask, "hi"))).type.toBe<
    Layer.Layer<never, DuplicateEntry, Registry>
  >()
  const completing = ServerPrompt.prompt(Greet, () => Effect.succeed("hi"), {
    complete: { name: () => Effect.as(ask, ["a"]) }
  })
  expect(completing).type.toBe<Layer.Layer<never, DuplicateEntry, Registry | Asking>>()
})

test("several questions keep their types, by name and by place", () => {
  expect(Input.all({ a: ask, s: Input.sample({ messages: [], maxTokens: 1 }) })).type.toBe<
    Effect.Effect<
      { a: { readonly a: number; readonly b?: string }; s: Sampling.CreateResult },
      InputError,
      Input.Services
    >
  >()
  expect(Input.all([ask, Effect.succeed(1)])).type.toBeAssignableTo<
    Effect.Effect<readonly [{ readonly a: number; readonly b?: string }, number], InputError, Input.Services>
  >()
})

test("a step has the type of its schema, and may be in doubt", () => {
  expect(Step.run("s", ({ idempotencyKey }) => Effect.fail(idempotencyKey.length), Schema.String)).type.toBe<
    Effect.Effect<string, number | StepInDoubt, Input.Services>
  >()
})
