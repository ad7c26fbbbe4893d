import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Deferred, Effect, Fiber, Logger, Option, References } from "effect"
import { TestClock } from "effect/testing"
import { Rejected } from "../src/Endpoint.ts"
import type { Exchange } from "../src/Exchange.ts"
import * as McpHeaders from "../src/McpHeaders.ts"
import { CurrentPrincipal } from "../src/Principal.ts"
import { admitted, limited, modern, modernHeaders, ping, refused, request, scripted, serve } from "./support/http.ts"

/** Answers by the table from method to what to do. */
const methods = (table: Record<string, (exchange: Exchange & { readonly message: JsonRpc.Request }) => void>) =>
  scripted({
    handle: (exchange) => {
      const { message } = exchange
      if (JsonRpc.isRequest(message)) table[message.method]?.({ ...exchange, message })
      return admitted
    }
  })

describe("what is let in", () => {
  it.effect("[HTTP-12] a request is answered in JSON", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted())
      const answer = yield* ask({ body: ping })
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.headers.get("content-type"), "application/json")
      assert.deepStrictEqual(answer.body, { jsonrpc: "2.0", id: 1, result: { method: "ping", era: "Legacy" } })
    }))

  it.effect("[HTTP-03] [field HTP-21] a foreign origin or host gets 403 and no handler runs", () =>
    Effect.gen(function*() {
      let handled = 0
      const { ask } = yield* serve(scripted({
        handle: (exchange) => {
          handled++
          return scripted().handle(exchange)
        }
      }))
      for (const origin of ["https://evil.example", "null", "http://localhost.evil.example"]) {
        const answer = yield* ask({ body: ping, headers: { origin } })
        assert.strictEqual(answer.status, 403)
        assert.deepStrictEqual(answer.body, refused(-32600, "Invalid request: Header Origin is not allowed"))
        assert.isNull(answer.headers.get("access-control-allow-origin"))
      }
      for (const method of ["POST", "GET", "DELETE", "OPTIONS"]) {
        const call = method === "POST" ? { method, body: ping } : { method }
        assert.strictEqual((yield* ask({ ...call, headers: { host: "rebind.example:3000" } })).status, 403)
        assert.strictEqual((yield* ask({ ...call, url: "http://rebind.example:3000/mcp" })).status, 403)
      }
      assert.strictEqual(handled, 0)
      assert.strictEqual((yield* ask({ body: ping, headers: { origin: "http://localhost:5173" } })).status, 200)
    }))

  it.effect("[HTTP-03] the log says what was refused and by which option, as a warning once", () => {
    const lines: Array<readonly [string, string]> = []
    const logger = Logger.make(({ logLevel, message }) => lines.push([logLevel, String(message)]))
    return Effect.gen(function*() {
      const { ask } = yield* serve(scripted())
      yield* ask({ body: ping, headers: { host: "mcp.example.com" } })
      yield* ask({ body: ping, headers: { host: `b\u00e4d ${"x".repeat(5000)}` } })
      for (const _ of [1, 2]) yield* ask({ body: ping, headers: { origin: "https://evil.example" } })
      assert.deepStrictEqual(lines.map(([level]) => level), ["Warn", "Debug", "Warn", "Debug"])
      assert.deepStrictEqual(lines.map(([, text]) => text.replace(/x{100,}/, "…")), [
        "A request was refused, its header Host \"mcp.example.com\" is not allowed: the option allowedHosts does not name it",
        "A request was refused, its header Host \"b?d …\" is malformed",
        ...Array<string>(2).fill(
          "A request was refused, its header Origin \"https://evil.example\" is not allowed: the option allowedOrigins does not name it"
        )
      ])
      assert.isBelow(Math.max(...lines.map(([, text]) => text.length)), 400)
    }).pipe(
      Effect.provide(Logger.layer([logger])),
      Effect.provideService(References.MinimumLogLevel, "Trace")
    )
  })

  it.effect("[field HTP-01] parameters of the content type do not matter", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted())
      const answer = yield* ask({ body: ping, headers: { "content-type": "application/json; charset=utf-8" } })
      assert.strictEqual(answer.status, 200)
    }))

  it.effect("[field HTP-34] a body of another type is not looked at", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted())
      for (const type of ["text/plain", "application/x-www-form-urlencoded", undefined]) {
        const answer = yield* ask({ body: ping, headers: { "content-type": type } })
        assert.strictEqual(answer.status, 415)
        assert.strictEqual(answer.body.error.code, -32600)
      }
    }))

  it.effect("[field HTP-03] what is accepted decides the type of the answer, 406 where neither is", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted())
      const type = (accept: string | undefined) =>
        Effect.map(
          ask({ body: ping, headers: { accept } }),
          (answer) => answer.status === 200 ? answer.headers.get("content-type") : answer.status
        )
      for (const accept of ["*/*", "application/*, text/*", "application/json", undefined]) {
        assert.strictEqual(yield* type(accept), "application/json", accept)
      }
      for (const accept of ["text/event-stream", "application/json;q=0, text/event-stream"]) {
        assert.strictEqual(yield* type(accept), "text/event-stream", accept)
      }
      const png = yield* ask({ body: ping, headers: { accept: "image/png" } })
      assert.strictEqual(png.status, 406)
      assert.strictEqual(png.body.error.code, -32600)
      assert.notProperty(png.body, "id")
    }))

  it.effect("[HTTP-01] methods other than POST, GET, DELETE and OPTIONS get 405 and hear of those", () =>
    Effect.gen(function*() {
      const { fetch } = yield* serve(scripted())
      for (const method of ["PUT", "PATCH", "HEAD"]) {
        const response = yield* fetch({ method })
        assert.strictEqual(response.status, 405)
        assert.strictEqual(response.headers.get("allow"), "POST, GET, DELETE, OPTIONS")
      }
    }))

  it.effect("[field HTP-29] a body past the limit gets 413, announced or not, and the next request is served", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted())
      const big = JSON.stringify(JsonRpc.request(1, "ping", { pad: "x".repeat(1000) }))
      const announced = yield* ask({ body: big, headers: { "content-length": String(big.length) } })
      assert.strictEqual(announced.status, 413)
      const silent = yield* ask({ body: big })
      assert.strictEqual(silent.status, 413)
      assert.deepStrictEqual(silent.body.error.data, { reason: "MessageTooLarge", limit: 500 })
      assert.strictEqual((yield* ask({ body: ping })).status, 200)
    }).pipe(limited({ httpBodyIn: 500 })))

  it.effect("bodies held at a time are bounded in total", () =>
    Effect.gen(function*() {
      const { ask, fetch } = yield* serve(scripted())
      const small = yield* ask({ body: ping, headers: { "content-length": "50" } })
      assert.strictEqual(small.status, 200)
      const busy = yield* ask({ body: ping, headers: { "content-length": "150" } })
      assert.strictEqual(busy.status, 503)
      assert.strictEqual(busy.headers.get("retry-after"), "1")
      assert.strictEqual(busy.body.error.code, -32000)
      for (let i = 0; i < 20; i++) assert.strictEqual((yield* fetch({ body: ping })).status, 200)
    }).pipe(limited({ bufferedBodies: 100 })))

  it.effect("a body that does not arrive gets 408", () =>
    Effect.gen(function*() {
      const server = yield* serve(scripted())
      const started = yield* Deferred.make<void>()
      const body = new ReadableStream<Uint8Array>({
        pull: () => {
          Deferred.doneUnsafe(started, Effect.void)
          return new Promise(() => {})
        }
      }, { highWaterMark: 0 })
      const slow = new Request(request({ body: "" }), { body, duplex: "half" } as RequestInit)
      const fiber = yield* Effect.forkChild(server.send(slow))
      yield* Deferred.await(started)
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual((yield* Fiber.join(fiber)).status, 408)
    }))
})

