import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Deferred, Effect, Exit, Fiber, Queue, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Rejected } from "../src/Endpoint.ts"
import type { Exchange } from "../src/Exchange.ts"
import { admitted, note, ping, sse, turns } from "./support/http.ts"
import {
  accepted,
  agree,
  connect,
  events,
  failure,
  initialize,
  initialized,
  json,
  legacy,
  none,
  openEvents,
  type Seen,
  session,
  sessionServer,
  success
} from "./support/httpClient.ts"

const gets = (seen: ReadonlyArray<Seen>) => seen.filter(({ method }) => method === "GET")

describe("session and version headers", () => {
  it.effect("[HTTP-37] [HTTP-43] [LIF-11] [field LIF-08] are on everything after initialize", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { seen } = yield* Scope.provide(
        Effect.tap(session(() => json(success(1))), ({ link }) => link.send(ping)),
        scope
      )
      yield* turns
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(
        seen.map(({ headers, method }) => [method, headers["mcp-session-id"], headers["mcp-protocol-version"]]),
        [
          ["POST", undefined, undefined],
          ["POST", "s-1", "2025-11-25"],
          ["GET", "s-1", "2025-11-25"],
          ["POST", "s-1", "2025-11-25"],
          ["DELETE", "s-1", "2025-11-25"]
        ]
      )
    }))

  it.effect("[HTTP-41] a session is ended by whoever is interrupted in it too", () =>
    Effect.gen(function*() {
      const opened = yield* Deferred.make<ReadonlyArray<Seen>>()
      const talking = yield* Effect.forkChild(Effect.scoped(Effect.gen(function*() {
        const { seen } = yield* session(none)
        yield* Deferred.succeed(opened, seen)
        return yield* Effect.never
      })))
      const seen = yield* Deferred.await(opened)
      yield* Fiber.interrupt(talking)
      assert.strictEqual(seen.at(-1)?.method, "DELETE")
    }))

  it.effect("[HTTP-43] the version agreed on is named, by revisions that name one", () =>
    Effect.gen(function*() {
      for (const [version, named] of [["2025-03-26", undefined], ["2025-06-18", "2025-06-18"]] as const) {
        const { link, seen } = yield* connect(sessionServer(none))
        yield* agree(link, { version, era: "legacy" })
        assert.strictEqual(seen[1]?.headers["mcp-protocol-version"], named)
      }
    }))

  it.effect("[HTTP-35] an id that no header may hold is not taken", () =>
    Effect.gen(function*() {
      const { link, seen } = yield* connect(sessionServer(none, "a\u00e9"))
      yield* agree(link)
      assert.notProperty(seen[1]?.headers, "mcp-session-id")
    }))

  it.effect("[HTTP-35] only the answer to initialize gives an id", () =>
    Effect.gen(function*() {
      const { link, seen } = yield* session(() => json(success(1), { headers: { "mcp-session-id": "other" } }))
      yield* link.send(ping)
      yield* link.send(ping)
      assert.strictEqual(seen.at(-1)?.headers["mcp-session-id"], "s-1")
    }))
})

