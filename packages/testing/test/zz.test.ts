import { it } from "@effect/vitest"
import { JsonRpc, Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { TestHttp, TestPeer } from "@mcpfx/testing"
import { Deferred, Effect, Fiber } from "effect"
  it.effect("is left by interruption: the server stops", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const Nap = Tool.make("nap")
      const NapLive = McpServer.tool(Nap, () =>
        Deferred.succeed(started, undefined).pipe(
          Effect.andThen(Effect.never),
          Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
        ))
      const http = yield* TestHttp.make(NapLive)
      const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "nap" }
      const call = yield* Effect.forkChild(
        http.post(JsonRpc.request(1, "tools/call", TestPeer.modern({ name: "nap" })), headers)
      )
      yield* Deferred.await(started)
      console.log("started")
      yield* Fiber.interrupt(call)
      console.log("interrupted")
      yield* Deferred.await(stopped)
    }), 3000)
