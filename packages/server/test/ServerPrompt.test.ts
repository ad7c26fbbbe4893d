import { assert, describe, it } from "@effect/vitest"
import * as Content from "@mcpfx/schema/Content"
import { InvalidParams, PromptNotFound } from "@mcpfx/schema/McpError"
import type { GetParams } from "@mcpfx/schema/Prompt"
import * as Prompt from "@mcpfx/schema/PromptContract"
import { Context, Effect, Exit, Layer, Schema } from "effect"
import type { Registry } from "../src/Registry.ts"
import { Declined, DuplicateEntry, ResultMismatch } from "../src/ServerError.ts"
import * as ServerPrompt from "../src/ServerPrompt.ts"
import { asRequest, defectOf, failsUnseen, offer } from "./support/registrations.ts"

const Review = Prompt.make("review", {
  description: "Reviews code",
  arguments: { code: Schema.String, depth: Schema.optionalKey(Schema.Int) }
})

const getting = <E>(registrations: Layer.Layer<never, E, Registry>, args?: GetParams["arguments"]) =>
  Effect.scoped(Effect.flatMap(offer(registrations), ({ snapshot }) => {
    const [prompt] = snapshot().prompts
    if (prompt === undefined) return Effect.die("no prompt")
    return asRequest(prompt.get(args === undefined ? { name: prompt.name } : { name: prompt.name, arguments: args }))
  }))

class Db extends Context.Service<Db, { readonly name: string }>()("test/Db") {}

const returning = (value: ServerPrompt.Messages | ServerPrompt.Result) =>
  getting(ServerPrompt.prompt(Prompt.make("p"), () => Effect.succeed(value)))

describe("ServerPrompt", () => {
  it.effect("lists the contract", () =>
    Effect.gen(function*() {
      const { snapshot } = yield* offer(ServerPrompt.prompt(Review, () => Effect.succeed("x")))
      assert.deepStrictEqual(snapshot().prompt("review")?.descriptor, Prompt.toDescriptor(Review))
    }))

  it.effect("gives the handler decoded arguments, and the caller messages with the description", () =>
    Effect.gen(function*() {
      const live = ServerPrompt.prompt(Review, ({ code, depth = 1 }) => Effect.succeed(`${code} ${depth + 1}`))
      assert.deepStrictEqual(yield* getting(live, { code: "x", depth: "2" }), {
        description: "Reviews code",
        messages: [{ role: "user", content: Content.text("x 3") }]
      })
    }))

  it.effect("takes a text, a message, several of either, or a result", () =>
    Effect.gen(function*() {
      const image = Content.image("AAAA", "image/png")
      const user = { role: "user", content: Content.text("a") } as const
      assert.deepStrictEqual(yield* returning("a"), { messages: [user] })
      assert.deepStrictEqual(yield* returning(ServerPrompt.user("a")), { messages: [user] })
      assert.deepStrictEqual(yield* returning(["a", ServerPrompt.assistant(image)]), {
        messages: [user, { role: "assistant", content: image }]
      })
      assert.deepStrictEqual(yield* returning([]), { messages: [] })
      assert.deepStrictEqual(
        yield* returning(ServerPrompt.result({ messages: "a", description: "d", meta: { x: 1 } })),
        { description: "d", messages: [user], _meta: { x: 1 } }
      )
    }))

  it.effect("[PRM-03] [PRM-06] [SCH-10] refuses a request without a required argument and names it", () =>
    Effect.gen(function*() {
      let handled = false
      const live = ServerPrompt.prompt(Review, () => Effect.sync(() => (handled = true, "x")))
      for (const args of [undefined, {}, { depth: "2" }]) {
        const error = yield* Effect.flip(getting(live, args))
        assert.instanceOf(error, InvalidParams)
        assert.include(error.detail, "code")
      }
      const wrong = yield* Effect.flip(getting(live, { code: "x", depth: "two" }))
      assert.isTrue(wrong instanceof InvalidParams && wrong.detail.startsWith("depth: "))
      assert.isFalse(handled)
    }))

  it.effect("[SCH-10] takes absent arguments for none", () =>
    Effect.gen(function*() {
      const live = ServerPrompt.prompt(Prompt.make("p"), (args) => Effect.succeed(JSON.stringify(args)))
      assert.deepStrictEqual((yield* getting(live)).messages, [ServerPrompt.user("{}")])
    }))

  it.effect("passes protocol errors, refuses with declined asks, and makes defects of the rest", () =>
    Effect.gen(function*() {
      const failing = (error: PromptNotFound | Declined) =>
        Effect.flip(getting(ServerPrompt.prompt(Prompt.make("p"), () => Effect.fail(error))))
      assert.deepStrictEqual(yield* failing(new PromptNotFound({ name: "p" })), new PromptNotFound({ name: "p" }))
      const declined = new Declined({ ask: "sampling" })
      assert.deepStrictEqual(yield* failing(declined), new InvalidParams({ detail: declined.message }))
      const unseen = getting(ServerPrompt.prompt(Prompt.make("p"), () => failsUnseen("secret")))
      assert.strictEqual(defectOf(yield* Effect.exit(unseen)), "secret")
    }))

  it.effect("[PRM-06] makes a defect of what is neither text nor messages", () =>
    Effect.gen(function*() {
      const wrong: Effect.Effect<string> = Effect.sync(() => JSON.parse("[{\"role\":1}]"))
      const exit = yield* Effect.exit(getting(ServerPrompt.prompt(Prompt.make("p"), () => wrong)))
      assert.instanceOf(defectOf(exit), ResultMismatch)
    }))

  it.effect("takes services from its layer", () =>
    Effect.gen(function*() {
      const live = ServerPrompt.prompt(Prompt.make("p"), () => Effect.map(Db, ({ name }) => name))
      const result = yield* getting(Layer.provide(live, Layer.succeed(Db, { name: "db" })))
      assert.deepStrictEqual(result.messages, [ServerPrompt.user("db")])
    }))

  it.effect("refuses two prompts of one name", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(offer(Layer.mergeAll(
        ServerPrompt.prompt(Review, () => Effect.succeed("a")),
        ServerPrompt.prompt(Review, () => Effect.succeed("b"))
      )))
      assert.deepStrictEqual(exit, Exit.fail(new DuplicateEntry({ kind: "prompt", name: "review" })))
    }))
})
