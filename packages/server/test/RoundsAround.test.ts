/** What stands around a handler that asks: middleware, permits, traces, stores, the end of a call. */
import { assert, describe, it } from "@effect/vitest"
import { Prompt, Tool } from "@mcpfx/schema"
import { AskError, type Entry, Input, Middleware, RequestState, StateStore, Step } from "@mcpfx/server"
import * as McpServer from "@mcpfx/server/McpServer"
import { RequestContext } from "@mcpfx/session/RequestContext"
import { Context, Deferred, Effect, Layer, Option, Schema, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { at, Client, type Json, serve, Wire } from "./protocol/harness.ts"
import { accept, everything, logged, play } from "./support/asking.ts"

const modern = "2026-07-28"
const Ask = Tool.make("ask")
const Name = Schema.Struct({ name: Schema.String })
const name = Effect.map(Input.elicit("Who?", Name, { key: "who" }), (answer) => answer.name)
const bob = accept({ name: "Bob" })
const _meta = { "io.modelcontextprotocol/clientCapabilities": everything }
const inputResponses = { who: { action: "accept", content: { name: "Bob" } } }
const begin: Json = { name: "ask", _meta }

describe("around a round", () => {
  it.effect("middleware runs once for each, and may ask by itself", () =>
    Effect.gen(function*() {
      const rounds: Array<number> = []
      const counting = Middleware.make()("count", (next, call) =>
        Effect.andThen(
          Effect.map(RequestContext, ({ round }) => void rounds.push(round)),
          next(call)
        ))
      const consent = Middleware.forTool()("consent", Ask, (next, input) =>
        Effect.flatMap(
          Effect.orDie(Input.elicit("Allow?", Schema.Struct({ name: Schema.String }))),
          () => next(input)
        ))
      const tools = McpServer.tool(Ask, () => name).pipe(Middleware.apply(consent), Middleware.apply(counting))
      const played = yield* play(yield* serve(tools), modern, "ask", bob)
      assert.strictEqual(played.text, "Bob")
      assert.deepStrictEqual(rounds, [1, 2, 3])
    }))

  it.effect("permits are free while the client is asked", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(McpServer.tool(Ask, () => name, { concurrency: 1 }), { limits: { concurrency: 1 } })
      const client = new Client(endpoint, modern, new Wire())
      const first = yield* client.request("tools/call", begin)
      const second = yield* client.request("tools/call", begin)
      for (const { result } of [second, first]) {
        const sent = yield* client.request("tools/call", {
          ...begin,
          inputResponses,
          requestState: at(result, "requestState")
        })
        assert.strictEqual(at(sent.result, "content", 0, "text"), "Bob")
      }
    }))

  it.effect("a round that ends in questions is no failure of its span, and later ones point to the first", () =>
    Effect.gen(function*() {
      const spans: Array<Tracer.NativeSpan> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const endpoint = yield* Effect.provideService(serve(McpServer.tool(Ask, () => name)), Tracer.Tracer, tracer)
      yield* play(endpoint, modern, "ask", bob)
      const served = spans.filter((span) => span.name === "tools/call ask")
      assert.lengthOf(served, 2)
      for (const { attributes, status } of served) {
        assert.isTrue(status._tag === "Ended" && status.exit._tag === "Success")
        assert.isFalse(attributes.has("error.type"))
      }
      assert.deepStrictEqual(served[0]?.links, [])
      assert.deepStrictEqual(served[1]?.links.map(({ span }) => span.spanId), [served[0]?.spanId])
    }))

  it.effect("[CAN-03, STD-14] a call that is cancelled while it waits for its finalizers is not answered", () =>
    Effect.gen(function*() {
      const reached = Deferred.makeUnsafe<void>()
      const over = Deferred.makeUnsafe<void>()
      const handler = Effect.onExit(
        name,
        () => Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(over))
      )
      const client = new Client(yield* serve(McpServer.tool(Ask, () => handler)), modern, new Wire())
      const sent = client.start("tools/call", begin, 5)
      yield* Deferred.await(reached)
      client.notify("notifications/cancelled", { requestId: 5 })
      yield* Deferred.succeed(over, undefined)
      yield* Effect.yieldNow
      assert.isUndefined(sent.answer)
      assert.isTrue(sent.ended)
    }))

  it.effect("what breaks while a handler ends is told instead of the question", () =>
    Effect.gen(function*() {
      for (
        const handler of [
          Effect.onExit(name, () => Effect.die(new Error("broken release"))),
          Effect.andThen(Effect.addFinalizer(() => Effect.die(new Error("broken release"))), name)
        ]
      ) {
        const { text, value } = yield* logged(
          Effect.flatMap(serve(McpServer.tool(Ask, () => handler)), (endpoint) => play(endpoint, modern, "ask", bob))
        )
        assert.strictEqual(value.sent.code, -32603)
        assert.include(text, "broken release")
      }
    }))

  it.effect("[MRT-02] a completion that asks, past its type, is refused", () =>
    Effect.gen(function*() {
      const Greet = Prompt.make("greet", { arguments: { who: Schema.String } })
      const completing = McpServer.prompt(Greet, () => Effect.succeed("hi"), {
        complete: { who: () => Effect.map(name, (one) => [one]) }
      })
      // The type says that somebody has to be there to be asked; here nobody is.
      const nobody: Layer.Layer<Entry.Asking> = Layer.effectContext(Effect.succeed(Context.makeUnsafe(new Map())))
      const client = new Client(yield* serve(Layer.provide(completing, nobody)), modern, new Wire())
      const sent = yield* client.request("completion/complete", {
        ref: { type: "ref/prompt", name: "greet" },
        argument: { name: "who", value: "" },
        _meta
      })
      assert.strictEqual(sent.code, -32021)
    }))
})

