/** Random texts and digests, from the runtime's WebCrypto. */
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"

const encoder = new TextEncoder()

/** So many random bytes, in base64url without padding: 32 bytes are 43 characters. */
export const token = (bytes: number): Effect.Effect<string> =>
  WebCrypto.use((crypto) => Effect.sync(() => Base64Url.encode(crypto.getRandomValues(new Uint8Array(bytes)))))

/** SHA-256 of a text, in base64url without padding. */
export const sha256 = (text: string): Effect.Effect<string> =>
  WebCrypto.use((crypto) =>
    Effect.map(
      Effect.promise(() => crypto.subtle.digest("SHA-256", encoder.encode(text))),
      (digest) => Base64Url.encode(new Uint8Array(digest))
    )
  )