describe("a lost session", () => {
  it.effect("[HTTP-39] [field HTP-06] a 404 to a request of a session says that it is lost", () =>
    Effect.gen(function*() {
      for (
        const respond of [() => json(failure(1, -32001), { status: 404 }), () => new Response("gone", { status: 404 })]
      ) {
        const { link, messages } = yield* session(respond)
        const errors = yield* Effect.all([link.send(ping), link.send(ping), link.send(ping)].map(Effect.flip), {
          concurrency: 3
        })
        for (const error of errors) assert.deepInclude(error, { _tag: "SessionLost", sessionId: "s-1" })
        assert.deepStrictEqual(yield* messages, [])
      }
    }))

  it.effect("[VER-17] a 404 with an unknown method is an answer, and so is any without a session", () =>
    Effect.gen(function*() {
      const { link, messages } = yield* session(() => json(failure(1, -32601), { status: 404 }))
      yield* link.send(ping)
      assert.deepStrictEqual(yield* messages, [failure(1, -32601)])
      const bare = yield* connect(() => new Response(null, { status: 404 }))
      assert.deepInclude(yield* Effect.flip(bare.link.send(ping)), { _tag: "HttpFailure", status: 404 })
    }))

  it.effect("[HTTP-40] the next initialize goes without it, and what comes after has the new one", () =>
    Effect.gen(function*() {
      let sessions = 0
      const { link, seen } = yield* connect((seen) =>
        sessionServer(() => new Response(null, { status: 404 }), `s-${++sessions}`)(seen)
      )
      yield* agree(link)
      yield* Effect.flip(link.send(ping))
      seen.length = 0
      yield* link.send(initialize)
      yield* link.send(initialized)
      assert.notProperty(seen[0]?.headers, "mcp-session-id")
      assert.notProperty(seen[0]?.headers, "mcp-protocol-version")
      assert.match(seen[1]?.headers["mcp-session-id"] ?? "", /^s-[^1]/)
    }))

  it.effect("[field HTP-06] its stream is dropped and nothing is sent to end it", () =>
    Effect.gen(function*() {
      const stream = openEvents()
      const scope = yield* Scope.make()
      const { link, seen } = yield* Scope.provide(
        connect(sessionServer((seen) => seen.method === "GET" ? stream.response : new Response(null, { status: 404 }))),
        scope
      )
      yield* agree(link)
      yield* turns
      yield* Effect.flip(link.send(ping))
      yield* turns
      assert.isTrue(stream.state.cancelled)
      yield* TestClock.adjust("1 hour")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(gets(seen).length, 1)
      assert.isUndefined(seen.find(({ method }) => method === "DELETE"))
    }))
})

describe("the end", () => {
  it.effect("[HTTP-41] [field HTP-19] any answer to DELETE ends the session quietly, and none is waited for long", () =>
    Effect.gen(function*() {
      for (const status of [200, 202, 204, 404, 405, 500]) {
        const scope = yield* Scope.make()
        const { link, seen } = yield* Scope.provide(connect(sessionServer(() => new Response(null, { status }))), scope)
        yield* agree(link)
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(seen.at(-1)?.method, "DELETE")
        assert.strictEqual((yield* link.closed)._tag, "TransportClosed")
      }
      const scope = yield* Scope.make()
      const { link, seen } = yield* Scope.provide(connect(sessionServer(() => Effect.never)), scope)
      yield* agree(link)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("4999 millis")
      assert.isUndefined(closing.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(closing)
      assert.isTrue(seen.at(-1)?.signal.aborted)
    }))

  it.effect("a server without sessions is not told", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { link, seen } = yield* Scope.provide(
        connect((seen) => seen.method === "POST" ? accepted() : none()),
        scope
      )
      yield* link.agreed(legacy)
      yield* link.send(initialized)
      yield* Scope.close(scope, Exit.void)
      assert.isUndefined(seen.find(({ method }) => method === "DELETE"))
    }))

  it.effect("[field SHT-06] whatever is in flight fails at once, with the reason", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { link, seen } = yield* Scope.provide(connect(() => Effect.never), scope)
      const fibers = yield* Effect.forEach([1, 2, 3, 4, 5], () =>
        Effect.forkChild(Effect.flip(link.send(ping)), { startImmediately: true }))
      yield* Scope.close(scope, Exit.void)
      for (const fiber of fibers) {
        assert.deepInclude(yield* Fiber.join(fiber), { _tag: "TransportClosed", reason: "The connection was closed" })
      }
      assert.isTrue(seen.every(({ signal }) =>
        signal.aborted
      ))
      assert.strictEqual((yield* Effect.flip(link.send(ping)))._tag, "TransportClosed")
      assert.strictEqual(seen.length, 5)
      assert.strictEqual((yield* link.closed)._tag, "TransportClosed")
    }))
})

