import { assert, describe, it } from "@effect/vitest"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import * as Methods from "@mcpfx/schema/Methods"
import * as SessionMetrics from "@mcpfx/session/SessionMetrics"
import * as Telemetry from "@mcpfx/session/Telemetry"
import { Cause, Context, Effect, Exit, Fiber, Logger, Metric, Option, Scope, Tracer } from "effect"
import { Headers } from "effect/http"
import { TestClock } from "effect/testing"
import { at, client, handler, legacy, readyServer, Wire } from "./fixtures.ts"

/** A tracer that keeps what it is given, and the spans it gave. */
const memoryTracer = () => {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const named = (name: string) => spans.find((span) => span.name === name)
  return { spans, tracer, named, provide: Effect.provideService(Tracer.Tracer, tracer) }
}

const attributesOf = (span: Tracer.NativeSpan | undefined) => Object.fromEntries(span?.attributes ?? [])
const exitOf = (span: Tracer.NativeSpan | undefined): string => {
  if (span === undefined || span.status._tag !== "Ended") return "running"
  const { exit } = span.status
  if (Exit.isSuccess(exit)) return `success ${String(exit.value)}`
  return Cause.hasInterruptsOnly(exit.cause) ? "interrupted" : String(Cause.squash(exit.cause))
}

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

const tools = handler({
  "tools/call": (message) => {
    switch (message.params?.["name"]) {
      case "fails":
        return Effect.succeed({ content: [], isError: true })
      case "unknown":
        return Effect.fail(new McpError.ToolNotFound({ name: "secret argument" }))
      case "dies":
        return Effect.die(new Error("secret answer"))
      case "slow":
        return Effect.never
      case "inner":
        return Effect.withSpan(Effect.succeed({ content: [] }), "inner work")
      default:
        return Effect.succeed({ content: [{ type: "text", text: "secret answer" }] })
    }
  }
})
const call = (name: string, meta?: JsonRpc.JsonObject): JsonRpc.JsonObject => ({
  name,
  arguments: { token: "secret argument" },
  ...(meta === undefined ? undefined : { _meta: meta })
})

