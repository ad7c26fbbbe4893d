/** Servers over HTTP that refuse the probe, or that have forgotten the session. */
import { assert, describe, it } from "@effect/vitest"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { clientOver, joined, namesOf, tool } from "./support/client.ts"

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
        const error = yield* Effect.flip(clientOver(handler))
        const { reason } = error
        assert.deepInclude(reason, { _tag: "HttpRefused", status })
        assert.strictEqual(error.message.includes("(no OAuthClient took this up)"), status === 401)
        if (status < 500) assert.deepInclude(reason, { wwwAuthenticate: challenge["www-authenticate"] })
        assert.deepStrictEqual(methods, ["server/discover"])
      }))
  }

  it.effect("a server that is not at the address is told of with the address, once", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(clientOver(() => new Response(null, { status: 404 })))
      assert.strictEqual(error.message, "initialize: HTTP 404: http://localhost/mcp gives no reason")
    }))

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

  it.effect("[PAG-03] hears no cursor of the session before", () =>
    Effect.gen(function*() {
      let sessions = 0
      const listed: Array<string> = []
      const client = yield* clientOver(async (request) => {
        if (request.method !== "POST") return new Response(null, { status: 405 })
        const { id, method, params } = await request.json()
        if (id === undefined) return new Response(null, { status: 202 })
        if (method === "initialize") {
          const serverInfo = { name: "old", version: "1" }
          const result = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo }
          const headers = { "mcp-session-id": `s${++sessions}` }
          return Response.json({ jsonrpc: "2.0", id, result }, { headers })
        }
        const session = request.headers.get("mcp-session-id")
        const cursor = params?.cursor ?? "the start"
        listed.push(`${session} from ${cursor}`)
        if (session === "s1" && cursor === "2") return new Response("gone", { status: 404 })
        const result = session === "s1" ? { tools: [tool("a")], nextCursor: "2" } : { tools: [tool("b")] }
        return json({ jsonrpc: "2.0", id, result })
      }, options)
      assert.deepStrictEqual(namesOf(yield* client.tools), ["b"])
      assert.deepStrictEqual(listed, ["s1 from the start", "s1 from 2", "s2 from the start"])
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

describe("a stream of changes", () => {
  const hints = { resultType: "complete", ttlMs: 0, cacheScope: "private" }
  const meta = (id: unknown) => ({ _meta: { "io.modelcontextprotocol/subscriptionId": id } })
  const stream = (...messages: ReadonlyArray<object>) =>
    new Response(messages.map((message) => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`).join(""), {
      headers: { "content-type": "text/event-stream" }
    })
  const agreed = (id: unknown) => ({
    method: "notifications/subscriptions/acknowledged",
    params: { notifications: { toolsListChanged: true }, ...meta(id) }
  })

  it.effect("[SUB-09] is asked for again when it is cut off, when the server is busy and when it is away", () =>
    Effect.gen(function*() {
      let asked = 0
      const { handler, methods } = watching(async (request) => {
        const { id, method } = await request.json()
        if (method === "server/discover") {
          const capabilities = { tools: { listChanged: true } }
          return json({ jsonrpc: "2.0", id, result: { ...hints, supportedVersions: ["2026-07-28"], capabilities } })
        }
        switch (++asked) {
          case 1:
            return stream(agreed(id))
          case 2:
            return new Response("busy", { status: 429 })
          case 3:
            return new Response("away", { status: 503 })
          default:
            return stream(agreed(id), { method: "notifications/tools/list_changed", params: meta(id) })
        }
      })
      const client = yield* clientOver(handler, { revisions: ["2026-07-28"] })
      const { changes } = yield* client.subscribe({ tools: true })
      const fiber = yield* Effect.forkChild(Stream.runCollect(Stream.take(changes, 1)))
      assert.deepStrictEqual(yield* joined(fiber), [{ kind: "tools" }])
      assert.isAtLeast(methods.filter((method) => method === "subscriptions/listen").length, 4)
    }))

  it.effect("[SUB-09] is not asked for again when the server refuses it", () =>
    Effect.gen(function*() {
      let asked = 0
      const client = yield* clientOver(async (request) => {
        const { id, method } = await request.json()
        if (method === "server/discover") {
          const capabilities = { tools: { listChanged: true } }
          return json({ jsonrpc: "2.0", id, result: { ...hints, supportedVersions: ["2026-07-28"], capabilities } })
        }
        return ++asked === 1 ? stream(agreed(id)) : new Response("no", { status: 403 })
      }, { revisions: ["2026-07-28"] })
      const { changes } = yield* client.subscribe({ tools: true })
      const fiber = yield* Effect.forkChild(Effect.flip(Stream.runDrain(changes)))
      assert.deepInclude((yield* joined(fiber)).reason, { _tag: "HttpRefused", status: 403 })
      assert.strictEqual(asked, 2)
    }))
})
