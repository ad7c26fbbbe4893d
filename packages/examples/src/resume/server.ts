/** A server whose clients may lose their connection, and need not hold one during long work. */
import { NodeHttpServer } from "@effect/platform-node"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Polling, Progress } from "@mcpfx/session"
import { EventStore } from "@mcpfx/transport"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter } from "effect/http"
import { createServer } from "node:http"

export const Report = Tool.make("report", {
  description: "Counts rows, which takes a while",
  input: { rows: Schema.Int },
  output: { counted: Schema.Int, letGo: Schema.Boolean }
})

const ReportLive = McpServer.tool(Report, ({ rows }) =>
  Effect.gen(function*() {
    // The client goes, and is back in half a second. What is said meanwhile waits for it in the event store.
    const letGo = yield* Polling.hangUp({ retry: "500 millis" })
    for (let counted = 1; counted <= rows; counted++) {
      yield* Progress.report({ progress: counted, total: rows })
      yield* Effect.sleep("20 millis")
    }
    return { counted: rows, letGo }
  }))

const Routes = McpServer.layerHttp(ReportLive, { name: "reports", version: "1.0.0", path: "/mcp" })

/** Serves `http://127.0.0.1:PORT/mcp`; for several processes the store would be `EventStoreRedis.layer()`. */
export const layer = (port: number) =>
  McpServer.drainFirst(HttpRouter.serve(Routes, { disableListenLog: true, disableLogger: true })).pipe(
    Layer.provide(EventStore.layerMemory),
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port, host: "127.0.0.1" }))
  )
