/** The notes server over HTTP, as a layer of a program that listens on a port of the loopback interface; 0 is a free one. */
import { NodeHttpServer, NodeServices } from "@effect/platform-node"
import { McpServer } from "@mcpfx/server"
import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { createServer } from "node:http"
import { info, Notes } from "./server.ts"
import { NoteStore } from "./store.ts"

/** Serves `http://127.0.0.1:PORT/mcp`. */
export const layer = (options: { readonly folder: string; readonly port: number }) =>
  McpServer.drainFirst(
    HttpRouter.serve(McpServer.layerHttp(Notes, { ...info, path: "/mcp" }), {
      disableListenLog: true,
      disableLogger: true
    })
  ).pipe(
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port: options.port, host: "127.0.0.1" })),
    Layer.provide(NoteStore.layer(options.folder)),
    Layer.provide(NodeServices.layer)
  )
