/** How a client proves to an endpoint who it is (RFC 6749, 2.3; RFC 7523, 2.2). */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Redacted from "effect/Redacted"
import { SignJWT } from "jose/jwt/sign"
import * as AuthError from "../AuthError.ts"
import type { ClientKey } from "../ClientKey.ts"
import type * as Credentials from "../Credentials.ts"
import type { ClientIdentity, ClientProof } from "../Grant.ts"
import { misconfigured } from "./misconfigured.ts"
import { quoted } from "./quoted.ts"
import { token } from "./random.ts"
import { formEncode } from "./serverText.ts"
import { importKey } from "./signingKey.ts"

/** How long an assertion is good for, in seconds. */
const assertionLife = 60

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

/** Which algorithms and methods the other side takes, as its metadata say. */
export interface Supported {
  readonly methods?: ReadonlyArray<string> | undefined
  readonly algorithms?: ReadonlyArray<string> | undefined
}

/** The way a client proves itself, by what it has and what the server takes (RFC 8414: basic where it does not say). */
export const methodFor = (
  has: { readonly secret: boolean; readonly key: boolean },
  { methods }: Supported
): Credentials.AuthenticationMethod => {
  const takes = (method: Credentials.AuthenticationMethod) => methods?.includes(method) === true
  if (has.key && (!has.secret || takes("private_key_jwt"))) return "private_key_jwt"
  if (!has.secret) return "none"
  if (methods === undefined || takes("client_secret_basic")) return "client_secret_basic"
  if (takes("client_secret_post")) return "client_secret_post"
  return takes("none") ? "none" : "client_secret_basic"
}

/** Both parts are form-encoded before they are joined (RFC 6749, 2.3.1), as a colon in them would part them elsewhere. */
export const basic = (clientId: string, secret: string): string =>
  `Basic ${Base64.encode(`${formEncode(clientId)}:${formEncode(secret)}`)}`

const assertion = Effect.fnUntraced(function*(
  clientId: string,
  client: ClientKey,
  issuer: string,
  algorithms: ReadonlyArray<string> | undefined
) {
  const { algorithm, key, keyId } = yield* importKey(client, algorithms)
  const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const jti = yield* token(16)
  const header = { alg: algorithm, typ: "JWT", ...(keyId === undefined ? {} : { kid: keyId }) }
  return yield* Effect.tryPromise({
    try: () =>
      new SignJWT({})
        .setProtectedHeader(header)
        .setIssuer(clientId)
        .setSubject(clientId)
        .setAudience(issuer)
        .setJti(jti)
        .setIssuedAt(now)
        .setExpirationTime(now + assertionLife)
        .sign(key),
    catch: () =>
      new AuthError.AuthError({
        reason: new AuthError.Misconfigured({ detail: "the key of the client does not sign" })
      })
  })
})

const without = (clientId: string, what: string) =>
  misconfigured(`the client ${quoted(clientId)} is to prove itself with ${what}, and has none`)

/** A registered client that can prove itself. */
export const identity = (
  registration: Credentials.Registration,
  key: ClientKey | undefined,
  supported: Supported
): ClientIdentity => {
  const { authentication, clientId, clientSecret } = registration
  const authenticate = Effect.fnUntraced(function*(_endpoint: string, issuer: string) {
    switch (authentication) {
      case "none":
        return { parameters: { client_id: clientId }, headers: {} } satisfies ClientProof
      case "client_secret_basic":
        if (clientSecret === undefined) return yield* without(clientId, "a secret")
        return { parameters: {}, headers: { authorization: basic(clientId, Redacted.value(clientSecret)) } }
      case "client_secret_post":
        if (clientSecret === undefined) return yield* without(clientId, "a secret")
        return { parameters: { client_id: clientId, client_secret: clientSecret }, headers: {} }
      case "private_key_jwt": {
        if (key === undefined) return yield* without(clientId, "a private key")
        const signed = yield* assertion(clientId, key, issuer, supported.algorithms)
        return {
          parameters: {
            client_assertion_type: assertionType,
            client_assertion: Redacted.make(signed),
            ...(key.sendClientId === true ? { client_id: clientId } : {})
          },
          headers: {}
        }
      }
    }
  })
  return { registration, authenticate }
}
