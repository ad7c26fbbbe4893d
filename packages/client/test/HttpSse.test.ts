/** Servers that have HTTP+SSE alone: how they are found, and how not. */
import { assert, describe, it } from "@effect/vitest"
import { type ClientOptions, McpClient, Negotiation } from "@mcpfx/client"
import { JsonRpc, Revisions, Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { TestHttp } from "@mcpfx/testing"
import { ClientTransport, HttpSseClient, TransportError } from "@mcpfx/transport"
import { Context, Effect, Fiber, Layer } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"

type Handler = (request: Request) => Response | Promise<Response>

const url = "http://localhost/sse"
const Echo = Tool.make("echo")
const registrations = McpServer.tool(Echo, () => Effect.succeed("here"))

/** A server with both endpoints of HTTP+SSE and nothing else. */
const oldServer = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() =>
      McpServer.toWebHandler(registrations, { name: "t", version: "0", sessions: "stateful", sse: true })
    ),
    ({ dispose }) => Effect.promise(dispose)
  ),
  ({ handler }): Handler => handler
)

/** What a server was asked, one line a request. */
const watching = (handler: Handler) => {
  const asked: Array<string> = []
  const watched: Handler = async (request) => {
    const body: unknown = request.method === "POST" ? await request.clone().json() : {}
    const { pathname } = new URL(request.url)
    const method = JsonRpc.isJsonObject(body) && "method" in body ? ` ${String(body["method"])}` : ""
    asked.push(`${request.method} ${pathname}${method}`)
    return handler(request)
  }
  return { asked, handler: watched }
}

const clientOver = Effect.fnUntraced(function*(
  handler: Handler,
  options: Partial<McpClient.HttpOptions> = {},
  eras: Negotiation.EraCache = Negotiation.makeEraCache()
) {
  const live = McpClient.layerHttp({ url, ...options }).pipe(
    Layer.provide(Layer.succeed(HttpClient.HttpClient, TestHttp.clientOf(handler))),
    Layer.provide(Layer.succeed(Negotiation.CurrentEraCache, eras))
  )
  return Context.get(yield* Layer.build(live), McpClient.McpClient)
})

const ladder = ["POST /sse server/discover", "POST /sse initialize", "GET /sse"]
const handshake = ["POST /messages initialize", "POST /messages notifications/initialized"]

