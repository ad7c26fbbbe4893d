/** A server of version 2 of the TypeScript SDK behind the middleware of the same, for both eras. */
import { toNodeHandler } from "@modelcontextprotocol/node"
import {
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  McpServer,
  OAuthError,
  OAuthErrorCode,
  oauthMetadataResponse,
  requireBearerAuth
} from "@modelcontextprotocol/server"
import * as z from "zod"
import { jwtCheck, metadataOf } from "./jwtCheck.ts"
import { listen, type Listening } from "./loopback.ts"
import { whoami } from "./sdk1Guarded.ts"

const makeServer = (): McpServer => {
  const server = new McpServer({ name: "guarded", version: "1.0.0" })
  server.registerTool(whoami, { inputSchema: z.object({}) }, (_, { http }) => ({
    content: [{ type: "text", text: JSON.stringify([http?.authInfo?.clientId, http?.authInfo?.scopes]) }]
  }))
  return server
}

const texts = (u: unknown): Array<string> => Array.isArray(u) ? u.filter((value) => typeof value === "string") : []

/** Takes tokens of another authorization server, which signs them. */
export const startSdk2Guarded = async (issuer: string, scope: string): Promise<Listening> => {
  const metadata = await metadataOf(issuer)
  const mcp = createMcpHandler(makeServer)
  const running = await listen((origin) => {
    const resource = new URL("/mcp", origin)
    const check = jwtCheck(issuer, String(metadata["jwks_uri"]), resource.href)
    const gate = requireBearerAuth({
      verifier: {
        verifyAccessToken: (token) =>
          check(token).catch(() => Promise.reject(new OAuthError(OAuthErrorCode.InvalidToken, "not good here")))
      },
      requiredScopes: [scope],
      resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource),
      expectedResource: resource
    })
    const documents = {
      oauthMetadata: {
        ...metadata,
        issuer,
        authorization_endpoint: String(metadata["authorization_endpoint"]),
        token_endpoint: String(metadata["token_endpoint"]),
        response_types_supported: texts(metadata["response_types_supported"])
      },
      resourceServerUrl: resource,
      scopesSupported: [scope],
      dangerouslyAllowInsecureIssuerUrl: true
    }
    const handle = toNodeHandler({
      fetch: async (request: Request) => {
        const document = oauthMetadataResponse(request, documents)
        if (document !== undefined) return document
        const auth = await gate(request)
        return auth instanceof Response ? auth : mcp.fetch(request, { authInfo: auth })
      }
    })
    return (request, response) =>
      void handle(Object.assign(request, { method: request.method ?? "POST", url: request.url ?? "/" }), response)
  })
  return {
    ...running,
    close: async () => {
      await mcp.close()
      await running.close()
    }
  }
}
