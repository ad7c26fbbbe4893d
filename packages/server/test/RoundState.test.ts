import { assert, describe, it } from "@effect/vitest"
import { Tool } from "@mcpfx/schema"
import { Input, ReplayGuard, StateStore, Step, StepStore } from "@mcpfx/server"
import { McpEndpoint } from "@mcpfx/server/McpEndpoint"
import * as McpServer from "@mcpfx/server/McpServer"
import type { Principal } from "@mcpfx/transport"
import { Config, ConfigProvider, Context, Deferred, Effect, Exit, Layer, Schema } from "effect"
import { HttpRouter } from "effect/http"
import { TestClock } from "effect/testing"
import { at, Client, type Json, overHttp, serve, Wire } from "./protocol/harness.ts"
import { accept, everything, logged, play } from "./support/asking.ts"

const modern = "2026-07-28"
const Name = Schema.Struct({ name: Schema.String })
const Ask = Tool.make("ask", { input: { n: Schema.optionalKey(Schema.Int) }, asks: ["elicitation.form"] })
const Other = Tool.make("other")
const ask = Effect.map(Input.elicit("Who?", Name, { key: "who" }), ({ name }) => name)
const tools = Layer.merge(McpServer.tool(Ask, () => ask), McpServer.tool(Other, () => ask))
const _meta = { "io.modelcontextprotocol/clientCapabilities": everything }
const inputResponses = { who: { action: "accept", content: { name: "Bob" } } }

const begin = (client: Client, params: Json = { name: "ask" }) =>
  Effect.map(client.request("tools/call", { ...params, _meta }), (sent) => at(sent.result, "requestState"))
const resume = (client: Client, requestState: unknown, params: Json = { name: "ask" }) =>
  client.request("tools/call", { ...params, _meta, requestState, inputResponses })

const principal = (subject: string, more: Partial<Principal.Principal> = {}): Principal.Principal => ({
  issuer: "https://issuer",
  subject,
  scopes: [],
  claims: {},
  ...more
})

describe("a client that never comes back", () => {
  it.effect("[MRT-09] [STA-05] leaves nothing behind", () =>
    Effect.gen(function*() {
      let held = 0
      const hold = Effect.acquireRelease(Effect.sync(() => held++), () => Effect.sync(() => held--))
      const tool = McpServer.tool(Ask, () => Effect.andThen(hold, ask))
      const endpoint = yield* serve(tool, { limits: { requestsInFlight: 2 } })
      const client = new Client(endpoint, modern, new Wire())
      for (let times = 0; times < 5; times++) assert.isString(yield* begin(client))
      assert.deepStrictEqual([endpoint.health().inFlight, held], [0, 0])
    }))
})

