/** Ids of requests in a session that began in another process, and has used ids there. */
import { randomBytesUnsafe } from "effect/crypto/SecureRandom"
import type { IdFormat } from "../Pending.ts"

/** What one life of a session may ask; the product with all bases stays a safe integer. */
const perLife = 2 ** 20

/**
 * Integers that no earlier life of the session has used (RPC-03): an answer to what that one asked must not be taken for an
 * answer to something else. How far it came is not in the store, so the numbers begin somewhere at random.
 */
export const revivedIds = (): IdFormat => {
  const base = randomBytesUnsafe(4).reduce((sum, byte) => sum * 256 + byte, 0)
  const first = (base + 1) * perLife
  return (n) => first + n
}
