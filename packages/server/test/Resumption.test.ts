/** Clients that lose their connection to a server with an event store, and come back. */
import { assert, describe, it } from "@effect/vitest"
import * as Tool from "@mcpfx/schema/Tool"
import * as McpServer from "@mcpfx/server/McpServer"
import * as Polling from "@mcpfx/session/Polling"
import * as Progress from "@mcpfx/session/Progress"
import * as SessionStore from "@mcpfx/session/SessionStore"
import * as EventStore from "@mcpfx/transport/EventStore"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import { Context, Deferred, Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"

const accept = "application/json, text/event-stream"
const version = "2025-11-25"

interface Step {
  readonly gate: Deferred.Deferred<void>
  readonly hungUp: Array<boolean>
}

const Work = Tool.make("work", { input: {} })

/** A tool that lets its client go, and answers when told. */
const working = ({ gate, hungUp }: Step) =>
  McpServer.tool(Work, () =>
    Effect.gen(function*() {
      yield* Progress.report({ progress: 1 })
      hungUp.push(yield* Polling.hangUp())
      yield* Deferred.await(gate)
      yield* Progress.report({ progress: 2 })
      return "done"
    }))

/** Whoever says so in a header is the caller. */
const authenticated: McpServer.HttpOptions["middleware"] = (app) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    const subject = headers["x-user"]
    return subject === undefined
      ? app
      : Effect.provideService(
        app,
        CurrentPrincipal,
        Option.some({ issuer: "test", subject, scopes: [], claims: {} })
      )
  })

const serve = Effect.fnUntraced(
  function*(step: Step, stores: Context.Context<never>, options: Partial<McpServer.HttpOptions> = {}) {
    const routes = McpServer.layerHttp(working(step), {
      name: "tester",
      version: "1.0.0",
      middleware: authenticated,
      ...options
    })
    const { handler } = yield* Effect.acquireRelease(
      Effect.sync(() =>
        HttpRouter.toWebHandler(Layer.provide(routes, Layer.succeedContext(stores)), { disableLogger: true })
      ),
      ({ dispose }) => Effect.promise(dispose)
    )
    const send = (method: string, headers: Record<string, string>, body?: unknown) =>
      Effect.promise(() =>
        handler(
          new Request("http://localhost/mcp", {
            method,
            headers: {
              accept,
              ...headers,
              ...(body === undefined ? undefined : { "content-type": "application/json" })
            },
            ...(body === undefined ? undefined : { body: JSON.stringify(body) })
          }),
          Context.empty()
        )
      )
    const open = Effect.fnUntraced(function*(as: Record<string, string> = {}, protocolVersion = version) {
      const response = yield* send("POST", as, {
        jsonrpc: "2.0",
        id: 0,
        method: "initialize",
        params: { protocolVersion, capabilities: {}, clientInfo: { name: "c", version: "1" } }
      })
      const headers = {
        ...as,
        "mcp-session-id": response.headers.get("mcp-session-id") ?? assert.fail("no session"),
        "mcp-protocol-version": protocolVersion
      }
      yield* send("POST", headers, { jsonrpc: "2.0", method: "notifications/initialized" })
      return headers
    })
    const call = (headers: Record<string, string>) =>
      send("POST", headers, {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "work", arguments: {}, _meta: { progressToken: "p" } }
      })
    return { send, open, call }
  }
)

const textOf = (response: Response) => Effect.promise(() => response.text())
const ids = (text: string) => Array.from(text.matchAll(/^id: (.*)$/gm), ([, id]) => id ?? "")
const data = (text: string) => Array.from(text.matchAll(/^data: (.+)$/gm), ([, json]) => JSON.parse(json ?? ""))
const making = Effect.map(Deferred.make<void>(), (gate): Step => ({ gate, hungUp: [] }))
const events = Layer.build(Layer.fresh(EventStore.layerMemory))