describe("a state that comes back", () => {
  it.effect("[MRT-06] [MRT-07] [SEC-07] [ELI-16] [ELI-21] changed, of another request or of another caller: one and the same refusal", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(tools)
      const client = overHttp(endpoint, modern, { principal: principal("ann") })
      const state = yield* begin(client)
      const refused = [
        yield* resume(client, `${String(state)}-TAMPERED`),
        yield* resume(client, "made up"),
        yield* resume(client, ""),
        yield* resume(client, state, { name: "other" }),
        yield* resume(client, state, { name: "ask", arguments: { n: 1 } }),
        yield* resume(overHttp(endpoint, modern, { principal: principal("eve") }), state),
        yield* resume(overHttp(endpoint, modern), state),
        yield* resume(overHttp(endpoint, modern, { principal: principal("ann", { clientId: "c" }) }), state),
        yield* resume(overHttp(yield* serve(tools), modern, { principal: principal("ann") }), state)
      ]
      for (const { error } of refused) {
        assert.deepStrictEqual(error, { code: -32602, message: "requestState does not belong to this request" })
      }
      assert.strictEqual((yield* resume(client, 7)).code, -32602)
      const scoped = principal("ann", { scopes: ["more"], claims: { iat: 1 } })
      const done = yield* resume(overHttp(endpoint, modern, { principal: scoped }), state)
      assert.strictEqual(at(done.result, "content", 0, "text"), "Bob")
    }))

  it.effect("arguments are the same whatever their order, and none are no arguments", () =>
    Effect.gen(function*() {
      const client = new Client(yield* serve(tools), modern, new Wire())
      const state = yield* begin(client, { name: "ask", arguments: {} })
      assert.isUndefined((yield* resume(client, state)).error)
    }))

  it.effect("[MRT-07] too late: told apart, to whom it belongs", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(tools)
      const client = overHttp(endpoint, modern, { principal: principal("ann") })
      const state = yield* begin(client)
      yield* TestClock.adjust("9 minutes")
      assert.isUndefined((yield* resume(client, state)).error)
      yield* TestClock.adjust("1 minutes")
      assert.deepStrictEqual((yield* resume(client, state)).error, {
        code: -32602,
        message: "requestState has expired",
        data: { reason: "expired" }
      })
      const other = yield* resume(overHttp(endpoint, modern, { principal: principal("eve") }), state)
      assert.strictEqual(at(other.error, "message"), "requestState does not belong to this request")
    }))

  it.effect("another instance with the same keys takes it up", () =>
    Effect.gen(function*() {
      const requestState = { keys: ["a secret that all instances have"] }
      const first = new Client(yield* serve(tools, { requestState }), modern, new Wire())
      const second = new Client(yield* serve(tools, { requestState }), modern, new Wire())
      assert.isUndefined((yield* resume(second, yield* begin(first))).error)
    }))

  it.effect("[MRT-07] comes twice while it lives, unless a guard is there", () =>
    Effect.gen(function*() {
      const free = new Client(yield* serve(tools), modern, new Wire())
      const state = yield* begin(free)
      for (const _ of [1, 2]) assert.isUndefined((yield* resume(free, state)).error)
      const guarded = yield* serve(tools).pipe(Effect.provide(ReplayGuard.layerMemory()))
      const client = new Client(guarded, modern, new Wire())
      const once = yield* begin(client)
      assert.isUndefined((yield* resume(client, once)).error)
      assert.strictEqual((yield* resume(client, once)).code, -32602)
    }))

  it.effect("too large to travel is a defect that names the largest part, unless it stays in a store", () =>
    Effect.gen(function*() {
      const long = "x".repeat(80_000)
      const two = McpServer.tool(Ask, () =>
        Effect.gen(function*() {
          const first = yield* Input.elicit("Who?", Name, { key: "who" })
          yield* Input.elicit("And?", Name, { key: "and" })
          return `${first.name.length}`
        }))
      const answer = accept({ name: long })
      const failed = yield* logged(Effect.flatMap(serve(two), (endpoint) => play(endpoint, modern, "ask", answer)))
      assert.strictEqual(failed.value.sent.code, -32603)
      assert.include(failed.text, `the largest part is "who"`)
      assert.notInclude(failed.text, "xxxx")
      const kept = yield* serve(two).pipe(Effect.provide(StateStore.layerMemory()))
      const played = yield* play(kept, modern, "ask", answer)
      assert.strictEqual(played.text, "80000")
      for (const { result } of played.all.slice(0, 2)) {
        assert.isBelow(String(at(result, "requestState")).length, 300)
      }
      const huge = accept({ name: "x".repeat(1_100_000) })
      const storing = serve(two).pipe(Effect.provide(StateStore.layerMemory()))
      const tooLarge = yield* logged(Effect.flatMap(storing, (endpoint) => play(endpoint, modern, "ask", huge)))
      assert.strictEqual(tooLarge.value.sent.code, -32603)
      assert.include(tooLarge.text, "at most 1048576 are allowed")
    }))

  it.effect("[STA-06] a handle whose state is gone has expired", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(tools).pipe(Effect.provide(StateStore.layerMemory({ entries: 1 })))
      const client = new Client(endpoint, modern, new Wire())
      const first = yield* begin(client)
      yield* begin(client)
      assert.strictEqual(at((yield* resume(client, first)).error, "data", "reason"), "expired")
    }))
})

