/** The release server over HTTP, on a port of the loopback interface; 0 is a free one. */
import { NodeHttpServer } from "@effect/platform-node"
import { McpServer } from "@mcpfx/server"
import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { createServer } from "node:http"
import { Releases } from "./releases.ts"
import { info, Registrations } from "./server.ts"

/** Serves `http://127.0.0.1:PORT/mcp`. */
export const layer = (port: number) =>
  McpServer.drainFirst(
    HttpRouter.serve(McpServer.layerHttp(Registrations, { ...info, path: "/mcp" }), {
      disableListenLog: true,
      disableLogger: true
    })
  ).pipe(
    Layer.provide(Releases.layer),
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port, host: "127.0.0.1" }))
  )
