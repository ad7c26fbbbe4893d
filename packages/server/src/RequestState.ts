/**
 * The state of a request that asks its client in rounds: sealed here, carried by the client, opened here again (MRT-06).
 *
 * Each state is encrypted and authenticated with AES-256-GCM under a key of its own, which HKDF derives from one of the keys
 * of the ring; the header that names the key is authenticated with it. The first key seals, all open: a key is retired by
 * putting a new one before it, and taking it out once what it sealed has expired.
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
const saltLength = 16
const nonceLength = 12
const headerLength = 1 + idLength + saltLength + nonceLength
const tagLength = 16

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const forStates = encoder.encode("mcpfx request state")
const forIds = encoder.encode("mcpfx request state key id")
const noSalt = new Uint8Array(0)

interface Secret {
  readonly id: Uint8Array
  readonly bytes: Uint8Array
}

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
    const kdf = yield* Kdf.Kdf
    const random = yield* SecureRandom.SecureRandom
    const [first] = secrets

    const keyOf = (secret: Secret, salt: Uint8Array) =>
      Effect.flatMap(
        kdf.derive(Kdf.hkdfSha256, secret.bytes, { salt, info: forStates, length: 32 }),
        (bytes) => Aead.key(Aead.aes256Gcm, bytes)
      )

    const seal = Effect.fn("RequestState.seal")(function*(text: string) {
      const salt = yield* random.randomBytes(saltLength)
      const nonce = yield* random.randomBytes(nonceLength)
      const header = join(Uint8Array.of(version), first.id, salt, nonce)
      const key = yield* keyOf(first, salt)
      const sealed = yield* aead.encrypt(key, encoder.encode(text), { nonce, aad: header })
      return Base64Url.encode(join(header, sealed))
    }, Effect.orDie)

    const open = Effect.fn("RequestState.unseal")(function*(sealed: string) {
      const bytes = bytesOf(sealed)
      if (bytes === undefined || bytes.length < headerLength + tagLength || bytes[0] !== version) return Option.none()
      const id = bytes.subarray(1, 1 + idLength)
      const secret = secrets.find((secret) => equal(secret.id, id))
      if (secret === undefined) return Option.none()
      const header = bytes.subarray(0, headerLength)
      const salt = header.subarray(1 + idLength, 1 + idLength + saltLength)
      const key = yield* keyOf(secret, salt)
      const text = yield* aead.decrypt(key, bytes.subarray(headerLength), {
        nonce: header.subarray(headerLength - nonceLength),
        aad: header
      })
      return Option.some<Opened>({ text: decoder.decode(text), id: Base64Url.encode(salt) })
    })

    return RequestState.of({
      seal,
      unseal: (sealed) => Effect.catch(open(sealed), () => Effect.succeedNone)
    })
  })

const crypto = Layer.merge(Aead.layerWebCrypto, Kdf.layerWebCrypto).pipe(
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)

/** The secret itself never leaves; what names it is derived from it. */
const secretOf = (key: Key): Effect.Effect<Secret, CryptoError, Kdf.Kdf> =>
  Effect.gen(function*() {
    const bytes = encoder.encode(textOf(key))
    const kdf = yield* Kdf.Kdf
    return { bytes, id: yield* kdf.derive(Kdf.hkdfSha256, bytes, { salt: noSalt, info: forIds, length: idLength }) }
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
      return yield* make([{ id: yield* random.randomBytes(idLength), bytes: yield* random.randomBytes(32) }])
    })
    // When it is first needed: some platforms have no chance to offer while a program is loaded.
    const state = yield* Effect.cached(Effect.provideContext(drawn, yield* Effect.context<Crypto>()))
    return {
      seal: (text) => Effect.flatMap(state, ({ seal }) => seal(text)),
      unseal: (sealed) => Effect.flatMap(state, ({ unseal }) => unseal(sealed))
    }
  })
).pipe(Layer.provide(crypto))
