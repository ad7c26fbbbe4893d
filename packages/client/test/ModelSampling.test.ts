import { assert, it } from "@effect/vitest"
import { AskContext, ClientSampling, ModelSampling } from "@mcpfx/client"
import { Codes, type JsonRpc } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Effect, Layer, Ref, Stream } from "effect"
import { AiError, LanguageModel, type Response, Tool as AiTool } from "effect/ai"
import { ask, connected, declaredTo, speaking } from "./support/asks.ts"

const method = "sampling/createMessage"
const user = (text: string): JsonRpc.JsonObject => ({ role: "user", content: { type: "text", text } })

/** A model that gives this, and what it was asked. */
const modelOf = Effect.fnUntraced(function*(parts: Effect.Effect<Array<Response.PartEncoded>, AiError.AiError>) {
  const asked = yield* Ref.make<ReadonlyArray<LanguageModel.ProviderOptions>>([])
  const model = Layer.effect(
    LanguageModel.LanguageModel,
    LanguageModel.make({
      generateText: (options) => Effect.andThen(Ref.update(asked, (all) => [...all, options]), parts),
      streamText: () => Stream.empty
    })
  )
  return { model, asked: Ref.get(asked) }
})

const yes: Pick<ModelSampling.Options<never>, "consent" | "configure"> = {
  consent: Effect.succeed,
  configure: (call) => call
}

const said = (text: string, reason: Response.FinishReason = "stop"): Effect.Effect<Array<Response.PartEncoded>> =>
  Effect.succeed([
    { type: "response-metadata", modelId: "fake-1" },
    { type: "reasoning", text: "secret thoughts" },
    { type: "text", text },
    { type: "finish", reason, usage, response: undefined }
  ])

const usage = {
  inputTokens: { uncached: 1, total: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined }
}

const legacy = Effect.suspend(() => ScriptedServer.make(speaking("2025-11-25")))

it.effect("[SMP-02] the settings of the request reach the provider, the conversation the model", () =>
  Effect.gen(function*() {
    const server = yield* legacy
    const settings = yield* Ref.make<ReadonlyArray<ModelSampling.Settings>>([])
    const { asked, model } = yield* modelOf(said("42"))
    yield* connected(
      server,
      ModelSampling.layer({
        consent: Effect.succeed,
        configure: (call, given) => Effect.andThen(Ref.update(settings, (all) => [...all, given]), call)
      }).pipe(Layer.provide(model))
    )
    const { result } = yield* ask(server, method, {
      messages: [user("How much?"), { role: "assistant", content: { type: "text", text: "Of what?" } }, {
        role: "user",
        content: [{ type: "text", text: "This" }, { type: "image", data: "aGk=", mimeType: "image/png" }]
      }],
      systemPrompt: "Be brief",
      maxTokens: 7,
      temperature: 0.5,
      stopSequences: ["END"],
      modelPreferences: { hints: [{ name: "fake" }] }
    })
    assert.deepStrictEqual(result, {
      role: "assistant",
      content: { type: "text", text: "42" },
      model: "fake-1",
      stopReason: "endTurn"
    })
    assert.deepStrictEqual(yield* Ref.get(settings), [{
      maxTokens: 7,
      temperature: 0.5,
      stopSequences: ["END"],
      preferences: { hints: [{ name: "fake" }] }
    }])
    const [options] = yield* asked
    assert.deepStrictEqual(
      options?.prompt.content.map(({ content, role }) => [
        role,
        typeof content === "string" ? content : content.map((part) => part.type === "text" ? part.text : part.type)
      ]),
      [["system", "Be brief"], ["user", ["How much?"]], ["assistant", ["Of what?"]], ["user", ["This", "file"]]]
    )
  }))

it.effect("[SMP-01] nothing reaches the model that was not agreed to, and what was changed goes there changed", () =>
  Effect.gen(function*() {
    const server = yield* legacy
    const { asked, model } = yield* modelOf(said("42"))
    yield* connected(
      server,
      ModelSampling.layer({
        ...yes,
        consent: (params) =>
          Effect.flatMap(
            AskContext.AskContext,
            ({ server }) =>
              params.systemPrompt === undefined ? ClientSampling.reject : Effect.succeed({
                ...params,
                systemPrompt: `${server.info?.name} says: ${params.systemPrompt}`
              })
          )
      }).pipe(Layer.provide(model))
    )
    const plain = { messages: [user("?")], maxTokens: 1 }
    assert.strictEqual((yield* ask(server, method, plain, 1)).error?.code, Codes.userRejected)
    assert.deepStrictEqual(yield* asked, [])
    yield* ask(server, method, { ...plain, systemPrompt: "Hi" }, 2)
    assert.strictEqual((yield* asked)[0]?.prompt.content[0]?.content, "scripted says: Hi")
  }))

