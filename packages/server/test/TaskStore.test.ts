import { assert, describe, it } from "@effect/vitest"
import { ServerError, TaskStore, TaskStoreRedis } from "@mcpfx/server"
import { TaskState } from "@mcpfx/session"
import { hasRedis, layerRedisServer } from "@mcpfx/tooling/redis"
import { Context, Effect, Exit, Layer, Option, Scope } from "effect"
import { KeyValueStore } from "effect/persistence"
import { TestClock } from "effect/testing"
import { at, connect } from "./protocol/harness.ts"
import { Bench, core, declaring, idOf, modern, served, settle } from "./tasks/support.ts"

const record = (id: string, more: Partial<TaskState.TaskRecord> = {}): TaskState.TaskRecord => ({
  ...TaskState.begin({ id, principal: "p", owner: "o", method: "tools/call", ttl: 1000, pollInterval: 10 }, 0),
  ...more
})

const stores = {
  memory: TaskStore.layerMemory,
  "key-value": TaskStore.layerKeyValueStore.pipe(Layer.provide(KeyValueStore.layerMemory)),
  ...(hasRedis() ? { redis: TaskStoreRedis.layer().pipe(Layer.provide(layerRedisServer)) } : undefined)
}

for (const [name, layer] of Object.entries(stores)) {
  describe(`${name} store`, () => {
    const test = (title: string, run: Effect.Effect<void, ServerError.TaskStoreUnavailable, TaskStore.TaskStore>) =>
      it.effect(title, () => Effect.provide(run, layer))

    test(
      "[TKX-05] has what was created, and replaces only the version that it has",
      Effect.gen(function*() {
        const store = yield* TaskStore.TaskStore
        const first = record("a")
        assert.strictEqual(yield* store.create(first, 10), "Created")
        assert.deepEqual(Option.getOrUndefined(yield* store.get("a")), first)
        const second = TaskState.step(first, { _tag: "Told", message: "half" }, 5)
        assert.strictEqual(yield* store.update(second, 7), "Conflict")
        assert.strictEqual(yield* store.update(second, 1), "Updated")
        assert.strictEqual(yield* store.update(second, 1), "Conflict")
        assert.deepEqual(Option.getOrUndefined(yield* store.get("a")), second)
        yield* store.remove("a")
        yield* store.remove("a")
        assert.isTrue(Option.isNone(yield* store.get("a")))
        assert.strictEqual(yield* store.update(second, 2), "Missing")
      })
    )

    test(
      "keeps an outcome as it is",
      Effect.gen(function*() {
        const store = yield* TaskStore.TaskStore
        yield* store.create(record("a"), 10)
        const outcome = { _tag: "Result", result: { content: [], structuredContent: { deep: [null, 1] } } } as const
        const ended = TaskState.step(record("a"), { _tag: "Ended", outcome, message: undefined }, 5)
        yield* store.update(ended, 1)
        assert.deepEqual(Option.getOrUndefined(yield* store.get("a")), ended)
      })
    )

    test(
      "is full at its limit, and makes room by forgetting what has expired",
      Effect.gen(function*() {
        const store = yield* TaskStore.TaskStore
        assert.strictEqual(yield* store.create(record("a"), 2), "Created")
        assert.strictEqual(yield* store.create(record("b", { ttl: null }), 2), "Created")
        assert.strictEqual(yield* store.create(record("c"), 2), "Full")
        yield* TestClock.adjust(1000)
        assert.strictEqual(yield* store.create(record("c", { createdAt: 1000 }), 2), "Created")
        assert.isTrue(Option.isNone(yield* store.get("a")))
        yield* store.expire(5000)
        assert.isTrue(Option.isNone(yield* store.get("c")))
        assert.isTrue(Option.isSome(yield* store.get("b")))
      })
    )

    test(
      "[TKL-10] lists the tasks of one principal in order, a page at a time, without what has expired",
      Effect.gen(function*() {
        const store = yield* TaskStore.TaskStore
        for (const id of ["c", "a", "d", "b"]) yield* store.create(record(id), 10)
        yield* store.create(record("aa", { principal: "q" }), 10)
        yield* store.create(record("bb", { ttl: 0 }), 10)
        const list = (after: string | undefined) =>
          Effect.map(store.list({ principal: "p", after, limit: 2 }), ({ more, records }) => ({
            ids: records.map(({ id }) => id),
            more
          }))
        assert.deepEqual(yield* list(undefined), { ids: ["a", "b"], more: true })
        assert.deepEqual(yield* list("b"), { ids: ["c", "d"], more: false })
        assert.deepEqual(yield* list("bzz"), { ids: ["c", "d"], more: false })
        assert.deepEqual(yield* list("d"), { ids: [], more: false })
      })
    )

    test(
      "knows that it is alive",
      Effect.gen(function*() {
        const store = yield* TaskStore.TaskStore
        assert.isTrue(yield* store.isAlive(store.owner))
        assert.isFalse(yield* store.isAlive("somebody else"))
      })
    )
  })
}

/** A server over a store that outlives it, until it is stopped. */
const start = (bench: Bench, values: Context.Context<KeyValueStore.KeyValueStore>) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const tasks = Layer.provide(Layer.fresh(TaskStore.layerKeyValueStore), Layer.succeedContext(values))
    const store = yield* Layer.buildWithScope(tasks, scope)
    const endpoint = yield* served(bench).pipe(Effect.provide(store), Scope.provide(scope))
    return { endpoint, stop: Scope.close(scope, Exit.void), store: Context.get(store, TaskStore.TaskStore) }
  })

