import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import type { Exchange } from "../src/Exchange.ts"
import {
  admitted,
  attached,
  held,
  limited,
  modern,
  modernHeaders,
  note,
  ping,
  reading,
  refused,
  scripted,
  serve,
  sse,
  turns
} from "./support/http.ts"

/** Answers by the table from method to what to do. */
const methods = (table: Record<string, (exchange: Exchange & { readonly message: JsonRpc.Request }) => void>) =>
  scripted({
    handle: (exchange) => {
      const { message } = exchange
      if (JsonRpc.isRequest(message)) table[message.method]?.({ ...exchange, message })
      return admitted
    }
  })

describe("event streams", () => {
  const answer = (id: JsonRpc.RequestId) => ({ jsonrpc: "2.0", id, result: { done: true } })
  /** Pushes `count` notifications, then answers. */
  const noisy = (count: number) =>
    scripted({
      handle: ({ message, outlet }) =>
        Effect.gen(function*() {
          for (let i = 1; i <= count; i++) yield* outlet.push(note(i))
          if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.success(message.id, { done: true }))
          return {}
        })
    })

  it.effect("[HTTP-14] [HTTP-15] [field HTP-35] what comes before the answer makes it a stream, which ends after the answer", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(noisy(3))
      const response = yield* ask({ body: ping })
      assert.strictEqual(response.status, 200)
      assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
      assert.strictEqual(response.body, sse(note(1), note(2), note(3), answer(1)))
    }))

  it.effect("[HTTP-64] [field HTP-16] nothing on the way may hold the events back", () =>
    Effect.gen(function*() {
      const { endpoint, next } = yield* held()
      const { fetch } = yield* serve(endpoint)
      const fiber = yield* Effect.forkChild(fetch({ body: ping }))
      const { outlet } = yield* next
      yield* outlet.push(note(1))
      const response = yield* Fiber.join(fiber)
      assert.strictEqual(response.headers.get("x-accel-buffering"), "no")
      assert.strictEqual(response.headers.get("cache-control"), "no-cache, no-transform")
      assert.isNull(response.headers.get("content-length"))
      const body = reading(response)
      assert.strictEqual(yield* body.next, sse(note(1)))
      yield* outlet.push(note(2))
      assert.strictEqual(yield* body.next, sse(note(2)))
      outlet.answer(JsonRpc.success(1, { done: true }))
      assert.strictEqual(yield* body.rest, sse(answer(1)))
    }))

  it.effect("[HTTP-27] [field HTP-15] a silent request becomes a stream after a second and is kept alive by comments", () =>
    Effect.gen(function*() {
      const { endpoint, next } = yield* held()
      const { fetch } = yield* serve(endpoint)
      const fiber = yield* Effect.forkChild(fetch({ body: ping }))
      const { outlet } = yield* next
      yield* TestClock.adjust("999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const response = yield* Fiber.join(fiber)
      assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
      const body = reading(response)
      assert.strictEqual(yield* body.next, ":\n\n")
      for (let i = 0; i < 3; i++) {
        const read = yield* Effect.forkChild(body.next)
        yield* Effect.yieldNow
        yield* TestClock.adjust("15 seconds")
        assert.strictEqual(yield* Fiber.join(read), ": keepalive\n\n")
      }
      outlet.answer(JsonRpc.success(1, { done: true }))
      assert.strictEqual(yield* body.rest, sse(answer(1)))
    }))

  it.effect("an answer within the second is JSON, with the status of its error", () =>
    Effect.gen(function*() {
      const { endpoint, next } = yield* held()
      const { ask } = yield* serve(endpoint)
      const fiber = yield* Effect.forkChild(ask({ body: modern(1, "a/b"), headers: modernHeaders("a/b") }))
      const { outlet } = yield* next
      yield* TestClock.adjust("999 millis")
      outlet.answer(JsonRpc.failure(1, { code: -32601, message: "m" }))
      const response = yield* Fiber.join(fiber)
      assert.strictEqual(response.status, 404)
      assert.strictEqual(response.body.error.code, -32601)
    }))

  it.effect("[META-13] once a stream is open an error is one of its events", () =>
    Effect.gen(function*() {
      const { endpoint, next } = yield* held()
      const { ask } = yield* serve(endpoint)
      const fiber = yield* Effect.forkChild(ask({ body: modern(1, "a/b"), headers: modernHeaders("a/b") }))
      const { outlet } = yield* next
      yield* TestClock.adjust("1 second")
      const failure = JsonRpc.failure(1, { code: -32021, message: "m" })
      outlet.answer(failure)
      const response = yield* Fiber.join(fiber)
      assert.strictEqual(response.status, 200)
      assert.include(response.body, sse(failure))
    }))

  it.effect("[field HTP-30] a client that takes only JSON gets only the answer, however long that takes", () =>
    Effect.gen(function*() {
      const { endpoint, next } = yield* held()
      const { ask } = yield* serve(endpoint)
      const fiber = yield* Effect.forkChild(ask({ body: ping, headers: { accept: "application/json" } }))
      const { outlet } = yield* next
      assert.isTrue(outlet.oneShot)
      yield* outlet.push(note(1))
      yield* TestClock.adjust("1 hour")
      outlet.answer(JsonRpc.success(1, { done: true }))
      assert.deepStrictEqual((yield* Fiber.join(fiber)).body, answer(1))
    }))

  it.effect("[field HTP-30] a request that ends without an answer never leaves its client waiting", () =>
    Effect.gen(function*() {
      const { endpoint, next } = yield* held()
      const { ask } = yield* serve(endpoint)
      const end = (accept: string) =>
        Effect.gen(function*() {
          const fiber = yield* Effect.forkChild(ask({ body: ping, headers: { accept } }))
          const { outlet } = yield* next
          outlet.end()
          outlet.answer(JsonRpc.success(1, {}))
          return yield* Fiber.join(fiber)
        })
      const json = yield* end("application/json")
      assert.strictEqual(json.status, 500)
      assert.deepStrictEqual(json.body, refused(-32603, "The request ended without an answer"))
      const stream = yield* end("application/json, text/event-stream")
      assert.deepStrictEqual([stream.status, stream.body], [200, ""])
    }))

  it.effect("a client that takes only streams gets one, but for statuses of their own", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(methods({
        ok: ({ message, outlet }) => outlet.answer(JsonRpc.success(message.id, { done: true })),
        no: ({ message, outlet }) => outlet.answer(JsonRpc.failure(message.id, { code: -32601, message: "m" }))
      }))
      const accept = "text/event-stream"
      const ok = yield* ask({ body: modern(1, "ok"), headers: { ...modernHeaders("ok"), accept } })
      assert.strictEqual(ok.body, sse(answer(1)))
      const no = yield* ask({ body: modern(1, "no"), headers: { ...modernHeaders("no"), accept } })
      assert.strictEqual(no.status, 404)
      assert.strictEqual(no.body.error.code, -32601)
    }))

  it.effect("only the first answer counts, and nothing after it", () =>
    Effect.gen(function*() {
      const { endpoint, next } = yield* held()
      const { ask } = yield* serve(endpoint)
      const fiber = yield* Effect.forkChild(ask({ body: ping }))
      const { outlet } = yield* next
      outlet.answer(JsonRpc.success(1, { done: true }))
      outlet.answer(JsonRpc.success(1, { done: false }))
      yield* outlet.push(note(1))
      assert.deepStrictEqual((yield* Fiber.join(fiber)).body, answer(1))
    }))

  it.effect("an answer that is too large or cannot be written becomes an error", () =>
    Effect.gen(function*() {
      const cyclic: Record<string, unknown> = {}
      cyclic["self"] = cyclic
      const { ask } = yield* serve(methods({
        large: ({ message, outlet }) => outlet.answer(JsonRpc.success(message.id, { text: "é".repeat(600) })),
        fits: ({ message, outlet }) => outlet.answer(JsonRpc.success(message.id, { text: "é".repeat(400) })),
        cyclic: ({ message, outlet }) => outlet.answer(JsonRpc.success(message.id, cyclic)),
        bigint: ({ message, outlet }) => outlet.answer(JsonRpc.success(message.id, { n: 1n }))
      }))
      const large = yield* ask({ body: JsonRpc.request("x", "large") })
      assert.strictEqual(large.body.id, "x")
      assert.strictEqual(large.body.error.code, -32603)
      assert.deepStrictEqual(large.body.error.data, { reason: "ResultTooLarge", limit: 1000 })
      assert.isDefined((yield* ask({ body: JsonRpc.request("x", "fits") })).body.result)
      for (const method of ["cyclic", "bigint"]) {
        const answer = yield* ask({ body: JsonRpc.request(1, method) })
        assert.deepStrictEqual(answer.body, { ...refused(-32603, "Internal error"), id: 1 })
      }
    }).pipe(limited({ httpMessageOut: 1000 })))

  it.effect("a message that is too large to come before the answer is dropped", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted({
        handle: ({ message, outlet }) =>
          Effect.gen(function*() {
            yield* outlet.push(JsonRpc.notification("n", { text: "x".repeat(2000) }))
            if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.success(message.id, { done: true }))
            return {}
          })
      }))
      assert.deepStrictEqual((yield* ask({ body: ping })).body, answer(1))
    }).pipe(limited({ httpMessageOut: 1000 })))

  it.effect("a writer waits while the stream is full", () =>
    Effect.gen(function*() {
      const { endpoint, next } = yield* held()
      const { fetch } = yield* serve(endpoint)
      const fiber = yield* Effect.forkChild(fetch({ body: ping }))
      const { outlet } = yield* next
      const written: Array<number> = []
      const writer = yield* Effect.forkChild(Effect.gen(function*() {
        for (let i = 1; i <= 10; i++) {
          yield* outlet.push(note(i))
          written.push(i)
        }
      }))
      const response = yield* Fiber.join(fiber)
      yield* turns
      assert.isAtLeast(written.length, 3)
      assert.isBelow(written.length, 10)
      outlet.answer(JsonRpc.success(1, { done: true }))
      const text = yield* reading(response).rest
      yield* Fiber.join(writer)
      assert.include(text, sse(note(1), note(2), note(3)))
      assert.include(text, sse(answer(1)))
    }).pipe(limited({ outgoingMessages: 3 })))

  it.effect("a reader that takes nothing for a minute is given up, and the endpoint hears that it left", () =>
    Effect.gen(function*() {
      let left = 0
      const { endpoint, next } = yield* held(() => left++)
      const { fetch } = yield* serve(endpoint)
      const fiber = yield* Effect.forkChild(fetch({ body: ping }))
      const { outlet } = yield* next
      const writer = yield* Effect.forkChild(
        Effect.forEach([1, 2, 3, 4, 5], (i) => outlet.push(note(i)), { discard: true })
      )
      yield* Fiber.join(fiber)
      yield* Effect.yieldNow
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(left, 0)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(left, 1)
      yield* Fiber.join(writer)
    }).pipe(limited({ outgoingMessages: 2 })))
})

