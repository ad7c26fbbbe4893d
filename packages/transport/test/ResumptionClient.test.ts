import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as EventStore from "../src/EventStore.ts"
import { note, ping, sse, turns } from "./support/http.ts"
import {
  accepted,
  agree,
  connect,
  events,
  initialize,
  json,
  none,
  openEvents,
  type Respond,
  type Seen,
  sessionServer,
  success
} from "./support/httpClient.ts"
import { memory, resumable } from "./support/resumption.ts"

const sent = (seen: ReadonlyArray<Seen>) =>
  seen.filter(({ body, method }) => method === "POST" && JsonRpc.isJsonObject(body) && body["method"] === "ping")
const resumed = (seen: ReadonlyArray<Seen>) =>
  seen.flatMap(({ headers, method }) => method === "GET" ? headers["last-event-id"] ?? [] : [])
const event = (id: string, message: unknown) => `id: ${id}\n${sse(message)}`

/** A server whose answers to `ping` begin as told, and that resumes as told. */
const server = (begin: () => Response, resume: (lastEventId: string, n: number) => ReturnType<Respond>) => {
  let n = 0
  return sessionServer(({ headers, method }) => {
    if (method === "POST") return begin()
    const id = headers["last-event-id"]
    return id === undefined ? none() : resume(id, ++n)
  })
}

/** Lets time go by in steps, with all that happens meanwhile. */
const pass = (times: number, step: number) =>
  Effect.forEach(Array.from({ length: times }), () => Effect.andThen(turns, TestClock.adjust(step)), { discard: true })

const asking = Effect.fnUntraced(function*(respond: Respond, options?: Parameters<typeof connect>[1]) {
  const connection = yield* connect(respond, options)
  yield* agree(connection.link)
  yield* turns
  yield* connection.messages
  const fiber = yield* Effect.forkChild(Effect.result(connection.link.send(ping)))
  yield* turns
  return { ...connection, fiber }
})

describe("a client that goes on with the stream of a request", () => {
  it.effect("[HTTP-33] [field HTP-32] hands over each message once, though the server gives some again", () =>
    Effect.gen(function*() {
      const all = event("p-1", note(1)) + event("p-2", note(2)) + event("p-3", note(3))
      const { fiber, messages, seen } = yield* asking(server(
        () => events(event("p-1", note(1)) + event("p-2", note(2))),
        (_, n) => events(n === 1 ? all : all + event("p-4", success(1)))
      ))
      yield* pass(4, 1000)
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "Success")
      assert.deepStrictEqual(yield* messages, [note(1), note(2), note(3), success(1)])
      assert.deepStrictEqual(resumed(seen), ["p-2", "p-3"])
      assert.strictEqual(sent(seen).length, 1)
    }))

  it.effect("loses nothing to a server that numbers each connection anew", () =>
    Effect.gen(function*() {
      const { fiber, messages } = yield* asking(server(
        () => events(event("1", note(1))),
        () => events(event("1", note(2)) + event("2", success(1)))
      ))
      yield* pass(2, 1000)
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "Success")
      assert.deepStrictEqual(yield* messages, [note(1), note(2), success(1)])
    }))

  it.effect("begins again with the last whole event when the connection breaks within one", () =>
    Effect.gen(function*() {
      const stream = openEvents()
      const { fiber, messages, seen } = yield* asking(server(
        () => stream.response,
        (id) => events(id === "p-1" ? event("p-2", note(2)) + event("p-3", success(1)) : "")
      ))
      const text = event("p-1", note(1)) + event("p-2", note(2))
      stream.write(text.slice(0, -3))
      yield* turns
      stream.fail(new Error("ECONNRESET"))
      yield* pass(2, 1000)
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "Success")
      assert.deepStrictEqual(yield* messages, [note(1), note(2), success(1)])
      assert.deepStrictEqual(resumed(seen), ["p-1"])
    }))

  it.effect("[HTTP-28] [HTTP-30] asks again as long as a server that closes at once wants it to", () =>
    Effect.gen(function*() {
      const { fiber, messages, seen } = yield* asking(
        server(
          () => events("id: p-0\nretry: 2000\ndata:\n\n"),
          (_, n) => events(n <= 40 ? "" : event("p-1", success(1)))
        ),
        { reconnect: { maxRetries: 3 } }
      )
      yield* pass(20, 1000)
      assert.strictEqual(resumed(seen).length, 10)
      yield* pass(70, 1000)
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "Success")
      assert.deepStrictEqual(yield* messages, [success(1)])
      assert.strictEqual(sent(seen).length, 1)
    }))

  it.effect("gives up, once and for all, a server from which nothing comes", () =>
    Effect.gen(function*() {
      let n = 0
      const { fiber, seen } = yield* asking(server(
        () => events("id: p-0\nretry: 10000\ndata:\n\n"),
        () => events(`id: q-${++n}\ndata:\n\n`)
      ))
      yield* pass(59, 10_000)
      assert.isUndefined(fiber.pollUnsafe())
      yield* pass(3, 10_000)
      const result = yield* Fiber.join(fiber)
      assert.deepInclude(result._tag === "Failure" ? result.failure : {}, { _tag: "HttpFailure", status: 200 })
      const tries = resumed(seen).length
      yield* pass(10, 10_000)
      assert.deepStrictEqual([resumed(seen).length, sent(seen).length], [tries, 1])
    }))

  it.effect("[field HTP-09] is not made to spin", () =>
    Effect.gen(function*() {
      const { seen } = yield* asking(server(() => events("id: p-0\nretry: 0\ndata:\n\n"), () => events("")))
      yield* pass(100, 10)
      assert.isBelow(resumed(seen).length, 13)
    }))

  it.effect("[field HTP-09] tries so often, and fails with the reason", () =>
    Effect.gen(function*() {
      const refusals: ReadonlyArray<readonly [() => ReturnType<Respond>, number, object]> = [
        [() => new Response(null, { status: 503 }), 4, { status: 200 }],
        [() => new Response(null, { status: 409 }), 4, { status: 200 }],
        [() => Effect.fail(new Error("ECONNREFUSED")), 4, { status: 200 }],
        [() => json({ jsonrpc: "2.0", error: { code: -32600, message: "m" } }, { status: 400 }), 1, { status: 400 }],
        [() => new Response(null, { status: 404 }), 1, { status: 404 }],
        [() => events(""), 4, { status: 200 }]
      ]
      for (const [resume, tries, failure] of refusals) {
        const { fiber, seen } = yield* asking(server(() => events(event("p-1", note(1))), resume), {
          reconnect: { maxRetries: 4 }
        })
        yield* pass(10, 30_000)
        const result = yield* Fiber.join(fiber)
        assert.deepInclude(result._tag === "Failure" ? result.failure : {}, { _tag: "HttpFailure", ...failure })
        assert.deepStrictEqual([resumed(seen).length, sent(seen).length], [tries, 1])
      }
    }))

  it.effect("does so without a session too, where events have ids", () =>
    Effect.gen(function*() {
      const { fiber } = yield* asking(({ body, headers, method }) => {
        if (method === "GET") return headers["last-event-id"] === undefined ? none() : events(sse(success(1)))
        if (JsonRpc.isJsonObject(body) && body["method"] === "initialize") return json(success(0))
        return JsonRpc.isJsonObject(body) && "id" in body ? events("id: p-0\ndata:\n\n") : accepted()
      })
      yield* pass(1, 1000)
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "Success")
    }))

  it.effect("[HTTP-63] does not on 2026-07-28, nor before anything is agreed", () =>
    Effect.gen(function*() {
      const { link, seen } = yield* connect(() => events("id: p-0\ndata:\n\n"))
      assert.strictEqual((yield* Effect.flip(link.send(initialize)))._tag, "HttpFailure")
      yield* link.agreed({ version: "2026-07-28", era: "modern" })
      assert.strictEqual((yield* Effect.flip(link.send(ping)))._tag, "HttpFailure")
      assert.deepStrictEqual(resumed(seen), [])
    }))
})