describe("a restart", () => {
  it.effect("[TKX-05] [TKL-05] finished results are still there", () =>
    Effect.gen(function*() {
      const values = yield* Layer.build(KeyValueStore.layerMemory)
      const first = yield* start(new Bench(), values)
      const client = connect(first.endpoint, core)
      const id = idOf(yield* client.request("tools/call", { name: "job", task: {} }))
      const before = yield* client.request("tasks/result", { taskId: id })
      yield* first.stop
      const second = yield* start(new Bench(), values)
      const again = connect(second.endpoint, core)
      assert.deepEqual((yield* again.request("tasks/result", { taskId: id })).result, before.result)
      assert.strictEqual(at((yield* again.request("tasks/list")).result, "tasks", 0, "taskId"), id)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* again.request("tasks/get", { taskId: id })).code, -32602)
      yield* second.stop
    }).pipe(Effect.scoped))

  it.effect("what was not finished has failed, with the reason", () =>
    Effect.gen(function*() {
      const values = yield* Layer.build(KeyValueStore.layerMemory)
      const first = yield* start(new Bench(), values)
      const client = connect(first.endpoint, modern)
      const id = idOf(yield* client.request("tools/call", declaring({ name: "job", arguments: { wait: 60_000 } })))
      yield* settle
      // It crashes: what it runs is never told to stop.
      const second = yield* start(new Bench(), values)
      const again = connect(second.endpoint, modern)
      const got = yield* again.request("tasks/get", declaring({ taskId: id }))
      assert.deepInclude(got.result, { status: "failed", statusMessage: "server_restarted" })
      assert.deepEqual(at(got.result, "error", "data"), { reason: "server_restarted" })
      // Whatever comes of it after all does not count.
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(at((yield* again.request("tasks/get", declaring({ taskId: id }))).result, "status"), "failed")
      assert.strictEqual(at((yield* client.request("tasks/get", declaring({ taskId: id }))).result, "status"), "failed")
      yield* first.stop
      yield* second.stop
    }).pipe(Effect.scoped))

  it.effect("an orderly end says so itself", () =>
    Effect.gen(function*() {
      const values = yield* Layer.build(KeyValueStore.layerMemory)
      const bench = new Bench()
      const first = yield* start(bench, values)
      const client = connect(first.endpoint, core)
      const id = idOf(yield* client.request("tools/call", { name: "job", arguments: { wait: 60_000 }, task: {} }))
      yield* settle
      yield* first.stop
      assert.strictEqual(bench.interrupted, 1)
      const second = yield* start(new Bench(), values)
      const kept = Option.getOrUndefined(yield* second.store.get(id))
      assert.deepInclude(kept, { status: "failed", statusMessage: "server_restarted" })
      yield* second.stop
    }).pipe(Effect.scoped))
})

describe("a store that fails", () => {
  const failing = (operations: ReadonlyArray<string>) => {
    const broken =
      (operation: "create" | "get" | "update") => <A>(self: Effect.Effect<A, ServerError.TaskStoreUnavailable>) =>
        Effect.suspend(() =>
          operations.includes(operation)
            ? Effect.fail(new ServerError.TaskStoreUnavailable({ operation, cause: "secret address" }))
            : self
        )
    return Layer.effect(
      TaskStore.TaskStore,
      Effect.map(TaskStore.TaskStore, (store) => ({
        ...store,
        create: (record, limit) => broken("create")(store.create(record, limit)),
        get: (id) => broken("get")(store.get(id)),
        update: (record, expected) => broken("update")(store.update(record, expected))
      }))
    ).pipe(Layer.provide(TaskStore.layerMemory))
  }

  it.effect("[TKX-05] nothing runs that could not be kept, and nothing is said about why", () =>
    Effect.gen(function*() {
      const bench = new Bench()
      const endpoint = yield* Effect.provide(served(bench), failing(["create", "get"]))
      const client = connect(endpoint, core)
      const sent = yield* client.request("tools/call", { name: "job", task: {} })
      assert.deepEqual(sent.error, { code: -32603, message: "Internal error" })
      assert.strictEqual((yield* client.request("tasks/get", { taskId: "x" })).code, -32603)
      yield* settle
      assert.strictEqual(bench.started, 0)
    }).pipe(Effect.scoped))

  it.effect("an end that cannot be kept is told all the same, and kept later", () =>
    Effect.gen(function*() {
      const operations: Array<string> = []
      const store = yield* Layer.build(failing(operations))
      const endpoint = yield* Effect.provide(served(new Bench()), store)
      const client = connect(endpoint, core)
      const id = idOf(yield* client.request("tools/call", { name: "job", arguments: { wait: 10 }, task: {} }))
      operations.push("update")
      yield* TestClock.adjust("10 seconds")
      const status = Effect.map(client.request("tasks/get", { taskId: id }), (got) => at(got.result, "status"))
      assert.strictEqual(yield* status, "completed")
      const kept = Effect.map(Context.get(store, TaskStore.TaskStore).get(id), Option.getOrUndefined)
      assert.strictEqual((yield* kept)?.status, "working")
      operations.splice(0)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* kept)?.status, "completed")
      assert.strictEqual(yield* status, "completed")
    }).pipe(Effect.scoped))
})
