/** Structured output against the schema that its tool is listed with. */
import { assert, describe, it } from "@effect/vitest"
import type { JsonRpc } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Effect, Logger } from "effect"
import { calling, clientOf, clientOver, legacy, reasonOf, settle } from "./support/client.ts"

const { make, result } = ScriptedServer

const numbers = {
  name: "n",
  inputSchema: { type: "object" },
  outputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] }
}

/** What was logged while `effect` ran. */
const logged = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
  return Effect.as(Effect.provide(effect, Logger.layer([logger])), lines)
}

/** What is fetched behind everybody's back while the scope is open. */
const fetching = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const { fetch } = globalThis
      const fetched: Array<string> = []
      globalThis.fetch = (input) => {
        fetched.push(String(input))
        return Promise.reject(new Error("nothing is fetched here"))
      }
      return { fetch, fetched }
    }),
    ({ fetch }) =>
      Effect.sync(() => {
        globalThis.fetch = fetch
      })
  ),
  ({ fetched }) => fetched
)

/** A server over HTTP with one tool, and the addresses that were asked for. */
const remote = (outputSchema: JsonRpc.JsonObject) => {
  const urls: Array<string> = []
  const results: ReadonlyMap<unknown, object> = new Map<unknown, object>([
    ["initialize", {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "remote", version: "1" }
    }],
    ["tools/list", { tools: [{ name: "remote", inputSchema: { type: "object" }, outputSchema }] }],
    ["tools/call", { content: [], structuredContent: { n: 1 } }]
  ])
  const handler = async (request: Request): Promise<Response> => {
    urls.push(request.url)
    if (request.method !== "POST") return new Response(null, { status: 405 })
    const { id, method } = await request.json()
    const found = results.get(method)
    return found === undefined
      ? new Response(null, { status: 202 })
      : Response.json({ jsonrpc: "2.0", id, result: found })
  }
  return { handler, urls }
}

describe("output", () => {
  it.effect("[TOL-08, field SCH-02] is checked against the schema that its tool is listed with", () =>
    Effect.gen(function*() {
      const wrong = yield* calling({ content: [], structuredContent: { n: "x" } }, [numbers])
      yield* wrong.tools
      const failure = yield* Effect.flip(wrong.callTool("n"))
      assert.deepInclude(failure.reason, { _tag: "BadOutput", tool: "n" })
      assert.match(failure.message, /^tools\/call: the output of n does not fit its schema: n: /)
      const none = yield* calling({ content: [] }, [numbers])
      yield* none.tools
      assert.deepInclude(yield* reasonOf(none.callTool("n")), { _tag: "BadOutput" })
      const more = yield* calling({ content: [], structuredContent: { n: 1, extra: 2 } }, [numbers])
      yield* more.tools
      assert.deepInclude(yield* more.callTool("n"), { structuredContent: { n: 1, extra: 2 } })
    }))

  it.effect("[field SCH-01] is not demanded of a result that is an error", () =>
    Effect.gen(function*() {
      const client = yield* calling({ isError: true, content: [{ type: "text", text: "quota" }] }, [numbers])
      yield* client.tools
      assert.deepInclude(yield* client.callTool("n"), { content: [{ type: "text", text: "quota" }] })
    }))

  it.effect("[field SCH-03] is checked by its structured content alone", () =>
    Effect.gen(function*() {
      const outputSchema = { ...numbers.outputSchema, additionalProperties: false }
      const client = yield* calling(
        { content: [{ type: "text", text: "{\"n\":1}" }], structuredContent: { n: 1 }, _meta: {} },
        [{ ...numbers, outputSchema }]
      )
      yield* client.tools
      assert.deepInclude(yield* client.callTool("n"), { structuredContent: { n: 1 } })
    }))

  it.effect("[JSC-02, field SCH-12] is let through, with one warning, where the dialect of the schema is unknown", () =>
    Effect.gen(function*() {
      const client = yield* calling({ content: [], structuredContent: { n: "x" } }, [
        { ...numbers, outputSchema: { $schema: "urn:unknown", type: "object" } }
      ])
      yield* client.tools
      const lines = yield* logged(Effect.all([client.callTool("n"), client.callTool("n")]))
      assert.deepStrictEqual(lines, ["The output schema of n checks nothing: unknown dialect urn:unknown"])
    }))

  const elsewhere = "https://elsewhere.example/schema.json"
  const leadingOut: Readonly<Record<string, JsonRpc.JsonObject>> = {
    "at its root": { $ref: elsewhere },
    "below": { properties: { n: { anyOf: [{ type: "null" }, { $ref: elsewhere }] } } },
    "relative to its $id": { $id: "https://elsewhere.example/tools/", $ref: "schema.json" },
    "by $dynamicRef": { properties: { n: { $dynamicRef: `${elsewhere}#node` } } }
  }
  for (const [where, outputSchema] of Object.entries(leadingOut)) {
    it.effect(`[JSC-04] is let through where the schema refers to elsewhere ${where}, and nothing is fetched`, () =>
      Effect.gen(function*() {
        const fetched = yield* fetching
        const { handler, urls } = remote({ type: "object", ...outputSchema })
        const client = yield* clientOver(handler, { revisions: ["2025-11-25"] })
        yield* client.tools
        const lines = yield* logged(client.callTool("remote"))
        assert.lengthOf(lines, 1)
        assert.match(
          lines[0] ?? "",
          /^The output schema of remote checks nothing: .+ refers to .+, and nothing is fetched$/
        )
        assert.deepStrictEqual(fetched, [])
        assert.deepStrictEqual([...new Set(urls)], ["http://localhost/mcp"])
      }))
  }

  it.effect("is not checked by a schema that may be out of date: the tools have changed", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({
        "tools/call": result({ content: [], structuredContent: { m: 1 } }),
        "tools/list": result({ tools: [numbers] })
      }, { tools: { listChanged: true } }))
      const client = yield* clientOf(server)
      yield* client.tools
      yield* Effect.flip(client.callTool("n"))
      yield* server.notify("notifications/tools/list_changed")
      yield* settle
      yield* client.callTool("n")
    }))

  it.effect("is not checked where that is turned off", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({
        "tools/call": result({ content: [], structuredContent: { n: "x" } }),
        "tools/list": result({ tools: [numbers] })
      }, { tools: {} }))
      const client = yield* clientOf(server, { checkOutput: false })
      yield* client.tools
      yield* client.callTool("n")
    }))
})
