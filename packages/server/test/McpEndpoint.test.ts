import { assert, describe, it } from "@effect/vitest"
import { JsonRpc } from "@mcpfx/schema"
import { RequestContext } from "@mcpfx/session/RequestContext"
import type { Rejected } from "@mcpfx/transport/Endpoint"
import { Deferred, Duration, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { register, text, tool } from "./protocol/fixtures.ts"
import {
  allVersions,
  at,
  Client,
  connect,
  envelope,
  legacyVersions,
  overHttp,
  type Sent,
  serve,
  Wire
} from "./protocol/harness.ts"

const waiting = (started: Array<string>, ended: Array<string>) =>
  tool("wait", (params) => {
    const tag = String(params.arguments?.["tag"])
    return Effect.sync(() => started.push(tag)).pipe(
      Effect.andThen(Effect.sleep(Number(params.arguments?.["ms"] ?? 1000))),
      Effect.as(text(tag)),
      Effect.ensuring(Effect.sync(() => ended.push(tag)))
    )
  })

const echo = tool("echo", (params) => Effect.succeed(text(String(params.arguments?.["t"]))))
const whoami = tool(
  "whoami",
  () =>
    Effect.map(
      RequestContext,
      (context) =>
        text(JSON.stringify([context.revision.version, context.clientInfo?.name, context.sessionId !== undefined]))
    )
)

const demo = (started: Array<string> = [], ended: Array<string> = []) => register(echo, whoami, waiting(started, ended))

const said = (sent: Sent): unknown => at(sent.result, "content", 0, "text")
const echoOf = (client: Client, t: unknown) =>
  Effect.map(client.request("tools/call", { name: "echo", arguments: { t } }), said)

describe("connections", () => {
  for (const version of allVersions) {
    it.effect(`[RPC-05] [field RPC-01] ${version}: the answer repeats the id in value and type`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(demo()), version)
        for (const id of ["req-abc", "1", "", "01", -5, 0, 7]) {
          const sent = client.start("tools/call", { name: "echo", arguments: { t: "x" } }, id)
          assert.strictEqual(at(sent.answer, "id"), id)
        }
      }))

    it.effect(`[CAN-03] [field RPC-03] [field PRG-06] [STD-14] ${version}: a cancelled request is interrupted and never answered`, () =>
      Effect.gen(function*() {
        const [started, ended]: [Array<string>, Array<string>] = [[], []]
        const client = connect(yield* serve(demo(started, ended)), version)
        for (const id of [0, "", "abc", 4]) {
          const sent = client.start("tools/call", { name: "wait", arguments: { tag: String(id) } }, id)
          client.notify("notifications/cancelled", { requestId: id, reason: "enough" })
          assert.deepStrictEqual(ended, [String(id)], JSON.stringify(id))
          assert.isTrue(sent.ended)
          yield* TestClock.adjust("1 minute")
          assert.isUndefined(sent.answer)
          ended.length = 0
        }
      }))

    it.effect(`[CAN-04] [PRG-14] [field RPC-08] ${version}: what means no request is left alone`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(demo()), version)
        const sent = client.start("tools/call", { name: "wait", arguments: { tag: "a" } }, 5)
        for (const params of [{}, { requestId: null }, { requestId: {} }, { requestId: "5" }, { requestId: 6 }]) {
          client.notify("notifications/cancelled", params)
        }
        for (
          const told of [
            client.notify("vendor/event", { a: 1 }),
            client.notify("notifications/future", { b: [] }),
            client.raw({ jsonrpc: "2.0", id: 999, result: {} })
          ]
        ) {
          assert.deepStrictEqual([told.answer, told.rejected, told.pushed], [undefined, undefined, []])
        }
        yield* TestClock.adjust("1 second")
        assert.strictEqual(said(sent), "a")
      }))

    it.effect(`[RPC-04] ${version}: an id that is in flight is refused, and the first request goes on`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(demo()), version)
        const first = client.start("tools/call", { name: "wait", arguments: { tag: "first" } }, 1)
        const second = client.start("tools/call", { name: "wait", arguments: { tag: "second" } }, 1)
        assert.strictEqual(second.code, -32600)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(said(first), "first")
      }))

    it.effect(`[CON-01] ${version}: a thousand parallel calls each get their own answer`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(demo()), version)
        const all = Array.from({ length: 1000 }, (_, i) =>
          client.start("tools/call", { name: "wait", arguments: { tag: String(i), ms: 100 + (i * 37) % 100 } }, i + 1))
        yield* TestClock.adjust("199 millis")
        for (const [i, sent] of all.entries()) {
          assert.strictEqual(at(sent.answer, "id"), i + 1)
          assert.strictEqual(said(sent), String(i))
        }
      }))

    it.effect(`[PRG-11] ${version}: a connection that is gone interrupts what it asked for`, () =>
      Effect.gen(function*() {
        const ended: Array<string> = []
        const endpoint = yield* serve(demo([], ended))
        const [client, other] = [connect(endpoint, version), connect(endpoint, version)]
        client.start("tools/call", { name: "wait", arguments: { tag: "gone" } })
        const kept = other.start("tools/call", { name: "wait", arguments: { tag: "kept" } })
        client.wire?.close()
        yield* Effect.yieldNow
        assert.deepStrictEqual(ended, ["gone"])
        yield* TestClock.adjust("1 second")
        assert.strictEqual(said(kept), "kept")
      }))

    it.effect(`[TOL-21] ${version}: past the limit one request is refused and the others go on`, () =>
      Effect.gen(function*() {
        const endpoint = yield* serve(demo(), { limits: { requestsInFlight: 2 } })
        const client = connect(endpoint, version)
        const first = client.start("tools/call", { name: "wait", arguments: { tag: "1" } })
        client.start("tools/call", { name: "wait", arguments: { tag: "2" } })
        const third = client.start("tools/call", { name: "wait", arguments: { tag: "3" } })
        assert.strictEqual(third.code, version === "2026-07-28" ? -32603 : -32000)
        assert.strictEqual(third.rejected?.httpStatus, 503)
        assert.strictEqual(third.rejected?.headers["retry-after"], "1")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(said(first), "1")
        assert.strictEqual(yield* echoOf(client, "x"), "x")
      }))
  }

  for (const version of legacyVersions) {
    it.effect(`[LIF-01] ${version}: what comes before initialize is refused, and the handshake still works`, () =>
      Effect.gen(function*() {
        const client = new Client(yield* serve(demo()), version, new Wire())
        client.notify("notifications/initialized")
        assert.strictEqual(client.start("tools/list").code, -32600)
        client.hello()
        assert.strictEqual(yield* echoOf(client, "x"), "x")
      }))

    it.effect(`[field LIF-06] ${version}: a second initialize is refused and the first session goes on`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(demo()), version)
        assert.strictEqual(client.hello()?.code, -32600)
        assert.strictEqual(yield* echoOf(client, "x"), "x")
        assert.deepStrictEqual(client.wire?.agreed, [{ version, era: "legacy" }])
      }))
  }

  it.effect("[field LIF-01] an unknown version is answered with the newest that has a handshake, a wrong one with -32602", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(demo())
      const ask = (protocolVersion: unknown) =>
        new Client(endpoint, "2025-11-25", new Wire()).start("initialize", {
          protocolVersion,
          capabilities: {},
          clientInfo: { name: "x", version: "0" }
        })
      for (const version of ["1999-01-01", "2099-01-01", "", "2026-07-28"]) {
        assert.strictEqual(at(ask(version).result, "protocolVersion"), "2025-11-25")
      }
      assert.strictEqual(ask(5).code, -32602)
      assert.strictEqual(ask(undefined).code, -32602)
    }))
})

