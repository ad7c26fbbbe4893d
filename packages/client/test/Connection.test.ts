import { assert, describe, it } from "@effect/vitest"
import { type McpClientError, Negotiation } from "@mcpfx/client"
import { JsonRpc } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Cause, Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import { clientOf, joined, legacy, modern, reasonOf, settle } from "./support/client.ts"

const { discovered, error, hangUp, initialized, make, result, silence } = ScriptedServer

const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
const version = JsonRpc.isJsonObject(manifest) ? manifest["version"] : undefined

const tagOf = <A, R>(effect: Effect.Effect<A, McpClientError.McpClientError, R>) =>
  Effect.map(reasonOf(effect), ({ _tag }) => _tag)

describe("the era", () => {
  it.effect("[VER-09, VER-13] probes before anything else, and stays modern", () =>
    Effect.gen(function*() {
      const server = yield* make(modern())
      const client = yield* clientOf(server)
      assert.strictEqual((yield* client.server).revision.version, "2026-07-28")
      assert.deepStrictEqual((yield* client.server).info, { name: "scripted", version: "0.0.0" })
      assert.deepStrictEqual(server.methods(), ["server/discover"])
    }))

  for (
    const [what, reply] of Object.entries({
      "-32601": error(-32601),
      "-32602": error(-32602, "Invalid params"),
      "-32600": error(-32600, "Not initialized"),
      "a number of its own": error(-32001, "?"),
      "-32022 without what it supports": error(-32022, "Whatever"),
      "a result of another shape": result({ hello: "there" })
    })
  ) {
    it.effect(`[VER-10, field LIF-09] goes on with initialize when the probe is answered with ${what}`, () =>
      Effect.gen(function*() {
        const server = yield* make(legacy({ "server/discover": reply }), { kind: "stdio" })
        const client = yield* clientOf(server)
        assert.strictEqual((yield* client.server).revision.version, "2025-11-25")
        yield* server.expect("notifications/initialized")
        assert.deepStrictEqual(server.methods(), ["server/discover", "initialize", "notifications/initialized"])
        assert.strictEqual(server.connections().made, 1)
      }))
  }

  it.effect("[VER-10, field LIF-09] goes on with initialize when the probe is not answered, and says no word about it", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({ "server/discover": silence }), { kind: "stdio" })
      const connecting = yield* Effect.forkChild(clientOf(server))
      yield* server.expect("server/discover")
      yield* TestClock.adjust("4999 millis")
      assert.deepStrictEqual(server.methods(), ["server/discover"])
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(connecting)
      yield* server.expect("notifications/initialized")
      assert.deepStrictEqual(server.methods(), ["server/discover", "initialize", "notifications/initialized"])
    }))

  it.effect("never takes a late answer to the probe for one to initialize", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({
        "server/discover": silence,
        initialize: (_, server) =>
          Effect.gen(function*() {
            const [probe] = server.received()
            assert.isTrue(probe !== undefined && JsonRpc.isRequest(probe))
            if (probe !== undefined && JsonRpc.isRequest(probe)) {
              yield* Effect.orDie(server.send(JsonRpc.failure(probe.id, { code: -32601, message: "late" })))
            }
            return initialized("2025-06-18")
          })
      }))
      const connecting = yield* Effect.forkChild(clientOf(server, { probeTimeout: "1 second" }))
      yield* server.expect("server/discover")
      yield* TestClock.adjust("1 second")
      const client = yield* Fiber.join(connecting)
      assert.strictEqual((yield* client.server).revision.version, "2025-06-18")
    }))

  it.effect("probes once more when a server was silent and then refuses initialize: it was only slow to start", () =>
    Effect.gen(function*() {
      let asked = 0
      const server = yield* make({
        "server/discover": () => ++asked === 1 ? silence : discovered(),
        initialize: error(-32601)
      }, { kind: "stdio" })
      const connecting = yield* Effect.forkChild(clientOf(server))
      yield* server.expect("server/discover")
      yield* TestClock.adjust("5 seconds")
      const client = yield* Fiber.join(connecting)
      assert.strictEqual((yield* client.server).revision.version, "2026-07-28")
    }))

  it.effect("waits for a server that is slow to start where only the stateless revision is allowed", () =>
    Effect.gen(function*() {
      const server = yield* make(
        { "server/discover": () => Effect.delay(Effect.succeed(discovered()), "20 seconds") },
        { kind: "stdio" }
      )
      const connecting = yield* Effect.forkChild(clientOf(server, { revisions: ["2026-07-28"] }))
      yield* server.expect("server/discover")
      yield* TestClock.adjust("20 seconds")
      const client = yield* Fiber.join(connecting)
      assert.strictEqual((yield* client.server).revision.version, "2026-07-28")
    }))

  it.effect("[field LIF-09] starts a server again that ended on the probe, and does not probe it again", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({ "server/discover": hangUp }), { kind: "stdio" })
      const client = yield* clientOf(server)
      yield* client.ping
      assert.deepStrictEqual(server.methods(), ["server/discover", "initialize", "notifications/initialized", "ping"])
      assert.deepStrictEqual(server.connections(), { made: 2, open: 1 })
    }))

  it.effect("starts a server again that answers the probe and then ends", () =>
    Effect.gen(function*() {
      let connections = 0
      const server = yield* make(
        legacy({
          "server/discover": error(-32601),
          initialize: () => ++connections === 1 ? hangUp : initialized("2024-11-05")
        }),
        { kind: "stdio" }
      )
      const client = yield* clientOf(server)
      assert.strictEqual((yield* client.server).revision.version, "2024-11-05")
      assert.strictEqual(server.connections().made, 2)
    }))

  it.effect("[VER-02] asks again at a version that the server names, and never initializes", () =>
    Effect.gen(function*() {
      const asked: Array<unknown> = []
      const server = yield* make({
        "server/discover": (request) => {
          asked.push(request.params?.["_meta"])
          return error(-32022, "Unsupported", { supported: ["2099-01-01"], requested: "2026-07-28" })
        }
      })
      const reason = yield* reasonOf(clientOf(server, { revisions: ["2026-07-28"] }))
      assert.deepInclude(reason, { _tag: "NoCommonRevision", offered: ["2099-01-01"], supported: ["2026-07-28"] })
      assert.deepStrictEqual(server.methods(), ["server/discover"])
      assert.strictEqual(server.connections().open, 0)
    }))

  it.effect("[VER-02] initializes when the versions that the server names are stateful ones", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({
        "server/discover": error(-32022, "Unsupported", { supported: ["2025-11-25"], requested: "2026-07-28" })
      }))
      const client = yield* clientOf(server)
      assert.strictEqual((yield* client.server).revision.version, "2025-11-25")
    }))

  it.effect("[VER-10] does not initialize after an error that only a modern server sends", () =>
    Effect.gen(function*() {
      const server = yield* make(
        legacy({
          "server/discover": error(-32021, "Missing", { requiredCapabilities: { sampling: {} } })
        }),
        { kind: "stdio" }
      )
      assert.deepInclude(yield* reasonOf(clientOf(server)), { _tag: "Refused", code: -32021 })
      assert.deepStrictEqual(server.methods(), ["server/discover"])
    }))

  it.effect("is told by the options: stateful revisions alone are not probed for", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy())
      yield* clientOf(server, { revisions: ["2025-11-25", "2025-06-18"] })
      yield* server.expect("notifications/initialized")
      assert.deepStrictEqual(server.methods(), ["initialize", "notifications/initialized"])
    }))

  it.effect("[VER-12] probes as a client of 2026-07-28 alone, and fails cleanly against a stateful server", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy(), { kind: "stdio" })
      const reason = yield* reasonOf(clientOf(server, { revisions: ["2026-07-28"] }))
      assert.deepInclude(reason, { _tag: "NoCommonRevision", supported: ["2026-07-28"] })
      assert.deepStrictEqual(server.methods(), ["server/discover"])
    }))

  it.effect("is a defect of the program where the options leave none", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy())
      assert.isTrue(Exit.hasDies(yield* Effect.exit(clientOf(server, { revisions: [] }))))
    }))
})

