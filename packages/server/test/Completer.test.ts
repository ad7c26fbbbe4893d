import { assert, describe, it } from "@effect/vitest"
import { InvalidParams } from "@mcpfx/schema/McpError"
import * as Prompt from "@mcpfx/schema/PromptContract"
import { Effect, Schema } from "effect"
import * as fc from "fast-check"
import * as Completer from "../src/Completer.ts"
import { ResultMismatch } from "../src/ServerError.ts"
import * as ServerPrompt from "../src/ServerPrompt.ts"
import { asRequest, defectOf, failsUnseen, offer } from "./support/registrations.ts"

const Ask = Prompt.make("ask", { arguments: { city: Schema.String, street: Schema.optionalKey(Schema.String) } })

const completing = (provider: Completer.Provider, value = "", siblings: Readonly<Record<string, string>> = {}) =>
  Effect.scoped(Effect.flatMap(
    offer(ServerPrompt.prompt(Ask, () => Effect.succeed("x"), { complete: { street: provider } })),
    ({ snapshot }) => {
      const complete = snapshot().prompt("ask")?.completions.get("street")
      return complete === undefined ? Effect.die("no completion") : asRequest(complete(value, siblings))
    }
  ))

const many = Array.from({ length: 150 }, (_, i) => `v${i}`)

describe("Completer", () => {
  it.effect("offers the values of a list that begin with what was typed, whatever the case", () =>
    Effect.gen(function*() {
      const result = yield* completing(["Rome", "Riga", "Oslo", "rost"], "ro")
      assert.deepStrictEqual(result, { completion: { values: ["Rome", "rost"] } })
      assert.deepStrictEqual((yield* completing(["b", "a"])).completion.values, ["b", "a"])
    }))

  it.effect("[CMP-04] gives a function what was typed and what is filled in, and keeps its order", () =>
    Effect.gen(function*() {
      const result = yield* completing(
        (value, { city }) => Effect.succeed([`${city} ${value}`, "a"]),
        "x",
        { city: "Rome" }
      )
      assert.deepStrictEqual(result.completion.values, ["Rome x", "a"])
    }))

  it.effect("[CMP-02] [SCH-25] offers a hundred of more values and tells how many there are", () =>
    Effect.gen(function*() {
      for (const provider of [many, () => Effect.succeed(many), () => Effect.succeed({ values: many })]) {
        const { completion } = yield* completing(provider)
        assert.deepStrictEqual(completion.values, many.slice(0, 100))
        assert.deepInclude(completion, { total: 150, hasMore: true })
      }
    }))

  it.effect("[CMP-02] says what a provider knows about the rest", () =>
    Effect.gen(function*() {
      const known = yield* completing(() => Effect.succeed({ values: ["a"], total: 7, hasMore: true }))
      assert.deepStrictEqual(known, { completion: { values: ["a"], total: 7, hasMore: true } })
      const { completion } = yield* completing(() => Effect.succeed({ values: many, total: 1000, hasMore: false }))
      assert.deepInclude(completion, { total: 1000, hasMore: true })
    }))

  it.effect("has no completion for arguments without a provider", () =>
    Effect.gen(function*() {
      const { snapshot } = yield* offer(
        ServerPrompt.prompt(Ask, () => Effect.succeed("x"), { complete: { city: ["a"], street: undefined } })
      )
      assert.deepStrictEqual(Array.from(snapshot().prompt("ask")?.completions.keys() ?? []), ["city"])
    }))

  it.effect("[CMP-03] passes a refusal, and makes defects of undeclared failures and of what is no list", () =>
    Effect.gen(function*() {
      const refusal = new InvalidParams({ detail: "no" })
      assert.deepStrictEqual(yield* Effect.flip(completing(() => Effect.fail(refusal))), refusal)
      assert.strictEqual(defectOf(yield* Effect.exit(completing(() => failsUnseen("secret")))), "secret")
      const wrong: Effect.Effect<ReadonlyArray<string>> = Effect.sync(() => JSON.parse("[1]"))
      assert.instanceOf(defectOf(yield* Effect.exit(completing(() => wrong))), ResultMismatch)
    }))

  it("[CMP-02] [law] never offers more than a hundred values, and never fewer than it could", () => {
    fc.assert(fc.property(fc.array(fc.string(), { maxLength: 250 }), (values) => {
      const { completion } = Completer.offer(values)
      assert.deepStrictEqual(completion.values, values.slice(0, 100))
      assert.strictEqual(completion.hasMore ?? false, values.length > 100)
    }))
  })
})