describe("with an event store", () => {
  it.effect("[HTTP-28] [HTTP-33] a handler lets its client go, and the client has the answer when it comes back", () =>
    Effect.gen(function*() {
      const step = yield* making
      const { call, open, send } = yield* serve(step, yield* events)
      const session = yield* open()
      const first = yield* textOf(yield* call(session))
      assert.deepStrictEqual(step.hungUp, [true])
      assert.match(first, /^id: r[^\n]*\.0\nretry: 1000\ndata: \n\n/)
      assert.deepStrictEqual(data(first).map(({ method }) => method), ["notifications/progress"])
      yield* Deferred.succeed(step.gate, undefined)
      const rest = yield* textOf(yield* send("GET", { ...session, "last-event-id": ids(first).at(-1) ?? "" }))
      assert.deepStrictEqual(data(rest).map(({ id, method }) => method ?? id), ["notifications/progress", 1])
    }))

  it.effect("[field CON-02] nobody else has it, and nobody once the session is over", () =>
    Effect.gen(function*() {
      const step = yield* making
      const context = yield* events
      const { call, open, send } = yield* serve(step, context)
      const mine = yield* open({ "x-user": "alice" })
      const theirs = yield* open({ "x-user": "bob" })
      const id = ids(yield* textOf(yield* call(mine))).at(-1) ?? ""
      yield* Deferred.succeed(step.gate, undefined)
      const get = (headers: Record<string, string>) => send("GET", { ...headers, "last-event-id": id })
      assert.strictEqual((yield* get(theirs)).status, 400)
      assert.strictEqual((yield* get({ ...mine, "x-user": "bob" })).status, 404)
      assert.strictEqual((yield* get({ ...mine, "mcp-protocol-version": "2025-06-18" })).status, 400)
      assert.include(yield* textOf(yield* get(mine)), "\"done\"")
      assert.strictEqual((yield* send("DELETE", mine)).status, 204)
      assert.strictEqual((yield* get(mine)).status, 404)
      const store = Context.get(context, EventStore.EventStore)
      const owner = EventStore.ownerOf(mine["mcp-session-id"], JSON.stringify(["test", "alice", null]))
      const [stream = ""] = id.split(".")
      assert.deepStrictEqual(yield* store.read({ owner, stream }, 0), Option.none())
    }))

  it.effect("[LIF-17] a session that goes on in another process has its answer there", () =>
    Effect.gen(function*() {
      const step = yield* making
      const shared = Context.merge(yield* events, yield* Layer.build(Layer.fresh(SessionStore.layerMemory)))
      const there = yield* serve(step, shared)
      const here = yield* serve(step, shared)
      const session = yield* there.open()
      const id = ids(yield* textOf(yield* there.call(session))).at(-1) ?? ""
      yield* Deferred.succeed(step.gate, undefined)
      const rest = yield* textOf(yield* here.send("GET", { ...session, "last-event-id": id }))
      assert.deepStrictEqual(data(rest).map(({ id, method }) => method ?? id), ["notifications/progress", 1])
    }))

  it.effect("[HTTP-27] a client of an older revision is not let go, but may come back", () =>
    Effect.gen(function*() {
      const step = yield* making
      const { call, open, send } = yield* serve(step, yield* events)
      const session = yield* open({}, "2025-06-18")
      const response = yield* call(session)
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader() ?? assert.fail("no body")
      const { value = "" } = yield* Effect.promise(() => reader.read())
      assert.deepStrictEqual(step.hungUp, [false])
      assert.match(value, /^id: r[^\n]*\.1\ndata: \{/)
      yield* Effect.promise(() => reader.cancel())
      yield* Deferred.succeed(step.gate, undefined)
      const rest = yield* textOf(yield* send("GET", { ...session, "last-event-id": ids(value).at(-1) ?? "" }))
      assert.include(rest, "\"done\"")
    }))

  it.effect("without sessions there is nothing to come back to", () =>
    Effect.gen(function*() {
      const step = yield* making
      const { call, send } = yield* serve(step, yield* events, { sessions: "stateless" })
      yield* Deferred.succeed(step.gate, undefined)
      const headers = { "mcp-protocol-version": version }
      const text = yield* textOf(yield* call(headers))
      assert.deepStrictEqual([step.hungUp, ids(text)], [[false], []])
      assert.strictEqual((yield* send("GET", { ...headers, "last-event-id": `r${"a".repeat(24)}.0` })).status, 405)
    }))
})

describe("without an event store", () => {
  it.effect("events have no ids, and nobody is let go", () =>
    Effect.gen(function*() {
      const step = yield* making
      const { call, open } = yield* serve(step, Context.empty())
      yield* Deferred.succeed(step.gate, undefined)
      const text = yield* textOf(yield* call(yield* open()))
      assert.deepStrictEqual([step.hungUp, ids(text)], [[false], []])
      assert.notInclude(text, "retry:")
    }))
})
