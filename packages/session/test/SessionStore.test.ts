import { assert, describe, layer } from "@effect/vitest"
import * as SessionStore from "@mcpfx/session/SessionStore"
import * as SessionStoreRedis from "@mcpfx/session/SessionStoreRedis"
import { hasRedis, layerRedisServer } from "@mcpfx/tooling/redis"
import { Effect, Layer, Option } from "effect"
import { KeyValueStore, Redis } from "effect/persistence"

const record: SessionStore.SessionRecord = {
  id: "s1",
  principalKey: "[\"issuer\",\"subject\",null]",
  version: "2025-11-25",
  clientInfo: { name: "n", version: "1", title: "N" },
  clientCapabilities: { sampling: {}, experimental: { a: { b: 1 } }, future: { x: 1 } },
  initialized: true,
  logLevel: "notice",
  subscriptions: ["a:1", "a:2"],
  lastSeen: 1_700_000_000_000
}

const values = Layer.fresh(KeyValueStore.layerMemory)
const stores = [
  ["layerMemory", SessionStore.layerMemory],
  ["layerKeyValueStore", SessionStore.layerKeyValueStore.pipe(Layer.provide(values))],
  ...(hasRedis() ? [["Redis", SessionStoreRedis.layer().pipe(Layer.provide(layerRedisServer))] as const] : [])
] as const

for (const [name, store] of stores) {
  describe("every store", () => {
    layer(store)(name, (it) => {
      it.effect("[LIF-17] gives back what was kept, the newest, and nothing after it was removed", () =>
        Effect.gen(function*() {
          const store = yield* SessionStore.SessionStore
          assert.isTrue(Option.isNone(yield* store.load("s1")))
          yield* store.save(record)
          yield* store.save({ ...record, id: "s2", subscriptions: [] })
          assert.deepStrictEqual(yield* store.load("s1"), Option.some(record))
          const { logLevel: _, ...quiet } = record
          yield* store.save({ ...quiet, initialized: false })
          assert.deepStrictEqual(yield* store.load("s1"), Option.some({ ...quiet, initialized: false }))
          yield* store.remove("s1")
          yield* store.remove("s1")
          assert.isTrue(Option.isNone(yield* store.load("s1")))
          assert.isTrue(Option.isSome(yield* store.load("s2")))
        }))
    })
  })
}

describe("layerKeyValueStore", () => {
  layer(SessionStore.layerKeyValueStore.pipe(Layer.provideMerge(Layer.fresh(KeyValueStore.layerMemory))))((it) => {
    it.effect("what is no record is a failure of the store, named by what was tried", () =>
      Effect.gen(function*() {
        const values = yield* KeyValueStore.KeyValueStore
        const store = yield* SessionStore.SessionStore
        yield* values.set("mcp-session/odd", "{\"id\":1}")
        const error = yield* Effect.flip(store.load("odd"))
        assert.deepInclude(error, { _tag: "SessionStoreUnavailable", operation: "load" })
      }))
  })
})

describe.skipIf(!hasRedis())("Redis", () => {
  layer(SessionStoreRedis.layer().pipe(Layer.provideMerge(layerRedisServer)))((it) => {
    it.effect("what is no record is a failure of the store, and records go when their session is idle", () =>
      Effect.gen(function*() {
        const redis = yield* Redis.Redis
        const store = yield* SessionStore.SessionStore
        yield* redis.send("SET", "mcp-session/odd", "{\"id\":1}")
        assert.deepInclude(yield* Effect.flip(store.load("odd")), {
          _tag: "SessionStoreUnavailable",
          operation: "load"
        })
        yield* store.save(record)
        const left = Number(yield* redis.send("PTTL", "mcp-session/s1"))
        assert.isTrue(left > 1_790_000 && left <= 1_800_000)
      }))
  })
})
