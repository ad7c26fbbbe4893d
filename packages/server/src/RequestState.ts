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
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Base64Url from "./internal/base64Url.ts"
import * as Nonces from "./internal/nonces.ts"
import { checkKeys, textOf } from "./internal/stateKeys.ts"
import { type Key, type Opened, RequestState } from "./internal/statePort.ts"
import type { InvalidOptions } from "./ServerError.ts"

export { type Key, type Opened, RequestState } from "./internal/statePort.ts"

const version = 2
const idLength = 8
const tagLength = 16

/** Version, id and nonce are multiples of 3 bytes, so that each is a text of its own in what was sealed. */
const prefixLength = 1 + idLength
const headerLength = prefixLength + Nonces.nonceLength
const nonceAt = prefixLength * 4 / 3
const sealedAt = headerLength * 4 / 3
const shortest = sealedAt + Math.ceil(tagLength * 4 / 3)

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const forStates = encoder.encode("mcpfx request state")
const forIds = encoder.encode("mcpfx request state key id")
const noSalt = new Uint8Array(0)

interface Secret {
  /** Version and id of the key: what stands before the nonce of everything that it seals, as bytes and as text. */
  readonly prefix: Uint8Array
  readonly name: string
  readonly key: Aead.Key
}

const secret = (id: Uint8Array, key: Aead.Key): Secret => {
  const prefix = Uint8Array.of(version, ...id)
  return { prefix, name: Base64Url.encode(prefix), key }
}

/** For states of some hundred bytes it takes a sixth of what the ciphers of Web Crypto do, which run in other threads. */
const cipher = Aead.xchacha20Poly1305

const headerOf = (prefix: Uint8Array, nonce: Uint8Array): Uint8Array => {
  const header = new Uint8Array(headerLength)
  header.set(prefix)
  header.set(nonce, prefixLength)
  return header
}

type Crypto = Aead.Aead | Kdf.Kdf | SecureRandom.SecureRandom

const make = (secrets: readonly [Secret, ...ReadonlyArray<Secret>]) =>
  Effect.gen(function*() {
    const aead = yield* Aead.Aead
    const nonces = Nonces.make(yield* SecureRandom.SecureRandom)
    const [first] = secrets

    const seal = (text: string) =>
      Effect.flatMap(nonces, (nonce) => {
        const aad = headerOf(first.prefix, nonce)
        return Effect.map(
          aead.encrypt(first.key, encoder.encode(text), { nonce, aad }),
          (sealed) => first.name + Base64Url.encode(nonce) + Base64Url.encode(sealed)
        )
      })

    /** Only the one way to write some bytes is read: what was changed in any character is refused. */
    const open = (text: string) => {
      if (text.length < shortest) return undefined
      const secret = secrets.find(({ name }) => text.startsWith(name))
      const nonce = Base64Url.decode(text.slice(nonceAt, sealedAt))
      const sealed = Base64Url.decode(text.slice(sealedAt))
      if (secret === undefined || nonce === undefined || sealed === undefined) return undefined
      return aead.decrypt(secret.key, sealed, { nonce, aad: headerOf(secret.prefix, nonce) })
    }

    return RequestState.of({
      seal: (text) => Effect.orDie(seal(text)),
      unseal: (sealed) =>
        Effect.suspend(() => {
          const text = open(sealed)
          return text === undefined ? Effect.succeedNone : Effect.match(text, {
            onFailure: Option.none,
            onSuccess: (bytes) =>
              Option.some<Opened>({ text: decoder.decode(bytes), id: sealed.slice(nonceAt, sealedAt) })
          })
        })
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
    return secret(yield* derived(forIds, idLength), yield* Aead.key(cipher, yield* derived(forStates, 32)))
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
      return yield* make([secret(yield* random.randomBytes(idLength), key)])
    }).pipe(Effect.orDie)
    // When it is first needed: some platforms have no chance to offer while a program is loaded.
    const state = yield* Effect.cached(Effect.provideContext(drawn, yield* Effect.context<Crypto>()))
    return {
      seal: (text) => Effect.flatMap(state, ({ seal }) => seal(text)),
      unseal: (sealed) => Effect.flatMap(state, ({ unseal }) => unseal(sealed))
    }
  })
).pipe(Layer.provide(crypto))
