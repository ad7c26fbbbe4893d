import { assert, describe, it } from "@effect/vitest"
import { Tool } from "@mcpfx/schema"
import { Input, LogBridge, Step } from "@mcpfx/server"
import * as McpServer from "@mcpfx/server/McpServer"
import * as Progress from "@mcpfx/session/Progress"
import { RequestContext } from "@mcpfx/session/RequestContext"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { at, Client, type Json, type Sent, serve, Wire } from "./protocol/harness.ts"
import { accept, everything, logged, play } from "./support/asking.ts"

const modern = "2026-07-28"
const Ask = Tool.make("ask")
const Name = Schema.Struct({ name: Schema.String })
const bob = accept({ name: "Bob" })
const ask = (message: string, key?: string) => Effect.map(Input.elicit(message, Name, { key }), ({ name }) => name)

const tool = (handler: () => Effect.Effect<string, Effect.Error<ReturnType<typeof ask>>, Input.Services>) =>
  serve(McpServer.tool(Ask, handler))

const call = (client: Client, more: Json = {}) =>
  client.request("tools/call", {
    name: "ask",
    _meta: { "io.modelcontextprotocol/clientCapabilities": everything },
    ...more
  })

const keysOf = (sent: Sent): ReadonlyArray<string> => Object.keys(Object(at(sent.result, "inputRequests")))

describe("keys", () => {
  it.effect("equal questions are counted, others are not", () =>
    Effect.gen(function*() {
      const played = yield* play(
        yield* tool(() => Effect.map(Effect.all([ask("A"), ask("A"), ask("B")]), (all) => all.join())),
        modern,
        "ask",
        bob
      )
      assert.strictEqual(played.text, "Bob,Bob,Bob")
      const keys = played.asked.map(({ key }) => String(key))
      assert.strictEqual(new Set(keys).size, 3)
      assert.deepStrictEqual(keys.map((key) => key.slice(-2)), ["-1", "-2", "-1"])
    }))

  it.effect("a key of one's own is the key on the wire, and taken once", () =>
    Effect.gen(function*() {
      const played = yield* play(yield* tool(() => ask("A", "user_name")), modern, "ask", bob)
      assert.strictEqual(played.asked[0]?.key, "user_name")
      const twice = tool(() => Effect.map(Effect.all([ask("A", "k"), ask("B", "k")]), () => "both"))
      const { text, value } = yield* logged(Effect.flatMap(twice, (endpoint) => play(endpoint, modern, "ask", bob)))
      assert.strictEqual(value.sent.code, -32603)
      assert.include(text, "DuplicateKey")
    }))

  it.effect("a question that changed under its key is named as a defect", () =>
    Effect.gen(function*() {
      let pass = 0
      const changing = tool(() => ask(`number ${++pass}`, "k"))
      const { text, value } = yield* logged(Effect.flatMap(changing, (endpoint) => play(endpoint, modern, "ask", bob)))
      assert.strictEqual(value.sent.code, -32603)
      assert.include(text, "AskChanged")
    }))

  it.effect("a new question that passes by what was answered is named as a defect, at once", () =>
    Effect.gen(function*() {
      let pass = 0
      const changing = tool(() => ask(`number ${++pass}`))
      const { text, value } = yield* logged(Effect.flatMap(changing, (endpoint) => play(endpoint, modern, "ask", bob)))
      assert.strictEqual(value.sent.code, -32603)
      assert.strictEqual(value.all.length, 2)
      assert.include(text, "AskNotReplayed")
    }))
})