describe("clients that leave", () => {
  const leaving = Effect.gen(function*() {
    const left: Array<JsonRpc.RequestId> = []
    const { endpoint, next } = yield* held(({ message }) => {
      if (JsonRpc.isRequest(message)) left.push(message.id)
    })
    return { left, next, ...(yield* serve(endpoint)) }
  })

  it.effect("[HTTP-62] [field HTP-27] leaving before any byte is told to the endpoint, once", () =>
    Effect.gen(function*() {
      const { fetch, left, next } = yield* leaving
      const controller = new AbortController()
      yield* Effect.forkChild(fetch({ body: ping, signal: controller.signal }))
      const { outlet } = yield* next
      controller.abort()
      yield* turns
      assert.deepStrictEqual(left, [1])
      yield* outlet.push(note(1))
      outlet.answer(JsonRpc.success(1, {}))
      outlet.end()
      assert.deepStrictEqual(left, [1])
    }))

  it.effect("[HTTP-62] [field HTP-26] leaving a stream is told once, and what is written later is dropped", () =>
    Effect.gen(function*() {
      const { fetch, left, next } = yield* leaving
      const fiber = yield* Effect.forkChild(fetch({ body: ping }))
      const { outlet } = yield* next
      yield* outlet.push(note(1))
      const body = reading(yield* Fiber.join(fiber))
      yield* body.next
      yield* body.cancel
      yield* turns
      assert.deepStrictEqual(left, [1])
      yield* outlet.push(note(2))
      outlet.answer(JsonRpc.success(1, {}))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(left, [1])
    }))

  it.effect("[HTTP-26] leaving after the answer is nobody's business", () =>
    Effect.gen(function*() {
      const { fetch, left, next } = yield* leaving
      const fiber = yield* Effect.forkChild(fetch({ body: ping }))
      const { outlet } = yield* next
      yield* outlet.push(note(1))
      const body = reading(yield* Fiber.join(fiber))
      yield* body.next
      outlet.answer(JsonRpc.success(1, {}))
      yield* body.cancel
      yield* turns
      assert.deepStrictEqual(left, [])
    }))

  it.effect("leaving while the endpoint still decides is told when it has decided", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const decided = yield* Deferred.make<void>()
      let left = 0
      const { fetch } = yield* serve(scripted({
        handle: () =>
          Effect.gen(function*() {
            yield* Deferred.succeed(started, undefined)
            yield* Deferred.await(decided)
            return { disconnected: () => left++ }
          })
      }))
      const controller = new AbortController()
      yield* Effect.forkChild(fetch({ body: ping, signal: controller.signal }))
      yield* Deferred.await(started)
      controller.abort()
      yield* turns
      assert.strictEqual(left, 0)
      yield* Deferred.succeed(decided, undefined)
      yield* turns
      assert.strictEqual(left, 1)
    }))
})