describe("the verdict", () => {
  it.effect("[VER-15] is kept for the next client of the same server", () =>
    Effect.gen(function*() {
      const eras = Negotiation.makeEraCache()
      const server = yield* make(legacy())
      yield* clientOf(server, {}, eras)
      yield* clientOf(server, {}, eras)
      assert.strictEqual(server.methods().filter((method) => method === "server/discover").length, 1)
      assert.strictEqual(eras.get("scripted"), "legacy")
    }))

  it.effect("[VER-15] is dropped, and the server probed, when it proves wrong", () =>
    Effect.gen(function*() {
      const eras = Negotiation.makeEraCache()
      eras.set("scripted", "legacy")
      const server = yield* make(modern({ initialize: error(-32600, "Say it all in one request") }), { kind: "stdio" })
      const client = yield* clientOf(server, {}, eras)
      assert.strictEqual((yield* client.server).revision.version, "2026-07-28")
      assert.strictEqual(eras.get("scripted"), "2026-07-28")
      assert.deepStrictEqual(server.methods(), ["initialize", "server/discover"])
    }))

  it.effect("[VER-15] is dropped as well when the server ends on it", () =>
    Effect.gen(function*() {
      const eras = Negotiation.makeEraCache()
      eras.set("scripted", "legacy")
      const server = yield* make(modern({ initialize: hangUp }), { kind: "stdio" })
      const client = yield* clientOf(server, {}, eras)
      assert.strictEqual((yield* client.server).revision.version, "2026-07-28")
      assert.deepStrictEqual(server.connections(), { made: 2, open: 1 })
    }))

  it.effect("[VER-15] that says modern gives way to a server that is not any more", () =>
    Effect.gen(function*() {
      const eras = Negotiation.makeEraCache()
      eras.set("scripted", "2026-07-28")
      const server = yield* make(legacy())
      const client = yield* clientOf(server, {}, eras)
      assert.strictEqual((yield* client.server).revision.version, "2025-11-25")
      assert.strictEqual(eras.get("scripted"), "legacy")
    }))

  it("is forgotten, oldest first, beyond its bound", () => {
    const eras = Negotiation.makeEraCache(2)
    for (const target of ["a", "b", "a", "c"]) eras.set(target, "legacy")
    assert.deepStrictEqual(["a", "b", "c"].map(eras.get), ["legacy", undefined, "legacy"])
  })
})

