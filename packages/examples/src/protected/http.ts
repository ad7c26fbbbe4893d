/** The diary server over HTTP, for those with a token of its authorization server alone. */
import { NodeHttpServer } from "@effect/platform-node"
import { ResourceServer, TokenVerifierJwt } from "@mcpfx/auth"
import { McpServer } from "@mcpfx/server"
import { Layer } from "effect"
import { FetchHttpClient, HttpRouter } from "effect/http"
import { createServer } from "node:http"
import { Diaries, info, Registrations } from "./server.ts"

/** Tokens are signed by the issuer, whose keys are fetched, and have to be for this very server. */
const verifier = (issuer: string) => TokenVerifierJwt.layer({ issuer }).pipe(Layer.provide(FetchHttpClient.layer))

/** Every caller needs to read. `protect` comes before all else, and the metadata that clients look for beside it. */
const routes = ResourceServer.layer(
  { path: "/mcp", scopes: ["diary:read"], implies: (scope) => scope === "diary:write" ? ["diary:read"] : [] },
  (protect) => McpServer.layerHttp(Registrations, { ...info, path: "/mcp", middleware: protect })
)

/**
 * Serves `http://127.0.0.1:PORT/mcp`; port 0 is a free one. A server with a name says it: `resource` for its tokens,
 * `allowedHosts` for its requests.
 */
export const layer = (options: { readonly port: number; readonly issuer: string }) =>
  McpServer.drainFirst(HttpRouter.serve(routes, { disableListenLog: true, disableLogger: true })).pipe(
    Layer.provide(verifier(options.issuer)),
    Layer.provide(Diaries.layer),
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port: options.port, host: "127.0.0.1" }))
  )