describe("the era fork", () => {
  it.effect("[VER-06] both eras live on one connection at the same time, and neither sees the other's client", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(demo())
      const wire = new Wire()
      const legacy = new Client(endpoint, "2025-06-18", wire)
      const modern = new Client(endpoint, "2026-07-28", wire)
      legacy.raw({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "old", version: "0" } }
      })
      const who = (client: Client) => Effect.map(client.request("tools/call", { name: "whoami" }), said)
      assert.deepStrictEqual(yield* who(modern), JSON.stringify(["2026-07-28", "probe", false]))
      assert.deepStrictEqual(yield* who(legacy), JSON.stringify(["2025-06-18", "old", true]))
    }))

  it.effect("[VER-03] server/discover does not pin the era: initialize still works after it", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(demo())
      const wire = new Wire()
      const modern = new Client(endpoint, "2026-07-28", wire)
      const found = yield* modern.request("server/discover")
      assert.deepStrictEqual(at(found.result, "supportedVersions"), [...allVersions].reverse())
      const legacy = new Client(endpoint, "2025-03-26", wire)
      assert.strictEqual(at(legacy.hello()?.result, "protocolVersion"), "2025-03-26")
      assert.strictEqual(yield* echoOf(legacy, "x"), "x")
      assert.strictEqual(yield* echoOf(modern, "y"), "y")
    }))

  it.effect("[VER-01] a version in _meta that is not served is -32022 and names what is", () =>
    Effect.gen(function*() {
      const client = new Client(yield* serve(demo()), "2025-11-25", new Wire())
      for (const version of ["2099-01-01", "2025-11-25", "draft"]) {
        const params = envelope({ "io.modelcontextprotocol/protocolVersion": version })
        const sent = client.start("tools/list", params)
        assert.strictEqual(sent.code, -32022)
        assert.strictEqual(sent.rejected?.httpStatus, 400)
        assert.deepStrictEqual(at(sent.error, "data"), { supported: [...allVersions].reverse(), requested: version })
      }
    }))

  it.effect("[META-09] [LIF-19] an incomplete envelope is -32602 with status 400", () =>
    Effect.gen(function*() {
      const client = new Client(yield* serve(demo()), "2025-11-25", new Wire())
      const key = (name: string) => `io.modelcontextprotocol/${name}`
      const faults = [
        { [key("protocolVersion")]: "2026-07-28" },
        { [key("clientCapabilities")]: {} },
        { [key("protocolVersion")]: 5, [key("clientCapabilities")]: {} },
        { [key("protocolVersion")]: "2026-07-28", [key("clientCapabilities")]: [] },
        { [key("protocolVersion")]: "2026-07-28", [key("clientCapabilities")]: {}, [key("logLevel")]: "loud" }
      ]
      for (const _meta of faults) {
        const sent = client.start("tools/list", { _meta })
        assert.strictEqual(sent.code, -32602, JSON.stringify(_meta))
        assert.strictEqual(sent.rejected?.httpStatus, 400)
      }
      assert.strictEqual(client.start("server/discover").code, -32602)
      assert.strictEqual(client.start("subscriptions/listen").code, -32602)
    }))

  it.effect("[PNG-03] [HTTP-53] methods that 2026-07-28 does not have are -32601 with status 404", () =>
    Effect.gen(function*() {
      const client = new Client(yield* serve(demo()), "2026-07-28", new Wire())
      const removed = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]
      for (const method of [...removed, "tasks/get", "sampling/createMessage", "vendor/do"]) {
        const sent = client.start(method)
        assert.strictEqual(sent.code, -32601, method)
        assert.strictEqual(sent.rejected?.httpStatus, 404, method)
      }
    }))

  it.effect("[VER-08] a server of 2026-07-28 alone tells a legacy client what it speaks", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(demo(), { revisions: ["2026-07-28"] })
      for (const client of [new Client(endpoint, "2025-11-25", new Wire()), overHttp(endpoint, "2025-11-25")]) {
        const hello = client.start("initialize", { protocolVersion: "2025-11-25" })
        assert.strictEqual(hello.code, -32022)
        assert.deepStrictEqual(at(hello.error, "data"), { supported: ["2026-07-28"], requested: "2025-11-25" })
        assert.strictEqual(client.start("tools/list").code, -32602)
        client.notify("notifications/initialized")
      }
      assert.strictEqual(yield* echoOf(new Client(endpoint, "2026-07-28", new Wire()), "x"), "x")
    }))

  it.effect("[VER-01] a server of older revisions alone refuses a modern request with what it speaks", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(demo(), { revisions: ["2025-06-18", "2025-11-25"] })
      const sent = new Client(endpoint, "2026-07-28", new Wire()).start("server/discover")
      assert.strictEqual(sent.code, -32022)
      assert.deepStrictEqual(at(sent.error, "data", "supported"), ["2025-11-25", "2025-06-18"])
      const old = connect(endpoint, "2024-11-05")
      assert.strictEqual(yield* echoOf(old, "x"), "x")
    }))
})