describe("steps that are remembered", () => {
  const counting = (runs: Array<string>) =>
    McpServer.tool(Ask, () =>
      Effect.gen(function*() {
        const name = yield* ask
        const id = yield* Step.run("start", ({ idempotencyKey }) =>
          Effect.sync(() => {
            runs.push(idempotencyKey)
            return `${name} ${runs.length}`
          }), Schema.String)
        return id
      }))

  it.effect("a round that comes twice does them twice under one key, or once where a store remembers", () =>
    Effect.gen(function*() {
      const runs: Array<string> = []
      const plain = new Client(yield* serve(counting(runs)), modern, new Wire())
      const state = yield* begin(plain)
      yield* resume(plain, state)
      yield* resume(plain, state)
      assert.lengthOf(runs, 2)
      assert.strictEqual(runs[0], runs[1])

      const once: Array<string> = []
      const endpoint = yield* serve(counting(once)).pipe(Effect.provide(StepStore.layerMemory()))
      const client = new Client(endpoint, modern, new Wire())
      const kept = yield* begin(client)
      const texts = [yield* resume(client, kept), yield* resume(client, kept)].map(({ result }) =>
        at(result, "content", 0, "text")
      )
      assert.deepStrictEqual(texts, ["Bob 1", "Bob 1"])
      assert.lengthOf(once, 1)
    }))

  it.effect("one that was begun and did not end is in doubt; one that failed is begun again", () =>
    Effect.gen(function*() {
      const begun = Deferred.makeUnsafe<void>()
      let mode: "hang" | "fail" | "work" = "fail"
      const tool = McpServer.tool(Ask, () =>
        Effect.andThen(
          ask,
          Step.run("start", () =>
            Effect.suspend(() =>
              mode === "hang"
                ? Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
                : mode === "fail"
                ? Effect.fail("no")
                : Effect.succeed("done")
            ), Schema.String).pipe(
              Effect.catch((error) => Effect.succeed(typeof error === "string" ? error : error.message))
            )
        ))
      const endpoint = yield* serve(tool).pipe(Effect.provide(StepStore.layerMemory()))
      const client = new Client(endpoint, modern, new Wire())
      const text = (state: unknown) =>
        Effect.map(resume(client, state), ({ result }) => at(result, "content", 0, "text"))
      const state = yield* begin(client)
      assert.strictEqual(yield* text(state), "no")
      mode = "work"
      assert.strictEqual(yield* text(state), "done")
      const other = yield* begin(client)
      mode = "hang"
      const hanging = client.start("tools/call", { name: "ask", _meta, requestState: other, inputResponses }, 77)
      yield* Deferred.await(begun)
      client.notify("notifications/cancelled", { requestId: 77 })
      assert.isTrue(hanging.closed)
      mode = "work"
      assert.strictEqual(yield* text(other), `The step "start" was begun before and may have been done`)
    }))
})

describe("keys of an endpoint", () => {
  const build = (options: Partial<McpServer.HttpOptions>, registrations = tools) =>
    Effect.exit(Effect.scoped(Layer.build(
      McpServer.layerHttp(registrations, { name: "t", version: "1", ...options }).pipe(
        Layer.provide(HttpRouter.layer)
      )
    )))

  it.effect("[MRT-06] an endpoint for other machines has keys where its contracts ask", () =>
    Effect.gen(function*() {
      const keys = { requestState: { keys: ["a secret that all instances have"] } }
      const quiet = McpServer.tool(Other, () => Effect.succeed("x"))
      const failed = yield* build({ allowedHosts: ["mcp.example.com"] })
      assert.isTrue(Exit.isFailure(failed))
      assert.include(String(failed), "requestState.keys are missing")
      assert.isTrue(Exit.isFailure(yield* build({ allowedHosts: "any" })))
      assert.isTrue(Exit.isSuccess(yield* build({ allowedHosts: "any", ...keys })))
      assert.isTrue(Exit.isSuccess(yield* build({ allowedHosts: ["localhost", "127.0.0.1:80"] })))
      assert.isTrue(Exit.isSuccess(yield* build({})))
      assert.isTrue(Exit.isSuccess(yield* build({ allowedHosts: "any", revisions: ["2025-11-25"] })))
      assert.isTrue(Exit.isSuccess(yield* build({ allowedHosts: "any" }, quiet)))
      assert.isTrue(Exit.isFailure(yield* build({ requestState: { keys: ["short"] } })))
    }))

  it.effect("they come from configuration, too", () =>
    Effect.gen(function*() {
      const layer = McpServer.layerConfig(tools, {
        name: Config.succeed("t"),
        version: Config.succeed("1"),
        requestState: { keys: Config.map(Config.Redacted("KEY"), (key) => [key]) }
      }).pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ KEY: "a secret from the environment...." })))
      )
      const endpoint = Context.get(yield* Layer.build(layer), McpEndpoint)
      const client = new Client(endpoint, modern, new Wire())
      assert.isUndefined((yield* resume(client, yield* begin(client))).error)
    }))
})