describe("spans of served requests", () => {
  it.effect("[META-15] are named by method and tool, carry the conventional attributes and the sender's trace", () =>
    Effect.gen(function*() {
      const memory = memoryTracer()
      const bench = yield* memory.provide(readyServer({ handler: tools }))
      bench.ask(7, "tools/call", call("add", { traceparent }), { transport: "stdio" })
      bench.ask(8, "tools/list")
      const span = memory.named("tools/call add")
      assert.deepStrictEqual(attributesOf(span), {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": legacy.version,
        "gen_ai.tool.name": "add",
        "gen_ai.operation.name": "execute_tool",
        "jsonrpc.request.id": "7",
        "network.transport": "pipe"
      })
      assert.strictEqual(span?.kind, "server")
      assert.strictEqual(span?.traceId, "0af7651916cd43dd8448eb211c80319c")
      assert.strictEqual(Option.getOrUndefined(span?.parent ?? Option.none())?.spanId, "b7ad6b7169203331")
      assert.isDefined(memory.named("tools/list"))
    }))

  it.effect("what handlers trace lies inside", () =>
    Effect.gen(function*() {
      const memory = memoryTracer()
      const bench = yield* memory.provide(readyServer({ handler: tools }))
      bench.ask(1, "tools/call", call("inner"))
      const inner = memory.named("inner work")
      const outer = memory.named("tools/call inner")
      assert.strictEqual(Option.getOrUndefined(inner?.parent ?? Option.none())?.spanId, outer?.spanId)
    }))

  it.effect("failures have their kind, and nothing of what was said", () =>
    Effect.gen(function*() {
      const memory = memoryTracer()
      const bench = yield* memory.provide(readyServer({ handler: tools }))
      for (const [id, name] of ["add", "fails", "unknown", "dies", "slow"].entries()) {
        bench.ask(id, "tools/call", call(name))
      }
      bench.tell("notifications/cancelled", { requestId: 4 })
      const faults = ["add", "fails", "unknown", "dies", "slow"].map((name) => {
        const span = memory.named(`tools/call ${name}`)
        const attributes = attributesOf(span)
        return [attributes["error.type"], attributes["rpc.response.status_code"], exitOf(span)]
      })
      assert.deepStrictEqual(faults, [
        [undefined, undefined, "success undefined"],
        ["tool_error", undefined, "tool_error"],
        ["-32602", "-32602", "-32602"],
        ["-32603", "-32603", "-32603"],
        ["cancelled", undefined, "interrupted"]
      ])
      const everything = JSON.stringify(
        memory.spans.map((span) => [span.name, attributesOf(span), exitOf(span), span.events])
      )
      assert.notInclude(everything, "secret")
    }).pipe(Effect.provide(Logger.layer([]))))

  it.effect("the session id is on them only if asked for", () =>
    Effect.gen(function*() {
      const memory = memoryTracer()
      const bench = yield* memory.provide(readyServer({ handler: tools })).pipe(
        Effect.provide(Telemetry.layer({ sessionId: true }))
      )
      bench.ask(1, "tools/list")
      assert.strictEqual(attributesOf(memory.named("tools/list"))["mcp.session.id"], "s1")
    }))

  it.effect("without a trace in the message the span around is the parent; with one it is linked", () =>
    Effect.gen(function*() {
      const memory = memoryTracer()
      const bench = yield* memory.provide(readyServer({ handler: tools }))
      const around = Tracer.externalSpan({ traceId: "1".repeat(32), spanId: "2".repeat(16) })
      const inside = <A>(f: () => A) => Effect.withParentSpan(Effect.sync(f), around)
      yield* inside(() => bench.ask(1, "tools/call", call("plain")))
      yield* inside(() => bench.ask(2, "tools/call", call("sent", { traceparent })))
      const headers = Headers.fromInput({ traceparent })
      bench.ask(3, "tools/call", call("header"), { transport: "http", headers })
      const parents = ["plain", "sent", "header"].map((name) =>
        Option.getOrUndefined(memory.named(`tools/call ${name}`)?.parent ?? Option.none())?.spanId
      )
      assert.deepStrictEqual(parents, ["2".repeat(16), "b7ad6b7169203331", "b7ad6b7169203331"])
      assert.deepStrictEqual(memory.named("tools/call sent")?.links.map((link) => link.span.spanId), ["2".repeat(16)])
    }))

  it.effect("where only the built-in tracer is there, none are made, unless asked for", () =>
    Effect.gen(function*() {
      let current: unknown = "none"
      const look = handler({
        "tools/call": () =>
          Effect.map(Effect.option(Effect.currentSpan), (span) => {
            current = Option.isSome(span) ? span.value.name : "none"
            return {}
          })
      })
      const quiet = yield* readyServer({ handler: look })
      quiet.ask(1, "tools/call", call("add"))
      assert.strictEqual(current, "none")
      const loud = yield* readyServer({ handler: look }).pipe(Effect.provide(Telemetry.layer({ spans: "on" })))
      loud.ask(1, "tools/call", call("add"))
      assert.strictEqual(current, "tools/call add")
      const memory = memoryTracer()
      const off = yield* memory.provide(readyServer({ handler: look })).pipe(
        Effect.provide(Telemetry.layer({ spans: "off" }))
      )
      off.ask(1, "tools/call", call("add"))
      assert.deepStrictEqual([current, memory.spans], ["none", []])
    }))
})

describe("spans of sent requests", () => {
  it.effect("[META-15] are children of the caller's span and name themselves to the peer", () =>
    Effect.gen(function*() {
      const memory = memoryTracer()
      const wire = new Wire()
      const bench = yield* memory.provide(client(wire))
      const fiber = yield* bench.session.peer.request(Methods.ToolsCall, { name: "add", arguments: { a: "secret" } })
        .pipe(
          Effect.withSpan("caller"),
          memory.provide,
          Effect.forkChild({ startImmediately: true })
        )
      const span = memory.named("tools/call add")
      assert.strictEqual(span?.kind, "client")
      assert.strictEqual(Option.getOrUndefined(span?.parent ?? Option.none())?.spanId, memory.named("caller")?.spanId)
      assert.strictEqual(
        at(wire.sent[0], "params", "_meta", "traceparent"),
        `00-${span?.traceId}-${span?.spanId}-01`
      )
      bench.accept({ jsonrpc: "2.0", id: 1, result: { content: [], isError: true } })
      yield* Fiber.join(fiber)
      assert.strictEqual(attributesOf(span)["error.type"], "tool_error")
      assert.notInclude(JSON.stringify(attributesOf(span)), "secret")
    }))

  it.effect("failures have their kind", () =>
    Effect.gen(function*() {
      const memory = memoryTracer()
      const wire = new Wire()
      const bench = yield* memory.provide(client(wire))
      const send = (method: string) =>
        memory.provide(bench.session.peer.requestRaw(method, {}, { timeout: "1 second" })).pipe(
          Effect.forkChild({ startImmediately: true })
        )
      const refused = yield* send("refused")
      const late = yield* send("late")
      const taken = yield* send("taken back")
      bench.accept({ jsonrpc: "2.0", id: 1, error: { code: -32601, message: "no" } })
      yield* Fiber.interrupt(taken)
      yield* TestClock.adjust("1 second")
      yield* Fiber.await(refused)
      yield* Fiber.await(late)
      const types = ["refused", "late", "taken back"].map((name) => attributesOf(memory.named(name))["error.type"])
      assert.deepStrictEqual(types, ["-32601", "timeout", "cancelled"])
    }))
})

