/**
 * Nonces at random, drawn from the platform in bulk: one draw of a few bytes takes as long as one of some thousand.
 *
 * Each byte is handed out once and wiped here. Nothing copies a pool within a process tree: programs of JavaScript do not
 * fork without starting anew, and every worker has its own. The image of a whole machine may be copied, and with it this
 * pool, as the generator of the platform is where it lives in the process. So the time is mixed in: copies that draw the
 * same bytes still have different nonces.
 */
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"

/** Bytes of a nonce. */
export const nonceLength = 24

/** Nonces of one draw. */
const many = 64

export const make = (random: SecureRandom.SecureRandom["Service"]): Effect.Effect<Uint8Array> => {
  let pool: Uint8Array = new Uint8Array(0)
  let at = 0

  const take = (time: bigint): Uint8Array => {
    const nonce = pool.slice(at, at + nonceLength)
    pool.fill(0, at, at + nonceLength)
    at += nonceLength
    const view = new DataView(nonce.buffer)
    view.setBigUint64(0, view.getBigUint64(0) ^ BigInt.asUintN(64, time))
    return nonce
  }

  const fill = Effect.map(random.randomBytes(many * nonceLength), (bytes) => {
    pool = bytes
    at = 0
  })

  const draw = Effect.clockWith((clock) => Effect.succeed(take(clock.currentTimeNanosUnsafe())))
  return Effect.suspend(() => at < pool.length ? draw : Effect.andThen(fill, draw))
}
