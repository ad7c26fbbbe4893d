import { assert, describe, it } from "@effect/vitest"
import { ClientElicitation, ClientSampling, McpClient } from "@mcpfx/client"
import { Revisions, Tool } from "@mcpfx/schema"
import { Input, McpServer, Step } from "@mcpfx/server"
import { TestAnswers, TestServer } from "@mcpfx/testing"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import { Effect, Layer, Option, Schema } from "effect"

const Greet = Tool.make("greet", { input: {}, output: { text: Schema.String }, asks: ["elicitation.form"] })
const Every = Tool.make("every", {
  input: {},
  output: { text: Schema.String },
  asks: ["elicitation.form", "sampling", "roots"]
})
const Name = Schema.Struct({ name: Schema.String })

const GreetLive = McpServer.tool(
  Greet,
  () => Effect.map(Input.elicit("Your name?", Name), ({ name }) => ({ text: `Hello, ${name}` }))
)

const EveryLive = McpServer.tool(Every, () =>
  Effect.gen(function*() {
    const { name } = yield* Input.elicit("Your name?", Name)
    const { content } = yield* Input.sample({
      messages: [{ role: "user", content: { type: "text", text: `A word for ${name}?` } }],
      maxTokens: 10
    })
    const [root] = yield* Input.roots
    const said = Array.isArray(content) ? "" : "text" in content ? content.text : ""
    return { text: `${name} ${said} ${root?.uri}` }
  }))

for (const { version } of Revisions.all.filter(({ version }) => version >= "2025-06-18")) {
  describe(`on ${version}`, () => {
    it.effect("[MRT-11] a script answers, kind by kind, in order", () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        assert.deepStrictEqual(yield* client.call(Every, {}), { text: "Ada bright file:///work" })
        assert.deepStrictEqual(yield* client.call(Greet, {}), { text: "Hello, Bob" })
        const { asked, left } = yield* TestAnswers.TestAnswers
        assert.deepStrictEqual(asked().map(({ kind }) => kind), ["form", "model", "roots", "form"])
        assert.strictEqual(left(), 0)
      }).pipe(Effect.provide(TestServer.layer(Layer.mergeAll(GreetLive, EveryLive), {
        revision: version,
        answers: [
          TestAnswers.form({ name: "Ada" }),
          TestAnswers.form(({ message }) =>
            Effect.succeed(ClientElicitation.accept({ name: message === "" ? "" : "Bob" }))
          ),
          TestAnswers.model("bright"),
          TestAnswers.roots("file:///work")
        ]
      }))))

    it.effect("[CAP-02] what has no answers is not declared", () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const exit = yield* Effect.exit(client.call(Every, {}))
        assert.strictEqual(exit._tag, "Failure")
        const kinds = (yield* TestAnswers.TestAnswers).asked().map(({ kind }) => kind)
        assert.deepStrictEqual(kinds.filter((kind) => kind !== "form"), [])
      }).pipe(
        Effect.provide(TestServer.layer(EveryLive, { revision: version, answers: [TestAnswers.form({ name: "x" })] }))
      ))

    it.effect("[ELI-09] an ask beyond the script fails, and a refusal is one", () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        assert.strictEqual((yield* client.callTool("greet")).isError, true)
        assert.strictEqual((yield* Effect.exit(client.call(Greet, {})))._tag, "Failure")
      }).pipe(Effect.provide(TestServer.layer(GreetLive, {
        revision: version,
        answers: [TestAnswers.form(ClientElicitation.decline)]
      }))))
  })
}

it.effect("[SMP-09] a rejected sampling ends the call on 2026-07-28", () =>
  Effect.gen(function*() {
    const client = yield* McpClient.McpClient
    const error = yield* Effect.flip(client.callTool("sample"))
    assert.strictEqual(error.reason._tag, "InputRejected")
  }).pipe(Effect.provide(TestServer.layer(
    McpServer.tool(Tool.make("sample", { asks: ["sampling"] }), () =>
      Effect.as(
        Input.sample({ messages: [{ role: "user", content: { type: "text", text: "?" } }], maxTokens: 1 }),
        "done"
      )),
    { answers: [TestAnswers.model(() => ClientSampling.reject)] }
  ))))