describe("the stream of a session", () => {
  const streams = (respond: (n: number) => Response | Effect.Effect<Response, Error>) => {
    let opened = 0
    return sessionServer(({ method }) => method === "GET" ? respond(++opened) : json(success(1)))
  }

  it.effect("[HTTP-20] is opened once the server has taken a message of the session", () =>
    Effect.gen(function*() {
      const stream = openEvents()
      const { got, link, seen } = yield* connect(streams(() => stream.response))
      yield* link.send(initialize)
      yield* link.agreed(legacy)
      yield* turns
      assert.deepStrictEqual(gets(seen), [])
      yield* link.send(initialized)
      yield* turns
      assert.strictEqual(gets(seen)[0]?.headers["accept"], "text/event-stream")
      yield* Queue.clear(got)
      stream.write(sse(note(1)))
      assert.deepStrictEqual((yield* Queue.take(got)).message, note(1))
      yield* link.send(ping)
      assert.strictEqual(gets(seen).length, 1)
    }))

  it.effect("[field HTP-04] is optional: one quiet try, and the session goes on", () =>
    Effect.gen(function*() {
      for (
        const respond of [
          () => new Response(null, { status: 405 }),
          () => new Response("no", { status: 404 }),
          () => json(failure(null, -32600), { status: 400 }),
          () => new Response(null, { status: 406 }),
          () => new Response(null, { status: 401 }),
          () => new Response("<html>", { status: 200, headers: { "content-type": "text/html" } })
        ]
      ) {
        const { link, messages, seen } = yield* connect(streams(respond))
        yield* agree(link)
        yield* turns
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(gets(seen).length, 1)
        yield* messages
        yield* link.send(ping)
        assert.deepStrictEqual(yield* messages, [success(1)])
      }
    }))

  it.effect("[field HTP-07] is opened again after it ends, from its last event where it had one", () =>
    Effect.gen(function*() {
      const { link, seen } = yield* connect(
        streams((n) =>
          n === 1 ? events(sse(note(1))) : n === 2 ? events("id: e-7\n" + sse(note(2))) : openEvents().response
        )
      )
      yield* agree(link)
      yield* turns
      assert.strictEqual(gets(seen).length, 1)
      yield* TestClock.adjust("1 second")
      yield* turns
      yield* TestClock.adjust("1 second")
      yield* turns
      assert.deepStrictEqual(gets(seen).map(({ headers }) => headers["last-event-id"]), [undefined, undefined, "e-7"])
    }))

  it.effect("[HTTP-30] waits as long as the server asks", () =>
    Effect.gen(function*() {
      const { link, seen } = yield* connect(streams(() => events("retry: 60000\ndata: \n\n")))
      yield* agree(link)
      yield* turns
      yield* TestClock.adjust("59999 millis")
      yield* turns
      assert.strictEqual(gets(seen).length, 1)
      yield* TestClock.adjust("1 millis")
      yield* turns
      assert.strictEqual(gets(seen).length, 2)
    }))

  it.effect("[field HTP-09] is given up after so many tries with nothing on it, at once where none are wanted", () =>
    Effect.gen(function*() {
      const closing = streams(() => events(""))
      for (const [maxRetries, opened] of [[0, 1], [3, 4]] as const) {
        const { link, seen } = yield* connect(closing, { reconnect: { maxRetries } })
        yield* agree(link)
        for (let i = 0; i < 20; i++) {
          yield* turns
          yield* TestClock.adjust("30 seconds")
        }
        assert.strictEqual(gets(seen).length, opened)
      }
    }))

  it.effect("[field HTP-09] the wait doubles up to its longest", () =>
    Effect.gen(function*() {
      const times: Array<number> = []
      const { link } = yield* connect(
        streams(() => {
          times.push(0)
          return Effect.fail(new Error("ECONNREFUSED"))
        }),
        { reconnect: { maxDelay: "5 seconds" } }
      )
      yield* agree(link)
      yield* turns
      const waits: Array<number> = []
      for (let second = 1; second <= 30; second++) {
        yield* TestClock.adjust("1 second")
        yield* turns
        if (times.length > waits.length + 1) waits.push(second)
      }
      assert.deepStrictEqual(waits.slice(0, 6), [1, 3, 7, 12, 17, 22])
    }))

  it.effect("a stream with something on it starts the count anew", () =>
    Effect.gen(function*() {
      const { link, seen } = yield* connect(streams((n) => events(n % 2 === 0 ? sse(note(n)) : "")), {
        reconnect: { maxRetries: 2 }
      })
      yield* agree(link)
      for (let i = 0; i < 20; i++) {
        yield* turns
        yield* TestClock.adjust("30 seconds")
      }
      assert.isAbove(gets(seen).length, 10)
    }))

  it.effect("[field HTP-10] nothing is opened after the end, though a wait was running", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { link, seen } = yield* Scope.provide(connect(streams(() => events(""))), scope)
      yield* agree(link)
      yield* turns
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(gets(seen).length, 1)
      assert.strictEqual(seen.at(-1)?.method, "DELETE")
    }))
})

