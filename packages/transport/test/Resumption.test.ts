import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Deferred, Duration, Effect, Exit, Fiber, Option, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Rejected } from "../src/Endpoint.ts"
import * as EventStore from "../src/EventStore.ts"
import { EventStreams } from "../src/internal/eventStreams.ts"
import * as Limits from "../src/Limits.ts"
import { EventStoreUnavailable } from "../src/TransportError.ts"
import { limited, modern, modernHeaders, note, reading, sse, turns } from "./support/http.ts"
import { answer, eventsIn, inSession, lastId, memory, opened, resumable } from "./support/resumption.ts"

const make = Effect.flatMap(EventStore.EventStore, (store) => resumable(store))
const data = (events: ReturnType<typeof eventsIn>) => events.map((event) => event.data)
const textOf = (response: Response) => Effect.promise(() => response.text())

describe("the stream of a request", () => {
  it.effect("[HTTP-28] [HTTP-31] begins with an event without data that says when to come back", () =>
    Effect.gen(function*() {
      const server = yield* make
      const { body, events, outlet, response } = yield* opened(server)
      assert.deepStrictEqual(events[0], { id: events[0]?.id, retry: "1000", data: "" })
      assert.deepStrictEqual(data(events), ["", note(1)])
      outlet.answer(answer())
      const all = [...events, ...eventsIn(yield* body.rest)]
      assert.deepStrictEqual(data(all), ["", note(1), answer()])
      const ids = all.map(({ id }) => id)
      assert.match(ids[0] ?? "", /^r[A-Za-z0-9_-]{24}\.0$/)
      assert.strictEqual(new Set(ids).size, 3)
      assert.strictEqual(new Set(ids.map((id) => id?.split(".")[0])).size, 1)
      assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
    }).pipe(memory))

  it.effect("[field HTP-33] has no such event where the revision does not know it", () =>
    Effect.gen(function*() {
      const server = yield* make
      for (const version of ["2025-06-18", "2025-03-26"]) {
        const { events, outlet } = yield* opened(server, version)
        assert.deepStrictEqual(data(events), [note(1)])
        assert.match(lastId(events), /\.1$/)
        outlet.answer(answer())
      }
    }).pipe(memory))

  it.effect("[HTTP-31] two streams have no id in common", () =>
    Effect.gen(function*() {
      const server = yield* make
      const one = yield* opened(server)
      const other = yield* opened(server)
      const ids = [...one.events, ...other.events].map(({ id }) => id)
      assert.strictEqual(new Set(ids).size, 4)
    }).pipe(memory))

  it.effect("[HTTP-66] 2026-07-28 has no ids, whatever headers say", () =>
    Effect.gen(function*() {
      const server = yield* make
      const headers = { ...modernHeaders("a/b"), "mcp-session-id": "s1", "last-event-id": "x" }
      const fiber = yield* Effect.forkChild(server.fetch({ body: modern(1, "a/b"), headers }))
      const { outlet } = yield* server.next
      yield* outlet.push(note(1))
      outlet.answer(answer())
      assert.strictEqual(yield* textOf(yield* Fiber.join(fiber)), sse(note(1), answer()))
      assert.isFalse(yield* outlet.closeStream?.(undefined) ?? Effect.succeed(false))
    }).pipe(memory))

  it.effect("an answer that comes first is JSON as ever, and so is one without a session", () =>
    Effect.gen(function*() {
      const server = yield* make
      const fiber = yield* Effect.forkChild(server.post())
      ;(yield* server.next).outlet.answer(answer())
      assert.strictEqual((yield* Fiber.join(fiber)).headers.get("content-type"), "application/json")
      const alone = yield* Effect.forkChild(server.fetch({ body: JsonRpc.request(1, "a") }))
      const { outlet } = yield* server.next
      yield* outlet.push(note(1))
      outlet.answer(answer())
      assert.strictEqual(yield* textOf(yield* Fiber.join(alone)), sse(note(1), answer()))
    }).pipe(memory))

  it.effect("[HTTP-26] [HTTP-33] [field HTP-27] [field HTP-32] goes on without its reader, who has the rest later, each event once", () =>
    Effect.gen(function*() {
      const server = yield* make
      const { body, events, outlet } = yield* opened(server)
      yield* body.cancel
      yield* turns
      // Far more than may wait on a stream: the handler is never held up.
      for (let i = 2; i <= 900; i++) yield* outlet.push(note(i))
      const response = yield* server.get(lastId(events))
      assert.strictEqual(response.status, 200)
      const resumed = reading(response)
      const missed = eventsIn((yield* resumed.next) ?? "")
      assert.deepStrictEqual(data(missed), Array.from({ length: 899 }, (_, i) => note(i + 2)))
      yield* outlet.push(note(901))
      outlet.answer(answer())
      assert.deepStrictEqual(data(eventsIn(yield* resumed.rest)), [note(901), answer()])
      // Once more, from the middle, after the end.
      const again = yield* server.get(missed[895]?.id)
      assert.deepStrictEqual(data(eventsIn(yield* textOf(again))), [
        note(898),
        note(899),
        note(900),
        note(901),
        answer()
      ])
    }).pipe(memory))

  it.effect("[field HTP-32] from the event it starts with, and from its last one", () =>
    Effect.gen(function*() {
      const server = yield* make
      const { body, events, outlet } = yield* opened(server)
      yield* body.cancel
      yield* turns
      outlet.answer(answer())
      const all = eventsIn(yield* textOf(yield* server.get(events[0]?.id)))
      assert.deepStrictEqual(data(all), [note(1), answer()])
      assert.deepStrictEqual(eventsIn(yield* textOf(yield* server.get(lastId(all)))), [])
    }).pipe(memory))

  it.effect("[field CON-02] [field HTP-32] is resumed by its session and its principal alone, from events it had", () =>
    Effect.gen(function*() {
      const server = yield* make
      const { events, outlet } = yield* opened(server)
      const other = yield* opened(server, "2025-11-25", "s2")
      const id = lastId(events)
      const [stream = ""] = id.split(".")
      const refused = [
        yield* server.get(id, "2025-11-25", "s2"),
        yield* server.get(lastId(other.events)),
        yield* server.get("zzz"),
        yield* server.get(`${stream}.7`),
        yield* server.get(`${stream}.01`),
        yield* server.get(`${stream}.-1`),
        yield* server.get(`${stream.replace("r", "s")}.1`)
      ]
      for (const response of refused) {
        assert.strictEqual(response.status, 400)
        assert.include(yield* textOf(response), "\"EventsNotKept\"")
      }
      outlet.answer(answer())
    }).pipe(memory))

  it.effect("[HTTP-39] who may not go on with the session resumes nothing", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      const server = yield* resumable(store, {
        verify: ({ sessionId }) =>
          sessionId === "s1"
            ? Effect.void
            : Effect.fail(new Rejected({ code: -32600, message: "Session not found" }, 404))
      })
      const { events } = yield* opened(server)
      assert.strictEqual((yield* server.get(lastId(events), "2025-11-25", "s2")).status, 404)
      assert.strictEqual((yield* server.get(undefined, "2025-11-25", "s2")).status, 404)
      assert.strictEqual((yield* server.get(lastId(events))).status, 200)
    }).pipe(memory))

  it.effect("the newest of two readers takes over, and the other is let go after what it had", () =>
    Effect.gen(function*() {
      const server = yield* make
      const { body, events, outlet } = yield* opened(server)
      const second = reading(yield* server.get(events[0]?.id))
      assert.deepStrictEqual(data(eventsIn((yield* second.next) ?? "")), [note(1)])
      assert.isUndefined(yield* body.next)
      const third = reading(yield* server.get(lastId(events)))
      assert.isUndefined(yield* second.next)
      yield* outlet.push(note(2))
      outlet.answer(answer())
      assert.deepStrictEqual(data(eventsIn(yield* third.rest)), [note(2), answer()])
    }).pipe(memory))

  it.effect("[HTTP-28] may be hung up by its handler, and goes on when the client comes back", () =>
    Effect.gen(function*() {
      const server = yield* make
      const fiber = yield* Effect.forkChild(server.post())
      const { outlet } = yield* server.next
      assert.isTrue(yield* outlet.closeStream?.(Duration.seconds(3)) ?? Effect.succeed(false))
      const first = eventsIn(yield* textOf(yield* Fiber.join(fiber)))
      assert.deepStrictEqual(first.map(({ data, retry }) => [data, retry]), [["", "1000"], [undefined, "3000"]])
      const second = reading(yield* server.get(first[0]?.id))
      yield* outlet.push(note(1))
      assert.isTrue(yield* outlet.closeStream?.(undefined) ?? Effect.succeed(false))
      const seen = eventsIn(yield* second.rest)
      assert.deepStrictEqual(data(seen), [note(1)])
      outlet.answer(answer())
      assert.isFalse(yield* outlet.closeStream?.(undefined) ?? Effect.succeed(false))
      assert.deepStrictEqual(data(eventsIn(yield* textOf(yield* server.get(lastId(seen))))), [answer()])
    }).pipe(memory))

  it.effect("[HTTP-27] is not hung up where the client would take that for the end", () =>
    Effect.gen(function*() {
      const server = yield* make
      const { outlet } = yield* opened(server, "2025-06-18")
      assert.isFalse(yield* outlet.closeStream?.(undefined) ?? Effect.succeed(false))
      const fiber = yield* Effect.forkChild(
        server.fetch({ body: JsonRpc.request(2, "a"), headers: { ...inSession(), accept: "application/json" } })
      )
      const json = yield* server.next
      assert.isFalse(yield* json.outlet.closeStream?.(undefined) ?? Effect.succeed(false))
      json.outlet.answer(answer(2))
      assert.strictEqual((yield* Fiber.join(fiber)).status, 200)
    }).pipe(memory))

  it.effect("is forgotten after its time, and then the client starts anew", () =>
    Effect.gen(function*() {
      const server = yield* make
      const { events, outlet } = yield* opened(server)
      outlet.answer(answer())
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual((yield* server.get(lastId(events))).status, 400)
    }).pipe(memory))

  it.effect("[RPC-10] answers to a batch are events of one stream", () =>
    Effect.gen(function*() {
      const server = yield* make
      const body = [JsonRpc.request(1, "a"), JsonRpc.request(2, "b")]
      const fiber = yield* Effect.forkChild(server.post("2025-03-26", "s1", body))
      const one = yield* server.next
      const two = yield* server.next
      yield* one.outlet.push(note(1))
      const reader = reading(yield* Fiber.join(fiber))
      const events = eventsIn((yield* reader.next) ?? "")
      yield* reader.cancel
      yield* turns
      two.outlet.answer(answer(2))
      one.outlet.answer(answer(1))
      assert.deepStrictEqual(data(eventsIn(yield* textOf(yield* server.get(lastId(events), "2025-03-26")))), [
        answer(2),
        answer(1)
      ])
    }).pipe(memory))
})

