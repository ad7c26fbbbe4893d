import { assert, it } from "@effect/vitest"
import { ClientElicitation, ClientSampling, type McpClient } from "@mcpfx/client"
import { JsonRpc } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Effect, Latch, Ref } from "effect"
import { asking, connected, said, sentTo } from "./support/asks.ts"
import { joined } from "./support/client.ts"
import { elicit, Handlers, reasonOf, roots, sample, serving, turns } from "./support/rounds.ts"

const answers = {
  who: { action: "accept", content: { name: "Ada" } },
  what: { role: "assistant", content: { type: "text", text: "42" }, model: "deep", stopReason: "endTurn" },
  where: { roots: [{ uri: "file:///work" }] }
}

const done = {
  "tools/call": said("done"),
  "prompts/get": ScriptedServer.result({ resultType: "complete", messages: [] }),
  "resources/read": ScriptedServer.result({
    resultType: "complete",
    contents: [{ uri: "a://1", text: "x" }],
    ttlMs: 60_000,
    cacheScope: "public"
  })
}

const calls = {
  "tools/call": (client: McpClient.McpClient["Service"]) => client.callTool("deploy", { env: "prod" }),
  "prompts/get": (client: McpClient.McpClient["Service"]) => client.getPrompt("greet", { a: "b" }),
  "resources/read": (client: McpClient.McpClient["Service"]) => client.readResource("a://1")
}
const methods = ["tools/call", "prompts/get", "resources/read"] as const

for (const method of methods) {
  it.effect(`[MRT-11] [MRT-12] [MRT-13] ${method} is sent again with answers and state, under a new id`, () =>
    Effect.gen(function*() {
      const state = "  opaque=\u00fc\ud83d\ude00\"\\ "
      const reply = turns(
        asking({ who: elicit, what: sample, where: roots }, state),
        asking({ who: elicit }),
        done[method]
      )
      const server = yield* serving({ [method]: reply })
      const client = yield* connected(server, Handlers)
      yield* calls[method](client)
      const [first, second, third, ...rest] = sentTo(server, method)
      assert.deepStrictEqual(second?.params, { ...first?.params, inputResponses: answers, requestState: state })
      assert.deepStrictEqual(third?.params, { ...first?.params, inputResponses: { who: answers.who } })
      assert.strictEqual(new Set([first?.id, second?.id, third?.id]).size, 3)
      assert.deepStrictEqual(rest, [])
    }))
}

it.effect("[CCH-04] what came by rounds is not kept", () =>
  Effect.gen(function*() {
    const reply = turns(
      asking({ where: roots }),
      done["resources/read"],
      asking(undefined, "s"),
      done["resources/read"]
    )
    const server = yield* serving({ "resources/read": reply })
    const client = yield* connected(server, Handlers)
    yield* client.readResource("a://1")
    yield* client.readResource("a://1")
    assert.strictEqual(sentTo(server, "resources/read").length, 4)
  }))

it.effect("[MRT-14] nothing of one request goes into another that runs beside it, or after it", () =>
  Effect.gen(function*() {
    const both = yield* Latch.make()
    let asked = 0
    const Slow = ClientElicitation.layerForm(() =>
      Effect.suspend(() => {
        const me = ++asked
        return Effect.as(
          asked === 2 ? both.open : both.await,
          ClientElicitation.accept({ name: `answer ${me}` })
        )
      })
    )
    const server = yield* serving({
      "tools/call": ({ params }) => {
        const name = String(params?.["name"])
        return params?.["inputResponses"] === undefined && name !== "c"
          ? asking({ [`who-${name}`]: elicit }, `of ${name}`)
          : said(name)
      }
    })
    const client = yield* connected(server, Slow)
    yield* Effect.all([client.callTool("a"), client.callTool("b"), client.callTool("c")], { concurrency: 3 })
    yield* client.callTool("c")
    const sent = sentTo(server, "tools/call").map(({ params }) => params)
    assert.lengthOf(sent, 6)
    const [bare, answered] = [
      sent.filter((one) => !("inputResponses" in one)),
      sent.filter((one) => "inputResponses" in one)
    ]
    assert.sameDeepMembers(bare, ["a", "b", "c", "c"].map((name) => ({ name })))
    assert.sameDeepMembers(
      answered,
      ["a", "b"].map((name, index) => ({
        name,
        inputResponses: { [`who-${name}`]: { action: "accept", content: { name: `answer ${index + 1}` } } },
        requestState: `of ${name}`
      }))
    )
  }))

it.effect("[ELI-09] a declined and a cancelled form are answers", () =>
  Effect.gen(function*() {
    for (const answer of [ClientElicitation.decline, ClientElicitation.cancel]) {
      const server = yield* serving({ "tools/call": turns(asking({ who: elicit }), said("as you like")) })
      const client = yield* connected(server, ClientElicitation.layerForm(() => Effect.succeed(answer)))
      yield* client.callTool("deploy")
      assert.deepStrictEqual(sentTo(server, "tools/call").at(-1)?.params, {
        name: "deploy",
        inputResponses: { who: answer }
      })
    }
  }))

