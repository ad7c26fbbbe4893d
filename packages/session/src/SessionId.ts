/**
 * The name of a session: unguessable, and fit for an HTTP header (HTTP-35).
 *
 * @since 0.1.0
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Schema from "effect/Schema"

/**
 * Visible ASCII, at most 256 characters: what a peer may send as a session id at all.
 *
 * @category schemas
 * @since 0.1.0
 */
export const SessionId = Schema.String.pipe(
  Schema.check(Schema.isPattern(/^[\x21-\x7e]{1,256}$/)),
  Schema.brand("@mcpfx/session/SessionId")
)

/**
 * @category models
 * @since 0.1.0
 */
export type SessionId = typeof SessionId.Type

/**
 * @category guards
 * @since 0.1.0
 */
export const isSessionId = Schema.is(SessionId)

/** 144 bits: more than the 128 that a secret needs, and a whole number of base64 characters. */
const bytes = 18

/**
 * A new id: 144 random bits in base64url.
 *
 * **Example** (Making an id)
 *
 * ```ts
 * import { SessionId } from "@mcpfx/session"
 * import { Effect } from "effect"
 * import { SecureRandom } from "effect/crypto"
 *
 * const id = Effect.runSync(Effect.provide(SessionId.make, SecureRandom.layerWebCrypto))
 * id.length // => 24
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: Effect.Effect<SessionId, never, SecureRandom.SecureRandom> = Effect.flatMap(
  SecureRandom.SecureRandom,
  (random) => Effect.map(random.randomBytes(bytes), (bytes) => SessionId.make(Base64Url.encode(bytes)))
)
