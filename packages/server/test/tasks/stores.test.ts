/** Stores that are slow, or of two minds. */
import { assert, describe, it } from "@effect/vitest"
import { ServerError, TaskStore } from "@mcpfx/server"
import type { TaskState } from "@mcpfx/session"
import { Effect, Layer, Logger, Option } from "effect"
import { TestClock } from "effect/testing"
import { at } from "../protocol/harness.ts"
import { Bench, connected, declaring, idOf, modern, served, settle } from "./support.ts"

/** A store in memory whose operations can be made to misbehave. */
class Shaky {
  readonly records = new Map<string, TaskState.TaskRecord>()
  /** How long a record takes to be created; it is in the store from the beginning. */
  creating = 0
  /** Says that somebody else was first, whatever is the case. */
  contested = false
  /** Cannot be read. */
  unreadable = false
  updates = 0

  readonly layer = Layer.succeed(TaskStore.TaskStore, {
    owner: "here",
    isAlive: (owner) => Effect.succeed(owner === "here"),
    create: (record) =>
      Effect.suspend(() => {
        this.records.set(record.id, record)
        return Effect.as(Effect.sleep(this.creating), "Created" as const)
      }),
    get: (id) =>
      Effect.suspend(() =>
        this.unreadable
          ? Effect.fail(new ServerError.TaskStoreUnavailable({ operation: "get", cause: "broken" }))
          : Effect.succeed(Option.fromUndefinedOr(this.records.get(id)))
      ),
    update: (record, expected) =>
      Effect.sync(() => {
        this.updates++
        if (this.contested || this.records.get(record.id)?.version !== expected) return "Conflict"
        this.records.set(record.id, record)
        return "Updated"
      }),
    list: () => Effect.succeed({ records: Array.from(this.records.values()), more: false }),
    remove: (id) => Effect.sync(() => void this.records.delete(id)),
    expire: () => Effect.void
  })
}

const silent = Effect.provideService(Logger.CurrentLoggers, new Set())

describe("a store that is slow", () => {
  it.effect("[TKX-05] a call that is given up while its task is created leaves no task and no count behind", () =>
    Effect.gen(function*() {
      const store = new Shaky()
      store.creating = 1000
      const bench = new Bench()
      const endpoint = yield* Effect.provide(served(bench, { limits: { tasksPerPrincipal: 1 } }), store.layer)
      const { client } = connected(endpoint, modern)
      const given = client.start("tools/call", declaring({ name: "job" }), "given up")
      yield* settle
      assert.strictEqual(store.records.size, 1)
      client.notify("notifications/cancelled", { requestId: "given up" })
      yield* TestClock.adjust(1000)
      yield* settle
      assert.strictEqual(store.records.size, 0)
      assert.isUndefined(given.result)
      assert.strictEqual(bench.started, 0)
      store.creating = 0
      const next = yield* client.request("tools/call", declaring({ name: "job" }))
      assert.strictEqual(at(next.result, "resultType"), "task")
      yield* settle
      assert.strictEqual(bench.started, 1)
    }).pipe(Effect.scoped))
})

describe("a store that cannot agree", () => {
  for (const unreadable of [true, false]) {
    const how = unreadable ? "and cannot be read" : "and says that nothing changed"
    it.effect(`[TKX-05] the end of a task is told, and soon, where each write is refused ${how}`, () =>
      Effect.gen(function*() {
        const store = new Shaky()
        const bench = new Bench()
        const endpoint = yield* Effect.provide(served(bench), store.layer)
        const { client } = connected(endpoint, modern)
        const id = idOf(yield* client.request("tools/call", declaring({ name: "job", arguments: { wait: 10 } })))
        store.contested = true
        store.unreadable = unreadable
        yield* TestClock.adjust(10)
        yield* settle
        assert.isBelow(store.updates, 20)
        const look = yield* client.request("tasks/get", declaring({ taskId: id }))
        assert.strictEqual(at(look.result, "status"), "completed")
        assert.strictEqual(store.records.get(id)?.status, "working")
        // What could not be saved is saved once it can be.
        store.contested = false
        store.unreadable = false
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(store.records.get(id)?.status, "completed")
      }).pipe(Effect.scoped, silent))
  }
})
