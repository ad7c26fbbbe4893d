/** Servers over HTTP that refuse the probe, or that have forgotten the session. */
import { assert, describe, it } from "@effect/vitest"
import { type ClientOptions, McpClient, Negotiation } from "@mcpfx/client"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { TestHttp } from "@mcpfx/testing"
import { ClientTransport, StreamableHttpClient } from "@mcpfx/transport"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"

type Handler = (request: Request) => Response | Promise<Response>

/** The methods that a server was sent, in order. */
const watching = (handler: Handler) => {
  const methods: Array<string> = []
  const watched: Handler = async (request) => {
    const body: unknown = request.method === "POST" ? await request.clone().json() : {}
    if (typeof body === "object" && body !== null && "method" in body) methods.push(String(body.method))
    return handler(request)
  }
  return { methods, handler: watched }
}

const clientOver = Effect.fnUntraced(function*(handler: Handler, options: ClientOptions.ClientOptions = {}) {
  const transport = yield* Effect.provideService(
    StreamableHttpClient.make({ url: "http://localhost/mcp" }),
    HttpClient.HttpClient,
    TestHttp.clientOf(handler)
  )
  return yield* McpClient.make(options).pipe(
    Effect.provideService(ClientTransport.ClientTransport, transport),
    Effect.provideService(Negotiation.CurrentEraCache, Negotiation.makeEraCache())
  )
})

const json = (body: object, status = 200) => Response.json(body, { status })
const reply = async (request: Request, result: object) => {
  const { id } = await request.json()
  return json({ jsonrpc: "2.0", id, result })
}

const stateful = async (request: Request) => {
  if (request.method !== "POST") return new Response(null, { status: 405 })
  const { id } = await request.clone().json()
  return id === undefined
    ? new Response(null, { status: 202 })
    : reply(request, { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "old", version: "1" } })
}

/** Refuses the probe so; else it is a stateful server. */
const refusing = (refusal: () => Response): Handler => async (request) => {
  const isProbe = request.method === "POST" && (await request.clone().json()).method === "server/discover"
  return isProbe ? refusal() : stateful(request)
}

describe("a refused probe", () => {
  const challenge = { "www-authenticate": "Bearer realm=\"mcp\"" }

  for (const [status, headers] of [[401, challenge], [403, challenge], [500, {}], [503, {}]] as const) {
    it.effect(`[field LIF-10] ${status} says nothing about the era: the failure is told, and nothing else tried`, () =>
      Effect.gen(function*() {
        const { handler, methods } = watching(refusing(() => new Response("no", { status, headers })))
        const { reason } = yield* Effect.flip(clientOver(handler))
        assert.deepInclude(reason, { _tag: "HttpRefused", status })
        if (status < 500) assert.deepInclude(reason, { wwwAuthenticate: challenge["www-authenticate"] })
        assert.deepStrictEqual(methods, ["server/discover"])
      }))
  }

  for (const status of [400, 404, 405]) {
    it.effect(`[VER-14] [field LIF-10] a plain ${status} is that of a stateful server`, () =>
      Effect.gen(function*() {
        const { handler, methods } = watching(refusing(() => new Response("no", { status })))
        const client = yield* clientOver(handler)
        assert.strictEqual((yield* client.server).revision.version, "2025-11-25")
        assert.deepStrictEqual(methods.slice(0, 2), ["server/discover", "initialize"])
      }))
  }

  it.effect("[VER-14] [VER-02] [field LIF-10] 400 with the error of a modern server keeps the client modern", () =>
    Effect.gen(function*() {
      let probes = 0
      const error = { code: -32022, message: "?", data: { supported: ["2026-07-28"], requested: "2026-07-28" } }
      const { handler, methods } = watching(async (request) => {
        if (++probes === 1) return json({ jsonrpc: "2.0", id: (await request.json()).id, error }, 400)
        const hints = { resultType: "complete", ttlMs: 0, cacheScope: "private" }
        return reply(request, { ...hints, supportedVersions: ["2026-07-28"], capabilities: {} })
      })
      const client = yield* clientOver(handler)
      assert.strictEqual((yield* client.server).revision.version, "2026-07-28")
      assert.deepStrictEqual(methods, ["server/discover", "server/discover"])
    }))
})

describe("a server that was restarted", () => {
  const Echo = Tool.make("echo")
  const registrations = McpServer.tool(Echo, () => Effect.succeed("here"))
  const start = Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => McpServer.toWebHandler(registrations, { name: "t", version: "0", sessions: "stateful" })),
      ({ dispose }) => Effect.promise(dispose)
    ),
    ({ handler }) => handler
  )
  const options = { revisions: ["2025-11-25"] } as const
  const count = (methods: ReadonlyArray<string>, method: string) => methods.filter((each) => each === method).length

  it.effect("[HTTP-40] [field HTP-06] has one new session, and what found the old one gone is sent again", () =>
    Effect.gen(function*() {
      let current: Handler = yield* start
      const { handler, methods } = watching((request) => current(request))
      const client = yield* clientOver(handler, options)
      yield* client.call(Echo)
      current = yield* start
      methods.length = 0
      const results = yield* Effect.all([1, 2, 3].map(() => client.call(Echo)), { concurrency: "unbounded" })
      for (const { content } of results) assert.deepStrictEqual(content, [{ type: "text", text: "here" }])
      assert.strictEqual(count(methods, "initialize"), 1)
    }))

  it.effect("[field HTP-06] leaves what still runs on the old session five seconds to end", () =>
    Effect.gen(function*() {
      const healthy = yield* start
      let isForgetful = false
      const hanging = yield* Deferred.make<void>()
      const { handler } = watching(async (request) => {
        const body = request.method === "POST" ? await request.clone().json() : {}
        if (body.params?.name === "hangs") {
          Deferred.doneUnsafe(hanging, Exit.void)
          return new Promise<Response>(() => {})
        }
        if (!isForgetful || body.method !== "tools/call") return healthy(request)
        isForgetful = false
        return new Response("gone", { status: 404 })
      })
      const client = yield* clientOver(handler, options)
      const fiber = yield* Effect.forkChild(Effect.flip(client.callTool("hangs")))
      yield* Deferred.await(hanging)
      isForgetful = true
      yield* client.call(Echo)
      yield* TestClock.adjust("4999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(fiber)).reason._tag, "ConnectionLost")
      yield* client.call(Echo)
    }))

  it.effect("[field HTP-06] is not begun with again and again when the new session is gone as well", () =>
    Effect.gen(function*() {
      const healthy = yield* start
      let isBroken = false
      const { handler, methods } = watching(async (request) => {
        const isCall = request.method === "POST" && (await request.clone().json()).method === "tools/call"
        return isBroken && isCall ? new Response("gone", { status: 404 }) : healthy(request)
      })
      const client = yield* clientOver(handler, options)
      isBroken = true
      const { reason } = yield* Effect.flip(client.call(Echo))
      assert.include(["ConnectionLost", "HttpRefused"], reason._tag)
      assert.isAtMost(count(methods, "initialize"), 3)
      assert.isAtMost(count(methods, "tools/call"), 2)
    }))
})