describe("a client whose stream of the session cannot be resumed", () => {
  it.effect("[HTTP-33] opens a new one, and takes it that there is none when that is refused too", () =>
    Effect.gen(function*() {
      for (const status of [400, 404]) {
        let again = false
        const { link, seen } = yield* connect(sessionServer(({ headers, method }) => {
          if (method === "POST") return json(success(1))
          if (headers["last-event-id"] !== undefined) return new Response(null, { status })
          const first = !again
          again = true
          return first ? events(event("s-1", note(1))) : new Response(null, { status })
        }))
        yield* agree(link)
        yield* pass(10, 30_000)
        assert.deepStrictEqual(
          seen.flatMap(({ headers, method }) => method === "GET" ? [headers["last-event-id"]] : []),
          [undefined, "s-1", undefined]
        )
      }
    }))
})

describe("client and server together", () => {
  it.effect("[HTTP-33] a connection that breaks again and again costs time alone", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      const there = yield* resumable(store)
      let requests = 0
      /** Passes on a little of each response. */
      const cut = (response: Response): Response => {
        let left = 400 + 90 * (requests++ % 5)
        const body = response.body?.pipeThrough(
          new TransformStream<Uint8Array, Uint8Array>({
            transform: (chunk, controller) => {
              controller.enqueue(chunk.subarray(0, left))
              left -= chunk.length
              if (left <= 0) controller.error(new Error("ECONNRESET"))
            }
          })
        )
        return new Response(body ?? null, response)
      }
      const { link, messages, seen } = yield* connect(sessionServer((request) => {
        if (request.method === "GET" && request.headers["last-event-id"] === undefined) return none()
        const headers = new Headers()
        for (const [name, value] of Object.entries(request.headers)) if (value !== undefined) headers.set(name, value)
        return Effect.map(
          there.send(
            new Request("http://localhost:3000/mcp", {
              method: request.method,
              headers,
              ...(request.method === "POST" ? { body: JSON.stringify(request.body) } : undefined)
            })
          ),
          cut
        )
      }))
      yield* agree(link)
      yield* turns
      yield* messages
      const fiber = yield* Effect.forkChild(link.send(ping))
      const { outlet } = yield* there.next
      for (let n = 1; n <= 100; n++) {
        yield* outlet.push(note(n))
        if (n % 3 === 0) yield* pass(1, 250)
      }
      outlet.answer(success(1))
      yield* pass(60, 1000)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(yield* messages, [
        ...Array.from({ length: 100 }, (_, index) => note(index + 1)),
        success(1)
      ])
      assert.isAbove(resumed(seen).length, 5)
      assert.strictEqual(sent(seen).length, 1)
    }).pipe(memory))
})