describe("a server that has no Streamable HTTP", () => {
  it.effect("[VER-16] [SSE-06] is found by itself: first by POST, then by GET, and used as any other", () =>
    Effect.gen(function*() {
      const { asked, handler } = watching(yield* oldServer)
      const client = yield* clientOver(handler)
      assert.deepStrictEqual(asked, [...ladder, ...handshake])
      assert.strictEqual((yield* client.server).revision.version, "2025-11-25")
      assert.deepStrictEqual((yield* client.call(Echo)).content, [{ type: "text", text: "here" }])
    }))

  it.effect("[VER-15] is not asked anew for what is known", () =>
    Effect.gen(function*() {
      const { asked, handler } = watching(yield* oldServer)
      const eras = Negotiation.makeEraCache()
      yield* Effect.scoped(clientOver(handler, {}, eras))
      assert.strictEqual(eras.get(url), "sse")
      asked.length = 0
      yield* clientOver(handler, {}, eras)
      assert.deepStrictEqual(asked, ["GET /sse", ...handshake])
    }))

  it.effect("[VER-15] and comes to have it, is found anew", () =>
    Effect.gen(function*() {
      const eras = Negotiation.makeEraCache()
      eras.set(url, "sse")
      const modern = McpServer.toWebHandler(registrations, {
        name: "t",
        version: "0",
        sessions: "stateful",
        path: "/sse"
      })
      yield* Effect.addFinalizer(() => Effect.promise(modern.dispose))
      const { asked, handler } = watching(modern.handler)
      const client = yield* clientOver(handler, {}, eras)
      assert.strictEqual((yield* client.server).revision.version, "2026-07-28")
      assert.deepStrictEqual(asked, ["GET /sse", "POST /sse server/discover"])
      assert.strictEqual(eras.get(url), "2026-07-28")
    }))

  it.effect("is found without a probe by a client that speaks stateful revisions alone, and not by a modern one", () =>
    Effect.gen(function*() {
      const { asked, handler } = watching(yield* oldServer)
      const client = yield* clientOver(handler, { revisions: ["2024-11-05"] })
      assert.strictEqual((yield* client.server).revision.version, "2024-11-05")
      assert.deepStrictEqual(asked, [...ladder.slice(1), ...handshake])
      asked.length = 0
      const { reason } = yield* Effect.flip(clientOver(handler, { revisions: ["2026-07-28"] }))
      assert.notStrictEqual(reason._tag, "ConnectionLost")
      assert.isFalse(asked.includes("GET /sse"))
    }))

  it.effect("[field HTP-06] that has forgotten the session, or ended its stream, gets a new one", () =>
    Effect.gen(function*() {
      let current: Handler = yield* oldServer
      const { asked, handler } = watching((request) => current(request))
      const client = yield* clientOver(handler)
      yield* client.call(Echo)
      current = yield* oldServer
      asked.length = 0
      assert.deepStrictEqual((yield* client.call(Echo)).content, [{ type: "text", text: "here" }])
      assert.deepStrictEqual(asked, [
        "POST /messages tools/call",
        "GET /sse",
        ...handshake,
        "POST /messages tools/call"
      ])
    }))

  it.effect("is not looked for where the options say so", () =>
    Effect.gen(function*() {
      const { asked, handler } = watching(yield* oldServer)
      const { reason } = yield* Effect.flip(clientOver(handler, { sse: false }))
      assert.notStrictEqual(reason._tag, "ConnectionLost")
      assert.deepStrictEqual(asked, ladder.slice(0, 2))
    }))
})

const json = (body: object, status = 200) => Response.json(body, { status })
const refusals: ReadonlyArray<readonly [string, () => Response, boolean]> = [
  ...[400, 404, 405].map((status) => [`a plain ${status}`, () => new Response("no", { status }), true] as const),
  [
    "405 with an error about no request",
    () => json({ jsonrpc: "2.0", id: null, error: { code: -32000, message: "Method not allowed." } }, 405),
    true
  ],
  ...[401, 403, 406, 410, 415, 422, 429, 500, 501, 503].map((status) =>
    [`${status}`, () => new Response("no", { status }), false] as const
  ),
  ["no JSON", () => new Response("<html>", { headers: { "content-type": "text/html" } }), false],
  [
    "400 with the error of a modern server",
    () => json({ jsonrpc: "2.0", error: { code: -32020, message: "Header mismatch" } }, 400),
    false
  ]
]

