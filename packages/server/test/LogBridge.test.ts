import { assert, describe, it } from "@effect/vitest"
import { LogBridge } from "@mcpfx/server"
import * as McpServer from "@mcpfx/server/McpServer"
import { Cause, Effect, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import { register, text, tool } from "./protocol/fixtures.ts"
import { at, Client, connect, legacyVersions, type Sent, serve, Wire } from "./protocol/harness.ts"

const modern = "2026-07-28"

const chatty = register(
  tool("logs", () =>
    Effect.gen(function*() {
      yield* Effect.logTrace("trace")
      yield* Effect.logDebug("debug")
      yield* Effect.logInfo("info")
      yield* Effect.logWarning("warn")
      yield* Effect.logError("error", Cause.die(new Error("stack and secret")))
      yield* Effect.logFatal("fatal")
      return text("")
    })),
  tool("sends", () =>
    Effect.gen(function*() {
      for (const level of ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const) {
        yield* McpServer.log(level, { at: level }, "engine")
      }
      return text("")
    })),
  tool(
    "storm",
    () =>
      Effect.as(Effect.forEach(Array.from({ length: 500 }), (_, i) => Effect.logInfo(i), { discard: true }), text(""))
  ),
  tool(
    "named",
    () => Effect.as(Effect.annotateLogs(Effect.logInfo("a", { b: 1 }), { logger: "db", token: "x" }), text(""))
  )
)

const levelsOf = (sent: Sent) => sent.pushed.map((message) => at(message, "params", "level"))
const dataOf = (sent: Sent) => sent.pushed.map((message) => at(message, "params", "data"))
const call = (client: Client, name: string, level?: string) =>
  client.start("tools/call", {
    name,
    ...(level === undefined ? undefined : { _meta: { "io.modelcontextprotocol/logLevel": level } })
  })

describe("2026-07-28", () => {
  it.effect("[LOG-03] nothing is sent about a request that did not ask", () =>
    Effect.gen(function*() {
      const client = connect(yield* serve(chatty), modern)
      for (const name of ["logs", "sends", "storm"]) assert.deepStrictEqual(call(client, name).pushed, [])
    }))

  it.effect("[LOG-03] [LOG-04] [LOG-07] what passes the level of the request goes out on its stream", () =>
    Effect.gen(function*() {
      const client = connect(yield* serve(chatty), modern)
      const all = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
      assert.deepStrictEqual(levelsOf(call(client, "sends", "debug")), all)
      assert.deepStrictEqual(levelsOf(call(client, "sends", "critical")), ["critical", "alert", "emergency"])
      assert.deepStrictEqual(call(client, "sends", "emergency").pushed, [{
        jsonrpc: "2.0",
        method: "notifications/message",
        params: { level: "emergency", logger: "engine", data: { at: "emergency" } }
      }])
      assert.deepStrictEqual(levelsOf(call(client, "logs", "info")), ["info", "warning", "error", "critical"])
      assert.deepStrictEqual(client.wire?.unsolicited, [])
    }))

  it.effect("[LOG-03] a client that wants debug messages gets them, and other loggers hear no more than before", () =>
    Effect.gen(function*() {
      const heard: Array<string> = []
      const logger = Logger.make((options) => void heard.push(options.logLevel))
      const endpoint = yield* Effect.provideService(serve(chatty), Logger.CurrentLoggers, new Set([logger]))
      assert.deepStrictEqual(levelsOf(call(connect(endpoint, modern), "logs", "debug")), [
        "debug",
        "info",
        "warning",
        "error",
        "critical"
      ])
      assert.deepStrictEqual(heard, ["Info", "Warn", "Error", "Fatal"])
    }))

  it.effect("[LOG-01] without the capability nothing is sent, whatever is asked", () =>
    Effect.gen(function*() {
      const client = connect(yield* serve(chatty, { capabilities: { logging: false } }), modern)
      for (const name of ["logs", "sends"]) assert.deepStrictEqual(call(client, name, "debug").pushed, [])
    }))
})

describe("sessions", () => {
  for (const version of legacyVersions) {
    it.effect(`[LOG-02] ${version}: the level is the session's, and the server's before one is set`, () =>
      Effect.gen(function*() {
        const endpoint = yield* serve(chatty)
        const [client, other] = [connect(endpoint, version), connect(endpoint, version)]
        assert.deepStrictEqual(levelsOf(call(client, "logs")), ["info", "warning", "error", "critical"])
        yield* client.request("logging/setLevel", { level: "error" })
        assert.deepStrictEqual(levelsOf(call(client, "logs")), ["error", "critical"])
        yield* client.request("logging/setLevel", { level: "debug" })
        assert.strictEqual(levelsOf(call(client, "logs"))[0], "debug")
        assert.deepStrictEqual(levelsOf(call(other, "logs")), ["info", "warning", "error", "critical"])
        const strict = connect(yield* serve(chatty, { logLevel: "alert" }), version)
        assert.deepStrictEqual(levelsOf(call(strict, "sends")), ["alert", "emergency"])
      }))
  }
})

describe("what is sent", () => {
  const version = "2025-11-25"

  it.effect("[LOG-06] no cause, no stack and no annotation leaves the server", () =>
    Effect.gen(function*() {
      const client = connect(yield* serve(chatty), version)
      assert.deepStrictEqual(dataOf(call(client, "logs")), ["info", "warn", "error", "fatal"])
      assert.deepStrictEqual(at(call(client, "named").pushed[0], "params"), {
        level: "info",
        logger: "db",
        data: ["a", { b: 1 }]
      })
    }))

  it.effect("[SCH-18] nor does what the server logs about a defect", () =>
    Effect.gen(function*() {
      const boom = register(tool("boom", () => Effect.andThen(Effect.yieldNow, Effect.die(new Error("secret")))))
      const client = connect(yield* serve(boom), version)
      const sent = yield* client.request("tools/call", { name: "boom" })
      assert.deepStrictEqual(sent.pushed, [])
    }))

  it.effect("[LOG-06] a storm is cut to a burst, and to so much a second after it", () =>
    Effect.gen(function*() {
      const patient = tool("patient", () =>
        Effect.as(
          Effect.andThen(
            Effect.forEach(Array.from({ length: 500 }), () => Effect.logInfo("x"), { discard: true }),
            Effect.andThen(
              Effect.sleep("1 second"),
              Effect.forEach(Array.from({ length: 500 }), () => McpServer.log("info", "x"), { discard: true })
            )
          ),
          text("")
        ))
      const client = connect(yield* serve(register(patient)), version)
      const sent = call(client, "patient")
      assert.strictEqual(sent.pushed.length, 100)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(sent.pushed.length, 150)
      const few = connect(yield* serve(chatty, { limits: { logBurst: 2 } }), version)
      assert.strictEqual(call(few, "storm").pushed.length, 2)
    }))

  it.effect("[LOG-06] a slow stream holds up a handler that sends, not one that logs", () =>
    Effect.gen(function*() {
      const client = connect(yield* serve(chatty), version)
      const logging = client.start("tools/call", { name: "logs" }, 1, 0)
      assert.isDefined(logging.answer)
      const sending = client.start("tools/call", { name: "sends" }, 2, 1)
      assert.isUndefined(sending.answer)
      sending.resume()
      yield* Effect.yieldNow
      assert.isDefined(sending.answer)
    }))

  it.effect("[LOG-01] forwarding of the logger can be switched off, sending stays", () =>
    Effect.gen(function*() {
      const client = connect(yield* serve(chatty, { forwardLogs: false }), version)
      assert.deepStrictEqual(call(client, "logs").pushed, [])
      assert.strictEqual(call(client, "sends").pushed.length, 7)
    }))

  it.effect("[LOG-06] long data is cut", () =>
    Effect.gen(function*() {
      const long = register(tool("long", () => Effect.as(McpServer.log("info", "x".repeat(100)), text(""))))
      const client = connect(yield* serve(long, { limits: { logLength: 10 } }), version)
      assert.deepStrictEqual(dataOf(call(client, "long")), [`${"x".repeat(10)}…`])
    }))

  it.effect("[LOG-04] outside of requests the logger sends nothing", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const client = new Client(yield* serve(chatty), version, wire)
      client.hello()
      yield* Effect.provideService(
        Effect.logInfo("nobody asked"),
        Logger.CurrentLoggers,
        new Set([LogBridge.logger])
      ).pipe(Effect.provideService(References.MinimumLogLevel, "All"))
      assert.deepStrictEqual(wire.unsolicited, [])
    }))
})