describe("answers", () => {
  it.effect("[MRT-10] what is missing is asked again, what is extra is left alone", () =>
    Effect.gen(function*() {
      const client = new Client(yield* tool(() => ask("A", "a")), modern, new Wire())
      const first = yield* call(client)
      const requestState = at(first.result, "requestState")
      const other = yield* call(client, {
        requestState,
        inputResponses: { b: bob({ method: "", params: {}, key: "" }) }
      })
      assert.deepStrictEqual(keysOf(other), ["a"])
      const none = yield* call(client, { requestState: at(other.result, "requestState") })
      assert.deepStrictEqual(keysOf(none), ["a"])
      const done = yield* call(client, {
        requestState: at(none.result, "requestState"),
        inputResponses: { b: 7, a: { action: "accept", content: { name: "Ann" } } }
      })
      assert.strictEqual(at(done.result, "content", 0, "text"), "Ann")
    }))

  it.effect("[MRT-10] an answer of another shape is refused, and one that does not fit the form is told", () =>
    Effect.gen(function*() {
      const client = new Client(yield* tool(() => ask("A", "a")), modern, new Wire())
      const requestState = at((yield* call(client)).result, "requestState")
      for (const inputResponses of [{ a: 12_345 }, { a: { action: "dance" } }, { a: null }]) {
        const sent = yield* call(client, { requestState, inputResponses })
        assert.strictEqual(sent.code, -32602)
        assert.include(String(at(sent.error, "message")), `inputResponses["a"]`)
      }
      assert.strictEqual((yield* call(client, { requestState, inputResponses: null })).code, -32602)
      const wrong = yield* call(client, {
        requestState,
        inputResponses: { a: { action: "accept", content: { name: 1 } } }
      })
      assert.strictEqual(at(wrong.result, "isError"), true)
      assert.include(String(at(wrong.result, "content", 0, "text")), "name: Expected string")
    }))

  it.effect("answers without a state belong to nothing", () =>
    Effect.gen(function*() {
      const client = new Client(yield* tool(() => ask("A", "a")), modern, new Wire())
      const sent = yield* call(client, { inputResponses: { a: { action: "accept", content: { name: "x" } } } })
      assert.strictEqual(at(sent.result, "resultType"), "input_required")
    }))

  it.effect("an answer that came after the deadline of its question is none", () =>
    Effect.gen(function*() {
      const slow = tool(() =>
        Effect.map(Input.elicit("A", Name, { key: "a", timeout: "5 seconds" }), ({ name }) => name)
      )
      const client = new Client(yield* slow, modern, new Wire())
      const requestState = at((yield* call(client)).result, "requestState")
      const inputResponses = { a: { action: "accept", content: { name: "x" } } }
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(at((yield* call(client, { requestState, inputResponses })).result, "content", 0, "text"), "x")
      yield* TestClock.adjust("1 seconds")
      const late = yield* call(client, { requestState, inputResponses })
      assert.strictEqual(
        at(late.result, "content", 0, "text"),
        "The client did not answer within 6000 ms (elicitation.form)"
      )
    }))
})

