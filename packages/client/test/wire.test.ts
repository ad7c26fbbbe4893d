/** What a client puts on the wire, whatever it is asked to do. */
import { assert, describe, it } from "@effect/vitest"
import { JsonRpc, Revisions } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { clientOf, clientOver, settle } from "./support/client.ts"

const hints = { resultType: "complete", ttlMs: 0, cacheScope: "private" }
const called = { resultType: "complete", content: [] }

const idsOf = (messages: ReadonlyArray<JsonRpc.Message>) => messages.filter(JsonRpc.isRequest).map(({ id }) => id)

for (const { era, version } of Revisions.all) {
  const opening: ScriptedServer.Script = era === "modern"
    ? { "server/discover": ScriptedServer.discovered({ tools: {} }) }
    : { initialize: ScriptedServer.initialized(version, { tools: {} }) }

  describe(`${version}`, () => {
    it.effect(`[${era === "modern" ? "RPC-04" : "RPC-03"}] never has an id twice, whether requests are answered, refused, cancelled or late`, () =>
      Effect.gen(function*() {
        const server = yield* ScriptedServer.make({
          ...opening,
          "tools/list": ScriptedServer.result({ ...hints, tools: [] }),
          "tools/call": ({ params }) =>
            params?.["name"] === "hangs" ? ScriptedServer.silence : ScriptedServer.result(called)
        })
        const client = yield* clientOf(server, { revisions: [version] })
        for (let round = 0; round < 3; round++) {
          yield* client.tools
          yield* Effect.all(Array.from({ length: 20 }, () => client.callTool("t")), { concurrency: "unbounded" })
          yield* Effect.flip(client.requestRaw("no/such"))
          yield* Effect.flip(client.callTool("hangs", {}, { timeout: "1 second" })).pipe(
            Effect.forkChild,
            Effect.tap(TestClock.adjust("1 second")),
            Effect.flatMap(Fiber.join)
          )
          const hanging = yield* Effect.forkChild(client.callTool("hangs"))
          yield* settle
          yield* Fiber.interrupt(hanging)
        }
        const ids = idsOf(server.received())
        assert.lengthOf(ids, 1 + 3 * (1 + 20 + 1 + 2))
        assert.strictEqual(new Set(ids.map(String)).size, ids.length)
      }))
  })
}

/** A server over HTTP that keeps the bodies, and asks for a sign of life in the middle of each call. */
const recording = (version: string) => {
  const bodies: Array<unknown> = []
  const json = (value: object) =>
    new Response(JSON.stringify(value), { headers: { "content-type": "application/json" } })
  const handler = async (request: Request): Promise<Response> => {
    if (request.method !== "POST") return new Response(null, { status: 405 })
    const body: unknown = JSON.parse(await request.text())
    bodies.push(body)
    const parsed = JsonRpc.parse(body)
    if (parsed._tag === "Failure" || !JsonRpc.isRequest(parsed.success)) return new Response(null, { status: 202 })
    const { id, method } = parsed.success
    const answer = (result: object) => ({ jsonrpc: "2.0", id, result })
    switch (method) {
      case "server/discover":
        return json(answer({ ...hints, supportedVersions: [version], capabilities: { tools: {} } }))
      case "initialize":
        return json(answer({
          protocolVersion: version,
          capabilities: { tools: {} },
          serverInfo: { name: "recording", version: "1" }
        }))
      case "tools/call": {
        const events = [{ jsonrpc: "2.0", id: `ask ${id}`, method: "ping" }, answer(called)]
        return new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""), {
          headers: { "content-type": "text/event-stream" }
        })
      }
      default:
        return json(answer({}))
    }
  }
  return { bodies, handler }
}

for (const { era, version } of Revisions.all) {
  describe(`${version} over HTTP`, () => {
    it.effect("[HTTP-07] each body is one message, however much there is to say at a time", () =>
      Effect.gen(function*() {
        const { bodies, handler } = recording(version)
        const client = yield* clientOver(handler, { revisions: [version] })
        yield* Effect.all(Array.from({ length: 10 }, () => client.callTool("t")), { concurrency: "unbounded" })
        yield* client.notifyRaw("notifications/x")
        yield* settle
        const kinds = bodies.map((body) => {
          const message = JsonRpc.parse(body)
          if (message._tag === "Failure") return `no message: ${JSON.stringify(body)}`
          return JsonRpc.isResponse(message.success) ? "response" : message.success.method
        })
        const count = (kind: string) => kinds.filter((each) => each === kind).length
        assert.strictEqual(count("tools/call"), 10)
        // 2026-07-28 has requests and notifications alone: a request of the server is not answered there.
        assert.strictEqual(count("response"), era === "modern" ? 0 : 10)
        const opening = era === "modern" ? ["server/discover"] : ["initialize", "notifications/initialized"]
        assert.deepStrictEqual(kinds.slice(0, opening.length), opening)
        assert.lengthOf(kinds, opening.length + 10 + count("response") + 1)
      }))
  })
}

describe("a revision with batches", () => {
  it.effect("[RPC-11] initialize goes alone: nothing is sent with it or before its answer", () =>
    Effect.gen(function*() {
      const go = Deferred.makeUnsafe<void>()
      const server = yield* ScriptedServer.make({
        initialize: () => Effect.as(Deferred.await(go), ScriptedServer.initialized("2025-03-26", { tools: {} })),
        "tools/call": ScriptedServer.result({ content: [] })
      })
      const client = yield* clientOf(server, { revisions: ["2025-03-26"], lazy: true })
      const calls = Array.from({ length: 5 }, () => client.callTool("t"))
      const fiber = yield* Effect.forkChild(Effect.all(calls, { concurrency: "unbounded" }))
      yield* settle
      assert.deepStrictEqual(server.methods(), ["initialize"])
      Deferred.doneUnsafe(go, Exit.void)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(server.methods().slice(0, 3), ["initialize", "notifications/initialized", "tools/call"])
    }))
})