const WhoAmI = Tool.make("whoami")
const WhoAmILive = McpServer.tool(
  WhoAmI,
  () =>
    Effect.map(
      CurrentPrincipal,
      (principal) => Option.match(principal, { onNone: () => "nobody", onSome: (p) => p.subject })
    )
)
const principal = (subject: string) => ({ issuer: "https://auth.example.com", subject, scopes: [], claims: {} })
const text = (text: string) => [{ type: "text" as const, text }]

for (const { version } of Revisions.all) {
  it.effect(`other callers can be tested with on ${version}`, () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      assert.deepStrictEqual((yield* client.call(WhoAmI)).content, text("ann"))
      const other = yield* TestServer.connect({ principal: principal("bob"), revision: version })
      assert.deepStrictEqual((yield* other.call(WhoAmI)).content, text("bob"))
      const nobody = yield* TestServer.connect()
      assert.deepStrictEqual((yield* nobody.call(WhoAmI)).content, text("nobody"))
    }).pipe(Effect.provide(TestServer.layer(WhoAmILive, { revision: version, principal: principal("ann") }))))
}

describe("re-entry", () => {
  const asks = { asks: ["elicitation.form"] } as const
  const say = (message: string) => Input.elicit(message, Schema.Struct({ ok: Schema.Boolean }))

  const outcome = <E>(registrations: Layer.Layer<never, E, McpServer.Provided>) =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const result = yield* Effect.result(client.callTool("x"))
      return result._tag === "Success" ? "fine" : result.failure.message
    }).pipe(Effect.provide(TestServer.layer(registrations, {
      reentry: true,
      answers: [TestAnswers.form({ ok: true }), TestAnswers.form({ ok: true }), TestAnswers.form({ ok: true })]
    })))

  it.effect("is survived by a handler that asks and steps the same way each time", () =>
    Effect.gen(function*() {
      let effects = 0
      const result = yield* outcome(McpServer.tool(Tool.make("x", asks), () =>
        Effect.gen(function*() {
          yield* say("first")
          yield* Step.run("count", () => Effect.sync(() => ++effects), Schema.Finite)
          yield* say("second")
          return "done"
        })))
      assert.strictEqual(result, "fine")
      assert.strictEqual(effects, 1)
    }))

  it.effect("shows asks that are not the same each time", () =>
    Effect.gen(function*() {
      let passes = 0
      const result = yield* outcome(
        McpServer.tool(Tool.make("x", asks), () => Effect.as(Effect.suspend(() => say(`pass ${++passes}`)), "done"))
      )
      assert.match(result, /two passes over tools\/call differ: ask elicit-.*, ask elicit-/)
    }))

  it.effect("shows that one pass asks and the other does not", () =>
    Effect.gen(function*() {
      let passes = 0
      const result = yield* outcome(McpServer.tool(Tool.make("x", asks), () =>
        Effect.suspend(() =>
          ++passes % 2 === 1 ? Effect.succeed("nothing to ask") : Effect.as(say("now"), "done")
        )))
      assert.match(result, /differ: ask elicit-/)
    }))

  it.effect("shows steps that are not the same each time", () =>
    Effect.gen(function*() {
      let passes = 0
      const result = yield* outcome(McpServer.tool(Tool.make("x", asks), () =>
        Effect.gen(function*() {
          yield* Step.run(`step.${++passes}`, () => Effect.void, Schema.Void)
          yield* say("then")
          return "done"
        })))
      assert.match(result, /differ: step step\.1, step step\.2/)
    }))

  it.effect("leaves stateful revisions and other requests alone", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      assert.deepStrictEqual(yield* client.call(Greet, {}), { text: "Hello, Ada" })
      assert.deepStrictEqual((yield* client.tools).map(({ name }) => name), ["greet"])
    }).pipe(Effect.provide(TestServer.layer(GreetLive, {
      reentry: true,
      revision: "2025-11-25",
      answers: [TestAnswers.form({ name: "Ada" })]
    }))))
})
