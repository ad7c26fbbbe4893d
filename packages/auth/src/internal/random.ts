/** Random texts, from the runtime's WebCrypto. */
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"

/** So many random bytes, in base64url without padding: 32 bytes are 43 characters. */
export const token = (bytes: number): Effect.Effect<string> =>
  WebCrypto.use((crypto) => Effect.sync(() => Base64Url.encode(crypto.getRandomValues(new Uint8Array(bytes)))))
