/** What is posted to HTTP+SSE: what is refused, and batches. */
import { assert, describe, it } from "@effect/vitest"
import * as Codes from "@mcpfx/schema/Codes"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Effect, Exit } from "effect"
import { Rejected } from "../src/Endpoint.ts"
import { limited, modern, ping, refused, scripted, turns } from "./support/http.ts"
import { byHeader, serveSse } from "./support/sse.ts"

const pong = (id: JsonRpc.RequestId) => ({ jsonrpc: "2.0", id, result: { method: "ping", era: "Legacy" } })

describe("what is refused", () => {
  it.effect("[HTTP-02, HTTP-03] strangers, on both endpoints; the pages that may come get CORS headers", () =>
    Effect.gen(function*() {
      const { get, open, post } = yield* serveSse(scripted())
      const { uri } = yield* open()
      for (const headers of [{ origin: "https://evil.example" }, { host: "evil.example" }]) {
        assert.strictEqual((yield* get(headers)).status, 403)
        assert.strictEqual((yield* post(uri, ping, { headers })).status, 403)
      }
      const allowed = { origin: "http://localhost:5173" }
      assert.strictEqual((yield* get(allowed)).headers.get("access-control-allow-origin"), allowed.origin)
      assert.strictEqual((yield* post(uri, ping, { headers: allowed })).headers.get("vary"), "Origin")
      const preflight = yield* post(uri, undefined, { method: "OPTIONS", headers: allowed })
      assert.strictEqual(preflight.status, 204)
      assert.strictEqual(preflight.headers.get("access-control-allow-origin"), allowed.origin)
    }))

  it.effect("messages for a stream that is not there, or is over", () =>
    Effect.gen(function*() {
      const { open, post } = yield* serveSse(scripted())
      const stream = yield* open()
      assert.strictEqual((yield* post("/messages", ping)).status, 404)
      const unknown = yield* post("/messages?sessionId=made-up", ping)
      assert.strictEqual(unknown.status, 404)
      assert.deepInclude(unknown.body, { id: null })
      yield* stream.cancel
      yield* turns
      assert.strictEqual((yield* stream.post(ping)).status, 404)
    }))

  it.effect("[SEC-06] messages for a stream of somebody else, as if it were not there", () =>
    Effect.gen(function*() {
      const { open } = yield* serveSse(scripted(), { middleware: byHeader })
      const stream = yield* open({ "x-user": "ada" })
      const theirs = yield* stream.post(ping, { headers: { "x-user": "eve" } })
      const nobodys = yield* stream.post(ping)
      assert.deepStrictEqual([theirs.status, nobodys.status], [404, 404])
      assert.strictEqual((yield* stream.post(ping, { headers: { "x-user": "ada" } })).status, 202)
      assert.deepStrictEqual(yield* stream.message, pong(1))
    }))

  it.effect("[RPC-08] what is no message, with 400, and nothing on the stream", () =>
    Effect.gen(function*() {
      const { open } = yield* serveSse(scripted())
      const stream = yield* open()
      const cases: ReadonlyArray<readonly [unknown, number]> = [
        ["{", Codes.parseError],
        ["", Codes.parseError],
        ["[]", Codes.invalidRequest],
        [{ jsonrpc: "2.0" }, Codes.invalidRequest],
        ["[".repeat(200) + "]".repeat(200), Codes.invalidRequest],
        [[ping, modern(2, "tools/list")], Codes.invalidRequest]
      ]
      for (const [body, code] of cases) {
        const answer = yield* stream.post(body)
        assert.strictEqual(answer.status, 400)
        assert.deepInclude(answer.body, { id: null })
        assert.propertyVal(Object(Object(answer.body).error), "code", code)
      }
      const nameless = yield* stream.post({ jsonrpc: "2.0", id: 7, method: 1 })
      assert.deepInclude(nameless.body, { id: 7 })
      yield* stream.post(ping)
      assert.deepStrictEqual(yield* stream.message, pong(1))
    }))

  it.effect("[field HTP-01] other media types than JSON, charset or not", () =>
    Effect.gen(function*() {
      const { open } = yield* serveSse(scripted())
      const stream = yield* open()
      for (const type of ["text/plain", "application/x-www-form-urlencoded", undefined]) {
        const headers = { "content-type": type ?? "" }
        assert.strictEqual((yield* stream.post(ping, { headers })).status, 415)
      }
      const headers = { "content-type": "application/json; charset=utf-8" }
      assert.strictEqual((yield* stream.post(ping, { headers })).status, 202)
      const wrong = yield* stream.post(undefined, { method: "GET" })
      assert.deepStrictEqual([wrong.status, wrong.headers.get("allow")], [405, "POST, OPTIONS"])
    }))

  it.effect("bodies over the limit", () =>
    Effect.gen(function*() {
      const { open } = yield* serveSse(scripted())
      const stream = yield* open()
      const large = yield* stream.post(JsonRpc.request(1, "ping", { text: "x".repeat(2000) }))
      assert.strictEqual(large.status, 413)
      assert.strictEqual((yield* stream.post(ping)).status, 202)
    }).pipe(limited({ httpBodyIn: 1000 })))

  it.effect("[VER-10] requests of a revision without this transport, which are told what there is", () =>
    Effect.gen(function*() {
      const { open } = yield* serveSse(scripted())
      const stream = yield* open()
      const answer = yield* stream.post(modern(1, "server/discover"))
      assert.strictEqual(answer.status, 400)
      const supported = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
      assert.deepStrictEqual(answer.body, {
        ...refused(Codes.unsupportedVersion, "Unsupported protocol version", { supported, requested: "2026-07-28" }),
        id: 1
      })
    }))

  it.effect("what the endpoint refuses: on the stream, unless its headers say something", () =>
    Effect.gen(function*() {
      const { open } = yield* serveSse(scripted({
        handle: ({ message }) =>
          Exit.fail(
            "method" in message && message.method === "busy"
              ? new Rejected({ code: -32000, message: "busy" }, 503, { "retry-after": "1" })
              : new Rejected({ code: -32600, message: "no" }, 400)
          )
      }))
      const stream = yield* open()
      const busy = yield* stream.post(JsonRpc.request(1, "busy"))
      assert.deepStrictEqual([busy.status, busy.headers.get("retry-after")], [503, "1"])
      assert.deepInclude(busy.body, { id: 1 })
      assert.strictEqual((yield* stream.post(JsonRpc.request(2, "other"))).status, 202)
      assert.deepStrictEqual(yield* stream.message, { ...refused(-32600, "no"), id: 2 })
      assert.strictEqual((yield* stream.post(JsonRpc.notification("other"))).status, 400)
    }))

  it.effect("streams past the limits, of all and of one principal", () =>
    Effect.gen(function*() {
      const { get, open } = yield* serveSse(scripted(), { middleware: byHeader })
      yield* open({ "x-user": "ada" })
      const second = yield* open({ "x-user": "ada" })
      const third = yield* get({ "x-user": "ada" })
      assert.deepStrictEqual([third.status, third.headers.get("retry-after")], [503, "1"])
      assert.include(yield* Effect.promise(() => third.text()), "sseStreamsPerPrincipal")
      yield* open()
      const fourth = yield* get({ "x-user": "eve" })
      assert.include(yield* Effect.promise(() => fourth.text()), "sseStreams\"")
      yield* second.cancel
      yield* turns
      yield* open({ "x-user": "ada" })
    }).pipe(limited({ sseStreams: 3, sseStreamsPerPrincipal: 2 })))
})

describe("batches", () => {
  it.effect("[RPC-10, RPC-11] are answered in one event where the revision has them", () =>
    Effect.gen(function*() {
      const { open } = yield* serveSse(scripted())
      const stream = yield* open()
      const note = JsonRpc.notification("notifications/initialized")
      const { status } = yield* stream.post([ping, note, { jsonrpc: "2.0", id: 5 }, JsonRpc.request(2, "ping")])
      assert.strictEqual(status, 202)
      const answers = yield* stream.message
      assert.isTrue(Array.isArray(answers))
      assert.sameDeepMembers(Array.isArray(answers) ? answers.map(({ id }) => id) : [], [1, 2, 5])
    }))

  it.effect("[RPC-12] are refused where it has none", () =>
    Effect.gen(function*() {
      const refusal = new Rejected({ code: -32600, message: "no batches" }, 400)
      const { open } = yield* serveSse(scripted({ admitBatch: () => Effect.fail(refusal) }))
      const stream = yield* open()
      const { body, status } = yield* stream.post([ping])
      assert.deepStrictEqual({ body, status }, { body: { ...refused(-32600, "no batches"), id: null }, status: 400 })
    }))
})
