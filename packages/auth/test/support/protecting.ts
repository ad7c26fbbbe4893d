/** Servers over HTTP in memory, under the clock of the test. */
import { Challenge } from "@mcpfx/auth"
import { JsonRpc } from "@mcpfx/schema"
import { TestPeer } from "@mcpfx/testing"
import { Context, Effect, Layer, type Scope } from "effect"
import { HttpEffect, HttpRouter, type HttpServerRequest } from "effect/http"

export const origin = "https://mcp.example.com"

export interface Send {
  (
    method: string,
    path: string,
    headers?: Readonly<Record<string, string>>,
    body?: string
  ): Effect.Effect<Response>
}

export const serve = <E>(
  routes: Layer.Layer<never, E, HttpRouter.HttpRouter>,
  at = origin
): Effect.Effect<Send, E, Scope.Scope> =>
  Effect.gen(function*() {
    const built = yield* Layer.build(Layer.provideMerge(routes, HttpRouter.layer))
    const context = yield* Effect.context<never>()
    const app = Effect.orDie(Context.get(built, HttpRouter.HttpRouter).asHttpEffect())
    const handler = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(context)(app)
    return (method, path, headers = {}, body) => {
      const request = new Request(at + path, {
        method,
        headers: { host: new URL(at).host, ...headers },
        ...(body === undefined ? undefined : { body })
      })
      return Effect.promise((signal) => handler(new Request(request, { signal })))
    }
  })

export const post = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json"
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** A request of 2026-07-28, with the headers that repeat it. */
export const modern = (
  method: string,
  params: JsonRpc.JsonObject = {},
  name?: string,
  capabilities: JsonRpc.JsonObject = {}
) => ({
  headers: {
    ...post,
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(name === undefined ? undefined : { "mcp-name": name })
  },
  body: JsonRpc.stringify(JsonRpc.request(1, method, TestPeer.modern(params, { capabilities })))
})

export const challengeOf = (response: Response, scheme = "bearer") =>
  Object.fromEntries(Challenge.find(response.headers.get("www-authenticate") ?? "", scheme)?.parameters ?? [])

/** Whatever it is. */
export const jsonOf = (response: Response) => Effect.promise(() => response.json())

/** A session of an older revision, opened by whoever has the token. */
export const session = Effect.fnUntraced(
  function*(send: Send, token: string, version = "2025-11-25", capabilities: JsonRpc.JsonObject = {}) {
    const headers = { ...post, ...bearer(token) }
    const params = { protocolVersion: version, capabilities, clientInfo: { name: "c", version: "1" } }
    const opened = yield* send("POST", "/mcp", headers, JsonRpc.stringify(JsonRpc.request(0, "initialize", params)))
    const id = opened.headers.get("mcp-session-id") ?? ""
    const within = { "mcp-session-id": id, "mcp-protocol-version": version }
    const notify = JsonRpc.stringify(JsonRpc.notification("notifications/initialized"))
    yield* send("POST", "/mcp", { ...headers, ...within }, notify)
    return {
      id,
      within,
      /** Sends a request of the session, as its own caller or as another. */
      request: (method: string, params: JsonRpc.JsonObject = {}, as = token) =>
        send(
          "POST",
          "/mcp",
          { ...post, ...bearer(as), ...within },
          JsonRpc.stringify(JsonRpc.request(1, method, params))
        )
    }
  }
)