describe("metrics", () => {
  const registry = () => {
    const metrics: Metric.MetricRegistry = new Map()
    const on = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      effect.pipe(
        Effect.provide(Telemetry.layer({ metrics: true })),
        Effect.provideService(Metric.MetricRegistry, metrics)
      )
    const context = Context.make(Metric.MetricRegistry, metrics)
    const series = (name: string): ReadonlyArray<JsonRpc.JsonObject> =>
      Metric.snapshotUnsafe(context).flatMap((snapshot) => {
        if (snapshot.id !== name || snapshot.type !== "Histogram") return []
        const { unit, ...attributes } = snapshot.attributes ?? {}
        return [{ ...attributes, unit, count: snapshot.state.count, sum: snapshot.state.sum }]
      })
    const gauge = (metric: Metric.Gauge<number>) => metric.valueUnsafe(context).value
    return { on, series, gauge, metrics }
  }

  it.effect("count the time of requests by method, tool and fault, in seconds", () =>
    Effect.gen(function*() {
      const { gauge, on, series } = registry()
      const bench = yield* on(readyServer({
        handler: handler({
          "tools/call": (message) =>
            message.params?.["name"] === "none"
              ? Effect.fail(new McpError.ToolNotFound({ name: "none" }))
              : Effect.as(Effect.sleep("2 seconds"), { content: [] })
        })
      }))
      bench.ask(1, "tools/call", call("add"))
      bench.ask(2, "tools/call", call("none"))
      bench.ask(3, "made/up")
      assert.strictEqual(gauge(SessionMetrics.serverActiveRequests), 1)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(gauge(SessionMetrics.serverActiveRequests), 0)
      const common = { "mcp.protocol.version": legacy.version, unit: "s", count: 1 }
      const tool = { "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool" }
      const own = series("mcp.server.operation.duration").filter((one) => at(one, "mcp.method.name") !== "initialize")
      // A peer that makes names up does not make series up.
      assert.sameDeepMembers(own, [
        { ...common, ...tool, "gen_ai.tool.name": "add", sum: 2 },
        { ...common, ...tool, "error.type": "-32602", "rpc.response.status_code": "-32602", sum: 0 },
        { ...common, "mcp.method.name": "_OTHER", sum: 0 }
      ])
    }))

  it.effect("count the time of sessions and how many are open", () =>
    Effect.gen(function*() {
      const { gauge, on, series } = registry()
      const scope = yield* Scope.make()
      yield* Scope.provide(on(readyServer()), scope)
      yield* Scope.provide(on(client(new Wire())), scope)
      assert.deepStrictEqual(
        [gauge(SessionMetrics.serverActiveSessions), gauge(SessionMetrics.clientActiveSessions)],
        [1, 1]
      )
      yield* TestClock.adjust("3 seconds")
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(
        [gauge(SessionMetrics.serverActiveSessions), gauge(SessionMetrics.clientActiveSessions)],
        [0, 0]
      )
      const durations = ["mcp.server.session.duration", "mcp.client.session.duration"].flatMap(series)
      const one = { "mcp.protocol.version": legacy.version, unit: "s", count: 1, sum: 3 }
      assert.deepStrictEqual(durations, [one, one])
    }))

  it.effect("count sent requests too", () =>
    Effect.gen(function*() {
      const { gauge, on, series } = registry()
      const bench = yield* on(client(new Wire()))
      const fiber = yield* bench.session.peer.requestRaw("tools/list", {}).pipe(
        Effect.forkChild({ startImmediately: true })
      )
      assert.strictEqual(gauge(SessionMetrics.clientActiveRequests), 1)
      yield* TestClock.adjust("1 second")
      bench.accept({ jsonrpc: "2.0", id: 1, result: {} })
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(series("mcp.client.operation.duration"), [
        { "mcp.method.name": "tools/list", "mcp.protocol.version": legacy.version, unit: "s", count: 1, sum: 1 }
      ])
      assert.strictEqual(gauge(SessionMetrics.clientActiveRequests), 0)
    }))

  it.effect("nothing is recorded where they are off, which is the default", () =>
    Effect.gen(function*() {
      const { metrics } = registry()
      const bench = yield* readyServer({ handler: tools }).pipe(
        Effect.provideService(Metric.MetricRegistry, metrics)
      )
      bench.ask(1, "tools/call", call("add"))
      assert.strictEqual(metrics.size, 0)
    }))
})