describe("a request whose stream ends early", () => {
  it.effect("[HTTP-33] goes on from the last event of that stream", () =>
    Effect.gen(function*() {
      const { link, messages, seen } = yield* connect(sessionServer(({ headers, method }) => {
        if (method === "POST") return events("id: p-1\nretry: 500\ndata: \n\n")
        return headers["last-event-id"] === undefined
          ? none()
          : headers["last-event-id"] === "p-1"
          ? events("id: p-2\n" + sse(note(1)))
          : events("id: p-3\n" + sse(success(1)))
      }))
      yield* agree(link)
      yield* turns
      yield* messages
      const fiber = yield* Effect.forkChild(link.send(ping))
      yield* turns
      yield* TestClock.adjust("499 millis")
      yield* turns
      assert.strictEqual(gets(seen).length, 1)
      yield* TestClock.adjust("1 millis")
      yield* turns
      yield* TestClock.adjust("500 millis")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(yield* messages, [note(1), success(1)])
      assert.deepStrictEqual(gets(seen).map(({ headers }) => headers["last-event-id"]), [undefined, "p-1", "p-2"])
    }))

  it.effect("[field HTP-07] fails where that cannot be done", () =>
    Effect.gen(function*() {
      const { link } = yield* session(() => events("id: p-1\n" + sse(note(1))))
      const fiber = yield* Effect.forkChild(Effect.flip(link.send(ping)))
      yield* turns
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "HttpFailure", status: 405 })
    }))
})

describe("requests of the server", () => {
  const asking = JsonRpc.request("q", "roots/list")
  const nested = (handle: (exchange: Exchange) => void) =>
    session(
      (seen) =>
        JsonRpc.isJsonObject(seen.body) && seen.body["id"] === 1
          ? events(sse(asking, success(1)))
          : accepted(),
      {},
      {
        handle: (exchange) => {
          handle(exchange)
          return admitted
        }
      }
    )

  it.effect("[HTTP-07] are answered by a POST of their own, within the session", () =>
    Effect.gen(function*() {
      const { link, seen } = yield* nested(({ message, outlet }) => {
        if (JsonRpc.isRequest(message)) {
          outlet.answer(JsonRpc.success(message.id, { roots: [] }))
          outlet.answer(JsonRpc.success(message.id, { roots: [1] }))
        }
      })
      yield* link.send(ping)
      yield* turns
      const answers = seen.filter(({ body }) => JsonRpc.isJsonObject(body) && "result" in body)
      assert.deepStrictEqual(answers.map(({ body }) => body), [success("q", { roots: [] })])
      assert.strictEqual(answers[0]?.headers["mcp-session-id"], "s-1")
      assert.strictEqual(answers[0]?.headers["accept"], "application/json, text/event-stream")
    }))

  it.effect("may be preceded by notifications, and ended without an answer", () =>
    Effect.gen(function*() {
      const outlets = yield* Queue.unbounded<Exchange["outlet"]>()
      const { link, seen } = yield* nested(({ message, outlet }) => {
        if (JsonRpc.isRequest(message)) Queue.offerUnsafe(outlets, outlet)
      })
      yield* link.send(ping)
      const outlet = yield* Queue.take(outlets)
      seen.length = 0
      yield* outlet.push(note(1))
      outlet.end()
      outlet.answer(JsonRpc.success("q", {}))
      yield* outlet.push(note(2))
      yield* turns
      assert.deepStrictEqual(seen.filter(({ method }) => method === "POST").map(({ body }) => body), [note(1)])
    }))

  it.effect("[field RPC-09] are refused with what the endpoint says", () =>
    Effect.gen(function*() {
      const { link, seen } = yield* session(
        (seen) =>
          JsonRpc.isJsonObject(seen.body) && seen.body["id"] === 1 ? events(sse(asking, success(1))) : accepted(),
        {},
        {
          handle: ({ message }) =>
            JsonRpc.isRequest(message)
              ? Effect.fail(new Rejected({ code: -32601, message: "m" }, 404))
              : admitted
        }
      )
      yield* link.send(ping)
      yield* turns
      assert.deepStrictEqual(seen.at(-1)?.body, failure("q", -32601))
    }))

  it.effect("an answer that cannot be written is an error to the server", () =>
    Effect.gen(function*() {
      const { link, seen } = yield* nested(({ message, outlet }) => {
        if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.success(message.id, { n: 1n }))
      })
      yield* link.send(ping)
      yield* turns
      assert.deepStrictEqual(seen.at(-1)?.body, failure("q", -32603, "Internal error"))
    }))

  it.effect("an answer that cannot be delivered harms nothing", () =>
    Effect.gen(function*() {
      const { link, messages } = yield* session((seen) =>
        JsonRpc.isJsonObject(seen.body) && "result" in seen.body
          ? Effect.fail(new Error("ECONNRESET"))
          : events(sse(asking, success(1)))
      )
      yield* link.send(ping)
      yield* turns
      yield* messages
      yield* link.send(ping)
      assert.strictEqual((yield* messages).length, 2)
    }))
})

