import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Effect, Fiber, Queue } from "effect"
import { TestClock } from "effect/testing"
import { limited, modern, note, ping, sse, turns } from "./support/http.ts"
import {
  accepted,
  connect,
  events,
  failure,
  initialized,
  json,
  openEvents,
  type Respond,
  success,
  url as address
} from "./support/httpClient.ts"

const failed = <A, E>(effect: Effect.Effect<A, E>) => Effect.flip(effect)

describe("one request", () => {
  it.effect("[HTTP-05] [HTTP-06] [HTTP-12] is one POST that accepts both types, its JSON answer is handed over", () =>
    Effect.gen(function*() {
      const { link, messages, seen } = yield* connect(() => json(success(1, { a: 1 })))
      yield* link.send(ping)
      assert.deepStrictEqual(yield* messages, [success(1, { a: 1 })])
      assert.strictEqual(seen.length, 1)
      assert.strictEqual(seen[0]?.method, "POST")
      assert.deepStrictEqual(seen[0]?.body, ping)
      assert.strictEqual(seen[0]?.headers["accept"], "application/json, text/event-stream")
      assert.strictEqual(seen[0]?.headers["content-type"], "application/json")
    }))

  it.effect("[HTTP-12] [field HTP-01] the answer may come as an event stream, after other messages", () =>
    Effect.gen(function*() {
      const { link, messages } = yield* connect(() =>
        events(sse(note(1), note(2), success(1)), { headers: { "content-type": "text/event-stream;charset=UTF-8" } })
      )
      yield* link.send(ping)
      assert.deepStrictEqual(yield* messages, [note(1), note(2), success(1)])
    }))

  it.effect("[RPC-10] an array of answers is taken apart", () =>
    Effect.gen(function*() {
      const { link, messages } = yield* connect(() => json([note(1), success(1)]))
      yield* link.send(ping)
      assert.deepStrictEqual(yield* messages, [note(1), success(1)])
    }))

  it.effect("[field HTP-10] succeeds as soon as the answer is there and lets go of the stream", () =>
    Effect.gen(function*() {
      const stream = openEvents()
      const { link, messages, seen } = yield* connect(() => stream.response)
      stream.write("id: p-1\n" + sse(success(1)))
      yield* link.send(ping)
      assert.deepStrictEqual(yield* messages, [success(1)])
      yield* TestClock.adjust("1 second")
      yield* turns
      assert.isTrue(stream.state.cancelled)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(seen.length, 1)
    }))

  it.effect("[field HTP-13] an error in a stream is the answer", () =>
    Effect.gen(function*() {
      const { link, messages, seen } = yield* connect(() => events("id: a-1\n" + sse(failure(1, -32602))))
      yield* link.send(ping)
      assert.deepStrictEqual(yield* messages, [failure(1, -32602)])
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(seen.length, 1)
    }))

  it.effect("[HTTP-63] [field HTP-07] a stream that ends without the answer fails the request", () =>
    Effect.gen(function*() {
      const { link, messages } = yield* connect(() => events(sse(note(1))))
      const error = yield* failed(link.send(ping))
      assert.strictEqual(
        error._tag === "HttpFailure" ? error.detail : error._tag,
        "The stream ended without the answer"
      )
      assert.deepStrictEqual(yield* messages, [note(1)])
    }))

  it.effect("[HTTP-63] a stream that breaks fails the request with the reason", () =>
    Effect.gen(function*() {
      const stream = openEvents()
      const { got, link } = yield* connect(() => stream.response)
      stream.write(sse(note(1)))
      const fiber = yield* Effect.forkChild(failed(link.send(ping)))
      yield* Queue.take(got)
      stream.fail(new Error("ECONNRESET"))
      const error = yield* Fiber.join(fiber)
      assert.strictEqual(error._tag === "HttpFailure" ? error.detail : error._tag, "The stream broke off")
    }))

  it.effect("[HTTP-64] [field HTP-11] comments, events without data and events of other types are no messages", () =>
    Effect.gen(function*() {
      const { link, messages } = yield* connect(() =>
        events(": hi\n\nid: p-0\nretry: 500\ndata: \n\nevent: ping\ndata: now\n\ndata: not json\n\n" + sse(success(1)))
      )
      yield* link.send(ping)
      assert.deepStrictEqual(yield* messages, [success(1)])
    }))

  it.effect("[field HTP-12] [field FRM-02] an event stream may be cut anywhere", () =>
    Effect.gen(function*() {
      const text =
        "\ufeff: hi\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":1,\"result\":{\"t\":\"é—🎉\"}}\r\n\r\n"
      const bytes = new TextEncoder().encode(text)
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          for (const byte of bytes) controller.enqueue(new Uint8Array([byte]))
          controller.close()
        }
      })
      const { link, messages } = yield* connect(() =>
        new Response(body, { headers: { "content-type": "text/event-stream" } })
      )
      yield* link.send(ping)
      assert.deepStrictEqual(yield* messages, [success(1, { t: "é—🎉" })])
    }))

  it.effect("[field HTP-12] an event without its blank line is not there", () =>
    Effect.gen(function*() {
      const { link, messages } = yield* connect(() => events(sse(success(1)).trimEnd()))
      assert.strictEqual((yield* failed(link.send(ping)))._tag, "HttpFailure")
      assert.deepStrictEqual(yield* messages, [])
    }))

  it.effect("[field RPC-02] an id that comes back as a string is handed over, and ends the exchange", () =>
    Effect.gen(function*() {
      const { link, messages } = yield* connect(() => json(success("1")))
      yield* link.send(ping)
      assert.deepStrictEqual(yield* messages, [success("1")])
    }))

  it.effect("[field RPC-15] an answer to something else is handed over and is not the answer", () =>
    Effect.gen(function*() {
      const { link, messages } = yield* connect(() => json(success(999)))
      assert.strictEqual((yield* failed(link.send(ping)))._tag, "HttpFailure")
      assert.deepStrictEqual(yield* messages, [success(999)])
    }))

  it.effect("[field RPC-19] an answer that cannot be read ends the exchange at once, and its fault is told", () =>
    Effect.gen(function*() {
      const both = { jsonrpc: "2.0", id: 1, result: {}, error: { code: 1, message: "x" } }
      const five = { jsonrpc: "2.0", id: 1, result: 5 }
      const deep = `{"jsonrpc":"2.0","id":1,"result":{"a":${"[".repeat(200)}${"]".repeat(200)}}}`
      const answers: ReadonlyArray<readonly [fault: string, Respond]> = [
        ["a response has either result or error", () => json(both)],
        ["it is not JSON", () => json("{oops")],
        ["a message has a method, a result or an error", () => json({ jsonrpc: "2.0" })],
        ["nested deeper than 128", () => json(deep)],
        ["result must be an object", () => json([note(1), five])],
        ["result must be an object", () => events(sse(note(1), five))],
        ["nested deeper than 128", () => events(`data: ${deep}\n\n`)]
      ]
      for (const [fault, respond] of answers) {
        const { got, link } = yield* connect(respond)
        yield* link.send(ping)
        const exchanges = yield* Queue.clear(got)
        const last = exchanges.at(-1)
        assert.strictEqual(last?.fault, fault)
        assert.deepInclude(last?.message, { id: 1 })
      }
    }))

  it.effect("[field RPC-19] what only has the id of the request is not its answer", () =>
    Effect.gen(function*() {
      const { link, messages } = yield* connect(() =>
        events(sse({ id: 1, level: "info" }, { jsonrpc: "2.0", id: 1, method: 5 }, success(1)))
      )
      yield* link.send(ping)
      assert.deepStrictEqual(yield* messages, [success(1)])
    }))

  it.effect("[field RPC-19] what holds no answer fails the request, at once", () =>
    Effect.gen(function*() {
      for (
        const respond of [
          () => json(""),
          () => json("[]"),
          () => new Response("<html>hello", { headers: { "content-type": "text/html" } }),
          () => new Response(null, { status: 202 }),
          () => new Response(null, { status: 204 })
        ]
      ) {
        const { link, messages } = yield* connect(respond)
        const error = yield* failed(link.send(ping))
        assert.strictEqual(error._tag, "HttpFailure")
        assert.deepStrictEqual(yield* messages, [])
      }
    }))

  it.effect("a message past the limit fails the request, announced or not", () =>
    Effect.gen(function*() {
      const large = JSON.stringify(success(1, { text: "x".repeat(2000) }))
      const chunked = () =>
        new Response(
          new ReadableStream<Uint8Array>({
            start: (controller) => {
              controller.enqueue(new TextEncoder().encode(large))
              controller.close()
            }
          }),
          { headers: { "content-type": "application/json" } }
        )
      for (
        const respond of [
          () => json(large, { headers: { "content-length": String(large.length) } }),
          chunked,
          () => events(`data: ${large}\n\n`)
        ]
      ) {
        const { link, messages } = yield* connect(respond)
        const error = yield* failed(link.send(ping))
        assert.strictEqual(error._tag, "MessageTooLarge")
        assert.deepStrictEqual(yield* messages, [])
      }
    }).pipe(limited({ clientMessageIn: 1000 })))

  it.effect("a message that cannot be written is not sent", () =>
    Effect.gen(function*() {
      const { link, seen } = yield* connect(() => json(success(1)))
      const error = yield* failed(link.send(JsonRpc.request(1, "x", { n: 1n })))
      assert.deepInclude(error, { _tag: "HttpFailure", detail: "The message cannot be written as JSON" })
      assert.strictEqual(seen.length, 0)
    }))

  it.effect("interrupting it aborts the request", () =>
    Effect.gen(function*() {
      const { link, seen } = yield* connect(() => Effect.never)
      const fiber = yield* Effect.forkChild(link.send(ping), { startImmediately: true })
      assert.isFalse(seen[0]?.signal.aborted)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(seen[0]?.signal.aborted)
    }))

  it.effect("[HTTP-62] interrupting it while its stream is open closes the stream", () =>
    Effect.gen(function*() {
      const stream = openEvents()
      const { got, link } = yield* connect(() => stream.response)
      stream.write(sse(note(1)))
      const fiber = yield* Effect.forkChild(link.send(ping))
      yield* Queue.take(got)
      yield* Fiber.interrupt(fiber)
      yield* turns
      assert.isTrue(stream.state.cancelled)
    }))

  it.effect("[field HTP-15] [field PRG-10] an idle stream is never given up by the transport", () =>
    Effect.gen(function*() {
      const stream = openEvents()
      const { link, messages } = yield* connect(() => stream.response)
      const fiber = yield* Effect.forkChild(link.send(ping))
      yield* TestClock.adjust("6 hours")
      assert.isUndefined(fiber.pollUnsafe())
      stream.write(sse(success(1)))
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(yield* messages, [success(1)])
    }))
})