describe("a POST of initialize that is answered with", () => {
  const options: ClientOptions.ClientOptions = { revisions: ["2025-11-25"] }
  for (const [title, refusal, looks] of refusals) {
    it.effect(`[VER-16] [SSE-06] ${title} ${looks ? "is followed by a GET" : "says nothing about HTTP+SSE"}`, () =>
      Effect.gen(function*() {
        const { asked, handler } = watching((request) =>
          request.method === "POST" ? refusal() : new Response(null, { status: 404 })
        )
        const { reason } = yield* Effect.flip(clientOver(handler, options))
        assert.deepStrictEqual(asked.includes("GET /sse"), looks)
        // What the server said to the POST is what is told.
        if (reason._tag === "HttpRefused" && looks) assert.match(reason.detail, /^no( \(http:\/\/localhost\/sse\))?$/)
      }))
  }

  it.effect("an error that answers it, whatever the status, is one", () =>
    Effect.gen(function*() {
      const { asked, handler } = watching(async (request) => {
        const { id } = await request.json()
        return json({ jsonrpc: "2.0", id, error: { code: -32602, message: "Bad version" } }, 400)
      })
      const { reason } = yield* Effect.flip(clientOver(handler, options))
      assert.deepInclude(reason, { _tag: "Refused", code: -32602 })
      assert.deepStrictEqual(asked, ["POST /sse initialize"])
    }))

  it.effect("a broken network is one too", () =>
    Effect.gen(function*() {
      const { asked, handler } = watching(() => {
        throw new Error("down")
      })
      yield* Effect.flip(clientOver(handler, options))
      assert.deepStrictEqual(asked, ["POST /sse initialize"])
    }))

  it.effect("a stream that never says where to post is waited for ten seconds, and what was said first is told", () =>
    Effect.gen(function*() {
      let cancelled = false
      const { handler } = watching((request) =>
        request.method === "POST"
          ? new Response("no", { status: 404 })
          : new Response(new ReadableStream({ cancel: () => void (cancelled = true) }), {
            headers: { "content-type": "text/event-stream" }
          })
      )
      const connecting = yield* Effect.forkChild(Effect.flip(clientOver(handler, options)))
      yield* Effect.repeat(Effect.promise(() => new Promise((resolve) => setImmediate(resolve))), { times: 20 })
      yield* TestClock.adjust("10 seconds")
      const { reason } = yield* Fiber.join(connecting)
      assert.deepInclude(reason, { _tag: "HttpRefused", status: 404 })
      assert.isTrue(cancelled)
    }))

  it.effect("a stream that asks for a token is told of", () =>
    Effect.gen(function*() {
      const headers = { "www-authenticate": "Bearer realm=\"sse\"" }
      const { handler } = watching((request) =>
        new Response("no", request.method === "POST" ? { status: 405 } : { status: 401, headers })
      )
      const { reason } = yield* Effect.flip(clientOver(handler, options))
      assert.deepInclude(reason, { _tag: "HttpRefused", status: 401, wwwAuthenticate: headers["www-authenticate"] })
    }))

  it.effect("a stream that wants messages elsewhere is told of, and nothing is sent there", () =>
    Effect.gen(function*() {
      const { asked, handler } = watching((request) =>
        request.method === "POST"
          ? new Response("no", { status: 404 })
          : new Response("event: endpoint\ndata: http://evil.example/in\n\n", {
            headers: { "content-type": "text/event-stream" }
          })
      )
      const { reason } = yield* Effect.flip(clientOver(handler, options))
      assert.strictEqual(reason._tag, "ConnectionLost")
      assert.deepStrictEqual(asked, ["POST /sse initialize", "GET /sse"])
    }))
})

describe("judging", () => {
  it("[VER-16] takes three statuses, and no error of a modern server", () => {
    const failure = (status: number, code?: number) =>
      new TransportError.HttpFailure({
        status,
        detail: "",
        ...(code === undefined ? undefined : { error: { code, message: "" } })
      })
    for (let status = 300; status < 600; status++) {
      assert.strictEqual(Negotiation.lacksTransport(failure(status)), [400, 404, 405].includes(status))
    }
    assert.isTrue(Negotiation.lacksTransport(failure(400, -32600)))
    assert.isTrue(Negotiation.lacksTransport(failure(405, -32601)))
    assert.isFalse(Negotiation.lacksTransport(failure(404, -32601)))
    for (const code of [-32020, -32021, -32022]) assert.isFalse(Negotiation.lacksTransport(failure(400, code)))
    assert.isFalse(Negotiation.lacksTransport(new TransportError.TransportClosed({ reason: "" })))
  })
})

describe("the transport by itself", () => {
  it.effect("is used without a probe, at the newest revision with sessions", () =>
    Effect.gen(function*() {
      const { asked, handler } = watching(yield* oldServer)
      const transport = yield* Effect.provideService(
        HttpSseClient.make({ url }),
        HttpClient.HttpClient,
        TestHttp.clientOf(handler)
      )
      const client = yield* McpClient.make().pipe(
        Effect.provideService(ClientTransport.ClientTransport, transport),
        Effect.provideService(Negotiation.CurrentEraCache, Negotiation.makeEraCache())
      )
      const newest = Revisions.all.findLast(({ era }) => era === "legacy")
      assert.strictEqual((yield* client.server).revision.version, newest?.version)
      assert.deepStrictEqual(asked, ["GET /sse", ...handshake])
    }))
})
