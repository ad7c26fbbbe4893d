import { assert, describe, it } from "@effect/vitest"
import { hasRedis, layerRedis, redisServer } from "@mcpfx/tooling/redis"
import { EventStore, EventStoreRedis, Limits } from "@mcpfx/transport"
import { Duration, Effect, Exit, Fiber, Layer, Logger, Scope } from "effect"
import { Redis } from "effect/persistence"
import { note, reading, turns } from "./support/http.ts"
import { answer, eventsIn, lastId, opened, resumable } from "./support/resumption.ts"

const data = (events: ReturnType<typeof eventsIn>) => events.map((event) => event.data)
const textOf = (response: Response) => Effect.promise(() => response.text())
const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => note(from + index))

/** Asks again while the server says that it is for a moment only. */
const patiently = (get: Effect.Effect<Response>): Effect.Effect<Response> =>
  Effect.flatMap(
    get,
    (response) =>
      response.status === 503 ? Effect.andThen(Effect.sleep("50 millis"), patiently(get)) : Effect.succeed(response)
  )

/** A Redis server, a store on it, and the limits of the test. */
const onRedis = Effect.gen(function*() {
  const server = yield* redisServer
  const context = yield* Layer.build(Layer.provideMerge(EventStoreRedis.layer(), layerRedis(server)))
  return {
    server,
    store: yield* Effect.provide(EventStore.EventStore, context),
    redis: yield* Effect.provide(Redis.Redis, context)
  }
})

const limits = Layer.merge(
  Limits.layer({ eventStoreTimeout: Duration.millis(400), eventPoll: Duration.millis(30) }),
  Logger.layer([])
)

describe.skipIf(!hasRedis())("streams kept in Redis", () => {
  it.live(
    "[field HTP-32] a crash of Redis under load holds up no handler and loses nothing that this process still knows",
    () =>
      Effect.gen(function*() {
        const { server: database, store } = yield* onRedis
        const server = yield* resumable(store)
        const streams = yield* Effect.forEach(Array.from({ length: 20 }), () => opened(server))
        let down = false
        const work = yield* Effect.forkChild(Effect.forEach(
          streams,
          ({ body, outlet }) =>
            Effect.gen(function*() {
              for (let n = 2; n <= 60; n++) {
                yield* outlet.push(note(n))
                if (n === 20) yield* body.cancel
                yield* Effect.sleep("5 millis")
              }
              outlet.answer(answer())
              return down
            }),
          { concurrency: "unbounded" }
        ))
        yield* Effect.sleep("80 millis")
        yield* database.kill
        down = true
        const finished = yield* Effect.timeout(Fiber.join(work), "5 seconds")
        assert.isTrue(finished.every(Boolean))
        // What was stored before the crash cannot be had now, and callers are told so; the rest can.
        const early = yield* Effect.forEach(streams, ({ events }) => server.get(events[0]?.id), { concurrency: 5 })
        const statuses = early.map(({ status }) => status)
        assert.include(statuses, 503)
        assert.isTrue(statuses.every((status) => status === 503 || status === 200))
        yield* database.start
        for (const { events } of streams) {
          const response = yield* patiently(server.get(events[0]?.id))
          assert.deepStrictEqual(data(eventsIn(yield* textOf(response))), [...numbered(1, 60), answer()])
        }
        // It all is in Redis by now: another process has it too.
        yield* Effect.sleep("500 millis")
        const other = yield* resumable(store)
        for (const { events } of streams) {
          const response = yield* other.get(events[0]?.id)
          assert.deepStrictEqual(data(eventsIn(yield* textOf(response))), [...numbered(1, 60), answer()])
        }
      }).pipe(Effect.scoped, Effect.provide(limits)),
    40_000
  )

  it.live(
    "while Redis hangs handlers go on, and a reader gets what is known here or is told to come back",
    () =>
      Effect.gen(function*() {
        const { server: database, store } = yield* onRedis
        const server = yield* resumable(store)
        const { body, events, outlet } = yield* opened(server)
        yield* Effect.sleep("200 millis")
        yield* database.freeze
        yield* body.cancel
        yield* turns
        for (let n = 2; n <= 30; n++) yield* outlet.push(note(n))
        const reader = reading(yield* Effect.timeout(server.get(lastId(events)), "2 seconds"))
        assert.deepStrictEqual(data(eventsIn((yield* reader.next) ?? "")), numbered(2, 30))
        const refused = yield* Effect.timeout(server.get(events[0]?.id), "2 seconds")
        assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [503, "1"])
        yield* database.thaw
        outlet.answer(answer())
        const response = yield* patiently(server.get(events[0]?.id))
        assert.deepStrictEqual(data(eventsIn(yield* textOf(response))), [...numbered(1, 30), answer()])
      }).pipe(Effect.scoped, Effect.provide(limits)),
    20_000
  )

  it.live("another process goes on with what a stopped one stored, live while that runs", () =>
    Effect.gen(function*() {
      const { store } = yield* onRedis
      const scope = yield* Scope.make()
      const there = yield* Scope.provide(resumable(store), scope)
      const here = yield* resumable(store)
      const running = yield* opened(there)
      const abandoned = yield* opened(there)
      yield* Effect.sleep("100 millis")
      const reader = yield* Effect.forkChild(reading(yield* here.get(running.events[0]?.id)).rest)
      yield* running.outlet.push(note(2))
      yield* Effect.sleep("100 millis")
      running.outlet.answer(answer())
      assert.deepStrictEqual(data(eventsIn(yield* Effect.timeout(Fiber.join(reader), "5 seconds"))), [
        note(1),
        note(2),
        answer()
      ])
      yield* Scope.close(scope, Exit.void)
      const left = yield* here.get(abandoned.events[0]?.id)
      assert.deepStrictEqual(data(eventsIn(yield* textOf(left))), [note(1)])
    }).pipe(Effect.scoped, Effect.provide(limits)), 20_000)

  it.live("what Redis has lost is refused, and a reader that had it all goes on", () =>
    Effect.gen(function*() {
      const { redis, store } = yield* onRedis
      const server = yield* resumable(store)
      const { events, outlet } = yield* opened(server)
      yield* Effect.sleep("100 millis")
      yield* redis.send("FLUSHALL")
      const lost = yield* server.get(events[0]?.id)
      assert.strictEqual(lost.status, 400)
      assert.include(yield* textOf(lost), "\"EventsNotKept\"")
      const response = yield* server.get(lastId(events))
      outlet.answer(answer())
      assert.deepStrictEqual(data(eventsIn(yield* textOf(response))), [answer()])
    }).pipe(Effect.scoped, Effect.provide(limits)), 20_000)
})