describe("notifications", () => {
  it.effect("[field HTP-18] any 2xx will do, with or without a body", () =>
    Effect.gen(function*() {
      for (
        const respond of [
          accepted,
          () => new Response(null, { status: 204 }),
          () => new Response("", { status: 200 }),
          () => json("{}"),
          () => new Response("thanks", { status: 202, headers: { "content-type": "text/plain" } }),
          () => openEvents().response
        ]
      ) {
        const { link, messages } = yield* connect(respond)
        yield* link.send(initialized)
        assert.deepStrictEqual(yield* messages, [])
      }
    }))

  it.effect("a refusal is a failure", () =>
    Effect.gen(function*() {
      const { link } = yield* connect(() => json(failure(undefined, -32600, "no"), { status: 400 }))
      const error = yield* failed(link.send(initialized))
      assert.deepInclude(error, { _tag: "HttpFailure", status: 400, error: { code: -32600, message: "no" } })
    }))
})

describe("refusals", () => {
  it.effect("[VER-14] [field HTP-14] an error under the request's id is its answer, whatever the status", () =>
    Effect.gen(function*() {
      for (const [status, code] of [[400, -32022], [404, -32601], [500, -32603], [403, -32600]] as const) {
        const { link, messages } = yield* connect(() => json(failure(1, code), { status }))
        yield* link.send(ping)
        assert.deepStrictEqual(yield* messages, [failure(1, code)])
      }
    }))

  it.effect("[field HTP-14] [field RPC-05] an error without an id fails the exchange it came in", () =>
    Effect.gen(function*() {
      for (const id of [null, undefined]) {
        for (
          const respond of [
            () => json(failure(id, -32700, "parse"), { status: 400 }),
            () => json(failure(id, -32700, "parse")),
            () => events(sse(failure(id, -32700, "parse")))
          ]
        ) {
          const { link, messages } = yield* connect(respond)
          const error = yield* failed(link.send(ping))
          assert.deepInclude(error, { _tag: "HttpFailure", error: { code: -32700, message: "parse" } })
          assert.deepStrictEqual(yield* messages, [])
        }
      }
    }))

  it.effect("[field HTP-14] any other body is told by its start", () =>
    Effect.gen(function*() {
      const page = `<html>${"x".repeat(1000)}`
      const { link } = yield* connect(() =>
        new Response(page, { status: 502, headers: { "content-type": "text/html" } })
      )
      const error = yield* failed(link.send(ping))
      assert.deepInclude(error, { _tag: "HttpFailure", status: 502, detail: page.slice(0, 300) })
    }))

  it.effect("[field HTP-14] the address is told where there is no body, and where it may be the wrong one", () =>
    Effect.gen(function*() {
      const rows: ReadonlyArray<readonly [status: number, body: string | null, detail: string]> = [
        [400, null, `${address} gives no reason`],
        [404, "", `${address} gives no reason`],
        [404, "Not Found", `Not Found (${address})`],
        [405, "<html>", `<html> (${address})`],
        [410, "gone", `gone (${address})`],
        [500, "oops", "oops"]
      ]
      for (const [status, body, detail] of rows) {
        const { link } = yield* connect(() => new Response(body, { status }), { url: `${address}?key=s3cret#x` })
        assert.deepInclude(yield* failed(link.send(ping)), { status, detail })
      }
    }))

  it.effect("an address that is none is quoted, without what may be secret in it", () =>
    Effect.gen(function*() {
      const rows = [["mcp.example/mcp?key=s3cret", "mcp.example/mcp"], ["//me:s3cret@mcp.example", "mcp.example"], [
        "",
        ""
      ]]
      for (const [url = "", shown] of rows) {
        const error = yield* Effect.flip(connect(() => new Response(""), { url }))
        assert.deepInclude(error, {
          _tag: "HttpFailure",
          detail: `The server's address is not a URL: ${JSON.stringify(shown)}`
        })
      }
    }))

  it.effect("[field LIF-10] the challenge and the time to wait are kept, also beside an error of the request", () =>
    Effect.gen(function*() {
      const challenge = "Bearer resource_metadata=\"https://example.com/x\""
      for (const status of [401, 403]) {
        const { link, messages } = yield* connect(() =>
          json(failure(1, -32600, "who"), { status, headers: { "www-authenticate": challenge } })
        )
        const error = yield* failed(link.send(ping))
        assert.deepInclude(error, { _tag: "HttpFailure", status, wwwAuthenticate: challenge })
        assert.deepStrictEqual(yield* messages, [])
      }
      for (const status of [429, 503]) {
        const { link } = yield* connect(() =>
          json(failure(1, -32603, "busy"), { status, headers: { "retry-after": "7" } })
        )
        const error = yield* failed(link.send(ping))
        assert.deepInclude(error, { status, retryAfter: "7", error: { code: -32603, message: "busy" } })
      }
    }))

  it.effect("[field HTP-24] a server that cannot be reached is named, and the request's headers are not", () =>
    Effect.gen(function*() {
      const { link } = yield* connect(() => Effect.fail(new Error("ECONNREFUSED")), {
        url: "http://user@localhost:1/mcp?token=secret",
        headers: { authorization: "Bearer secret" }
      })
      const error = yield* failed(link.send(ping))
      assert.deepInclude(error, { _tag: "HttpFailure", detail: "No answer from http://localhost:1/mcp" })
      assert.notInclude(JSON.stringify(error), "secret")
    }))

  it.effect("an address that is none fails the connection", () =>
    Effect.gen(function*() {
      const error = yield* failed(Effect.scoped(connect(accepted, { url: "not a url" })))
      assert.strictEqual(error._tag, "HttpFailure")
    }))
})

