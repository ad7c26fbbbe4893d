/**
 * Where sessions are kept so that another process can go on with them.
 *
 * @since 0.1.0
 */
import * as Capabilities from "@mcpfx/schema/Capabilities"
import * as Implementation from "@mcpfx/schema/Implementation"
import * as Logging from "@mcpfx/schema/Logging"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Schema from "effect/Schema"
import { SessionStoreUnavailable } from "./SessionError.ts"

/**
 * What is kept of a session: enough to go on with it, nothing of what it said.
 *
 * @category schemas
 * @since 0.1.0
 */
export const SessionRecord = Schema.Struct({
  id: Schema.String,
  /** Whom it belongs to. */
  principalKey: Schema.String,
  /** The revision that was agreed. */
  version: Schema.String,
  clientInfo: Implementation.Implementation,
  clientCapabilities: Capabilities.Client,
  /** Whether `notifications/initialized` has come. */
  initialized: Schema.Boolean,
  logLevel: Schema.optionalKey(Logging.Level),
  subscriptions: Schema.Array(Schema.String),
  /** In milliseconds since the epoch; right to within a minute or so. */
  lastSeen: Schema.Finite
})

/**
 * @category models
 * @since 0.1.0
 */
export interface SessionRecord extends Schema.Schema.Type<typeof SessionRecord> {}

/**
 * @category services
 * @since 0.1.0
 */
export class SessionStore extends Context.Service<SessionStore, {
  readonly load: (id: string) => Effect.Effect<Option.Option<SessionRecord>, SessionStoreUnavailable>
  readonly save: (record: SessionRecord) => Effect.Effect<void, SessionStoreUnavailable>
  /** Removes a record; succeeds where there is none. */
  readonly remove: (id: string) => Effect.Effect<void, SessionStoreUnavailable>
}>()("@mcpfx/session/SessionStore") {}

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
