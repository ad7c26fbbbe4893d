import { assert, describe, it } from "@effect/vitest"
import * as JsonSchema from "@mcpfx/schema/JsonSchema"
import * as Tool from "@mcpfx/schema/Tool"
import * as ForeignSchemas from "@mcpfx/server/ForeignSchemas"
import * as McpStdio from "@mcpfx/server/McpStdio"
import type { Registry } from "@mcpfx/server/Registry"
import type { DuplicateEntry } from "@mcpfx/server/ServerError"
import * as ServerTool from "@mcpfx/server/ServerTool"
import * as Tasks from "@mcpfx/server/Tasks"
import { Cause, Effect, Exit, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import type { Json } from "./protocol/harness.ts"
import { streams } from "./protocol/streams.ts"

const options = { name: "small", version: "1.0.0" }
type Registrations = Layer.Layer<never, DuplicateEntry, Registry>

const Hello = Tool.make("hello", { input: { name: Schema.String } })
const hello = ServerTool.tool(Hello, ({ name }) => Effect.succeed(`Hello, ${name}!`))

const Slow = Tool.make("slow", { task: "must" })
const slow = ServerTool.tool(Slow, () => Effect.succeed("done"))

const input = { type: "object", required: ["n"], properties: { n: { type: "integer" } } }
const Count = Tool.make("count", { input: JsonSchema.foreign(input) })
const count = ServerTool.tool(Count, () => Effect.succeed("counted"))

const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "0" } }
}
const initialized = { jsonrpc: "2.0", method: "notifications/initialized" }
const request = (id: number, method: string, params: Json = {}): Json => ({ jsonrpc: "2.0", id, method, params })
const call = (id: number, name: string, args: Json, more: Json = {}) =>
  request(id, "tools/call", { name, arguments: args, ...more })
const modern = {
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "x", version: "0" }
  }
}

/** Runs a server over messages of a client until all are answered. */
const serve = (registrations: Registrations, messages: ReadonlyArray<Json>, parts: Layer.Layer<never> = Layer.empty) =>
  Effect.gen(function*() {
    const { end, lines, send, stdio } = yield* streams
    const server = Effect.provide(McpStdio.runStdio(registrations, options), parts)
    const fiber = yield* Effect.forkChild(Effect.provide(server, stdio))
    for (const message of messages) yield* send(message)
    yield* end
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(fiber)
    return (id: number) => lines.find((line) => line["id"] === id)
  })

const text = (value: string) => [{ type: "text", text: value }]

/** Why a server did not start. */
const reasonOf = (registrations: Registrations) =>
  Effect.gen(function*() {
    const exit = yield* Effect.exit(serve(registrations, [initialize]))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    return Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : ""
  })

describe("a small server", () => {
  it.effect("serves both eras", () =>
    Effect.gen(function*() {
      const answer = yield* serve(hello, [
        initialize,
        initialized,
        call(1, "hello", { name: "Ada" }),
        call(2, "hello", { name: "Bob" }, modern)
      ])
      assert.deepStrictEqual(answer(1)?.["result"], { content: text("Hello, Ada!") })
      assert.deepNestedInclude(answer(2), { "result.resultType": "complete" })
    }))

  it.effect("[RPC-24] has no methods of tasks", () =>
    Effect.gen(function*() {
      const answer = yield* serve(hello, [
        initialize,
        initialized,
        request(1, "tasks/get", { taskId: "1" }),
        request(2, "tasks/get", { taskId: "1", ...modern })
      ])
      assert.deepNestedInclude(answer(1), { "error.code": -32601 })
      assert.deepNestedInclude(answer(2), { "error.code": -32601 })
    }))

  it.effect("[MRT-07] refuses a state that comes back, since nothing in it has asked", () =>
    Effect.gen(function*() {
      const answer = yield* serve(hello, [call(1, "hello", { name: "Ada" }, { requestState: "somebody's", ...modern })])
      assert.deepNestedInclude(answer(1), { "error.code": -32602 })
    }))

  it.effect("does not start with a tool that runs as a task, unless it is given what runs them", () =>
    Effect.gen(function*() {
      assert.include(yield* reasonOf(slow), "tool \"slow\": nothing here runs tasks: provide Tasks.layer to the server")
      const answer = yield* serve(slow, [initialize, initialized, call(1, "slow", {}, { task: {} })], Tasks.layer)
      assert.deepNestedInclude(answer(1), { "result.task.status": "working" })
    }))

  it.effect("is not given what runs tasks by a layer around its tools alone", () =>
    Effect.gen(function*() {
      assert.include(yield* reasonOf(Layer.provide(slow, Tasks.layer)), "nothing here runs tasks")
    }))

  it.effect("[SCH-04] does not start with a schema from elsewhere, unless it is given what checks it", () =>
    Effect.gen(function*() {
      assert.include(yield* reasonOf(count), "nothing here checks its input schema: provide ForeignSchemas.layer")
      const messages = [initialize, initialized, call(1, "count", { n: 1 }), call(2, "count", { n: "one" })]
      const answer = yield* serve(count, messages, ForeignSchemas.layer)
      assert.deepStrictEqual(answer(1)?.["result"], { content: text("counted") })
      assert.deepNestedInclude(answer(2), { "result.isError": true })
    }))
})