describe("GET", () => {
  const session = { headers: { "mcp-session-id": "s" }, method: "GET" }
  const streaming = Effect.gen(function*() {
    const { attach, next } = yield* attached
    return { next, ...(yield* serve(scripted({ attach }))) }
  })

  it.effect("[HTTP-20] only a client that takes event streams gets one", () =>
    Effect.gen(function*() {
      const { ask } = yield* streaming
      const response = yield* ask({ method: "GET", headers: { accept: "application/json" } })
      assert.strictEqual(response.status, 406)
    }))

  it.effect("[HTTP-20] [HTTP-64] the stream carries what the link is given, and is kept alive", () =>
    Effect.gen(function*() {
      const { fetch, next } = yield* streaming
      const response = yield* fetch(session)
      const { facts, link } = yield* next
      assert.strictEqual(facts.sessionId, "s")
      assert.strictEqual(response.status, 200)
      assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
      assert.strictEqual(response.headers.get("x-accel-buffering"), "no")
      const body = reading(response)
      assert.strictEqual(yield* body.next, ":\n\n")
      yield* link.send(note(1))
      assert.strictEqual(yield* body.next, sse(note(1)))
      const read = yield* Effect.forkChild(body.next)
      yield* Effect.yieldNow
      yield* TestClock.adjust("15 seconds")
      assert.strictEqual(yield* Fiber.join(read), ": keepalive\n\n")
      yield* body.cancel
    }))

  it.effect("a stream on which nothing waits begins with nothing, for the head to go by itself, and a comment", () =>
    Effect.gen(function*() {
      const { fetch } = yield* streaming
      const reader = (yield* fetch(session)).body?.getReader()
      assert.isDefined(reader)
      const read = Effect.promise(() => reader.read())
      assert.deepStrictEqual((yield* read).value, new Uint8Array(0))
      assert.deepStrictEqual((yield* read).value, new TextEncoder().encode(":\n\n"))
      yield* Effect.promise(() => reader.cancel())
    }))

  it.effect("[HTTP-24] [field HTP-25] two streams of a session live side by side and each message is on one", () =>
    Effect.gen(function*() {
      const { fetch, next } = yield* streaming
      const a = reading(yield* fetch(session))
      const first = yield* next
      const b = reading(yield* fetch(session))
      const second = yield* next
      assert.notStrictEqual(first.link.id, second.link.id)
      yield* a.next
      yield* b.next
      yield* second.link.send(note(2))
      assert.strictEqual(yield* b.next, sse(note(2)))
      yield* a.cancel
      yield* Deferred.await(first.left)
      const error = yield* Effect.flip(first.link.send(note(1)))
      assert.strictEqual(error._tag, "TransportClosed")
      yield* second.link.send(note(3))
      assert.strictEqual(yield* b.next, sse(note(3)))
      yield* b.cancel
    }))

  it.effect("the scope of the attachment closes and the link with it when the client leaves", () =>
    Effect.gen(function*() {
      const { fetch, next } = yield* streaming
      const body = reading(yield* fetch(session))
      const { left, link } = yield* next
      yield* body.cancel
      yield* Deferred.await(left)
      assert.strictEqual((yield* link.closed)._tag, "TransportClosed")
    }))

  it.effect("the endpoint can end a stream after what it sent", () =>
    Effect.gen(function*() {
      const { fetch, next } = yield* streaming
      const body = reading(yield* fetch(session))
      const { left, link } = yield* next
      yield* link.send(note(1))
      yield* link.close ?? Effect.die("no close")
      assert.strictEqual((yield* Effect.flip(link.send(note(2))))._tag, "TransportClosed")
      assert.strictEqual(yield* body.rest, ":\n\n" + sse(note(1)))
      yield* Deferred.await(left)
    }))

  it.effect("a message that is too large fails and does no harm", () =>
    Effect.gen(function*() {
      const { fetch, next } = yield* streaming
      const body = reading(yield* fetch(session))
      const { link } = yield* next
      assert.strictEqual(yield* body.next, ":\n\n")
      const error = yield* Effect.flip(link.send(JsonRpc.notification("n", { text: "x".repeat(2000) })))
      assert.strictEqual(error._tag, "MessageTooLarge")
      yield* link.send(note(1))
      assert.strictEqual(yield* body.next, sse(note(1)))
      yield* body.cancel
    }).pipe(limited({ httpMessageOut: 1000 })))

  it.effect("[field MEM-05] a thousand streams that were opened and dropped leave nothing behind", () =>
    Effect.gen(function*() {
      const { fetch, next, server } = yield* streaming
      let ended = 0
      for (let i = 0; i < 1000; i++) {
        const response = yield* fetch(session)
        const { left, link } = yield* next
        yield* Effect.promise(() => response.body?.cancel() ?? Promise.resolve())
        yield* Deferred.await(left)
        yield* link.closed
        ended++
      }
      assert.strictEqual(ended, 1000)
      yield* server.drain
    }))

  it.effect("[field SHT-02] open streams end at once when the server drains, and nothing new is taken", () =>
    Effect.gen(function*() {
      const { ask, fetch, next, server } = yield* streaming
      const bodies = yield* Effect.forEach(Array.from({ length: 50 }), () => Effect.map(fetch(session), reading))
      yield* server.drain
      for (const body of bodies) {
        yield* Deferred.await((yield* next).left).pipe(Effect.forkChild)
        assert.strictEqual(yield* body.rest, ":\n\n")
      }
      for (const call of [{ body: ping }, session, { method: "DELETE" }]) {
        const response = yield* ask(call)
        assert.strictEqual(response.status, 503)
        assert.strictEqual(response.headers.get("retry-after"), "1")
      }
    }))
})

describe("shutdown", () => {
  it.effect("[field SHT-02] the end of the scope ends streams and refuses what waits", () =>
    Effect.gen(function*() {
      const left: Array<unknown> = []
      const { endpoint, next } = yield* held(({ message }) => left.push("id" in message ? message.id : undefined))
      const scope = yield* Scope.make()
      const { ask, fetch } = yield* Scope.provide(serve(endpoint), scope)
      const waiting = yield* Effect.forkChild(ask({ body: ping, headers: { accept: "application/json" } }))
      yield* next
      const fiber = yield* Effect.forkChild(fetch({ body: JsonRpc.request(2, "ping") }))
      const { outlet } = yield* next
      yield* outlet.push(note(1))
      const body = reading(yield* Fiber.join(fiber))
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* body.rest, sse(note(1)))
      const refusal = yield* Fiber.join(waiting)
      assert.strictEqual(refusal.status, 503)
      assert.deepStrictEqual(refusal.body, refused(-32000, "The server is shutting down"))
      assert.sameMembers(left, [1, 2])
    }))
})