describe("batches", () => {
  const messages = (...methods: ReadonlyArray<string>): ReadonlyArray<JsonRpc.Message> =>
    methods.map((method, id) => JsonRpc.request(id + 1, method))

  for (const version of legacyVersions) {
    it.effect(`[RPC-10] [RPC-12] ${version}: a batch may come in on 2025-03-26 alone`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(demo()), version)
        const admit = (batch: ReadonlyArray<JsonRpc.Message>) =>
          Effect.map(Effect.exit(client.endpoint.endpoint.admitBatch(batch, client.facts())), codeOf)
        const legal = version === "2025-03-26"
        assert.strictEqual(yield* admit(messages("ping", "tools/list")), legal ? undefined : -32600)
        assert.strictEqual(yield* admit([]), -32600)
        assert.strictEqual(yield* admit(messages("initialize")), -32600)
        assert.strictEqual(yield* admit(messages(...Array.from({ length: 101 }, () => "ping"))), -32600)
        assert.strictEqual(yield* admit([JsonRpc.request(1, "tools/list", envelope())]), -32600)
      }))
  }

  const codeOf = (exit: Exit.Exit<void, Rejected>): number | undefined => {
    const error = Exit.findErrorOption(exit)
    return error._tag === "Some" ? error.value.error.code : undefined
  }
})