describe("redirects", () => {
  const redirect = (status: number, location?: string) => () =>
    new Response("moved", { status, headers: location === undefined ? {} : { location } })

  it.effect("[field HTP-17] 307 and 308 to the same origin keep method, body and headers", () =>
    Effect.gen(function*() {
      for (const status of [307, 308]) {
        const { link, messages, seen } = yield* connect(
          (seen) => seen.url.endsWith("/mcp") ? redirect(status, "/mcp/")() : json(success(1)),
          { headers: { authorization: "Bearer t" } }
        )
        yield* link.send(ping)
        assert.deepStrictEqual(yield* messages, [success(1)])
        assert.deepStrictEqual(
          seen.map(({ body, headers, method, url }) => [method, url, body, headers["authorization"]]),
          [
            ["POST", "https://example.com/mcp", ping, "Bearer t"],
            ["POST", "https://example.com/mcp/", ping, "Bearer t"]
          ]
        )
      }
    }))

  it.effect("[field HTP-17] nothing goes to another origin, to a weaker scheme or as GET, and the failure names the target", () =>
    Effect.gen(function*() {
      for (
        const [status, location, named] of [
          [301, "/mcp/", "https://example.com/mcp/"],
          [302, "/mcp/", "https://example.com/mcp/"],
          [303, "/mcp/", "https://example.com/mcp/"],
          [307, "http://example.com/mcp", "http://example.com/mcp"],
          [307, "https://other.example/mcp?token=secret", "https://other.example/mcp"],
          [308, "https://example.com:8443/mcp", "https://example.com:8443/mcp"]
        ] as const
      ) {
        const { link, seen } = yield* connect(redirect(status, location))
        const error = yield* Effect.flip(link.send(ping))
        assert.deepInclude(error, {
          _tag: "HttpFailure",
          status,
          detail: `Redirected to ${named}, which is not followed`
        })
        assert.strictEqual(seen.length, 1)
      }
    }))

  it.effect("a redirect that leads nowhere, or round and round, is a failure", () =>
    Effect.gen(function*() {
      for (const location of [undefined, "http://[", "/mcp"]) {
        const { link, seen } = yield* connect(redirect(307, location))
        assert.deepInclude(yield* Effect.flip(link.send(ping)), { _tag: "HttpFailure", status: 307 })
        assert.isAtMost(seen.length, 6)
      }
    }))
})
