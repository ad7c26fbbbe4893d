/**
 * The state of a request that asks its client in rounds: sealed here, carried by the client, opened here again (MRT-06).
 *
 * Each state is encrypted and authenticated with XChaCha20-Poly1305, whose nonces are long enough to be drawn at random,
 * under a key that HKDF derives from one of the keys of the ring; the header that names the key is authenticated with it.
 * The first key seals, all open: a key is retired by putting a new one before it, and taking it out once what it sealed has
 * expired.
 *
 * @since 0.1.0
 */
import type * as Config from "effect/Config"
import * as Aead from "effect/crypto/Aead"
import type { CryptoError } from "effect/crypto/CryptoError"
import * as Kdf from "effect/crypto/Kdf"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { checkKeys, textOf } from "./internal/stateKeys.ts"
import { type Key, type Opened, RequestState } from "./internal/statePort.ts"
import type { InvalidOptions } from "./ServerError.ts"

export { type Key, type Opened, RequestState } from "./internal/statePort.ts"

const version = 1
const idLength = 8
const nonceLength = 24
const headerLength = 1 + idLength + nonceLength
const tagLength = 16

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const forStates = encoder.encode("mcpfx request state")
const forIds = encoder.encode("mcpfx request state key id")
const noSalt = new Uint8Array(0)

interface Secret {
  readonly id: Uint8Array
  readonly key: Aead.Key
}

/** For states of some hundred bytes it takes a sixth of what the ciphers of Web Crypto do, which run in other threads. */
const cipher = Aead.xchacha20Poly1305

const join = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

const equal = (a: Uint8Array, b: Uint8Array): boolean => a.every((byte, index) => byte === b[index])

/** Only the one way to write some bytes is read: what was changed in any character is refused. */
const bytesOf = (sealed: string): Uint8Array | undefined => {
  const bytes = Base64Url.decode(sealed)
  return Result.isSuccess(bytes) && Base64Url.encode(bytes.success) === sealed ? bytes.success : undefined
}

type Crypto = Aead.Aead | Kdf.Kdf | SecureRandom.SecureRandom

const make = (secrets: readonly [Secret, ...ReadonlyArray<Secret>]) =>
  Effect.gen(function*() {
    const aead = yield* Aead.Aead
    const random = yield* SecureRandom.SecureRandom
    const [first] = secrets

    const seal = Effect.fnUntraced(function*(text: string) {
      const nonce = yield* random.randomBytes(nonceLength)
      const header = join(Uint8Array.of(version), first.id, nonce)
      const sealed = yield* aead.encrypt(first.key, encoder.encode(text), { nonce, aad: header })
      return Base64Url.encode(join(header, sealed))
    }, Effect.orDie)

    const open = Effect.fnUntraced(function*(sealed: string) {
      const bytes = bytesOf(sealed)
      if (bytes === undefined || bytes.length < headerLength + tagLength || bytes[0] !== version) return Option.none()
      const header = bytes.subarray(0, headerLength)
      const id = header.subarray(1, 1 + idLength)
      const secret = secrets.find((secret) => equal(secret.id, id))
      if (secret === undefined) return Option.none()
      const nonce = header.subarray(1 + idLength)
      const text = yield* aead.decrypt(secret.key, bytes.subarray(headerLength), { nonce, aad: header })
      return Option.some<Opened>({ text: decoder.decode(text), id: Base64Url.encode(nonce) })
    })

    return RequestState.of({
      seal,
      unseal: (sealed) => Effect.catch(open(sealed), () => Effect.succeedNone)
    })
  })

const crypto = Layer.merge(Aead.layerWebCrypto, Kdf.layerWebCrypto).pipe(
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)

/** The secret itself never leaves; what seals, and what names it, is derived from it. */
const secretOf = (key: Key): Effect.Effect<Secret, CryptoError, Kdf.Kdf> =>
  Effect.gen(function*() {
    const bytes = encoder.encode(textOf(key))
    const kdf = yield* Kdf.Kdf
    const derived = (info: Uint8Array, length: number) =>
      kdf.derive(Kdf.hkdfSha256, bytes, { salt: noSalt, info, length })
    return {
      id: yield* derived(forIds, idLength),
      key: yield* Aead.key(cipher, yield* derived(forStates, 32))
    }
  })

/**
 * Seals with the first key and opens with any: put a new key before the others, and take an old one out after
 * `stateLife`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (keys: ReadonlyArray<Key>): Layer.Layer<RequestState, InvalidOptions> =>
  Layer.effect(
    RequestState,
    Effect.gen(function*() {
      const [first, ...others] = yield* Effect.forEach(yield* Effect.fromResult(checkKeys(keys)), secretOf)
      return yield* make([first, ...others])
    }).pipe(Effect.catchTag("CryptoError", Effect.die))
  ).pipe(Layer.provide(crypto))

/**
 * {@link layer} with the keys from configuration: a list, or a text with commas between them.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  keys: Config.Config<ReadonlyArray<Key>>
): Layer.Layer<RequestState, InvalidOptions | Config.ConfigError> => Layer.unwrap(Effect.map(keys, layer))

/**
 * Seals with a key that nobody else has and that ends with the process: for servers of one process.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerRandom: Layer.Layer<RequestState> = Layer.effect(
  RequestState,
  Effect.gen(function*() {
    const drawn = Effect.gen(function*() {
      const random = yield* SecureRandom.SecureRandom
      const key = yield* Aead.key(cipher, yield* random.randomBytes(32))
      return yield* make([{ id: yield* random.randomBytes(idLength), key }])
    }).pipe(Effect.orDie)
    // When it is first needed: some platforms have no chance to offer while a program is loaded.
    const state = yield* Effect.cached(Effect.provideContext(drawn, yield* Effect.context<Crypto>()))
    return {
      seal: (text) => Effect.flatMap(state, ({ seal }) => seal(text)),
      unseal: (sealed) => Effect.flatMap(state, ({ unseal }) => unseal(sealed))
    }
  })
).pipe(Layer.provide(crypto))
