/** The stores of a server on a Redis server of their own. */
import { assert, describe, it } from "@effect/vitest"
import {
  ReplayGuard,
  ReplayGuardRedis,
  StateStore,
  StateStoreRedis,
  StepStore,
  StepStoreRedis,
  TaskStore,
  TaskStoreRedis
} from "@mcpfx/server"
import { TaskState } from "@mcpfx/session"
import { hasRedis, layerRedis, layerRedisServer, redisServer } from "@mcpfx/tooling/redis"
import { Effect, Exit, Layer, Option, Schedule, Scope } from "effect"
import { Redis } from "effect/persistence"

const small = Layer.mergeAll(StateStoreRedis.layer(), StepStoreRedis.layer(), ReplayGuardRedis.layer())
const onRedis = Effect.provide(Layer.provideMerge(small, layerRedisServer))
const later = { schedule: Schedule.spaced("50 millis"), times: 100 }

const record = (id: string, more: Partial<TaskState.TaskRecord> = {}): TaskState.TaskRecord => ({
  ...TaskState.begin({ id, principal: "p", owner: "o", method: "tools/call", ttl: null, pollInterval: 10 }, 0),
  ...more
})

describe.skipIf(!hasRedis())("in Redis", () => {
  it.live("a state is there for its life", () =>
    Effect.gen(function*() {
      const store = yield* StateStore.StateStore
      const sealed = "é🎉\n".repeat(50_000)
      yield* store.put("handle", sealed, "1 minute")
      yield* store.put("short", "sealed", "100 millis")
      assert.deepStrictEqual(yield* store.get("handle"), Option.some(sealed))
      assert.deepStrictEqual(yield* store.get("other"), Option.none())
      yield* Effect.sleep("200 millis")
      assert.deepStrictEqual(yield* store.get("short"), Option.none())
    }).pipe(onRedis))

  it.live("one of many claims at once gets the state, for its life", () =>
    Effect.gen(function*() {
      const guard = yield* ReplayGuard.ReplayGuard
      const claims = yield* Effect.all(Array.from({ length: 50 }, () => guard.claim("state", "200 millis")), {
        concurrency: "unbounded"
      })
      assert.strictEqual(claims.filter(Boolean).length, 1)
      assert.isTrue(yield* guard.claim("other", "1 minute"))
      yield* Effect.sleep("300 millis")
      assert.isTrue(yield* guard.claim("state", "0 millis"))
    }).pipe(onRedis))

  it.live("one of many beginnings at once is the first, and a step changes only from what it was", () =>
    Effect.gen(function*() {
      const store = yield* StepStore.StepStore
      const begin = store.compareAndSet("step", Option.none(), "begun", "1 minute")
      const begun = yield* Effect.all(Array.from({ length: 50 }, () => begin), { concurrency: "unbounded" })
      assert.strictEqual(begun.filter(Boolean).length, 1)
      assert.isFalse(yield* store.compareAndSet("step", Option.some("free"), "x", "1 minute"))
      assert.isTrue(yield* store.compareAndSet("step", Option.some("begun"), "done:\"é\"", "100 millis"))
      assert.deepStrictEqual(yield* store.get("step"), Option.some("done:\"é\""))
      yield* Effect.sleep("200 millis")
      assert.deepStrictEqual(yield* store.get("step"), Option.none())
      assert.isFalse(yield* store.compareAndSet("step", Option.some(""), "x", "1 minute"))
      assert.isTrue(yield* begin)
    }).pipe(onRedis))

  it.live("what was acknowledged survives a crash, and meanwhile callers are told at once", () =>
    Effect.gen(function*() {
      const server = yield* redisServer
      yield* Effect.gen(function*() {
        const states = yield* StateStore.StateStore
        const steps = yield* StepStore.StepStore
        const guard = yield* ReplayGuard.ReplayGuard
        yield* states.put("handle", "sealed", "1 minute")
        yield* steps.compareAndSet("step", Option.none(), "begun", "1 minute")
        yield* guard.claim("state", "1 minute")
        yield* server.kill
        const failures = yield* Effect.timeout(
          Effect.all([
            Effect.flip(states.put("other", "sealed", "1 minute")),
            Effect.flip(states.get("handle")),
            Effect.flip(steps.get("step")),
            Effect.flip(steps.compareAndSet("step", Option.some("begun"), "free", "1 minute")),
            Effect.flip(guard.claim("state", "1 minute"))
          ]),
          "4 seconds"
        )
        assert.deepStrictEqual(
          failures.map(({ _tag, store }) => `${_tag} ${store}`),
          ["states", "states", "steps", "steps", "claims"].map((store) => `StoreUnavailable ${store}`)
        )
        yield* server.start
        assert.deepStrictEqual(yield* Effect.retry(states.get("handle"), later), Option.some("sealed"))
        assert.isFalse(yield* guard.claim("state", "1 minute"))
        assert.isTrue(yield* steps.compareAndSet("step", Option.some("begun"), "free", "1 minute"))
      }).pipe(Effect.provide(Layer.provide(small, layerRedis(server))))
    }))

  it.live("[TKL-03] a process that stops is known to be gone, at once or after a while", () =>
    Effect.gen(function*() {
      const server = yield* redisServer
      const processOf = (aliveFor: "1 minute" | "300 millis") =>
        Effect.gen(function*() {
          const scope = yield* Scope.make()
          const context = yield* Scope.provide(
            Layer.build(Layer.fresh(Layer.provideMerge(TaskStoreRedis.layer({ aliveFor }), layerRedis(server)))),
            scope
          )
          const store = yield* Effect.provide(TaskStore.TaskStore, context)
          const redis = yield* Effect.provide(Redis.Redis, context)
          return { scope, store, redis }
        })
      const one = yield* processOf("1 minute")
      const two = yield* processOf("300 millis")
      assert.notStrictEqual(one.store.owner, two.store.owner)
      yield* Effect.sleep("600 millis")
      assert.isTrue(yield* one.store.isAlive(two.store.owner))
      assert.isTrue(yield* two.store.isAlive(one.store.owner))
      assert.isFalse(yield* one.store.isAlive("nobody"))
      yield* one.store.create(record("a", { owner: two.store.owner }), 10)
      assert.strictEqual(Option.getOrUndefined(yield* two.store.get("a"))?.owner, two.store.owner)
      yield* Scope.close(two.scope, Exit.void)
      assert.isFalse(yield* one.store.isAlive(two.store.owner))
      yield* Scope.close(one.scope, Exit.void)
    }).pipe(Effect.scoped))

  it.live("[TKX-05] of many changes to one version one is made", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.TaskStore
      yield* store.create(record("a"), 10)
      const changes = yield* Effect.all(
        Array.from({ length: 30 }, (_, n) =>
          store.update(TaskState.step(record("a"), { _tag: "Told", message: String(n) }, n), 1)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        changes.filter((change) =>
          change === "Updated"
        ).length,
        1
      )
      assert.deepStrictEqual(changes.filter((change) => change === "Conflict").length, 29)
    }).pipe(Effect.provide(Layer.provide(TaskStoreRedis.layer(), layerRedisServer))))
})
