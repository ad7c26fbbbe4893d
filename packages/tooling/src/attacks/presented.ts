/** Requests to a protected server, made by hand, as an attacker makes them. */
import { Challenge } from "@mcpfx/auth"
import { JsonRpc } from "@mcpfx/schema"
import { TestPeer } from "@mcpfx/testing"
import { Effect } from "effect"
import { HttpClientRequest } from "effect/http"
import { mcpUrl, type World } from "./world.ts"

export interface Presented {
  readonly method?: "POST" | "GET" | "DELETE"
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly message?: JsonRpc.Outgoing
}

export const discover = JsonRpc.request(1, "server/discover", TestPeer.modern())

/** The headers of a request of 2026-07-28. */
export const modernHeaders = (method: string, name?: string) => ({
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": method,
  ...(name === undefined ? undefined : { "mcp-name": name })
})

/** Sends it and gives the status, what the challenge says, and the body. */
export const present = (
  { network }: World,
  { headers, message = discover, method = "POST", url = mcpUrl }: Presented
) =>
  Effect.gen(function*() {
    const request = HttpClientRequest.make(method)(url, {
      headers: { host: "mcp.test", ...modernHeaders("server/discover"), ...headers }
    })
    const body = method === "POST" ? HttpClientRequest.bodyText(request, JsonRpc.stringify(message)) : request
    const response = yield* network.client.execute(
      HttpClientRequest.setHeader(body, "content-type", "application/json")
    )
    const challenge = response.headers["www-authenticate"]
    return {
      status: response.status,
      headers: response.headers,
      error: Challenge.parse(challenge)[0]?.parameters.get("error"),
      challenge,
      body: yield* response.text
    }
  }).pipe(Effect.orDie)

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
