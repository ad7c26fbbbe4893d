/**
 * Nonces at random, drawn from the platform in bulk: to draw a few bytes takes as long as to draw a thousand.
 *
 * Each byte is handed out once, and wiped where it was. No process has the pool of another: a program in JavaScript cannot
 * fork without starting anew, and each worker makes its own. Only the image of a whole machine may run twice, with this pool
 * in it, as with the generator of the platform where that lives in the process. So the time is mixed in: copies that draw
 * the same bytes have different nonces nevertheless.
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
    const end = at + nonceLength
    const nonce = new Uint8Array(nonceLength)
    nonce.set(pool.subarray(at, end))
    pool.fill(0, at, end)
    at = end
    const view = new DataView(nonce.buffer)
    view.setBigUint64(0, view.getBigUint64(0) ^ BigInt.asUintN(64, time))
    return nonce
  }

  // Whoever comes in between may take the last: what is left is looked at where it is taken.
  const draw: Effect.Effect<Uint8Array> = Effect.clockWith((clock) =>
    at < pool.length ? Effect.succeed(take(clock.currentTimeNanosUnsafe())) : fill
  )
  const fill = Effect.flatMap(random.randomBytes(many * nonceLength), (bytes) => {
    pool = bytes
    at = 0
    return draw
  })
  return draw
}
