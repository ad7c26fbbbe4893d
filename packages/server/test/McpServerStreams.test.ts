/** What goes on which stream over HTTP, byte for byte as a client would see it. */
import { assert, describe, it } from "@effect/vitest"
import { ChangeBus } from "@mcpfx/server/ChangeBus"
import type * as Entry from "@mcpfx/server/Entry"
import * as McpServer from "@mcpfx/server/McpServer"
import { Registry } from "@mcpfx/server/Registry"
import * as Progress from "@mcpfx/session/Progress"
import { Deferred, Effect, Layer } from "effect"
import { text, tool } from "./protocol/fixtures.ts"
import { at, envelope, type Json } from "./protocol/harness.ts"

const accept = "application/json, text/event-stream"

/** A tool that can announce that the list of tools has changed. */
const announcing = (make: (announce: Effect.Effect<void>) => Entry.ToolEntry) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const bus = yield* ChangeBus
    const registry = yield* Registry
    yield* registry.register(make(bus.publish({ kind: "tools" })))
  }))

const web = <E>(registrations: Layer.Layer<never, E, McpServer.Provided>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() =>
        McpServer.toWebHandler(registrations, { name: "tester", version: "1.2.3", sessions: "stateful" })
      ),
      ({ dispose }) => Effect.promise(dispose)
    ),
    ({ handler }) => ({
      /** Answers as soon as the response begins. */
      post: (body: Json, headers: Record<string, string> = {}) =>
        Effect.promise(() =>
          handler(
            new Request("http://localhost/mcp", {
              method: "POST",
              headers: { "content-type": "application/json", accept, ...headers },
              body: JSON.stringify(body)
            })
          )
        ),
      of: (method: "GET" | "DELETE", headers: Record<string, string>) =>
        Effect.promise(() =>
          handler(new Request("http://localhost/mcp", { method, headers: { accept: "text/event-stream", ...headers } }))
        )
    })
  )

/** The messages of a whole event stream. */
const events = (response: Response): Effect.Effect<ReadonlyArray<Json>> =>
  Effect.map(
    Effect.promise(() => response.text()),
    (body) =>
      body.split("\n").filter((line) => line.startsWith("data: {")).map((line): Json => JSON.parse(line.slice(6)))
  )

describe("the stream of a request", () => {
  it.effect("[HTTP-16] before the answer there are notifications about that request, and nothing else", () =>
    Effect.gen(function*() {
      const gates = { a: yield* Deferred.make<void>(), b: yield* Deferred.make<void>() }
      const { post } = yield* web(announcing((announce) =>
        tool("work", (params) => {
          const name = params.arguments?.["name"] === "a" ? "a" : "b"
          return Effect.gen(function*() {
            yield* Progress.report({ progress: 1, message: name })
            yield* Deferred.await(gates[name])
            yield* Effect.logWarning(`log of ${name}`)
            yield* announce
            yield* Progress.report({ progress: 2, message: name })
            return text(name)
          })
        })
      ))
      const work = (name: string, id: number) =>
        post({
          jsonrpc: "2.0",
          id,
          method: "tools/call",
          params: {
            name: "work",
            arguments: { name },
            ...envelope({ progressToken: name, "io.modelcontextprotocol/logLevel": "info" })
          }
        }, { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "work" })
      // Both run at the same time, and the one that began last ends first.
      const [a, b] = [yield* work("a", 1), yield* work("b", 2)]
      yield* Deferred.succeed(gates.b, undefined)
      const fromB = yield* events(b)
      yield* Deferred.succeed(gates.a, undefined)
      const fromA = yield* events(a)
      for (const [name, id, messages] of [["a", 1, fromA], ["b", 2, fromB]] as const) {
        assert.deepStrictEqual(messages.map((message) => message["method"]), [
          "notifications/progress",
          "notifications/message",
          "notifications/progress",
          undefined
        ])
        for (const message of messages.slice(0, -1)) assert.notProperty(message, "id")
        assert.deepStrictEqual(
          messages.map((message) => at(message, "params", "progressToken")),
          [name, undefined, name, undefined]
        )
        assert.strictEqual(at(messages[1], "params", "data"), `log of ${name}`)
        assert.strictEqual(at(messages.at(-1), "id"), id)
        assert.strictEqual(at(messages.at(-1), "result", "content", 0, "text"), name)
      }
    }))
})

describe("the stream of a session", () => {
  it.effect("[HTTP-23] carries what answers nothing and never an answer", () =>
    Effect.gen(function*() {
      const { of, post } = yield* web(
        announcing((announce) => tool("work", () => Effect.as(announce, text("done"))))
      )
      const hello = yield* post({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "0" } }
      })
      const session = {
        "mcp-session-id": hello.headers.get("mcp-session-id") ?? "",
        "mcp-protocol-version": "2025-11-25"
      }
      yield* post({ jsonrpc: "2.0", method: "notifications/initialized" }, session)
      const stream = yield* of("GET", session)
      const answered = yield* post({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "work" } }, session)
      const body = yield* Effect.promise(() => answered.text())
      assert.include(body, "done")
      assert.notInclude(body, "list_changed")
      yield* of("DELETE", session)
      const told = yield* events(stream)
      assert.deepStrictEqual(told.map((message) => message["method"]), ["notifications/tools/list_changed"])
      assert.notProperty(told[0], "id")
    }))
})