describe("HTTP with sessions", () => {
  const open = (
    endpoint: Effect.Success<ReturnType<typeof serve>>,
    version: "2025-03-26" | "2025-11-25" = "2025-11-25"
  ) =>
    Effect.suspend(() => {
      const client = overHttp(endpoint, version)
      client.hello()
      return Effect.succeed(client)
    })

  it.effect("[HTTP-35] initialize opens a session, and what follows names it", () =>
    Effect.gen(function*() {
      const client = yield* open(yield* serve(demo()))
      assert.match(String(client.sessionId), /^[\x21-\x7e]{20,}$/)
      assert.strictEqual(yield* echoOf(client, "x"), "x")
    }))

  it.effect("[HTTP-38] [HTTP-39] [HTP-05] a missing session id is 400, an unknown one 404", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(demo())
      const missing = overHttp(endpoint, "2025-11-25").start("tools/list")
      assert.deepStrictEqual([missing.rejected?.httpStatus, missing.code], [400, -32600])
      const gone = overHttp(endpoint, "2025-11-25", { sessionId: "gone-1" })
      const unknown = gone.start("tools/list")
      assert.deepStrictEqual([unknown.rejected?.httpStatus, unknown.code], [404, -32001])
      assert.strictEqual(gone.notify("notifications/initialized").rejected?.httpStatus, 404)
      const link = new Wire().link
      for (const effect of [endpoint.endpoint.attach(gone.facts(), link), endpoint.endpoint.terminate(gone.facts())]) {
        const rejected = yield* Effect.flip(Effect.scoped(effect))
        assert.deepStrictEqual([rejected.httpStatus, rejected.error.code], [404, -32001])
      }
    }))

  it.effect("[field LIF-06] initialize without a session id makes another session, which shares nothing with the first", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(demo())
      const first = yield* open(endpoint)
      const second = yield* open(endpoint, "2025-03-26")
      assert.notStrictEqual(first.sessionId, second.sessionId)
      const version = (client: Client) => Effect.map(client.request("tools/call", { name: "whoami" }), said)
      assert.strictEqual(yield* version(first), JSON.stringify(["2025-11-25", "probe", true]))
      assert.strictEqual(yield* version(second), JSON.stringify(["2025-03-26", "probe", true]))
      assert.strictEqual(first.start("initialize").code, -32600)
      assert.strictEqual(yield* version(first), JSON.stringify(["2025-11-25", "probe", true]))
    }))

  it.effect("[CON-02] [SEC-06] a session of somebody else is not found", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(demo())
      const principal = (subject: string) => ({ issuer: "https://as", subject, scopes: [], claims: {} })
      const ada = overHttp(endpoint, "2025-11-25", { principal: principal("ada") })
      ada.hello()
      assert.strictEqual(yield* echoOf(ada, "x"), "x")
      for (const http of [{}, { principal: principal("bob") }]) {
        const other = overHttp(endpoint, "2025-11-25", { ...http, sessionId: ada.sessionId })
        assert.strictEqual(other.start("tools/list").rejected?.httpStatus, 404)
      }
    }))

  it.effect("[HTTP-45] [LIF-08] [field LIF-02] a version header that is not the session's is 400, on initialize it is not judged", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(demo())
      const client = overHttp(endpoint, "2025-06-18", { protocolVersion: "2099-01-01" })
      client.hello()
      assert.isString(client.sessionId)
      for (const protocolVersion of ["2025-11-25", "1999-01-01", "2025-06-18, 2025-06-18", "garbage"]) {
        const same = overHttp(endpoint, "2025-06-18", { protocolVersion, sessionId: client.sessionId })
        assert.strictEqual(same.start("tools/list").rejected?.httpStatus, 400, protocolVersion)
      }
      for (const protocolVersion of ["2025-06-18", undefined]) {
        const same = overHttp(endpoint, "2025-06-18", { protocolVersion, sessionId: client.sessionId })
        assert.strictEqual(yield* echoOf(same, "x"), "x")
      }
    }))

  it.effect("[HTTP-41] [SUB-03] a session that was ended is gone, and what it ran is interrupted", () =>
    Effect.gen(function*() {
      const ended: Array<string> = []
      const client = yield* open(yield* serve(demo([], ended)))
      const running = client.start("tools/call", { name: "wait", arguments: { tag: "a" } })
      yield* client.endpoint.endpoint.terminate(client.facts())
      assert.deepStrictEqual(ended, ["a"])
      assert.isUndefined(running.answer)
      assert.strictEqual(client.start("tools/list").rejected?.httpStatus, 404)
    }))

  it.effect("[HTTP-26] a client that leaves does not stop the work", () =>
    Effect.gen(function*() {
      const ended: Array<string> = []
      const client = yield* open(yield* serve(demo([], ended)))
      const sent = client.start("tools/call", { name: "wait", arguments: { tag: "a" } })
      sent.disconnect()
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(ended, [])
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(ended, ["a"])
    }))

  it.effect("[HTTP-20] a stream of a session carries what answers nothing", () =>
    Effect.gen(function*() {
      const client = yield* open(yield* serve(demo()))
      const wire = new Wire()
      yield* client.endpoint.endpoint.attach(client.facts(), wire.link)
      assert.strictEqual(client.endpoint.health().sessions, 1)
    }))

  it.effect("an initialize that fails leaves no session behind", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(demo())
      const sent = overHttp(endpoint, "2025-11-25").start("initialize", { protocolVersion: 5 })
      assert.strictEqual(sent.code, -32602)
      assert.isUndefined(sent.sessionId)
      yield* Effect.yieldNow
      assert.strictEqual(endpoint.health().sessions, 0)
    }))

  it.effect("[MEM-01] sessions nobody uses are forgotten, those that run something are not", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(demo(), { limits: { idle: Duration.minutes(1) } })
      const busy = yield* open(endpoint)
      busy.start("tools/call", { name: "wait", arguments: { tag: "a", ms: 3_600_000 } })
      for (let i = 0; i < 50; i++) yield* open(endpoint)
      assert.strictEqual(endpoint.health().sessions, 51)
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(endpoint.health().sessions, 1)
      assert.strictEqual(endpoint.health().inFlight, 1)
    }))

  it.effect("[MEM-01] the session of a connection lasts as long as the connection, and can be begun anew when it broke", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(demo(), { limits: { idle: Duration.minutes(1) } })
      const client = connect(endpoint, "2025-11-25")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* echoOf(client, "x"), "x")
      const facts = { ...overHttp(endpoint, "2025-11-25").facts(), sessionId: client.sessionId }
      yield* endpoint.endpoint.terminate(facts)
      assert.strictEqual(endpoint.health().sessions, 0)
      assert.strictEqual(client.start("tools/list").rejected?.httpStatus, 404)
      assert.strictEqual(at(client.hello()?.result, "protocolVersion"), "2025-11-25")
    }))

  it.effect("[CON-04] past the limit of sessions one more is refused with 503", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(demo(), { limits: { sessions: 1 } })
      yield* open(endpoint)
      const refused = overHttp(endpoint, "2025-11-25").start("initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "x", version: "0" }
      })
      assert.strictEqual(refused.rejected?.httpStatus, 503)
      assert.strictEqual(refused.rejected?.headers["retry-after"], "1")
    }))
})