describe("headers", () => {
  it.effect("[field HTP-28] the user's headers arrive in every form, and take the place of none that the protocol needs", () =>
    Effect.gen(function*() {
      for (
        const headers of [
          new Headers({ "X-Key": "k", accept: "application/json" }),
          [["X-Key", "k"], ["Accept", "application/json"]] as const,
          { "X-Key": "k", "ACCEPT": "application/json", "Mcp-Session-Id": "stolen", "Content-Type": "text/plain" },
          Effect.succeed({ "x-key": "k", "MCP-Protocol-Version": "1999-01-01" })
        ]
      ) {
        const { link, seen } = yield* connect(() => json(success(1)), { headers })
        yield* link.send(ping)
        const got = seen[0]?.headers ?? {}
        assert.strictEqual(got["x-key"], "k")
        assert.strictEqual(got["accept"], "application/json, text/event-stream")
        assert.strictEqual(got["content-type"], "application/json")
        assert.notProperty(got, "mcp-session-id")
        assert.notProperty(got, "mcp-protocol-version")
      }
    }))

  it.effect("headers that are an effect are asked for anew by each request", () =>
    Effect.gen(function*() {
      let token = 0
      const { link, seen } = yield* connect(() => json(success(1)), {
        headers: Effect.sync(() => ({ authorization: `Bearer ${++token}` }))
      })
      yield* link.send(ping)
      yield* link.send(ping)
      assert.deepStrictEqual(seen.map(({ headers }) => headers["authorization"]), ["Bearer 1", "Bearer 2"])
    }))

  it.effect("[HTTP-50] [HTTP-55] [HTTP-56] a modern request is repeated in its headers, before anything is agreed", () =>
    Effect.gen(function*() {
      const { link, seen } = yield* connect(() => json(success(1)))
      yield* link.send(modern(1, "tools/call", { name: "café" }))
      yield* link.send(modern(1, "resources/read", { uri: "note://1" }))
      yield* link.send(modern(1, "tools/list"))
      const mirrored = seen.map(({ headers }) => [
        headers["mcp-protocol-version"],
        headers["mcp-method"],
        headers["mcp-name"]
      ])
      assert.deepStrictEqual(mirrored, [
        ["2026-07-28", "tools/call", "=?base64?Y2Fmw6k=?="],
        ["2026-07-28", "resources/read", "note://1"],
        ["2026-07-28", "tools/list", undefined]
      ])
    }))

  it.effect("[XH-01] headers for one message are sent with it alone, and replace none of the transport's", () =>
    Effect.gen(function*() {
      const { link, seen } = yield* connect(() => json(success(1)))
      yield* link.send(modern(1, "tools/call", { name: "t" }), {
        headers: { "Mcp-Param-Region": "eu", "MCP-Method": "other" }
      })
      yield* link.send(modern(1, "tools/list"))
      assert.strictEqual(seen[0]?.headers["mcp-param-region"], "eu")
      assert.strictEqual(seen[0]?.headers["mcp-method"], "tools/call")
      assert.notProperty(seen[1]?.headers, "mcp-param-region")
    }))

  it.effect("[HTTP-50] once a modern version is agreed its notifications name it too, and no session is opened", () =>
    Effect.gen(function*() {
      const { link, seen } = yield* connect(accepted)
      yield* link.agreed({ version: "2026-07-28", era: "modern" })
      yield* link.send(JsonRpc.notification("notifications/cancelled", { requestId: 1 }))
      yield* turns
      assert.strictEqual(seen.length, 1)
      assert.strictEqual(seen[0]?.headers["mcp-protocol-version"], "2026-07-28")
      assert.strictEqual(seen[0]?.headers["mcp-method"], "notifications/cancelled")
    }))
})