describe("the handshake", () => {
  it.effect("[LIF-01, LIF-02, LIF-06] offers the newest stateful revision and says when it is ready", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy())
      yield* clientOf(server, { revisions: ["2025-06-18", "2025-11-25"], info: { name: "probe", version: "1" } })
      yield* server.expect("notifications/initialized")
      const [first, second] = server.received()
      assert.deepInclude(first, {
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "probe", version: "1" } }
      })
      assert.deepInclude(second, { jsonrpc: "2.0", method: "notifications/initialized" })
    }))

  it.effect("[LIF-01] names the client by its package, where the program has no name for it", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy())
      yield* clientOf(server, { revisions: ["2025-11-25"] })
      const [first] = server.received()
      assert.deepInclude(first, {
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "mcpfx-client", version } }
      })
    }))

  it.effect("[LIF-04, field LIF-03] leaves when it cannot speak the version that the server chose, naming both sides", () =>
    Effect.gen(function*() {
      const server = yield* make({ initialize: initialized("1999-01-01") })
      const failure = yield* Effect.flip(clientOf(server, { revisions: ["2025-06-18", "2025-03-26"] }))
      assert.deepInclude(failure.reason, {
        _tag: "NoCommonRevision",
        offered: ["1999-01-01"],
        supported: ["2025-06-18", "2025-03-26"]
      })
      assert.include(failure.message, "1999-01-01")
      assert.deepStrictEqual(server.methods(), ["initialize"])
      assert.strictEqual(server.connections().open, 0)
    }))

  it.effect("[LIF-04] does not take a version it was told not to speak, though it could", () =>
    Effect.gen(function*() {
      const server = yield* make({ initialize: initialized("2024-11-05") })
      assert.strictEqual(yield* tagOf(clientOf(server, { revisions: ["2025-11-25"] })), "NoCommonRevision")
    }))

  it.effect("[LIF-13] asks once more with a version that a refusal names", () =>
    Effect.gen(function*() {
      const server = yield* make({
        initialize: ({ params }) =>
          params?.["protocolVersion"] === "2025-03-26"
            ? initialized("2025-03-26")
            : error(-32602, "Unsupported protocol version", { supported: ["2024-11-05", "2025-03-26"] })
      })
      const client = yield* clientOf(server)
      assert.strictEqual((yield* client.server).revision.version, "2025-03-26")
    }))

  it.effect("[field LIF-15] fails with the code and the message of a server that refuses", () =>
    Effect.gen(function*() {
      const server = yield* make({
        initialize: (_, server) =>
          Effect.gen(function*() {
            const last = server.received().at(-1)
            if (last !== undefined && JsonRpc.isRequest(last)) {
              yield* Effect.orDie(server.send(JsonRpc.failure(last.id, { code: -32000, message: "license expired" })))
            }
            return hangUp
          })
      }, { kind: "stdio" })
      const failure = yield* Effect.flip(clientOf(server))
      assert.deepInclude(failure.reason, { _tag: "Refused", code: -32000 })
      assert.strictEqual(failure.message, "initialize: the server refused: license expired (-32000)")
    }))

  it.effect("[LIF-10, field LIF-11] gives up at the connect timeout and never cancels initialize", () =>
    Effect.gen(function*() {
      const server = yield* make({ initialize: silence })
      const connecting = yield* Effect.forkChild(tagOf(clientOf(server, { connectTimeout: "100 millis" })))
      yield* server.expect("initialize")
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(yield* Fiber.join(connecting), "TimedOut")
      assert.notInclude(server.methods(), "notifications/cancelled")
      assert.strictEqual(server.connections().open, 0)
    }))

  it.effect("[CAP-02, field LIF-13] declares nothing that it has no handler for", () =>
    Effect.gen(function*() {
      const server = yield* make(modern())
      yield* clientOf(server)
      const [probe] = server.received()
      assert.isTrue(probe !== undefined && "params" in probe)
      assert.deepInclude(probe, {
        params: {
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { name: "mcpfx-client", version }
          }
        }
      })
    }))
})

