/**
 * Where tasks are kept: in memory by default, elsewhere so that finished results outlive a restart of the server.
 *
 * **Example** (Results that outlive the process)
 *
 * ```ts
 * import { TaskStore } from "@mcpfx/server"
 * import { Layer } from "effect"
 * import { KeyValueStore } from "effect/persistence"
 *
 * const Tasks = TaskStore.layerKeyValueStore.pipe(Layer.provide(KeyValueStore.layerMemory))
 * Layer.isLayer(Tasks) // => true
 * ```
 *
 * @since 0.1.0
 */
import { isExpired, TaskRecord } from "@mcpfx/session/TaskState"
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Semaphore from "effect/Semaphore"
import * as Memory from "./internal/taskMemory.ts"
import { type TaskPage, TaskStore } from "./internal/taskRecord.ts"
import { TaskStoreUnavailable } from "./ServerError.ts"

export { type TaskPage, TaskStore } from "./internal/taskRecord.ts"

/**
 * Keeps tasks in this process. An endpoint without any store has such a one of its own; provided from outside it is shared by
 * several endpoints of one process.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<TaskStore> = Layer.sync(TaskStore, Memory.make)

const ownerBytes = 18

const makeKeyValueStore = Effect.gen(function*() {
  const store = KeyValueStore.prefix(yield* KeyValueStore.KeyValueStore, "mcp-task/")
  const records = KeyValueStore.toSchemaStore(store, TaskRecord)
  const random = yield* SecureRandom.SecureRandom
  const owner = Base64Url.encode(yield* random.randomBytes(ownerBytes))
  // One process writes, so one lock makes each change a single step.
  const lock = Semaphore.makeUnsafe(1)
  const unavailable = (operation: TaskStoreUnavailable["operation"]) => <A, E, R>(self: Effect.Effect<A, E, R>) =>
    Effect.mapError(self, (cause) => new TaskStoreUnavailable({ operation, cause }))

  const expired = (now: number) =>
    Effect.flatMap(
      store.keys,
      (ids) =>
        Effect.forEach(ids, (id) =>
          Effect.flatMap(records.get(id), (found) =>
            Option.isSome(found) && isExpired(found.value, now) ? store.remove(id) : Effect.void), { discard: true })
    )

  const create: TaskStore["Service"]["create"] = (record, limit) =>
    Effect.gen(function*() {
      if ((yield* store.size) >= limit) {
        yield* expired(yield* Clock.currentTimeMillis)
        if ((yield* store.size) >= limit) return "Full"
      }
      yield* records.set(record.id, record)
      return "Created"
    }).pipe(lock.withPermits(1), unavailable("create"))

  const update: TaskStore["Service"]["update"] = (record, expected) =>
    Effect.gen(function*() {
      const current = yield* records.get(record.id)
      if (Option.isNone(current)) return "Missing"
      if (current.value.version !== expected) return "Conflict"
      yield* records.set(record.id, record)
      return "Updated"
    }).pipe(lock.withPermits(1), unavailable("update"))

  const list: TaskStore["Service"]["list"] = ({ after, limit, principal }) =>
    Effect.gen(function*() {
      const time = yield* Clock.currentTimeMillis
      const found: Array<TaskRecord> = []
      for (const id of (yield* store.keys).toSorted()) {
        if (after !== undefined && id <= after) continue
        const record = yield* records.get(id)
        if (Option.isNone(record) || record.value.principal !== principal || isExpired(record.value, time)) continue
        if (found.length === limit) return { records: found, more: true }
        found.push(record.value)
      }
      const page: TaskPage = { records: found, more: false }
      return page
    }).pipe(unavailable("list"))

  const self: TaskStore["Service"] = {
    owner,
    isAlive: (other) => Effect.succeed(other === owner),
    create,
    get: (id) => unavailable("get")(records.get(id)),
    update,
    list,
    remove: (id) => unavailable("remove")(store.remove(id)),
    expire: (now) => expired(now).pipe(lock.withPermits(1), unavailable("expire"))
  }
  return self
})

/**
 * Keeps tasks in a `KeyValueStore`, under `mcp-task/`, for one process at a time: what a process left unfinished is reported as
 * failed, with the reason `server_restarted`, by the next one. Results are kept until the time of their task is over.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerKeyValueStore: Layer.Layer<TaskStore, never, KeyValueStore.KeyValueStore> = Layer.provide(
  Layer.effect(TaskStore, makeKeyValueStore),
  SecureRandom.layerWebCrypto
)
