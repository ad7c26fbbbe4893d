/**
 * The directory of a server's sessions: who may use which, how many there are, and when they are forgotten.
 *
 * @since 0.1.0
 */
import type { Link } from "@mcpfx/transport/Link"
import * as Context from "effect/Context"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { makeConnected } from "./internal/connectedSessions.ts"
import { makeDirectory } from "./internal/directory.ts"
import { type SessionRecord, SessionStore } from "./internal/sessionRecord.ts"
import type { Session } from "./Session.ts"
import type { CloseReason, SessionNotFound, SessionStoreUnavailable, TooManySessions } from "./SessionError.ts"

/**
 * What a directory knows of a session it wants made: options of `Session.make`, to be passed on as they are.
 *
 * @category models
 * @since 0.1.0
 */
export interface Seed {
  readonly id: string
  readonly principalKey: string
  readonly link?: Link | undefined
  /** Where the session stood in another process. */
  readonly record?: SessionRecord | undefined
  readonly save?: ((session: Session) => Effect.Effect<void>) | undefined
  readonly onClosed: (reason: CloseReason) => void
}

/**
 * Makes the sessions of an endpoint. Provided by the endpoint, used by the directory, wherever it runs.
 *
 * @category services
 * @since 0.1.0
 */
export class SessionFactory extends Context.Service<SessionFactory, {
  readonly make: (seed: Seed) => Effect.Effect<Session, never, Scope.Scope>
}>()("@mcpfx/session/SessionFactory") {}

/**
 * @category services
 * @since 0.1.0
 */
export class Sessions extends Context.Service<Sessions, {
  /** Opens a session for a caller, over a connection where there is one. */
  readonly open: (options: {
    readonly principalKey: string
    readonly link?: Link | undefined
  }) => Effect.Effect<Session, TooManySessions>
  /**
   * The session of this id, if it is this caller's; a session of somebody else is not found either (CON-02 of
   * field practice). An `Exit` where the session is in this process. Using a session keeps it from idling out.
   */
  readonly get: (
    id: string,
    principalKey: string
  ) => Effect.Effect<Session, SessionNotFound | SessionStoreUnavailable>
  /** Ends a session for good (HTTP-41). */
  readonly terminate: (
    id: string,
    principalKey: string
  ) => Effect.Effect<void, SessionNotFound | SessionStoreUnavailable>
  /** How many sessions are in this process. */
  readonly count: Effect.Effect<number>
  /** Takes no new requests, and succeeds when those that run have ended; at the deadline they are interrupted. */
  readonly drain: (deadline: Duration.Input) => Effect.Effect<void>
  /** Ends every session in this process. */
  readonly closeAll: (reason: CloseReason) => Effect.Effect<void>
}>()("@mcpfx/session/Sessions") {}

/**
 * Sessions of this process alone, gone when it ends. Closing the layer closes them with the reason `shutdown`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<Sessions, never, SessionFactory | SecureRandom.SecureRandom> = Layer.effect(
  Sessions,
  Effect.flatMap(SessionFactory, (factory) => makeDirectory(factory.make, undefined))
)

/**
 * Sessions of this process that are reached over their connections alone, as over standard input and output: each ends with
 * its connection, so that none idles out, none is kept in a store, and `get` and `terminate` find none.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConnected: Layer.Layer<Sessions, never, SessionFactory | SecureRandom.SecureRandom> = Layer.effect(
  Sessions,
  Effect.flatMap(SessionFactory, (factory) => makeConnected(factory.make))
)

/**
 * Sessions that are kept in a `SessionStore` too: one that is only there is revived by its first request. The process that
 * serves a session goes by its own copy, so requests of one session belong on one process while it lives.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Sessions, never, SessionFactory | SessionStore | SecureRandom.SecureRandom> = Layer
  .effect(
    Sessions,
    Effect.gen(function*() {
      const factory = yield* SessionFactory
      return yield* makeDirectory(factory.make, yield* SessionStore)
    })
  )

/**
 * {@link layer} where a `SessionStore` is provided from outside, {@link layerMemory} where none is.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerDefault: Layer.Layer<Sessions, never, SessionFactory | SecureRandom.SecureRandom> = Layer.unwrap(
  Effect.map(
    Effect.serviceOption(SessionStore),
    Option.match({
      onNone: () => layerMemory,
      onSome: (store) => Layer.provide(layer, Layer.succeed(SessionStore, store))
    })
  )
)