describe("connecting", () => {
  it.effect("happens once for all who wait, and gives each the same failure", () =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      const server = yield* make(legacy({
        initialize: () => Effect.as(Deferred.await(go), error(-32000, "no"))
      }))
      const client = yield* clientOf(server, { lazy: true })
      const calls = yield* Effect.forkChild(Effect.all(
        [tagOf(client.ping), tagOf(client.tools), tagOf(client.server)],
        { concurrency: "unbounded" }
      ))
      yield* server.expect("initialize")
      yield* Deferred.succeed(go, undefined)
      assert.deepStrictEqual(yield* Fiber.join(calls), ["Refused", "Refused", "Refused"])
      assert.strictEqual(server.connections().made, 1)
    }))

  it.effect("goes on for the others when one who waits leaves, and leaves nothing when all do", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({ initialize: silence }))
      const client = yield* clientOf(server, { lazy: true })
      const first = yield* Effect.forkChild(client.ping)
      yield* server.expect("initialize")
      const second = yield* Effect.forkChild(client.ping)
      yield* Effect.yieldNow
      yield* Fiber.interrupt(first)
      assert.strictEqual(server.connections().open, 1)
      yield* Fiber.interrupt(second)
      assert.deepStrictEqual(server.connections(), { made: 1, open: 0 })
      const third = yield* Effect.forkChild(client.ping)
      yield* server.expect("initialize")
      assert.deepStrictEqual(server.connections(), { made: 2, open: 1 })
      yield* Fiber.interrupt(third)
    }))

  it.effect("happens on first use with `lazy`", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy())
      const client = yield* clientOf(server, { lazy: true })
      assert.strictEqual(server.connections().made, 0)
      yield* client.ping
      assert.strictEqual(server.connections().made, 1)
    }))

  it.effect("fails at once the first time, and is tried again by the next request", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy(), { refuseConnections: 1 })
      const client = yield* clientOf(server, { lazy: true, reconnect: true })
      assert.strictEqual(yield* tagOf(client.ping), "ConnectionLost")
      yield* client.ping
    }))
})

