/** Rounds over HTTP: each request stands alone, headers included. */
import { assert, it } from "@effect/vitest"
import { McpClient, Negotiation } from "@mcpfx/client"
import { JsonRpc } from "@mcpfx/schema"
import { Context, Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { elicit, Handlers } from "./support/rounds.ts"

const tool = {
  name: "déploy",
  inputSchema: {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" }, other: { type: "string" } }
  }
}

interface Seen {
  readonly id: unknown
  readonly headers: Readonly<Record<string, string | null>>
  readonly params: JsonRpc.JsonObject
}

const shown = ["mcp-method", "mcp-name", "mcp-protocol-version", "mcp-param-region"]

it.effect("[MRT-11] [XH-01] [HTTP-50] a request is sent again with the headers it had", () =>
  Effect.gen(function*() {
    const calls: Array<Seen> = []
    const fetched = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
      const request = new Request(input, init)
      const message: unknown = JSON.parse(await request.text())
      if (!JsonRpc.isJsonObject(message)) return new Response(null, { status: 400 })
      const { id, method, params } = message
      const answer = (result: object) => Response.json({ jsonrpc: "2.0", id, result })
      const hints = { resultType: "complete", ttlMs: 0, cacheScope: "private" }
      switch (method) {
        case "server/discover":
          return answer({ ...hints, supportedVersions: ["2026-07-28"], capabilities: { tools: {} } })
        case "tools/list":
          return answer({ ...hints, tools: [tool] })
        default:
          calls.push({
            id,
            headers: Object.fromEntries(shown.map((name) => [name, request.headers.get(name)])),
            params: JsonRpc.isJsonObject(params) ? params : {}
          })
          return answer(
            calls.length < 3
              ? { resultType: "input_required", inputRequests: { a: elicit }, requestState: `state ${calls.length}` }
              : { resultType: "complete", content: [] }
          )
      }
    }
    const context = yield* Layer.build(
      McpClient.layerHttp({ url: "http://example.com/mcp" }).pipe(
        Layer.provide(Handlers),
        Layer.provide(FetchHttpClient.layer),
        Layer.provide(Layer.mergeAll(
          Layer.succeed(FetchHttpClient.Fetch, fetched),
          Layer.succeed(Negotiation.CurrentEraCache, Negotiation.makeEraCache())
        ))
      )
    )
    const client = Context.get(context, McpClient.McpClient)
    yield* client.tools
    yield* client.callTool("déploy", { region: "süd", other: "x" })
    const [first, second, third] = calls
    assert.deepStrictEqual(first?.headers, {
      "mcp-method": "tools/call",
      "mcp-name": "=?base64?ZMOpcGxveQ==?=",
      "mcp-protocol-version": "2026-07-28",
      "mcp-param-region": "=?base64?c8O8ZA==?="
    })
    assert.deepStrictEqual(second?.headers, first?.headers)
    assert.deepStrictEqual(third?.headers, first?.headers)
    assert.strictEqual(new Set(calls.map(({ id }) => id)).size, 3)
    const { _meta, ...sent } = first?.params ?? {}
    const answer = { a: { action: "accept", content: { name: "Ada" } } }
    assert.isDefined(_meta)
    assert.deepStrictEqual(second?.params, { ...sent, _meta, inputResponses: answer, requestState: "state 1" })
    assert.deepStrictEqual(third?.params, { ...sent, _meta, inputResponses: answer, requestState: "state 2" })
  }))
