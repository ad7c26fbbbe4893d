/**
 * Where sessions are kept so that another process can go on with them.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import { SessionRecord, SessionStore } from "./internal/sessionRecord.ts"
import { SessionStoreUnavailable } from "./SessionError.ts"

export { SessionRecord, SessionStore }

/**
 * Keeps records in this process: for tests, and to share sessions between endpoints of one process.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<SessionStore> = Layer.sync(SessionStore, () => {
  const records = new Map<string, SessionRecord>()
  return {
    load: (id) => Effect.sync(() => Option.fromUndefinedOr(records.get(id))),
    save: (record) => Effect.sync(() => void records.set(record.id, record)),
    remove: (id) => Effect.sync(() => void records.delete(id))
  }
})

/**
 * Keeps records in a `KeyValueStore`, under `mcp-session/`. The store may let them expire on its own; one that it still has
 * after the idle time is not used.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerKeyValueStore: Layer.Layer<SessionStore, never, KeyValueStore.KeyValueStore> = Layer.effect(
  SessionStore,
  Effect.map(KeyValueStore.KeyValueStore, (store) => {
    const records = KeyValueStore.toSchemaStore(KeyValueStore.prefix(store, "mcp-session/"), SessionRecord)
    const unavailable = (operation: SessionStoreUnavailable["operation"]) => (cause: unknown) =>
      new SessionStoreUnavailable({ operation, cause })
    return {
      load: (id) => Effect.mapError(records.get(id), unavailable("load")),
      save: (record) => Effect.mapError(records.set(record.id, record), unavailable("save")),
      remove: (id) => Effect.mapError(records.remove(id), unavailable("remove"))
    }
  })
)