describe("HTTP without sessions", () => {
  const stateless = { sessions: "stateless" } as const

  for (const version of legacyVersions) {
    it.effect(`[LIF-17] ${version}: each POST is served by itself, at the version of its header`, () =>
      Effect.gen(function*() {
        const endpoint = yield* serve(demo(), stateless)
        const client = overHttp(endpoint, version, { protocolVersion: version })
        const hello = client.hello()
        assert.strictEqual(at(hello?.result, "protocolVersion"), version)
        assert.isUndefined(hello?.sessionId)
        const capabilities = at(hello?.result, "capabilities")
        assert.deepStrictEqual(capabilities, { tools: {} })
        const { result } = yield* client.request("tools/call", { name: "whoami" })
        assert.strictEqual(at(result, "content", 0, "text"), JSON.stringify([version, null, false]))
        assert.deepStrictEqual((yield* client.request("ping")).result, {})
        assert.strictEqual((yield* client.request("logging/setLevel", { level: "info" })).code, -32601)
        assert.strictEqual((yield* client.request("resources/subscribe", { uri: "demo://a" })).code, -32601)
        assert.strictEqual((yield* client.request("initialize", { protocolVersion: 5 })).code, -32602)
      }))
  }

  for (const version of legacyVersions) {
    it.effect(`[PNG-01] ${version}: a ping without a session is answered with {}`, () =>
      Effect.gen(function*() {
        const client = overHttp(yield* serve(demo(), stateless), version, { protocolVersion: version })
        const sent = client.start("ping", { _meta: { "example.com/a": 1 } }, "p")
        assert.deepStrictEqual(sent.answer, { jsonrpc: "2.0", id: "p", result: {} })
        assert.deepStrictEqual(client.start("ping").result, {})
      }))
  }

  it.effect("[HTTP-44] without a header it is 2025-03-26", () =>
    Effect.gen(function*() {
      const client = overHttp(yield* serve(demo(), stateless), "2025-03-26")
      const { result } = yield* client.request("tools/call", { name: "whoami" })
      assert.strictEqual(at(result, "content", 0, "text"), JSON.stringify(["2025-03-26", null, false]))
    }))

  it.effect("[HTTP-66] [HTP-04] there is no stream to open and no session to end: 405 with what is allowed", () =>
    Effect.gen(function*() {
      for (const options of [stateless, { revisions: ["2026-07-28"] } as const]) {
        const endpoint = yield* serve(demo(), options)
        const facts = overHttp(endpoint, "2025-11-25").facts()
        const link = new Wire().link
        for (const effect of [endpoint.endpoint.attach(facts, link), endpoint.endpoint.terminate(facts)]) {
          const rejected = yield* Effect.flip(Effect.scoped(effect))
          assert.deepStrictEqual([rejected.httpStatus, rejected.headers["allow"]], [405, "POST"])
        }
      }
    }))

  it.effect("[HTTP-26] a legacy client that leaves does not stop the work there either", () =>
    Effect.gen(function*() {
      const ended: Array<string> = []
      const client = overHttp(yield* serve(demo([], ended), stateless), "2025-11-25")
      client.start("tools/call", { name: "wait", arguments: { tag: "a" } }).disconnect()
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(ended, [])
    }))

  it.effect("[VER-06] over a connection it keeps sessions all the same", () =>
    Effect.gen(function*() {
      const client = connect(yield* serve(demo(), stateless), "2025-11-25")
      assert.deepStrictEqual((yield* client.request("logging/setLevel", { level: "info" })).result, {})
    }))
})