describe("a lost connection", () => {
  it.effect("[field SHT-06] fails what waits at once, with the reason", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({ "tools/call": silence }, { tools: {} }), { kind: "stdio" })
      const client = yield* clientOf(server)
      const calls = yield* Effect.forkChild(Effect.all(
        [1, 2, 3].map((n) => tagOf(client.callTool(`t${n}`))),
        { concurrency: "unbounded" }
      ))
      yield* Effect.all([server.expect("tools/call"), server.expect("tools/call"), server.expect("tools/call")])
      yield* server.hangUp
      yield* settle
      assert.deepStrictEqual(yield* Fiber.join(calls), ["ConnectionLost", "ConnectionLost", "ConnectionLost"])
    }))

  it.effect("stays lost on stdio, where nobody asked for another process", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy(), { kind: "stdio" })
      const client = yield* clientOf(server)
      yield* server.hangUp
      yield* settle
      const reason = yield* reasonOf(client.ping)
      assert.deepInclude(reason, { _tag: "ConnectionLost", detail: "The connection was closed" })
      assert.strictEqual(server.connections().made, 1)
    }))

  it.effect("[STD-16] is made anew on stdio where that is asked for", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy(), { kind: "stdio" })
      const client = yield* clientOf(server, { reconnect: true })
      yield* server.hangUp
      yield* settle
      yield* client.ping
      assert.deepStrictEqual(server.connections(), { made: 2, open: 1 })
    }))

  it.effect("is tried again with longer and longer waits, and again by the next request after that failed", () =>
    Effect.gen(function*() {
      let refusals = 0
      const server = yield* make(
        legacy({
          initialize: () => refusals-- > 0 ? hangUp : initialized("2025-11-25")
        }),
        { kind: "stdio" }
      )
      const client = yield* clientOf(server, { reconnect: true, revisions: ["2025-11-25"] })
      yield* server.hangUp
      yield* settle
      refusals = 6
      assert.strictEqual(yield* joined(yield* Effect.forkChild(tagOf(client.ping))), "ConnectionLost")
      assert.strictEqual(server.connections().made, 7)
      refusals = 2
      yield* joined(yield* Effect.forkChild(client.ping))
      assert.deepStrictEqual(server.connections(), { made: 10, open: 1 })
    }))

  it.effect("is not tried again for a refusal that will not pass", () =>
    Effect.gen(function*() {
      let connections = 0
      const server = yield* make(legacy({
        initialize: () => ++connections === 1 ? initialized("2025-11-25") : error(-32000, "Banned")
      }))
      const client = yield* clientOf(server, { reconnect: true, revisions: ["2025-11-25"] })
      yield* server.hangUp
      yield* settle
      assert.strictEqual(yield* tagOf(client.ping), "Refused")
      assert.strictEqual(connections, 2)
    }))

  it.effect("[PNG-02] is found out by a heartbeat that is not answered, and not by one that is", () =>
    Effect.gen(function*() {
      let isDead = false
      const server = yield* make(legacy({ ping: () => isDead ? silence : result({}) }), { kind: "stdio" })
      const client = yield* clientOf(server, { heartbeat: "10 seconds", reconnect: true })
      yield* TestClock.adjust("10 seconds")
      yield* server.expect("ping")
      yield* TestClock.adjust("10 seconds")
      yield* server.expect("ping")
      isDead = true
      yield* TestClock.adjust("10 seconds")
      yield* server.expect("ping")
      yield* TestClock.adjust("10 seconds")
      isDead = false
      yield* client.ping
      assert.deepStrictEqual(server.connections(), { made: 2, open: 1 })
    }))
})

describe("closing", () => {
  it.effect("[field SHT-06] fails what waits at once, tells that the client is closed, and connects no more", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({ "tools/call": silence, "tools/list": silence }, { tools: {} }))
      const scope = yield* Scope.make()
      const client = yield* Scope.provide(clientOf(server, { reconnect: true }), scope)
      const calls = yield* Effect.forkChild(Effect.all(
        [tagOf(client.callTool("a")), tagOf(client.callTool("b")), tagOf(client.tools)],
        { concurrency: "unbounded" }
      ))
      yield* Effect.all([server.expect("tools/call"), server.expect("tools/call"), server.expect("tools/list")])
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* Fiber.join(calls), ["ConnectionLost", "ConnectionLost", "ConnectionLost"])
      assert.deepInclude(yield* reasonOf(client.ping), { _tag: "ConnectionLost" })
      assert.deepStrictEqual(server.connections(), { made: 1, open: 0 })
    }))

  it.effect("[field SHT-06] ends an attempt to connect, whose waiters fail and are not interrupted", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({ initialize: silence }))
      const scope = yield* Scope.make()
      const client = yield* Scope.provide(clientOf(server, { lazy: true }), scope)
      const call = yield* Effect.forkChild(Effect.exit(client.ping))
      yield* server.expect("initialize")
      yield* Scope.close(scope, Exit.void)
      const exit = yield* Fiber.join(call)
      assert.isTrue(Exit.isFailure(exit) && !Cause.hasInterrupts(exit.cause))
      assert.strictEqual(server.connections().open, 0)
    }))
})

describe("a forgotten session", () => {
  it.effect("[field LIF-12] ends with a revision that the server gave up: it connects anew and sends once more", () =>
    Effect.gen(function*() {
      let isGone = false
      const server = yield* make(modern({
        "server/discover": () => isGone ? error(-32601) : discovered({ tools: {} }),
        initialize: initialized("2025-11-25", { tools: {} }),
        "tools/call": ({ params }) => {
          const isModern = JSON.stringify(params).includes("protocolVersion")
          if (!isModern) return result({ content: [] })
          isGone = true
          return error(-32022, "Gone", { supported: ["2025-11-25"], requested: "2026-07-28" })
        }
      }, { tools: {} }))
      const client = yield* clientOf(server)
      assert.deepStrictEqual((yield* client.callTool("t")).content, [])
      assert.strictEqual((yield* client.server).revision.version, "2025-11-25")
      assert.strictEqual(server.methods().filter((method) => method === "tools/call").length, 2)
    }))
})
