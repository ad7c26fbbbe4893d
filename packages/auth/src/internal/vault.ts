/**
 * What the token store holds, typed: tokens by issuer and resource, registrations by issuer and what they are for, and where
 * each server was last logged in at (ACL-07, ACL-13).
 *
 * An entry that does not decode is as good as absent, with a warning: it stays where it is until a login replaces it.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as AuthError from "../AuthError.ts"
import * as Credentials from "../Credentials.ts"
import type { TokenStore, TokenStoreError } from "../TokenStore.ts"

/** Where a server was logged in at, so that a later start sends its token at once. */
export const Binding = Schema.Struct({
  issuer: Schema.String,
  resource: Schema.String,
  /** What the server calls the issuer, where that calls itself something else and is trusted to. */
  named: Schema.optionalKey(Schema.String),
  /** How the authorization server was found. */
  found: Schema.Literals(["resource", "origin", "defaults"])
})

export interface Binding extends Schema.Schema.Type<typeof Binding> {}

type Kept<A> = Effect.Effect<A, AuthError.AuthError>

/** One named entry. */
export interface Entry<A> {
  readonly get: Kept<A | undefined>
  readonly set: (value: A) => Kept<void>
  readonly remove: Kept<void>
}

export interface Vault {
  readonly tokens: (key: Credentials.TokensKey) => Entry<Credentials.Tokens>
  readonly registration: (issuer: string, grant: string) => Entry<Credentials.Registration>
  readonly binding: (server: string) => Entry<Binding>
  /** Runs an effect while nobody else who shares the store does so for these tokens. */
  readonly exclusive: <A, R>(
    key: Credentials.TokensKey,
    effect: Effect.Effect<A, AuthError.AuthError, R>
  ) => Effect.Effect<A, AuthError.AuthError, R>
}

const storeFailed = ({ detail, operation }: TokenStoreError) =>
  new AuthError.AuthError({ reason: new AuthError.StoreFailed({ operation, detail }) })

/** Parts are written so that no two lists of them give the same key. */
const keyOf = (...parts: ReadonlyArray<string>): string => JSON.stringify(parts)

const codecs = {
  tokens: Schema.fromJsonString(Schema.toCodecJson(Credentials.Tokens)),
  registration: Schema.fromJsonString(Schema.toCodecJson(Credentials.Registration)),
  binding: Schema.fromJsonString(Schema.toCodecJson(Binding))
}

export const make = (store: TokenStore["Service"]): Vault => {
  const entry = <A>(kind: keyof typeof codecs, key: string, codec: Schema.Codec<A, string>): Entry<A> => {
    const decode = Schema.decodeUnknownEffect(codec)
    const encode = Schema.encodeEffect(codec)
    return {
      get: store.get(key).pipe(
        Effect.mapError(storeFailed),
        Effect.flatMap(Option.match({
          onNone: () => Effect.undefined,
          onSome: (text) =>
            Effect.catch(
              decode(Redacted.value(text)),
              () => Effect.as(Effect.logWarning(`An entry of the token store (${kind}) cannot be read`), undefined)
            )
        }))
      ),
      set: (value) =>
        encode(value).pipe(
          Effect.orDie,
          Effect.flatMap((text) => Effect.mapError(store.set(key, Redacted.make(text)), storeFailed))
        ),
      remove: Effect.mapError(store.remove(key), storeFailed)
    }
  }
  return {
    tokens: ({ issuer, resource }) => entry("tokens", keyOf("tokens", issuer, resource), codecs.tokens),
    registration: (issuer, grant) => entry("registration", keyOf("registration", issuer, grant), codecs.registration),
    binding: (server) => entry("binding", keyOf("server", server), codecs.binding),
    exclusive: ({ issuer, resource }, effect) =>
      Effect.catchTag(
        store.exclusive(keyOf("tokens", issuer, resource), effect),
        "TokenStoreError",
        (error) => Effect.fail(storeFailed(error))
      )
  }
}
