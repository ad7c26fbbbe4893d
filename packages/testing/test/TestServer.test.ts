import { assert, describe, it } from "@effect/vitest"
import { McpClient } from "@mcpfx/client"
import { Revisions, Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { TestPeer, TestServer } from "@mcpfx/testing"
import { Endpoint } from "@mcpfx/transport"
import { Context, Effect, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"

class Greeting extends Context.Service<Greeting, { readonly of: (name: string) => string }>()("Greeting") {}

const Hello = Tool.make("hello", { input: { name: Schema.String } })
const HelloLive = McpServer.tool(Hello, ({ name }) => Effect.map(Greeting, (greeting) => greeting.of(name)))
const Nap = Tool.make("nap")
const NapLive = McpServer.tool(Nap, () => Effect.as(Effect.sleep("8 hours"), "good morning"))

const Registrations = Layer.mergeAll(HelloLive, NapLive).pipe(
  Layer.provide(Layer.mock(Greeting)({ of: (name) => `Hello, ${name}` }))
)

describe("TestServer", () => {
  it.layer(TestServer.layer(Registrations))("by default", (it) => {
    it.effect("speaks the newest revision, with dependencies mocked by layers", () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        assert.strictEqual((yield* client.server).revision.version, "2026-07-28")
        const { content } = yield* client.call(Hello, { name: "Ada" })
        assert.deepStrictEqual(content, [{ type: "text", text: "Hello, Ada" }])
      }))

    it.effect("runs under the clock of the test", () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const nap = yield* Effect.forkChild(client.call(Nap, {}, { timeout: "10 hours" }))
        yield* Effect.repeat(Effect.yieldNow, { times: 50 })
        yield* TestClock.adjust("8 hours")
        assert.deepStrictEqual((yield* Fiber.join(nap)).content, [{ type: "text", text: "good morning" }])
      }))

    it.effect("leaves its endpoint to other peers", () =>
      Effect.gen(function*() {
        const peer = yield* TestPeer.make(yield* Endpoint.Endpoint)
        assert.deepInclude(yield* peer.request(1, "ping"), { id: 1, result: {} })
      }))
  })

  for (const { version } of Revisions.all) {
    it.layer(TestServer.layer(Registrations, { revision: version }))(`told ${version}`, (it) => {
      it.effect("speaks that one", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          assert.strictEqual((yield* client.server).revision.version, version)
          assert.deepStrictEqual((yield* client.tools).map(({ name }) => name), ["hello", "nap"])
        }))
    })
  }

  it.layer(TestServer.layer(Registrations, {
    server: { name: "mine", revisions: ["2025-03-26"], instructions: "Be nice" },
    client: { info: { name: "you", version: "1" } }
  }))("with options", (it) => {
    it.effect("passes them to both sides", () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const { info, instructions, revision } = yield* client.server
        assert.deepStrictEqual([info?.name, instructions, revision.version], ["mine", "Be nice", "2025-03-26"])
      }))
  })
})
