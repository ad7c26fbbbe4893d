import { it } from "@effect/vitest"
import { JsonRpc, Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { TestHttp, TestPeer } from "@mcpfx/testing"
import { Deferred, Effect, Fiber } from "effect"
const headers = { accept: "application/json, text/event-stream", "content-type": "application/json", host: "localhost", "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "nap" }
for (const n of [0, 1, 5]) it.effect("mcp " + n, () => Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const Nap = Tool.make("nap")
      const NapLive = McpServer.tool(Nap, () => Effect.gen(function*() {
          yield* Deferred.succeed(started, undefined)
          console.log("tool goes on")
          yield* Effect.never.pipe(
          Effect.onInterrupt(() => Effect.sync(() => console.log("stopped")))
        )}))
  const http = yield* TestHttp.make(NapLive)
  const req = new Request("http://localhost/mcp", { method: "POST", headers, body: JsonRpc.stringify(JsonRpc.request(1, "tools/call", TestPeer.modern({ name: "nap" })))})
  const p = yield* Effect.forkChild(http.send(req))
  yield* Deferred.await(started)
  for (let i = 0; i < n; i++) yield* Effect.yieldNow
  console.log("interrupt")
  yield* Fiber.interrupt(p)
  console.log("done")
  yield* Effect.promise(() => new Promise(r => setTimeout(r, 50)))
}))
