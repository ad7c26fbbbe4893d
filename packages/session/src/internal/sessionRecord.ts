/** The port of kept sessions, apart from what can be behind it: most programs keep none, and should not load a database. */
import * as Capabilities from "@mcpfx/schema/Capabilities"
import * as Implementation from "@mcpfx/schema/Implementation"
import * as Logging from "@mcpfx/schema/Logging"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SessionStoreUnavailable } from "../SessionError.ts"

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