describe("the end", () => {
  it.effect("[SHT-01] [SHT-02] shutdown admits nothing new, answers what runs, and closes sessions", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(demo())
      const legacy = connect(endpoint, "2025-11-25")
      const modern = connect(endpoint, "2026-07-28")
      const http = overHttp(endpoint, "2025-06-18")
      http.hello()
      const running = [legacy, modern, http].map((client) =>
        client.start("tools/call", { name: "wait", arguments: { tag: "a", ms: 2000 } })
      )
      const fiber = yield* Effect.forkChild(endpoint.shutdown)
      yield* Effect.yieldNow
      assert.strictEqual(endpoint.health().status, "draining")
      for (const client of [legacy, modern, http]) {
        assert.strictEqual(client.start("tools/list").rejected?.httpStatus, 503)
      }
      assert.strictEqual(overHttp(endpoint, "2025-11-25").start("initialize").rejected?.httpStatus, 503)
      assert.strictEqual(connect(endpoint, "2025-11-25").start("tools/list").rejected?.httpStatus, 503)
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(fiber)
      for (const sent of running) assert.strictEqual(said(sent), "a")
      assert.deepStrictEqual([endpoint.health().sessions, endpoint.health().inFlight], [0, 0])
    }))

  it.effect("[SHT-02] [SHT-04] what does not end is interrupted at the deadline, however often shutdown is asked for", () =>
    Effect.gen(function*() {
      const ended: Array<string> = []
      const endpoint = yield* serve(demo([], ended))
      for (const version of ["2025-11-25", "2026-07-28"] as const) {
        connect(endpoint, version).start("tools/call", { name: "wait", arguments: { tag: version, ms: 1e9 } })
      }
      const fibers = yield* Effect.forEach([1, 2], () => Effect.forkChild(endpoint.shutdown))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(ended.sort(), ["2025-11-25", "2026-07-28"])
      yield* endpoint.shutdown
    }))

  it.effect("[PRG-11] [SHT-05] closing the layer interrupts everything and runs finalizers", () =>
    Effect.gen(function*() {
      const ended: Array<string> = []
      const released = yield* Deferred.make<void>()
      const registrations = Layer.merge(
        demo([], ended),
        Layer.effectDiscard(Effect.acquireRelease(Effect.void, () => Deferred.succeed(released, undefined)))
      )
      const sent = yield* Effect.scoped(Effect.gen(function*() {
        const endpoint = yield* serve(registrations)
        const http = overHttp(endpoint, "2026-07-28")
        return [connect(endpoint, "2025-11-25"), connect(endpoint, "2026-07-28"), http].map((client, i) =>
          client.start("tools/call", { name: "wait", arguments: { tag: String(i) } })
        )
      }))
      assert.deepStrictEqual(ended.sort(), ["0", "1", "2"])
      for (const each of sent) assert.isUndefined(each.answer)
      assert.isTrue(yield* Deferred.isDone(released))
    }))
})