describe("a store that fails", () => {
  const down = Effect.fail(new EventStoreUnavailable({ operation: "append" }))

  it.effect("holds up nobody; what waits for it is still there for those who come back", () =>
    Effect.gen(function*() {
      let works = false
      const server = yield* resumable({
        append: () => Effect.suspend(() => works ? Effect.void : down),
        read: () => Effect.fail(new EventStoreUnavailable({ operation: "read" })),
        end: () => Effect.void,
        remove: () => Effect.void
      })
      const { body, events, outlet } = yield* opened(server)
      yield* body.cancel
      yield* turns
      yield* outlet.push(note(2))
      outlet.answer(answer())
      assert.deepStrictEqual(data(eventsIn(yield* textOf(yield* server.get(lastId(events))))), [note(2), answer()])
      works = true
      yield* TestClock.adjust("1 second")
      // Now it is the store that knows.
      assert.strictEqual((yield* server.get(lastId(events))).status, 503)
    }))

  it.effect("that never answers is told from one that has forgotten", () =>
    Effect.gen(function*() {
      const server = yield* resumable({
        append: () => Effect.void,
        read: () => Effect.never,
        end: () => Effect.void,
        remove: () => Effect.void
      })
      const { events, outlet } = yield* opened(server)
      yield* outlet.push(note(2))
      const fiber = yield* Effect.forkChild(server.get(lastId(events)))
      yield* turns
      yield* TestClock.adjust("5 seconds")
      const response = yield* Fiber.join(fiber)
      assert.deepStrictEqual([response.status, response.headers.get("retry-after")], [503, "1"])
      outlet.answer(answer())
      yield* turns
      const foreign = yield* Effect.forkChild(server.get(lastId(events)))
      yield* turns
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* Fiber.join(foreign)).status, 503)
    }))

  it.effect("is asked again until it works, with the same events", () =>
    Effect.gen(function*() {
      const kept: Array<ReadonlyArray<number>> = []
      let works = false
      const server = yield* resumable({
        append: (_, events) =>
          Effect.suspend(() => {
            if (!works) return down
            kept.push(events.map(({ seq }) => seq))
            return Effect.void
          }),
        read: () => Effect.succeed(Option.none()),
        end: () => Effect.sync(() => void kept.push([])),
        remove: () => Effect.void
      })
      const { outlet } = yield* opened(server)
      outlet.answer(answer())
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(kept, [])
      works = true
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(kept, [[0, 1, 2], []])
    }))

  it.effect("[field MEM-05] what waits for it is bounded, and lost events are told by a refusal", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const server = yield* resumable({
        append: () => Deferred.await(gate),
        read: () => Effect.succeed(Option.none()),
        end: () => Effect.void,
        remove: () => Effect.void
      })
      const { body, events, outlet } = yield* opened(server)
      yield* body.cancel
      yield* turns
      for (let i = 2; i <= 2000; i++) yield* outlet.push(note(i))
      assert.strictEqual((yield* server.get(lastId(events))).status, 400)
      outlet.answer(answer())
      yield* Deferred.succeed(gate, undefined)
    }))
})

