/** A server of version 1 of the TypeScript SDK behind the middleware of the same: its own authorization server, or another. */
import { InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js"
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js"
import type { OAuthTokenVerifier } from "@modelcontextprotocol/sdk/server/auth/provider.js"
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthMetadataRouter,
  mcpAuthRouter
} from "@modelcontextprotocol/sdk/server/auth/router.js"
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { OAuthMetadataSchema } from "@modelcontextprotocol/sdk/shared/auth.js"
import { randomUUID } from "node:crypto"
import { jwtCheck, metadataOf } from "./jwtCheck.ts"
import { listen, type Listening } from "./loopback.ts"
import type { Sdk1Authority } from "./sdk1Authority.ts"

type App = ReturnType<typeof createMcpExpressApp>

/** Says as whom the caller is known. */
export const whoami = "whoami"

const makeServer = (): McpServer => {
  const server = new McpServer({ name: "guarded", version: "1.0.0" })
  server.registerTool(whoami, { inputSchema: {} }, (_, { authInfo }) => ({
    content: [{ type: "text", text: JSON.stringify([authInfo?.clientId, authInfo?.scopes]) }]
  }))
  return server
}

const serveMcp = (app: App): void => {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const opened = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, opened),
      onsessionclosed: (id) => void sessions.delete(id)
    })
    // The class calls its handlers optional in another way than its own interface does.
    await makeServer().connect(Object.assign(opened, { onclose: () => {}, onerror: () => {}, onmessage: () => {} }))
    return opened
  }
  app.all("/mcp", (request, response, next) => {
    const id = request.headers["mcp-session-id"]
    const known = sessions.get(String(id))
    if (id !== undefined && known === undefined) return void response.status(404).end()
    const session = known === undefined ? open() : Promise.resolve(known)
    session.then((opened) => opened.handleRequest(request, response, request.body)).catch(next)
  })
}

const guard = (app: App, verifier: OAuthTokenVerifier, resource: URL, scope: string): void => {
  app.use(
    "/mcp",
    requireBearerAuth({
      verifier,
      requiredScopes: [scope],
      resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource),
      expectedResource: resource
    })
  )
  serveMcp(app)
}

/** Is its own authorization server, with `mcpAuthRouter`. */
export const startSdk1Whole = (authority: Sdk1Authority, scope: string): Promise<Listening> =>
  listen((origin) => {
    const app = createMcpExpressApp()
    const resource = new URL("/mcp", origin)
    app.use(mcpAuthRouter({
      provider: authority,
      issuerUrl: new URL(origin),
      resourceServerUrl: resource,
      scopesSupported: [scope]
    }))
    guard(app, authority, resource, scope)
    return app
  })

/** Takes tokens of another authorization server, which signs them. */
export const startSdk1Guarded = async (issuer: string, scope: string): Promise<Listening> => {
  const metadata = await metadataOf(issuer)
  return listen((origin) => {
    const app = createMcpExpressApp()
    const resource = new URL("/mcp", origin)
    const check = jwtCheck(issuer, String(metadata["jwks_uri"]), resource.href)
    app.use(mcpAuthMetadataRouter({
      oauthMetadata: OAuthMetadataSchema.parse(metadata),
      resourceServerUrl: resource,
      scopesSupported: [scope]
    }))
    const verifier = {
      verifyAccessToken: (token: string) =>
        check(token).catch(() => Promise.reject(new InvalidTokenError("not good here")))
    }
    guard(app, verifier, resource, scope)
    return app
  })
}