describe("the envelope", () => {
  const counting = () => {
    const state = { handled: 0 }
    const endpoint = scripted({
      handle: (exchange) => {
        state.handled++
        return scripted().handle(exchange)
      }
    })
    return { state, endpoint }
  }

  it.effect("[RPC-08] [field RPC-17] what is no JSON gets 400 and an error without an id, or null where one is wanted", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted())
      for (const body of ["{oops", "", "null,", "{\"jsonrpc\":\"2.0\"}}"]) {
        const answer = yield* ask({ body })
        assert.strictEqual(answer.status, 400)
        assert.strictEqual(answer.body.error.code, -32700)
        assert.notProperty(answer.body, "id")
      }
      for (const [version, id] of [["2025-06-18", null], ["2024-11-05", null], ["2025-11-25", undefined]] as const) {
        const answer = yield* ask({ body: "{oops", headers: { "mcp-protocol-version": version } })
        assert.strictEqual(answer.body.id, id, version)
      }
    }))

  it.effect("[RPC-01] bytes that are no UTF-8 are no JSON", () =>
    Effect.gen(function*() {
      const { send } = yield* serve(scripted())
      const start = new TextEncoder().encode("{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":\"")
      const posted = (byte: number) =>
        send(new Request(request({ body: "" }), { body: new Uint8Array([...start, byte, 0x22, 0x7d]) }))
      assert.strictEqual((yield* posted(0x61)).status, 200)
      const response = yield* posted(0xff)
      assert.strictEqual(response.status, 400)
      assert.include(yield* Effect.promise(() => response.text()), "-32700")
    }))

  it.effect("[field FRM-02] characters cut between chunks arrive whole", () =>
    Effect.gen(function*() {
      const texts: Array<unknown> = []
      const { send } = yield* serve(scripted({
        handle: (exchange) => {
          texts.push("params" in exchange.message ? exchange.message.params?.["t"] : undefined)
          return scripted().handle(exchange)
        }
      }))
      const bytes = new TextEncoder().encode(JSON.stringify(JsonRpc.request(7, "echo", { t: "é—🎉" })))
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          for (const byte of bytes) controller.enqueue(new Uint8Array([byte]))
          controller.close()
        }
      })
      const response = yield* send(new Request(request({ body: "" }), { body, duplex: "half" } as RequestInit))
      assert.strictEqual(response.status, 200)
      assert.deepStrictEqual(texts, ["é—🎉"])
    }))

  it.effect("[field RPC-16] [field RPC-04] [field RPC-19] [field RPC-13] [field RPC-11] what is no message gets 400 and runs nothing", () =>
    Effect.gen(function*() {
      const { endpoint, state } = counting()
      const { ask } = yield* serve(endpoint)
      for (
        const [body, id] of [
          ["{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", 1],
          ["{\"id\":1,\"method\":\"ping\"}", 1],
          ["{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", undefined],
          ["{\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"method\":\"ping\"}", undefined],
          ["{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"result\":{}}", 1],
          ["{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{\"code\":1,\"message\":\"x\"}}", undefined],
          ["{\"jsonrpc\":\"2.0\",\"id\":1}", 1],
          ["{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\",\"params\":null}", undefined],
          ["5", undefined]
        ] as const
      ) {
        const answer = yield* ask({ body })
        assert.strictEqual(answer.status, 400, body)
        assert.strictEqual(answer.body.error.code, -32600, body)
        assert.strictEqual(answer.body.id, id, body)
      }
      assert.strictEqual(state.handled, 0)
    }))

  it.effect("[field RPC-01] [RPC-05] the id comes back as it was sent", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted())
      for (const id of ["req-abc", "1", "", "01", -5, 0]) {
        assert.strictEqual((yield* ask({ body: JsonRpc.request(id, "ping") })).body.id, id)
      }
    }))

  it.effect("a message that nests too deep is refused", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted())
      const deep = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${"[".repeat(200)}${"]".repeat(200)}}}`
      const answer = yield* ask({ body: deep })
      assert.strictEqual(answer.status, 400)
      assert.deepStrictEqual(answer.body.error.data, { reason: "MessageTooDeep", limit: 128 })
    }))

  it.effect("[field RPC-10] members nobody knows reach the endpoint as they are", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const { ask } = yield* serve(scripted({
        handle: (exchange) => {
          seen.push(exchange.message)
          return scripted().handle(exchange)
        }
      }))
      const body = { ...JsonRpc.request(1, "x/y", { extra: 1, _meta: { "example.com/trace": "t1" } }), trace: "x" }
      assert.strictEqual((yield* ask({ body })).status, 200)
      assert.deepStrictEqual(seen, [body])
    }))
})

describe("notifications and responses", () => {
  it.effect("[HTTP-10] [field HTP-18] what is taken gets 202 and no body", () =>
    Effect.gen(function*() {
      const { fetch } = yield* serve(scripted())
      for (const body of [JsonRpc.notification("notifications/initialized"), { jsonrpc: "2.0", id: 1, result: {} }]) {
        const response = yield* fetch({ body })
        assert.strictEqual(response.status, 202)
        assert.strictEqual(yield* Effect.promise(() => response.text()), "")
        assert.isNull(response.headers.get("content-type"))
      }
    }))

  it.effect("[HTTP-10] what is refused gets its status and an error without an id", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted({
        handle: () => Effect.fail(new Rejected({ code: -32600, message: "no" }, 404, { "x-why": "gone" }))
      }))
      const answer = yield* ask({ body: JsonRpc.notification("notifications/initialized") })
      assert.strictEqual(answer.status, 404)
      assert.strictEqual(answer.headers.get("x-why"), "gone")
      assert.deepStrictEqual(answer.body, refused(-32600, "no"))
    }))
})

describe("modern requests", () => {
  const failing = (code: number) =>
    methods({
      "tools/list": ({ message, outlet }) => outlet.answer(JsonRpc.failure(message.id, { code, message: "m" }))
    })
  const list = { body: modern(4, "tools/list"), headers: modernHeaders("tools/list") }

  it.effect("[HTTP-53] [META-13] [field RPC-09] the error decides the status", () =>
    Effect.gen(function*() {
      for (
        const [code, status] of [[-32601, 404], [-32020, 400], [-32021, 400], [-32022, 400], [-32602, 200], [
          -32603,
          200
        ], [
          7,
          200
        ]] as const
      ) {
        const { ask } = yield* serve(failing(code))
        const answer = yield* ask(list)
        assert.strictEqual(answer.status, status, String(code))
        assert.deepStrictEqual(answer.body, { jsonrpc: "2.0", id: 4, error: { code, message: "m" } })
      }
    }))

  it.effect("an error of the revisions before has status 200", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(failing(-32601))
      assert.strictEqual((yield* ask({ body: JsonRpc.request(4, "tools/list") })).status, 200)
    }))

  it.effect("[HTTP-50] [HTTP-52] [HTTP-58] [field LIF-19] what the headers and the body disagree on gets 400 under the request's id", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted())
      const refusedWith = (call: Parameters<typeof ask>[0]) =>
        Effect.map(ask(call), ({ body, status }) => [status, body.error?.code, body.id])
      assert.deepStrictEqual(yield* refusedWith({ ...list, headers: {} }), [400, -32020, 4])
      assert.deepStrictEqual(
        yield* refusedWith({ ...list, headers: { ...list.headers, "mcp-protocol-version": "2025-11-25" } }),
        [400, -32020, 4]
      )
      assert.deepStrictEqual(yield* refusedWith({ ...list, headers: modernHeaders("tools/call") }), [400, -32020, 4])
      assert.deepStrictEqual(
        yield* refusedWith({ body: JsonRpc.request(4, "tools/list", { _meta: {} }), headers: list.headers }),
        [400, -32602, 4]
      )
      const call = modern(4, "tools/call", { name: "add" })
      assert.deepStrictEqual(yield* refusedWith({ body: call, headers: modernHeaders("tools/call") }), [400, -32020, 4])
      assert.strictEqual((yield* ask({ body: call, headers: modernHeaders("tools/call", "add") })).status, 200)
    }))

  it.effect("[HTTP-66] a session header is neither handed on nor written", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const { ask } = yield* serve(scripted({
        handle: (exchange) => {
          seen.push(exchange.facts.sessionId)
          return Effect.as(scripted().handle(exchange), { sessionId: "minted" })
        }
      }))
      const answer = yield* ask({ ...list, headers: { ...list.headers, "mcp-session-id": "x", "last-event-id": "4" } })
      assert.strictEqual(answer.status, 200)
      assert.isNull(answer.headers.get("mcp-session-id"))
      assert.deepStrictEqual(seen, [undefined])
    }))

  it.effect("[HTTP-66] GET and DELETE get 405", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted())
      for (const method of ["GET", "DELETE"]) {
        const answer = yield* ask({ method, headers: { "mcp-protocol-version": "2026-07-28" } })
        assert.strictEqual(answer.status, 405)
        assert.strictEqual(answer.headers.get("allow"), "POST")
      }
    }))

  it.effect("[XH-11] [XH-12] the endpoint sees the headers of the request and may refuse them", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted({
        handle: (exchange) => {
          const { facts, message } = exchange
          const args = "params" in message ? message.params?.["arguments"] : undefined
          const annotated = [{ path: ["region"], header: "Region", type: "string" as const }]
          const fault = McpHeaders.checkParams(facts.headers ?? {}, annotated, args)
          return fault === undefined
            ? scripted().handle(exchange)
            : Effect.fail(new Rejected({ code: -32020, message: McpHeaders.describe(fault) }, 400))
        }
      }))
      const call = (args: JsonRpc.JsonObject, header?: string) =>
        Effect.map(
          ask({
            body: modern(1, "tools/call", { name: "t", arguments: args }),
            headers: { ...modernHeaders("tools/call", "t"), "Mcp-Param-Region": header }
          }),
          ({ body, status }) => [status, body.error?.code]
        )
      assert.deepStrictEqual(yield* call({ region: "eu" }), [400, -32020])
      assert.deepStrictEqual(yield* call({ region: "eu" }, "us"), [400, -32020])
      assert.deepStrictEqual(yield* call({ region: "eu" }, "=?base64?ZXU=?="), [200, undefined])
      assert.deepStrictEqual(yield* call({ region: null }), [200, undefined])
      assert.deepStrictEqual(yield* call({}), [200, undefined])
    }))
})

describe("sessions", () => {
  const opening = (sessionId: string) =>
    scripted({ handle: (exchange) => Effect.as(scripted().handle(exchange), { sessionId }) })

  it.effect("[HTTP-35] the id of the session a request opened is written, unless no header may hold it", () =>
    Effect.gen(function*() {
      for (const [id, written] of [["0123-abc", "0123-abc"], ["a b", null], ["é", null], ["", null]] as const) {
        const { ask } = yield* serve(opening(id))
        const answer = yield* ask({ body: ping, headers: { "mcp-session-id": "theirs" } })
        assert.strictEqual(answer.headers.get("mcp-session-id"), written)
      }
      const { ask } = yield* serve(scripted())
      assert.isNull((yield* ask({ body: ping, headers: { "mcp-session-id": "x" } })).headers.get("mcp-session-id"))
    }))

  it.effect("[HTTP-37] [HTTP-43] session and version headers are handed on, however their names are spelt", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const { ask } = yield* serve(scripted({
        handle: (exchange) => {
          seen.push([exchange.facts.sessionId, exchange.facts.protocolVersion, exchange.facts.classified])
          return scripted().handle(exchange)
        }
      }))
      yield* ask({ body: ping, headers: { "MCP-SESSION-ID": "s", "Mcp-Protocol-Version": "2025-06-18" } })
      yield* ask({ body: ping, headers: { "mcp-session-id": "" } })
      assert.deepStrictEqual(seen, [
        ["s", "2025-06-18", { _tag: "Legacy", version: "2025-06-18" }],
        [undefined, undefined, { _tag: "Legacy", version: undefined }]
      ])
    }))

  it.effect("[field HTP-05] [HTTP-38] [HTTP-39] a refusal by the endpoint keeps its status, and the request its id", () =>
    Effect.gen(function*() {
      const gone = Effect.fail(new Rejected({ code: -32600, message: "Session not found" }, 404))
      const { ask } = yield* serve(scripted({ handle: () => gone, attach: () => gone, terminate: () => gone }))
      const post = yield* ask({ body: ping, headers: { "mcp-session-id": "gone-1" } })
      assert.strictEqual(post.status, 404)
      assert.deepStrictEqual(post.body, { ...refused(-32600, "Session not found"), id: 1 })
      for (const method of ["GET", "DELETE"]) {
        const answer = yield* ask({ method, headers: { "mcp-session-id": "gone-1" } })
        assert.strictEqual(answer.status, 404)
        assert.deepStrictEqual(answer.body, refused(-32600, "Session not found"))
      }
    }))

  it.effect("[HTTP-41] [field HTP-04] DELETE ends the session; without sessions it gets 405 as GET does", () =>
    Effect.gen(function*() {
      const ended: Array<unknown> = []
      const { fetch } = yield* serve(scripted({
        terminate: (facts) =>
          Effect.sync(() => {
            ended.push(facts.sessionId)
          })
      }))
      const response = yield* fetch({ method: "DELETE", headers: { "mcp-session-id": "s" } })
      assert.strictEqual(response.status, 204)
      assert.deepStrictEqual(ended, ["s"])
      const none = Effect.fail(new Rejected({ code: -32600, message: "no" }, 405))
      const stateless = yield* serve(scripted({ attach: () => none, terminate: () => none }))
      for (const method of ["GET", "DELETE"]) {
        const answer = yield* stateless.ask({ method })
        assert.strictEqual(answer.status, 405)
        assert.strictEqual(answer.headers.get("allow"), "POST")
      }
    }))

  it.effect("[HTTP-45] [field LIF-08] an unsupported version header gets 400 on every method", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted())
      for (const version of ["1999-01-01", "2025-06-18, 2025-06-18", "garbage"]) {
        for (const call of [{ body: ping }, { method: "GET" }, { method: "DELETE" }]) {
          const answer = yield* ask({ ...call, headers: { "mcp-protocol-version": version } })
          assert.strictEqual(answer.status, 400)
          assert.strictEqual(answer.body.error.code, -32602)
        }
      }
      const initialize = JsonRpc.request(1, "initialize", { protocolVersion: "2099-01-01" })
      const answer = yield* ask({ body: initialize, headers: { "mcp-protocol-version": "2099-01-01" } })
      assert.strictEqual(answer.status, 200)
    }))

  it.effect("the caller that authentication found is handed on", () =>
    Effect.gen(function*() {
      const caller = { issuer: "i", subject: "alice", scopes: [], claims: {} }
      const seen: Array<unknown> = []
      const { ask } = yield* serve(
        scripted({
          handle: (exchange) => {
            seen.push(Option.getOrUndefined(exchange.facts.principal))
            return scripted().handle(exchange)
          }
        }),
        { middleware: (app) => Effect.provideService(app, CurrentPrincipal, Option.some(caller)) }
      )
      yield* ask({ body: ping })
      assert.deepStrictEqual(seen, [caller])
    }))
})
