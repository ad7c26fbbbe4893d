import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as EventStore from "../src/EventStore.ts"
import { note, reading, turns } from "./support/http.ts"
import { answer, eventsIn, lastId, memory, opened, resumable } from "./support/resumption.ts"

const make = Effect.flatMap(EventStore.EventStore, (store) => resumable(store))
const data = (events: ReturnType<typeof eventsIn>) => events.map((event) => event.data)
const changed = JsonRpc.notification("notifications/tools/list_changed")

/** Opens a stream of the session and reads what it starts with. */
const standing = Effect.fnUntraced(function*(
  server: Effect.Success<ReturnType<typeof resumable>>,
  lastEventId?: string,
  version?: string
) {
  const response = yield* server.get(lastEventId, version)
  assert.strictEqual(response.status, 200)
  return reading(response)
})

describe("the stream of a session", () => {
  it.effect("[HTTP-28] [HTTP-33] goes on for a while without its reader, who has the rest later", () =>
    Effect.gen(function*() {
      const server = yield* make
      const first = yield* standing(server)
      const { left, link } = yield* server.link
      const primed = eventsIn((yield* first.next) ?? "")
      assert.deepStrictEqual(data(primed), [""])
      assert.match(lastId(primed), /^s[A-Za-z0-9_-]{24}\.0$/)
      yield* link.send(note(1))
      const seen = eventsIn((yield* first.next) ?? "")
      yield* first.cancel
      yield* turns
      yield* link.send(note(2))
      yield* link.send(changed)
      const second = yield* standing(server, lastId(seen))
      assert.deepStrictEqual(data(eventsIn((yield* second.next) ?? "")), [note(2), changed])
      yield* link.send(note(3))
      assert.deepStrictEqual(data(eventsIn((yield* second.next) ?? "")), [note(3)])
      yield* TestClock.adjust("1 hour")
      assert.isFalse(Deferred.isDoneUnsafe(left))
      yield* second.cancel
      yield* turns
      yield* TestClock.adjust("299 seconds")
      assert.isFalse(Deferred.isDoneUnsafe(left))
      yield* TestClock.adjust("1 second")
      yield* Deferred.await(left)
      assert.strictEqual((yield* Effect.flip(link.send(note(4))))._tag, "TransportClosed")
      assert.strictEqual((yield* link.closed)._tag, "TransportClosed")
    }).pipe(memory))

  it.effect("a client that leaves a second stream has given up the first", () =>
    Effect.gen(function*() {
      const server = yield* make
      const one = yield* standing(server)
      const first = yield* server.link
      const two = yield* standing(server)
      const second = yield* server.link
      yield* one.cancel
      yield* turns
      assert.isFalse(Deferred.isDoneUnsafe(first.left))
      yield* two.cancel
      yield* turns
      assert.deepStrictEqual([first, second].map(({ left }) => Deferred.isDoneUnsafe(left)), [true, false])
    }).pipe(memory))

  it.effect("[field HTP-32] one that is read again is not given up with the next that loses its reader", () =>
    Effect.gen(function*() {
      const server = yield* make
      const one = yield* standing(server)
      const first = yield* server.link
      const place = lastId(eventsIn((yield* one.next) ?? ""))
      // Over a new connection at once, and once more after the old one was cut.
      const again = yield* standing(server, place)
      yield* again.cancel
      yield* turns
      const back = yield* standing(server, place)
      const two = yield* standing(server)
      yield* two.cancel
      yield* turns
      assert.isFalse(Deferred.isDoneUnsafe(first.left))
      yield* first.link.send(note(1))
      const chunks = [yield* back.next, yield* back.next]
      assert.deepStrictEqual(data(eventsIn(chunks.join(""))), [note(1)])
    }).pipe(memory))

  it.effect("ends with the session, after what was sent", () =>
    Effect.gen(function*() {
      const server = yield* make
      const reader = yield* standing(server)
      const { left, link } = yield* server.link
      yield* link.send(note(1))
      yield* link.close ?? Effect.void
      yield* Deferred.await(left)
      assert.deepStrictEqual(data(eventsIn(yield* reader.rest)), ["", note(1)])
    }).pipe(memory))

  it.effect("[SHT-05] ends with the server, with and without a reader", () =>
    Effect.gen(function*() {
      const server = yield* make
      const one = yield* standing(server)
      const first = yield* server.link
      yield* one.cancel
      yield* turns
      const two = yield* standing(server)
      const second = yield* server.link
      yield* server.server.drain
      yield* Deferred.await(first.left)
      yield* Deferred.await(second.left)
      assert.deepStrictEqual(data(eventsIn(yield* two.rest)), [""])
    }).pipe(memory))

  it.effect("goes on as another one where it lived in another process", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      const here = yield* resumable(store)
      const there = yield* resumable(store)
      const first = yield* standing(there)
      const { link } = yield* there.link
      yield* link.send(note(1))
      const seen = eventsIn((yield* first.next) ?? "")
      yield* first.cancel
      yield* turns
      yield* link.send(note(2))
      const second = yield* standing(here, seen[0]?.id)
      const moved = yield* here.link
      const replayed = eventsIn((yield* second.next) ?? "")
      assert.deepStrictEqual(data(replayed), [note(1), note(2), ""])
      assert.notStrictEqual(lastId(replayed).split(".")[0], lastId(seen).split(".")[0])
      yield* moved.link.send(note(3))
      assert.deepStrictEqual(data(eventsIn((yield* second.next) ?? "")), [note(3)])
    }).pipe(memory))
})

describe("the stream of a request that another process serves", () => {
  it.effect("[HTTP-33] is read from the store until it ends, in order and each event once", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      const here = yield* resumable(store)
      const there = yield* resumable(store)
      const { body, events, outlet } = yield* opened(there)
      yield* body.cancel
      yield* turns
      yield* outlet.push(note(2))
      const reader = reading(yield* here.get(lastId(events)))
      assert.deepStrictEqual(data(eventsIn((yield* reader.next) ?? "")), [note(2)])
      yield* outlet.push(note(3))
      const read = yield* Effect.forkChild(reader.next)
      yield* turns
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(data(eventsIn((yield* Fiber.join(read)) ?? "")), [note(3)])
      outlet.answer(answer())
      const rest = yield* Effect.forkChild(reader.rest)
      yield* turns
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(data(eventsIn(yield* Fiber.join(rest))), [answer()])
    }).pipe(memory))

  it.effect("a connection looks for more for so long, and for the newest reader alone", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      const here = yield* resumable(store)
      const there = yield* resumable(store)
      const { events, outlet } = yield* opened(there)
      const one = yield* Effect.forkChild(reading(yield* here.get(lastId(events))).rest)
      yield* turns
      const two = yield* Effect.forkChild(reading(yield* here.get(lastId(events))).rest)
      assert.deepStrictEqual(eventsIn(yield* Fiber.join(one)), [])
      yield* turns
      yield* TestClock.adjust("59 seconds")
      assert.isUndefined(two.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(eventsIn(yield* Fiber.join(two)), [])
      outlet.answer(answer())
    }).pipe(memory))
})