it.effect("[SMP-09] a rejected sampling ends the request, which is not sent again", () =>
  Effect.gen(function*() {
    const server = yield* serving({ "tools/call": asking({ what: sample }) })
    const client = yield* connected(server, ClientSampling.layer(() => ClientSampling.reject))
    assert.deepInclude(yield* reasonOf(client.callTool("x")), { _tag: "InputRejected", ask: "sampling/createMessage" })
    assert.strictEqual(sentTo(server, "tools/call").length, 1)
  }))

it.effect("[MRT-05] what no handler answers ends the request before anybody is asked", () =>
  Effect.gen(function*() {
    const asked = yield* Ref.make(0)
    const forms = ClientElicitation.layerForm(() =>
      Effect.as(Ref.update(asked, (n) => n + 1), ClientElicitation.accept())
    )
    const withTools = { ...sample, params: { ...sample.params, tools: [] } }
    const page = { method: "elicitation/create", params: { mode: "url", message: "", url: "https://example.com/" } }
    const cases: ReadonlyArray<readonly [JsonRpc.JsonObject, unknown]> = [
      [{ a: elicit, b: roots }, { roots: {} }],
      [{ a: elicit, b: sample }, { sampling: {} }],
      [{ a: elicit, b: withTools }, { sampling: { tools: {} } }],
      [{ a: elicit, b: page }, { elicitation: { url: {} } }]
    ]
    for (const [requests, required] of cases) {
      const server = yield* serving({ "tools/call": asking(requests) })
      const client = yield* connected(server, forms)
      assert.deepInclude(yield* reasonOf(client.callTool("x")), { _tag: "InputNeeded", required })
    }
    assert.strictEqual(yield* Ref.get(asked), 0)
  }))

it.effect("[MRT-04] asks of unknown kinds and shapes are a bad answer", () =>
  Effect.gen(function*() {
    const bad: ReadonlyArray<JsonRpc.JsonObject> = [
      { a: { method: "tools/call", params: {} } },
      { a: elicit, b: { method: "elicitation/create", params: { message: 1 } } },
      { a: { method: "sampling/createMessage" } },
      { a: null },
      { a: "roots/list" }
    ]
    for (const requests of bad) {
      const server = yield* serving({ "tools/call": asking(requests) })
      const client = yield* connected(server, Handlers)
      assert.deepInclude(yield* reasonOf(client.callTool("x")), { _tag: "BadAnswer" }, JSON.stringify(requests))
    }
    const neither = yield* connected(yield* serving({ "tools/call": asking() }), Handlers)
    assert.deepInclude(yield* reasonOf(neither.callTool("x")), { _tag: "BadAnswer" })
    const javascript = { method: "elicitation/create", params: { mode: "url", message: "", url: "javascript:1" } }
    const pages = ClientElicitation.layerUrl(() => Effect.succeed(ClientElicitation.visit))
    const client = yield* connected(yield* serving({ "tools/call": asking({ a: javascript }) }), pages)
    assert.deepInclude(yield* reasonOf(client.callTool("x")), { _tag: "BadAnswer" })
  }))

it.effect("[MRT-04] keys are only names, whatever they are", () =>
  Effect.gen(function*() {
    const requests: JsonRpc.JsonObject = JSON.parse(
      `{"__proto__":{"method":"roots/list"},"constructor":{"method":"roots/list"},"":{"method":"roots/list"}}`
    )
    const server = yield* serving({ "tools/call": turns(asking(requests), said("done")) })
    const client = yield* connected(server, Handlers)
    yield* client.callTool("x")
    const responses = sentTo(server, "tools/call")[1]?.params["inputResponses"]
    assert.isTrue(JsonRpc.isJsonObject(responses))
    assert.deepStrictEqual(Object.keys(responses ?? {}), ["__proto__", "constructor", ""])
  }))

it.effect("a round with too much in it is a bad answer, and what is in it is answered a few at a time", () =>
  Effect.gen(function*() {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, elicit]))
    const running = yield* Ref.make(0)
    const most = yield* Ref.make(0)
    const forms = ClientElicitation.layerForm(() =>
      Effect.gen(function*() {
        const now = yield* Ref.updateAndGet(running, (n) => n + 1)
        yield* Ref.update(most, (n) => Math.max(n, now))
        yield* Effect.sleep("1 second")
        yield* Ref.update(running, (n) => n - 1)
        return ClientElicitation.accept({})
      })
    )
    const server = yield* serving({ "tools/call": turns(asking(many(7)), said("done")) })
    const client = yield* connected(server, forms, { concurrentAsks: 3, maxAsks: 7 })
    yield* joined(yield* Effect.forkChild(client.callTool("x")))
    assert.strictEqual(yield* Ref.get(most), 3)
    const greedy = yield* connected(yield* serving({ "tools/call": asking(many(8)) }), forms, { maxAsks: 7 })
    assert.deepInclude(yield* reasonOf(greedy.callTool("x")), { _tag: "BadAnswer" })
  }))
