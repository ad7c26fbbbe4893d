/** What a client puts on the wire, and what it never does. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { McpClient, Negotiation } from "@mcpfx/client"
import { JsonRpc } from "@mcpfx/schema"
import type { Version } from "@mcpfx/schema/Revision"
import { ScriptedServer, TestHttp } from "@mcpfx/testing"
import { Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { HttpClient } from "effect/http"
import { fileURLToPath } from "node:url"
import { clientOf, legacy, modern, settle } from "./support/client.ts"

const { initialized, make, result, silence } = ScriptedServer

const meta = "io.modelcontextprotocol"
const paramsOf = (message: JsonRpc.Message | undefined): JsonRpc.JsonObject =>
  message !== undefined && "method" in message ? message.params ?? {} : {}

describe("the handshake", () => {
  const versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const
  const choices: ReadonlyArray<ReadonlyArray<Version>> = [
    ...versions.map((version) => [version]),
    ["2024-11-05", "2025-06-18"],
    ["2025-06-18", "2025-03-26", "2026-07-28"],
    [...versions, "2026-07-28"]
  ]

  for (const revisions of choices) {
    const newest = revisions.filter((version) => version !== "2026-07-28").toSorted().at(-1)
    it.effect(`[LIF-02] of ${revisions.join(", ")} a client offers ${newest}`, () =>
      Effect.gen(function*() {
        const server = yield* make(legacy({ initialize: initialized(newest ?? "") }))
        yield* clientOf(server, { revisions })
        const offered = paramsOf(yield* server.expect("initialize"))
        assert.strictEqual(offered["protocolVersion"], newest)
        assert.hasAllKeys(offered, ["protocolVersion", "capabilities", "clientInfo"])
      }))
  }
})

describe("over a transport of somebody else", () => {
  const use = (client: McpClient.McpClient["Service"]) =>
    Effect.all([client.tools, client.callTool("t", { a: 1 }), client.ping], { concurrency: "unbounded" })
  const answers = { "tools/list": result({ tools: [] }), "tools/call": result({ content: [] }) }

  const numbered = (messages: ReadonlyArray<JsonRpc.Message>) => {
    const ids = messages.filter(JsonRpc.isRequest).map(({ id }) => id)
    for (const message of messages) assert.strictEqual(message.jsonrpc, "2.0")
    assert.strictEqual(new Set(ids).size, ids.length)
  }

  it.effect("[TRN-01] a session begins with initialize and initialized, and its requests carry no claim of their own", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy(answers, { tools: {} }))
      yield* use(yield* clientOf(server, { revisions: ["2025-11-25"] }))
      assert.deepStrictEqual(server.methods().slice(0, 2), ["initialize", "notifications/initialized"])
      assert.sameMembers(server.methods().slice(2), ["tools/list", "tools/call", "ping"])
      numbered(server.received())
      for (const message of server.received()) {
        assert.notProperty(paramsOf(message)["_meta"] ?? {}, `${meta}/protocolVersion`)
      }
    }))

  it.effect("[TRN-01] on 2026-07-28 there is no handshake: each request says who sends it", () =>
    Effect.gen(function*() {
      const done = { resultType: "complete" }
      const server = yield* make(modern({
        "tools/list": result({ ...done, tools: [], ttlMs: 0, cacheScope: "private" }),
        "tools/call": result({ ...done, content: [] })
      }, { tools: {} }))
      yield* use(yield* clientOf(server))
      assert.notInclude(server.methods(), "initialize")
      numbered(server.received())
      const requests = server.received().filter(JsonRpc.isRequest)
      assert.isAtLeast(requests.length, 4)
      for (const request of requests) {
        const claim = Object(paramsOf(request)["_meta"])
        assert.strictEqual(claim[`${meta}/protocolVersion`], "2026-07-28", request.method)
        assert.deepStrictEqual(claim[`${meta}/clientCapabilities`], {}, request.method)
      }
    }))
})

describe("extensions", () => {
  it.effect("[EXT-06] a client that names none declares none", () =>
    Effect.gen(function*() {
      const old = yield* make(legacy())
      yield* clientOf(old, { revisions: ["2025-11-25"] })
      assert.deepStrictEqual(paramsOf(yield* old.expect("initialize"))["capabilities"], {})
      const server = yield* make(modern())
      yield* clientOf(server)
      const claim = Object(paramsOf(yield* server.expect("server/discover"))["_meta"])
      assert.deepStrictEqual(claim[`${meta}/clientCapabilities`], {})
    }))
})

describe("a server that asks although it must not", () => {
  const command = [process.execPath, fileURLToPath(new URL("./support/meddler.ts", import.meta.url))]

  it.live("[RPC-18] [STD-11] gets no response on its standard input", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      yield* client.callTool("t")
      const { content } = yield* client.callTool("t")
      const [block] = content
      assert.isTrue(block?.type === "text")
      const lines: ReadonlyArray<object> = block?.type === "text" ? JSON.parse(block.text) : []
      assert.deepStrictEqual(lines.map((line) => Reflect.get(line, "method")), [
        "server/discover",
        "tools/call",
        "tools/call"
      ])
      for (const line of lines) {
        assert.notProperty(line, "result")
        assert.notProperty(line, "error")
      }
    }).pipe(
      Effect.provide(Layer.provide(McpClient.layerStdio({ command }), NodeServices.layer)),
      Effect.timeout("10 seconds")
    ), 30_000)
})

describe("taking a request back", () => {
  it.effect("[CAN-02] over a pipe it is a notice, about a request of its own that is not over", () =>
    Effect.gen(function*() {
      const server = yield* make(
        modern({ "tools/call": ({ params }) => params?.["name"] === "slow" ? silence : result({ content: [] }) }, {
          tools: {}
        }),
        { kind: "stdio" }
      )
      const client = yield* clientOf(server)
      const fiber = yield* Effect.forkChild(client.callTool("slow"))
      const slow = yield* server.expect("tools/call")
      yield* client.callTool("quick")
      yield* Fiber.interrupt(fiber)
      const notice = yield* server.expect("notifications/cancelled")
      assert.strictEqual(paramsOf(notice)["requestId"], JsonRpc.isRequest(slow) ? slow.id : "no request")
      yield* settle
      assert.deepStrictEqual(server.methods().filter((method) => method === "notifications/cancelled").length, 1)
    }))

  it.live("[CAN-02] over HTTP it is the end of its stream, and no notice", () =>
    Effect.gen(function*() {
      const methods: Array<unknown> = []
      const [hanging, left] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const handler = async (request: Request): Promise<Response> => {
        const { id, method } = await request.json()
        methods.push(method)
        const answer = (more: object) =>
          Response.json({ jsonrpc: "2.0", id, result: { resultType: "complete", ...more } })
        if (method !== "tools/call") {
          return answer({
            supportedVersions: ["2026-07-28"],
            capabilities: { tools: {} },
            ttlMs: 0,
            cacheScope: "private"
          })
        }
        // Pulled at only when the client reads.
        const body = new ReadableStream({
          pull: () => void Deferred.doneUnsafe(hanging, Exit.void),
          cancel: () => void Deferred.doneUnsafe(left, Exit.void)
        }, { highWaterMark: 0 })
        return new Response(body, { headers: { "content-type": "text/event-stream" } })
      }
      const http = Layer.succeed(HttpClient.HttpClient, TestHttp.clientOf(handler))
      const eras = Layer.succeed(Negotiation.CurrentEraCache, Negotiation.makeEraCache())
      const live = Layer.provide(McpClient.layerHttp({ url: "http://localhost/mcp" }), [http, eras])
      yield* Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const fiber = yield* Effect.forkChild(client.callTool("slow"))
        yield* Deferred.await(hanging)
        yield* Fiber.interrupt(fiber)
        yield* Deferred.await(left)
      }).pipe(Effect.provide(live))
      assert.deepStrictEqual(methods, ["server/discover", "tools/call"])
    }).pipe(Effect.timeout("10 seconds")), 30_000)
})
