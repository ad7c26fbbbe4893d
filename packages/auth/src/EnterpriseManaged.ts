/**
 * A person who has logged in to the company logs in to its servers with it (enterprise-managed authorization): the identity
 * provider exchanges the person's identity for a grant (ID-JAG), which the authorization server takes (EMA-01).
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as AuthError from "./AuthError.ts"
import type { AuthorizationServer } from "./AuthorizationServer.ts"
import type { ClientKey } from "./ClientKey.ts"
import type * as Credentials from "./Credentials.ts"
import type { ClientIdentity, Grant, Request } from "./Grant.ts"
import { exchange, fromOutside, jwtBearer } from "./internal/assertion.ts"
import { identity, methodFor } from "./internal/clientAuthentication.ts"
import { scopeOf } from "./internal/endpoints.ts"
import { textOf } from "./internal/members.ts"
import { misconfigured } from "./internal/misconfigured.ts"
import { quoted } from "./internal/quoted.ts"
import { existing, register, withKnown } from "./internal/registering.ts"
import { bareUrl } from "./internal/serverText.ts"
import type * as Registration from "./Registration.ts"

/**
 * The company's identity provider, and who the client is there.
 *
 * @category models
 * @since 0.1.0
 */
export interface IdentityProvider {
  readonly issuer: string
  /** It is asked in the way of all others: in a private network only where the guard of outgoing requests opens that. */
  readonly tokenEndpoint: string
  readonly clientId: string
  readonly clientSecret?: Redacted.Redacted<string> | undefined
  readonly key?: ClientKey | undefined
  /** A key before a secret, basic before post, nothing without either, by default. */
  readonly authentication?: Credentials.AuthenticationMethod | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options<E = never, R = never> extends Registration.Options {
  readonly identityProvider: IdentityProvider
  /**
   * Gets the identity token of the person, or the SAML assertion, each time; `about` says for which login. What fails is told on as `Misconfigured`,
   * without its words, unless it is an `AuthError`: `LoginRequired` says that the person has to log in to the company.
   */
  readonly identity: (about: Credentials.TokensKey) => Effect.Effect<Redacted.Redacted<string>, E, R>
  /** What the identity comes as: an OpenID Connect `id_token` by default. */
  readonly identityType?: "id_token" | "saml2" | undefined
}

/**
 * The name by which an authorization server says that it takes such grants (EMA-03).
 *
 * @category constants
 * @since 0.1.0
 */
export const profile = "urn:ietf:params:oauth:grant-profile:id-jag"

/**
 * Whether an authorization server says that it takes such grants; `undefined` where it says nothing of profiles (EMA-03).
 *
 * @category getters
 * @since 0.1.0
 */
export const isSupported = ({ metadata }: Pick<AuthorizationServer, "metadata">): boolean | undefined =>
  metadata.authorization_grant_profiles_supported?.includes(profile)

const tokenType = (name: "id-jag" | "id_token" | "saml2"): string => `urn:ietf:params:oauth:token-type:${name}`

const clientAt = ({ authentication, clientId, clientSecret, key }: IdentityProvider): ClientIdentity => {
  const method = authentication ?? methodFor({ secret: clientSecret !== undefined, key: key !== undefined }, {})
  const secret = clientSecret === undefined ? {} : { clientSecret }
  return identity({ kind: "preregistered", clientId, ...secret, authentication: method, redirectUris: [] }, key, {})
}

const checkProvider = ({ issuer, tokenEndpoint }: IdentityProvider): Effect.Effect<void, AuthError.AuthError> => {
  if (!URL.canParse(issuer)) {
    return misconfigured(`${quoted(issuer)}, the issuer of the identity provider, is not a URL`)
  }
  return URL.canParse(tokenEndpoint)
    ? Effect.void
    : misconfigured(`${quoted(tokenEndpoint)}, the token endpoint of the identity provider, is not a URL`)
}

/** What the identity provider gives is called an access token, for historical reasons, and is none (RFC 8693, 2.2.1). */
const grantFrom = Effect.fnUntraced(function*(
  { endpoint, resource, scopes, server }: Request,
  provider: IdentityProvider,
  subject: Redacted.Redacted<string>,
  subjectType: "id_token" | "saml2"
) {
  const answer = yield* endpoint.form({
    url: provider.tokenEndpoint,
    issuer: provider.issuer,
    endpoint: "token",
    parameters: {
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      requested_token_type: tokenType("id-jag"),
      audience: server.issuer,
      resource,
      scope: scopeOf(scopes),
      subject_token: subject,
      subject_token_type: tokenType(subjectType)
    },
    client: clientAt(provider)
  })
  const assertion = textOf(answer, "access_token")
  if (assertion === undefined || textOf(answer, "issued_token_type") !== tokenType("id-jag")) {
    const detail = "there is no identity assertion grant in it"
    return yield* AuthError.fail(new AuthError.BadAnswer({ url: bareUrl(provider.tokenEndpoint), detail }))
  }
  return Redacted.make(assertion)
})

/**
 * Logs in with the identity that a person has at the company. Nobody is asked; there is no refresh, since the company decides
 * anew each time.
 *
 * An authorization server that lists the profiles it takes, and not this one, is `NotSupported`; one that lists none is asked.
 *
 * **Example** (An identity that the application has)
 *
 * ```ts
 * import { EnterpriseManaged } from "@mcpfx/auth"
 * import { Effect, Redacted } from "effect"
 *
 * const grant = EnterpriseManaged.grant({
 *   identityProvider: {
 *     issuer: "https://acme.idp.example",
 *     tokenEndpoint: "https://acme.idp.example/oauth2/token",
 *     clientId: "desktop"
 *   },
 *   identity: () => Effect.succeed(Redacted.make("the id_token of the session")),
 *   client: { issuer: "https://auth.chat.example/", clientId: "desktop-at-chat", clientSecret: Redacted.make("s3cret") }
 * })
 * const facts = [grant.interactive, grant.refreshes] // => [false, false]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const grant = <E = never, R = never>(options: Options<E, R>): Grant<R> => {
  const { identity: subject, identityProvider, identityType = "id_token" } = options
  return {
    name: "enterprise_managed",
    interactive: false,
    refreshes: false,
    obtain: Effect.fn("EnterpriseManaged.obtain")(function*(request: Request) {
      const { resource, server } = request
      const { issuer } = server
      yield* checkProvider(identityProvider)
      if (isSupported(server) === false) {
        return yield* AuthError.fail(new AuthError.NotSupported({ issuer, what: "enterprise-managed authorization" }))
      }
      const token = yield* fromOutside("the identity of the person", subject({ issuer, resource }))
      const assertion = yield* grantFrom(request, identityProvider, token, identityType)
      return yield* withKnown(request, options, (known) =>
        Effect.flatMap(
          known === undefined
            ? register(request, options, { grantTypes: [jwtBearer], refreshes: false })
            : Effect.succeed(known),
          (client) => exchange(request, assertion, client)
        ))
    }),
    client: (request) => existing(request, options)
  }
}
