/**
 * SHA-256 (FIPS 180-4) without waiting: what a question is known by has to stand before its fiber may be interrupted, and the
 * digest of the platform comes later.
 */
import * as Base64Url from "effect/encoding/Base64Url"

/** The first 32 bits of the fractional part of a root. */
const fraction = (root: number): number => Math.floor((root - Math.floor(root)) * 2 ** 32)

const primes: ReadonlyArray<number> = (() => {
  const found: Array<number> = []
  for (let n = 2; found.length < 64; n++) if (found.every((prime) => n % prime !== 0)) found.push(n)
  return found
})()

const rounds = Uint32Array.from(primes, (prime) => fraction(Math.cbrt(prime)))
const start = Uint32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)))

const encoder = new TextEncoder()
const blockLength = 64

/** The message with its end marked, and its length in bits behind it. */
const padded = (message: Uint8Array): DataView => {
  const length = Math.ceil((message.length + 9) / blockLength) * blockLength
  const bytes = new Uint8Array(length)
  bytes.set(message)
  bytes[message.length] = 0x80
  const view = new DataView(bytes.buffer)
  view.setUint32(length - 8, Math.floor(message.length / 2 ** 29))
  view.setUint32(length - 4, message.length << 3)
  return view
}

const right = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

const at = (words: Uint32Array, index: number): number => words[index] ?? 0

/** Mixes one block, whose first words stand in `words`, into `hash`. */
const mix = (hash: Uint32Array, words: Uint32Array): void => {
  for (let t = 16; t < 64; t++) {
    const a = at(words, t - 15)
    const b = at(words, t - 2)
    const s0 = right(a, 7) ^ right(a, 18) ^ (a >>> 3)
    const s1 = right(b, 17) ^ right(b, 19) ^ (b >>> 10)
    words[t] = at(words, t - 16) + s0 + at(words, t - 7) + s1
  }
  let a = at(hash, 0), b = at(hash, 1), c = at(hash, 2), d = at(hash, 3)
  let e = at(hash, 4), f = at(hash, 5), g = at(hash, 6), h = at(hash, 7)
  for (let t = 0; t < 64; t++) {
    const s1 = right(e, 6) ^ right(e, 11) ^ right(e, 25)
    const one = (h + s1 + ((e & f) ^ (~e & g)) + at(rounds, t) + at(words, t)) | 0
    const s0 = right(a, 2) ^ right(a, 13) ^ right(a, 22)
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + one) | 0
    d = c
    c = b
    b = a
    a = (one + two) | 0
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) hash[index] = at(hash, index) + word
}

/** The digest of a text in base64url. */
export const sha256 = (text: string): string => {
  const view = padded(encoder.encode(text))
  const hash = Uint32Array.from(start)
  const words = new Uint32Array(64)
  for (let block = 0; block < view.byteLength; block += blockLength) {
    for (let t = 0; t < 16; t++) words[t] = view.getUint32(block + t * 4)
    mix(hash, words)
  }
  const digest = new DataView(new ArrayBuffer(32))
  for (const [index, word] of hash.entries()) digest.setUint32(index * 4, word)
  return Base64Url.encode(new Uint8Array(digest.buffer))
}