it.effect("[SMP-01] the answer is reviewed before the server gets it", () =>
  Effect.gen(function*() {
    const server = yield* legacy
    const { model } = yield* modelOf(said("password: 1234"))
    yield* connected(
      server,
      ModelSampling.layer({
        ...yes,
        review: (_, { maxTokens }) =>
          maxTokens > 5 ? ClientSampling.reject : Effect.succeed(ClientSampling.text("***", "m"))
      }).pipe(
        Layer.provide(model)
      )
    )
    const plain = { messages: [user("?")], maxTokens: 1 }
    assert.deepInclude((yield* ask(server, method, plain, 1)).result, { content: { type: "text", text: "***" } })
    assert.strictEqual((yield* ask(server, method, { ...plain, maxTokens: 9 }, 2)).error?.code, Codes.userRejected)
  }))

it.effect("[SMP-05] tools are offered under names the model takes, and its calls come back under their own", () =>
  Effect.gen(function*() {
    const server = yield* legacy
    const inputSchema = { type: "object", properties: { a: { type: "number" } } }
    const { asked, model } = yield* modelOf(Effect.succeed([
      { type: "text", text: "Let me see" },
      { type: "tool-call", id: "c2", name: "math_add", params: { a: 1 } },
      { type: "finish", reason: "tool-calls", usage, response: undefined }
    ]))
    yield* connected(server, ModelSampling.layer({ ...yes, tools: true, model: "named" }).pipe(Layer.provide(model)))
    assert.deepStrictEqual(declaredTo(server), { sampling: { tools: {} } })
    const { result } = yield* ask(server, method, {
      messages: [
        user("1?"),
        { role: "assistant", content: { type: "tool_use", id: "c1", name: "math.add", input: { a: 0 } } },
        {
          role: "user",
          content: [{ type: "tool_result", toolUseId: "c1", content: [{ type: "text", text: "0" }], isError: true }]
        }
      ],
      maxTokens: 100,
      tools: [{ name: "math.add", description: "Adds", inputSchema }],
      toolChoice: { mode: "required" }
    })
    assert.deepStrictEqual(result, {
      role: "assistant",
      content: [{ type: "text", text: "Let me see" }, {
        type: "tool_use",
        id: "c2",
        name: "math.add",
        input: { a: 1 }
      }],
      model: "named",
      stopReason: "toolUse"
    })
    const [options] = yield* asked
    assert.strictEqual(options?.toolChoice, "required")
    assert.deepStrictEqual(options?.tools.map((tool) => [tool.name, AiTool.getJsonSchema(tool)]), [[
      "math_add",
      inputSchema
    ]])
    assert.deepStrictEqual(options?.prompt.content.map(({ role }) => role), ["user", "assistant", "tool"])
    const [, calls, results] = options?.prompt.content ?? []
    assert.deepInclude(calls?.content[0], { type: "tool-call", id: "c1", name: "math_add", params: { a: 0 } })
    assert.deepInclude(results?.content[0], { type: "tool-result", id: "c1", name: "math_add", isFailure: true })
  }))

it.effect("[SMP-07] why the model stopped is told, and a failure of it is -32603", () =>
  Effect.gen(function*() {
    const reasons = [["stop", "endTurn"], ["length", "maxTokens"], ["content-filter", "contentFilter"], [
      "other",
      undefined
    ]] as const
    for (const [reason, stopReason] of reasons) {
      const server = yield* legacy
      const { model } = yield* modelOf(said("", reason))
      yield* connected(server, ModelSampling.layer(yes).pipe(Layer.provide(model)))
      const { result } = yield* ask(server, method, { messages: [user("?")], maxTokens: 1 })
      assert.strictEqual(result?.["stopReason"], stopReason)
      assert.deepStrictEqual(result?.["content"], { type: "text", text: "" })
    }
    const server = yield* legacy
    const failure = AiError.make({
      module: "Fake",
      method: "generateText",
      reason: new AiError.UnknownError({ description: "down" })
    })
    const { model } = yield* modelOf(Effect.fail(failure))
    yield* connected(server, ModelSampling.layer(yes).pipe(Layer.provide(model)))
    assert.strictEqual(
      (yield* ask(server, method, { messages: [user("?")], maxTokens: 1 })).error?.code,
      Codes.internalError
    )
  }))

it("[SMP-03] hints are looked at in order, as parts of names", () => {
  const models = ["claude-haiku-4", "Claude-Sonnet-4", "gpt"]
  const hinted = (...names: ReadonlyArray<string | undefined>) =>
    ClientSampling.hinted({ hints: names.map((name) => name === undefined ? {} : { name }) }, models)
  assert.strictEqual(hinted("sonnet", "haiku"), "Claude-Sonnet-4")
  assert.strictEqual(hinted("opus", "CLAUDE"), "claude-haiku-4")
  assert.strictEqual(hinted("", undefined, "opus"), undefined)
  assert.strictEqual(ClientSampling.hinted(undefined, models), undefined)
})
