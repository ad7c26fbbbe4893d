import { assert, it } from "@effect/vitest"
import { ClientSampling } from "@mcpfx/client"
import { Codes, type JsonRpc, type Sampling } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Effect, Layer, Ref } from "effect"
import { ask, connected, declaredTo, speaking, stateful } from "./support/asks.ts"

const method = "sampling/createMessage"
const user = (text: string): JsonRpc.JsonObject => ({ role: "user", content: { type: "text", text } })
const plain: JsonRpc.JsonObject = { messages: [user("How much?")], maxTokens: 100 }
const tool = { name: "add", inputSchema: { type: "object" } }

const asked = Effect.fnUntraced(function*(options: ClientSampling.Options = {}, answer?: Sampling.CreateResult) {
  const seen = yield* Ref.make<ReadonlyArray<Sampling.CreateParams>>([])
  const handlers = ClientSampling.layer(
    (params) => Effect.as(Ref.update(seen, (all) => [...all, params]), answer ?? ClientSampling.text("42", "deep")),
    options
  )
  return { seen: Ref.get(seen), handlers }
})

for (const version of stateful) {
  it.effect(`[SMP-07] the model answers on ${version}`, () =>
    Effect.gen(function*() {
      const server = yield* ScriptedServer.make(speaking(version))
      const { handlers, seen } = yield* asked({ tools: true, context: true })
      yield* connected(server, handlers, { revisions: [version] })
      assert.deepStrictEqual(yield* ask(server, method, { ...plain, systemPrompt: "Be brief", temperature: 0.5 }), {
        result: { role: "assistant", content: { type: "text", text: "42" }, model: "deep", stopReason: "endTurn" }
      })
      const [params] = yield* seen
      assert.deepInclude(params, { systemPrompt: "Be brief", temperature: 0.5, maxTokens: 100 })
      assert.deepStrictEqual(
        declaredTo(server),
        { sampling: version === "2025-11-25" ? { tools: {}, context: {} } : {} }
      )
    }))

  it.effect(`[SMP-07] several blocks become one where ${version} has one`, () =>
    Effect.gen(function*() {
      const server = yield* ScriptedServer.make(speaking(version))
      const blocks = [{ type: "text", text: "4" }, { type: "text", text: "2" }] as const
      const { handlers } = yield* asked({}, { role: "assistant", content: blocks, model: "deep" })
      yield* connected(server, handlers, { revisions: [version] })
      const { result } = yield* ask(server, method, plain)
      assert.deepStrictEqual(
        result?.["content"],
        version === "2025-11-25" ? blocks : { type: "text", text: "42" }
      )
    }))

  it.effect(`[SMP-09] a rejection is -1 on ${version}`, () =>
    Effect.gen(function*() {
      const server = yield* ScriptedServer.make(speaking(version))
      yield* connected(server, ClientSampling.layer(() => ClientSampling.reject), { revisions: [version] })
      assert.strictEqual((yield* ask(server, method, plain)).error?.code, Codes.userRejected)
    }))
}

const legacy = Effect.suspend(() => ScriptedServer.make(speaking("2025-11-25")))

it.effect("[SMP-04] tools and a choice of tools are refused where they were not declared", () =>
  Effect.gen(function*() {
    const server = yield* legacy
    const { handlers, seen } = yield* asked()
    yield* connected(server, handlers)
    assert.deepStrictEqual(declaredTo(server), { sampling: {} })
    assert.strictEqual((yield* ask(server, method, { ...plain, tools: [tool] }, 1)).error?.code, Codes.invalidParams)
    const choice = { ...plain, toolChoice: { mode: "none" } }
    assert.strictEqual((yield* ask(server, method, choice, 2)).error?.code, Codes.invalidParams)
    assert.deepStrictEqual(yield* seen, [])
  }))

it.effect("[SMP-08] context that was not declared is not added", () =>
  Effect.gen(function*() {
    for (const context of [false, true]) {
      const server = yield* legacy
      const { handlers, seen } = yield* asked({ context })
      yield* connected(server, handlers)
      yield* ask(server, method, { ...plain, includeContext: "allServers" })
      assert.deepStrictEqual((yield* seen).map(({ includeContext }) => includeContext), [
        context ? "allServers" : undefined
      ])
    }
  }))

const use = { role: "assistant", content: { type: "tool_use", id: "1", name: "add", input: {} } }
const given = (id: string) => ({ type: "tool_result", toolUseId: id, content: [] })

it.effect("[SMP-05] [SMP-09] calls of tools and their results go together, or it is -32602", () =>
  Effect.gen(function*() {
    const server = yield* legacy
    const { handlers, seen } = yield* asked({ tools: true })
    yield* connected(server, handlers)
    const send = (messages: ReadonlyArray<unknown>, id: number) =>
      ask(server, method, { messages, maxTokens: 10, tools: [tool] }, id)
    const good = yield* send([user("add"), use, { role: "user", content: [given("1")] }, user("thanks")], 0)
    assert.isDefined(good.result)
    const bad: ReadonlyArray<ReadonlyArray<unknown>> = [
      [user("add"), use],
      [user("add"), use, user("well?")],
      [user("add"), use, { role: "user", content: [given("2")] }],
      [user("add"), use, { role: "user", content: [given("1"), { type: "text", text: "here" }] }],
      [user("add"), use, { role: "user", content: [given("1"), given("3")] }],
      [user("add"), { role: "user", content: [given("1")] }],
      [{ role: "user", content: { type: "tool_use", id: "1", name: "add", input: {} } }, {
        role: "user",
        content: [given("1")]
      }]
    ]
    for (const [index, messages] of bad.entries()) {
      const { error } = yield* send(messages, index + 1)
      assert.strictEqual(error?.code, Codes.invalidParams, JSON.stringify(messages))
    }
    assert.strictEqual((yield* seen).length, 1)
  }))

it.effect("[SMP-07] params that are none are -32602", () =>
  Effect.gen(function*() {
    const server = yield* legacy
    const { handlers } = yield* asked()
    yield* connected(server, handlers)
    const bad: ReadonlyArray<JsonRpc.JsonObject> = [
      {},
      { messages: [], maxTokens: "many" },
      { messages: "hello", maxTokens: 1 },
      { messages: [{ role: "robot", content: { type: "text", text: "x" } }], maxTokens: 1 },
      { messages: [{ role: "user", content: { type: "smell" } }], maxTokens: 1 }
    ]
    for (const [index, params] of bad.entries()) {
      const { error } = yield* ask(server, method, params, index)
      assert.strictEqual(error?.code, Codes.invalidParams, JSON.stringify(params))
    }
  }))

it.effect("[SMP-07] what is no answer is not sent", () =>
  Effect.gen(function*() {
    const server = yield* legacy
    const broken: Sampling.CreateResult = JSON.parse(`{"role":"assistant","content":{"type":"text"},"model":"m"}`)
    const { handlers } = yield* asked({}, broken)
    yield* connected(server, Layer.mergeAll(handlers))
    assert.strictEqual((yield* ask(server, method, plain)).error?.code, Codes.internalError)
  }))
