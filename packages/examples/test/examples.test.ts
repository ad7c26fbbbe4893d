/** Each example does what it says. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { McpClient } from "@mcpfx/client"
import { TestServer } from "@mcpfx/testing"
import { Effect, FileSystem, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpServer } from "effect/http"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { overStdio, tour } from "../src/client.ts"
import { Search, Write } from "../src/notes/contract.ts"
import { info, Notes } from "../src/notes/server.ts"
import { NoteStore } from "../src/notes/store.ts"
import { printed } from "./support/printed.ts"

const fileOf = (name: string) => fileURLToPath(new URL(`../src/${name}`, import.meta.url))

const portOf = Effect.map(HttpServer.HttpServer, ({ address }) => address._tag === "UnixPathAddress" ? 0 : address.port)

const notesInMemory = Layer.unwrap(Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped()
  return Layer.provide(TestServer.layer(Notes, { server: info }), NoteStore.layer(folder))
})).pipe(Layer.provide(NodeServices.layer))

describe("examples", () => {
  it("hello answers a call, and ends with 0 when its input does [STD-09]", () => {
    const lines = [
      {
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "0" } }
      },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "hello", arguments: { name: "you" } } }
    ]
    const { status, stdout } = spawnSync(process.execPath, [fileOf("hello.ts")], {
      input: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
      encoding: "utf8"
    })
    assert.strictEqual(status, 0)
    assert.include(stdout, "Hello, you!")
  })

  it.live("the client's tour of the notes works over standard input and output", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const folder = yield* files.makeTempDirectoryScoped()
      const lines = yield* printed(Effect.scoped(Effect.provide(tour, overStdio(folder))))
      assert.include(lines.join("\n"), "NoteMissing: there is no note \"nothing\"")
      assert.include(lines.join("\n"), "completed to groceries")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)), 60_000)

  it.live("the notes are searched in memory, without a process", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      yield* client.call(Write, { name: "one", text: "a line with milk" })
      const { found } = yield* client.call(Search, { text: "milk" })
      assert.deepStrictEqual(found, [{ name: "one", line: "a line with milk" }])
    }).pipe(Effect.provide(notesInMemory)))

  it.live("the application shares its state with its tools", () =>
    Effect.gen(function*() {
      const { layer } = yield* Effect.promise(() => import("../src/httpApp.ts"))
      const program = Effect.gen(function*() {
        const port = yield* portOf
        const http = yield* HttpClient.HttpClient
        const home = yield* http.get(`http://127.0.0.1:${port}/`)
        assert.strictEqual(yield* home.text, "visit 1")
        const counted = Effect.flatMap(McpClient.McpClient, (client) => client.callTool("count_visits"))
        const result = yield* Effect.provide(counted, McpClient.layerHttp({ url: `http://127.0.0.1:${port}/mcp` }))
        assert.deepStrictEqual(result.structuredContent, { visits: 1 })
        const health = yield* http.get(`http://127.0.0.1:${port}/healthz`)
        assert.strictEqual(health.status, 200)
      })
      yield* Effect.provide(program, Layer.merge(layer(0), FetchHttpClient.layer))
    }).pipe(Effect.scoped), 60_000)

  it.live(
    "a report comes whole over a connection that was closed before it began [HTTP-28]",
    () =>
      Effect.gen(function*() {
        const { program } = yield* Effect.promise(() => import("../src/resume/main.ts"))
        const lines = yield* printed(program)
        assert.deepStrictEqual(lines.at(-1), "10 rows counted, over two connections")
        const rows = lines.slice(0, -1).map((line) => Number(line.replace("row ", "")))
        assert.isTrue(rows.length > 0 && rows.every((row, at) => at === 0 || row > (rows[at - 1] ?? 0)))
        assert.strictEqual(rows.at(-1), 10)
      }),
    60_000
  )
})