describe("steps", () => {
  it.effect("run once over all rounds, under one key for the outside", () =>
    Effect.gen(function*() {
      const runs: Array<string> = []
      const handler = Effect.gen(function*() {
        const id = yield* Step.run("start", ({ idempotencyKey }) =>
          Effect.sync(() => {
            runs.push(idempotencyKey)
            return runs.length
          }), Schema.Int)
        const first = yield* ask("A")
        const at = yield* Step.run("when", () => Effect.succeed(new Date(id)), Schema.Date)
        const second = yield* ask("B")
        return `${id} ${first} ${at.getTime()} ${second}`
      })
      const played = yield* play(yield* tool(() => handler), modern, "ask", bob)
      assert.strictEqual(played.text, "1 Bob 1 Bob")
      assert.strictEqual(played.all.length, 3)
      assert.lengthOf(runs, 1)
    }))

  it.effect("a step that fails runs again, under the same key", () =>
    Effect.gen(function*() {
      const runs: Array<string> = []
      const step = Step.run("start", ({ idempotencyKey }) =>
        Effect.suspend(() => {
          runs.push(idempotencyKey)
          return Effect.fail("no")
        }), Schema.String)
      const handler = Effect.andThen(Effect.ignore(step), ask("A"))
      assert.strictEqual((yield* play(yield* tool(() => handler), modern, "ask", bob)).text, "Bob")
      assert.lengthOf(runs, 2)
      assert.strictEqual(runs[0], runs[1])
    }))

  it.effect("are waited for by a round that would end", () =>
    Effect.gen(function*() {
      const done: Array<string> = []
      const slow = Step.run(
        "slow",
        () => Effect.as(Effect.andThen(Effect.sleep("1 minute"), Effect.sync(() => void done.push("step"))), "s"),
        Schema.String
      )
      const handler = Effect.map(Effect.all([ask("A"), slow], { concurrency: 2 }), ([a, s]) => `${a} ${s}`)
      const client = new Client(yield* tool(() => handler), modern, new Wire())
      const sent = client.start("tools/call", {
        name: "ask",
        _meta: { "io.modelcontextprotocol/clientCapabilities": everything }
      })
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 30)))
      yield* TestClock.adjust("59 seconds")
      assert.isFalse(sent.closed)
      yield* TestClock.adjust("2 seconds")
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50)))
      assert.strictEqual(at(sent.result, "resultType"), "input_required")
      const [key] = keysOf(sent)
      const again = yield* call(client, {
        requestState: at(sent.result, "requestState"),
        inputResponses: { [String(key)]: { action: "accept", content: { name: "Ann" } } }
      })
      assert.strictEqual(at(again.result, "content", 0, "text"), "Ann s")
      assert.deepStrictEqual(done, ["step"])
    }))

  it.effect("a question inside of a step, and a step of a taken name, are named as defects", () =>
    Effect.gen(function*() {
      const inside = tool(() => Step.run("s", () => ask("A"), Schema.String))
      const first = yield* logged(Effect.flatMap(inside, (endpoint) => play(endpoint, modern, "ask", bob)))
      assert.strictEqual(first.value.sent.code, -32603)
      assert.include(first.text, "AskMisplaced")
      const step = Step.run("s", () => Effect.succeed("x"), Schema.String)
      const second = yield* logged(
        Effect.flatMap(tool(() => Effect.andThen(step, step)), (endpoint) => play(endpoint, modern, "ask", bob))
      )
      assert.include(second.text, "DuplicateKey")
    }))
})

describe("what a pass repeats", () => {
  it.effect("[PRG-02, LOG-04] progress and logs are sent once, and progress rises over all rounds", () =>
    Effect.gen(function*() {
      const report = (progress: number) => Progress.report({ progress })
      const handler = Effect.gen(function*() {
        yield* report(1)
        yield* LogBridge.log("info", "before A")
        const first = yield* ask("A", "a")
        yield* report(2)
        yield* LogBridge.log("info", "after A")
        const second = yield* ask("B", "b")
        yield* report(1.5)
        yield* report(3)
        yield* LogBridge.log("info", "after B")
        return first + second
      })
      const played = yield* play(yield* tool(() => handler), modern, "ask", bob, {
        meta: { progressToken: "t", "io.modelcontextprotocol/logLevel": "debug" }
      })
      assert.strictEqual(played.text, "BobBob")
      const said = played.all.map(({ pushed }) =>
        pushed.map((message) => at(message, "params", "progress") ?? at(message, "params", "data"))
      )
      assert.deepStrictEqual(said, [[1, "before A"], [2, "after A"], [3, "after B"]])
    }))

  it.effect("a handler knows its round", () =>
    Effect.gen(function*() {
      const rounds: Array<number> = []
      const handler = Effect.gen(function*() {
        rounds.push((yield* RequestContext).round)
        const first = yield* ask("A")
        return first + (yield* ask("B"))
      })
      yield* play(yield* tool(() => handler), modern, "ask", bob)
      assert.deepStrictEqual(rounds, [1, 2, 3])
    }))

  it.effect("a request takes so many rounds at most", () =>
    Effect.gen(function*() {
      const handler = Effect.gen(function*() {
        for (let index = 0;; index++) yield* ask(`${index}`)
      })
      const endpoint = yield* serve(McpServer.tool(Ask, () => handler), { limits: { rounds: 3 } })
      const played = yield* play(endpoint, modern, "ask", bob)
      assert.strictEqual(played.all.length, 3)
      assert.deepStrictEqual([played.sent.code, at(played.sent.error, "data")], [-32603, { limit: "rounds" }])
    }))
})
