/** A stdio server in the hands of a test, and what its tests say over and over. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { Endpoint } from "@mcpfx/transport/Endpoint"
import * as StdioServer from "@mcpfx/transport/StdioServer"
import { Effect, Fiber } from "effect"
import { settled, streams } from "./scripted.ts"

export const ping = (id: JsonRpc.RequestId) => ({ jsonrpc: "2.0", id, method: "ping" })
export const pong = (id: JsonRpc.RequestId) => ({ jsonrpc: "2.0", id, result: { method: "ping", params: {} } })
export const notification = { jsonrpc: "2.0", method: "notifications/initialized" }

export const code = (message: unknown): unknown => {
  const error = JsonRpc.isJsonObject(message) ? message["error"] : undefined
  return JsonRpc.isJsonObject(error) ? error["code"] : undefined
}
export const reason = (message: unknown): unknown => {
  const error = JsonRpc.isJsonObject(message) ? message["error"] : undefined
  const data = JsonRpc.isJsonObject(error) ? error["data"] : undefined
  return JsonRpc.isJsonObject(data) ? data["reason"] : undefined
}
export const idOf = (message: unknown): unknown =>
  JsonRpc.isJsonObject(message) && "id" in message ? message["id"] : "absent"

/** Serves an endpoint until the test is over. */
export const serving = Effect.fnUntraced(function*(server: Endpoint["Service"]) {
  const io = yield* streams
  const fiber = yield* Effect.forkChild(StdioServer.serve(server, io.streams))
  yield* settled
  return { ...io, fiber }
})

/** Sends all at once, ends the input and gives what came back. */
export const exchange = Effect.fnUntraced(function*(server: Endpoint["Service"], ...messages: ReadonlyArray<unknown>) {
  const io = yield* serving(server)
  yield* io.send(...messages)
  yield* io.end
  yield* Fiber.join(io.fiber)
  return io.received()
})
