import { assert, describe, it } from "@effect/vitest"
import { hasRedis, layerRedis, layerRedisServer, redisServer } from "@mcpfx/tooling/redis"
import { EventStore, EventStoreRedis, Limits } from "@mcpfx/transport"
import { Duration, Effect, Layer, Option, Schedule } from "effect"
import { Redis } from "effect/persistence"
import { event, events, eventStoreSuite, fresh, limits, seqs } from "./support/eventStoreSuite.ts"

const here = hasRedis()

if (here) eventStoreSuite("in Redis", Layer.provide(EventStoreRedis.layer(), layerRedisServer))

describe.skipIf(!here)("in Redis", () => {
  const within = (overrides: Partial<Limits.Limits>) =>
    Effect.provide(
      Layer.provideMerge(EventStoreRedis.layer(), layerRedisServer).pipe(
        Layer.provide(Limits.layer({ ...limits, ...overrides }))
      )
    )

  it.live("a stream lives for so long after its last event or reader, and leaves nothing behind", () =>
    Effect.gen(function*() {
      const self = yield* EventStore.EventStore
      const redis = yield* Redis.Redis
      const key = fresh()
      yield* self.append(key, events(1, 2))
      yield* Effect.sleep("200 millis")
      yield* self.append(fresh(key.owner), events(1, 2))
      yield* self.read(key, 0)
      yield* Effect.sleep("200 millis")
      assert.deepStrictEqual(seqs(yield* self.read(key, 0)), Option.some([1, 2]))
      yield* Effect.sleep("400 millis")
      assert.deepStrictEqual(yield* self.read(key, 0), Option.none())
      assert.deepStrictEqual(yield* redis.send("KEYS", "*"), [])
    }).pipe(within({ eventLife: Duration.millis(300) })))

  it.live("the names of keys hold nothing secret, and all of an owner are in one slot", () =>
    Effect.gen(function*() {
      const self = yield* EventStore.EventStore
      const redis = yield* Redis.Redis
      const owner = EventStore.ownerOf("secret-session", "[\"issuer\",\"subject\",null]")
      yield* self.append(fresh(owner), events(1, 1))
      const keys = yield* redis.send<ReadonlyArray<string>>("KEYS", "*")
      assert.strictEqual(keys.length, 3)
      assert.strictEqual(new Set(keys.map((key) => /\{.*\}/.exec(key)?.[0])).size, 1)
      assert.isFalse(keys.some((key) => key.includes("secret") || key.includes("subject")))
    }).pipe(within({})))

  it.live("what was acknowledged survives a crash of the server, and meanwhile callers are told at once", () =>
    Effect.gen(function*() {
      const server = yield* redisServer
      const store = Layer.provide(EventStoreRedis.layer(), layerRedis(server))
      yield* Effect.gen(function*() {
        const self = yield* EventStore.EventStore
        const key = fresh()
        yield* self.append(key, events(1, 3))
        yield* server.kill
        const failures = yield* Effect.all([
          Effect.flip(self.append(key, [event(4)])),
          Effect.flip(self.read(key, 0)),
          Effect.flip(self.end(key)),
          Effect.flip(self.remove(key.owner))
        ]).pipe(Effect.timeout("4 seconds"))
        assert.deepStrictEqual(
          failures.map(({ _tag }) => _tag),
          Array.from({ length: 4 }, () => "EventStoreUnavailable")
        )
        assert.isFalse(JSON.stringify(failures).includes(key.owner))
        yield* server.start
        yield* Effect.retry(self.append(key, events(3, 5)), { schedule: Schedule.spaced("50 millis"), times: 100 })
        assert.deepStrictEqual(seqs(yield* self.read(key, 0)), Option.some([1, 2, 3, 4, 5]))
      }).pipe(Effect.provide(store))
    }))
})