describe("what streams that can be resumed leave behind", () => {
  it.effect("[field MEM-05] nothing, once they have ended and are stored", () =>
    Effect.gen(function*() {
      const streams = new EventStreams(yield* EventStore.EventStore, Limits.defaults, yield* Effect.context<never>())
      const facts = {
        transport: "http",
        connection: undefined,
        sessionId: "s1",
        protocolVersion: "2025-11-25",
        headers: undefined,
        principal: Option.none()
      } as const
      const logs = Array.from(
        { length: 1000 },
        () => streams.open("request", facts, { release: () => {}, connect: () => {} })
      )
      for (const log of logs) log.encode("{}")
      assert.deepStrictEqual([streams.size, streams.waiting], [1000, 0])
      for (const log of logs) log.end()
      assert.deepStrictEqual([streams.size, streams.waiting], [0, 0])
    }).pipe(memory))

  it.effect("[HTTP-41] [field CON-02] nothing of a session that its client has ended", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      const server = yield* resumable(store)
      const { events, outlet } = yield* opened(server)
      outlet.answer(answer())
      const [stream = ""] = lastId(events).split(".")
      const key = { owner: EventStore.ownerOf("s1", ""), stream }
      assert.isTrue(Option.isSome(yield* store.read(key, 0)))
      assert.strictEqual((yield* server.fetch({ method: "DELETE", headers: inSession() })).status, 204)
      assert.deepStrictEqual(yield* store.read(key, 0), Option.none())
    }).pipe(memory))

  it.effect("no connection when the server goes", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const store = yield* EventStore.EventStore
      const server = yield* Scope.provide(resumable(store), scope)
      const { events } = yield* opened(server)
      const reader = yield* Effect.forkChild(reading(yield* server.get(lastId(events))).rest)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(eventsIn(yield* Fiber.join(reader)), [])
    }).pipe(memory))
})

describe("a reader that takes nothing", () => {
  it.effect("is let go, the handler goes on, and all of it is there when the reader comes back", () =>
    Effect.gen(function*() {
      const server = yield* make
      const { events, outlet } = yield* opened(server)
      const work = yield* Effect.forkChild(Effect.forEach(
        Array.from({ length: 20 }, (_, index) => note(index + 2)),
        (message) => outlet.push(message),
        { discard: true }
      ))
      yield* turns
      assert.isUndefined(work.pollUnsafe())
      yield* TestClock.adjust("60 seconds")
      yield* Fiber.join(work)
      outlet.answer(answer())
      const rest = eventsIn(yield* textOf(yield* server.get(lastId(events))))
      assert.deepStrictEqual(data(rest), [...Array.from({ length: 20 }, (_, index) => note(index + 2)), answer()])
    }).pipe(limited({ outgoingMessages: 4 }), memory))
})