describe("stores and keys of one's own", () => {
  it.effect("a store that fails, or does not answer, is a defect that names it", () =>
    Effect.gen(function*() {
      const unavailable = new AskError.StoreUnavailable({ store: "states", operation: "put", cause: "down" })
      for (const put of [Effect.fail(unavailable), Effect.never]) {
        const store = Layer.succeed(StateStore.StateStore, { put: () => put, get: () => Effect.succeedNone })
        const endpoint = serve(McpServer.tool(Ask, () => name), { limits: {} }).pipe(Effect.provide(store))
        const { text, value } = yield* logged(Effect.gen(function*() {
          const client = new Client(yield* endpoint, modern, new Wire())
          const sent = client.start("tools/call", begin)
          yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 30)))
          yield* TestClock.adjust("10 seconds")
          yield* Deferred.await(sent.done)
          return sent
        }))
        assert.strictEqual(value.code, -32603)
        assert.include(text, "The store of states could not put")
      }
    }))

  it.effect("a service from outside seals instead of the endpoint's own", () =>
    Effect.gen(function*() {
      const plain = Layer.succeed(RequestState.RequestState, {
        seal: (text) => Effect.succeed(`sealed:${text}`),
        unseal: (sealed) =>
          Effect.succeed(
            sealed.startsWith("sealed:") ? Option.some({ text: sealed.slice(7), id: sealed }) : Option.none()
          )
      })
      const step = Step.run("s", () => Effect.succeed(7), Schema.Int)
      const tool = McpServer.tool(Ask, () => Effect.andThen(step, name))
      const endpoint = yield* serve(tool).pipe(Effect.provide(plain))
      const played = yield* play(endpoint, modern, "ask", bob)
      assert.strictEqual(played.text, "Bob")
      const state = JSON.parse(String(at(played.all[0]?.result, "requestState")).slice(7))
      assert.deepStrictEqual([state.v, state.r, state.s, state.a[0][0]], [1, 1, [["s", 7]], "who"])
    }))
})
