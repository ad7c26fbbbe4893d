/** What a test authorization server is told and what it tells: the types of its public face. */
import type { AuthenticationMethod } from "@mcpfx/auth/Credentials"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type { JSONWebKeySet, JWK } from "jose"

/**
 * The doors of the server, as they are counted, logged and scripted. `metadata` are all well-known addresses, `consent` is
 * where the consent page posts to, `verification` the page where a person enters the code of a device.
 *
 * @category models
 * @since 0.1.0
 */
export type Endpoint =
  | "metadata"
  | "jwks"
  | "authorize"
  | "consent"
  | "token"
  | "register"
  | "device"
  | "verification"
  | "introspect"
  | "revoke"

/**
 * Somebody who can log in: `{ id: "ada", claims: { email: "ada@example.com" } }`.
 *
 * @category models
 * @since 0.1.0
 */
export interface User {
  /** The `sub` of tokens. */
  readonly id: string
  /** More claims for id tokens, such as `name` or `email`. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
}

/**
 * A client that is known beforehand: `{ clientId: "app", redirectUris: ["http://127.0.0.1/callback"] }` for one that people
 * log in with, `{ clientId: "job", clientSecret: "secret" }` for a program that acts for itself.
 *
 * @category models
 * @since 0.1.0
 */
export interface ClientOptions {
  readonly clientId: string
  /** With a secret the client has to prove itself with it. */
  readonly clientSecret?: string | undefined
  /** By default `none` without a secret or keys, either way of sending a secret with one, `private_key_jwt` with keys. */
  readonly authentication?: AuthenticationMethod | undefined
  /** Public keys for `private_key_jwt`. */
  readonly jwks?: JSONWebKeySet | undefined
  /**
   * Where its logins may come back to, to the letter; on loopback with any port. Without, it can use no codes: nobody can
   * log in with it in a browser.
   */
  readonly redirectUris?: ReadonlyArray<string> | undefined
  /** What it may ask the token endpoint for; everything by default. */
  readonly grantTypes?: ReadonlyArray<string> | undefined
  /** What it may ask for at most; everything by default. */
  readonly scopes?: ReadonlyArray<string> | undefined
  readonly name?: string | undefined
  /**
   * Where this server is an identity provider: the authorization servers for which it gives the client assertions, and the
   * id of the client there. By default all, under the same id.
   */
  readonly audiences?: Readonly<Record<string, string>> | undefined
}

/**
 * An issuer of assertions that are taken for `jwt-bearer` grants.
 *
 * @category models
 * @since 0.1.0
 */
export interface TrustedIssuer {
  readonly issuer: string
  /** Its public keys, or how to get them: the `jwks` of another test server, for one. */
  readonly keys: JSONWebKeySet | Effect.Effect<JSONWebKeySet>
  /** `identity provider`: it gives ID-JAGs for users (EMA-02). `workload`: it vouches for programs. */
  readonly kind: "identity provider" | "workload"
}

/**
 * How logins are answered.
 *
 * - `page`: a page asks, as in life
 * - `automatic`: everybody consents at once, without a page
 * - `deny`: everybody refuses at once
 *
 * @category models
 * @since 0.1.0
 */
export type Consent = "page" | "automatic" | "deny"

/**
 * The well-known addresses of metadata: that of RFC 8414, that of OpenID Connect put in the same way before the path of the
 * issuer, and that appended to it. The latter two are one address for an issuer without a path.
 *
 * @category models
 * @since 0.1.0
 */
export type WellKnown = "oauth" | "openid" | "openid appended"

/**
 * @category models
 * @since 0.1.0
 */
export interface Lifetimes {
  /** 1 hour by default. */
  readonly accessToken?: Duration.Input | undefined
  /** 30 days by default. */
  readonly refreshToken?: Duration.Input | undefined
  /** 1 minute by default. */
  readonly code?: Duration.Input | undefined
  /** 10 minutes by default. */
  readonly deviceCode?: Duration.Input | undefined
  /** How long a consent page can be answered; 10 minutes by default. */
  readonly consent?: Duration.Input | undefined
  /** Of ID-JAGs; 5 minutes by default. */
  readonly assertion?: Duration.Input | undefined
}

/**
 * What a server is told; everything has a default.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** `https://login.test` by default, and the address of the server for `layerHttp`. May have a path. */
  readonly issuer?: string | undefined
  /** Which metadata addresses there are; all by default. */
  readonly wellKnown?: ReadonlyArray<WellKnown> | undefined
  /** Changes of the metadata; `undefined` leaves a member out. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** The scopes there are, as the metadata list them, and of `issueToken`. Without, all are granted and none are listed. */
  readonly scopes?: ReadonlyArray<string> | undefined
  /** The resources there are (RFC 8707), to the letter, and those of `issueToken`. Without, tokens are given for any. */
  readonly resources?: ReadonlyArray<string> | undefined
  /** Whom tokens are for where no resource is named; the issuer by default. */
  readonly audience?: string | undefined
  /** The first is the one that logs in unless told otherwise. By default a single one with the id `user`. */
  readonly users?: ReadonlyArray<User> | undefined
  readonly clients?: ReadonlyArray<ClientOptions> | undefined
  /** `page` by default. */
  readonly consent?: Consent | undefined
  /** `jwt` by default: signed, as RFC 9068 has it. `opaque` ones can be introspected only. */
  readonly accessTokens?: "jwt" | "opaque" | undefined
  readonly lifetimes?: Lifetimes | undefined
  /**
   * Who gets refresh tokens: clients that list the grant (default), those that ask for the scope `offline_access`, all,
   * or nobody.
   */
  readonly refresh?: "listed" | "offline_access" | "always" | "never" | undefined
  /** Whether a refresh gives a new refresh token in place of the used one (AAS-01); on by default. */
  readonly rotation?: boolean | undefined
  /** Whether clients can register themselves (RFC 7591); on by default. */
  readonly registration?: boolean | undefined
  /**
   * Whether a registration that does not say `application_type: "native"` may have redirect addresses on loopback. OpenID
   * says no, as who says nothing is a `web` application, and so does this server by default (ACL-12).
   */
  readonly looseRedirects?: boolean | undefined
  /** Whether client ids may be addresses of metadata documents (AAS-04); on by default. */
  readonly metadataDocuments?: boolean | undefined
  /** Such documents, by address: they are taken from here instead of being fetched. */
  readonly documents?: Readonly<Record<string, unknown>> | undefined
  /** Fetches metadata documents and keys of clients. Without, only `documents` are known. It follows no redirects. */
  readonly outbound?: HttpClient.HttpClient | undefined
  /** Whether answers of logins name the issuer (RFC 9207, AAS-03); on by default. */
  readonly iss?: boolean | undefined
  /** What tokens are signed with; `ES256` by default. */
  readonly algorithm?: "ES256" | "ES384" | "RS256" | "PS256" | "Ed25519" | undefined
  /** Whether proofs of possession (RFC 9449) may be given (default), have to be, or have to be with a nonce. */
  readonly dpop?: "accepted" | "required" | "nonce" | undefined
  readonly trust?: ReadonlyArray<TrustedIssuer> | undefined
  /** What a device has to wait between two questions, in whole seconds; 5 seconds by default. */
  readonly deviceInterval?: Duration.Input | undefined
}

/**
 * A request that came.
 *
 * @category models
 * @since 0.1.0
 */
export interface Seen {
  readonly endpoint: Endpoint
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The parameters of the address or of the form; the first of each name. Nothing is hidden: this is a test. */
  readonly parameters: Readonly<Record<string, string>>
  /** All of them, repeated ones too. */
  readonly entries: ReadonlyArray<readonly [name: string, value: string]>
  /** The body of a registration. */
  readonly json: unknown
  /** The client as its request was understood; absent where it was not. */
  readonly clientId: string | undefined
  /** What it was answered with; 0 while it is not, and for connections that were cut. */
  readonly status: number
  /** Milliseconds since the epoch. */
  readonly at: number
}

/**
 * A token to be made for a resource server: `{ resource: "https://mcp.test/mcp", scopes: ["notes"], user: "ada" }`.
 *
 * @category models
 * @since 0.1.0
 */
export interface TokenSpec {
  /** Whom it is for (`aud`): by default the `audience` of the server, else its `resources`, else the issuer itself. */
  readonly resource?: string | ReadonlyArray<string> | undefined
  /** What it is good for (`scope`): by default all `scopes` of the server, and nothing where it lists none. */
  readonly scopes?: ReadonlyArray<string> | undefined
  /** Whose it is (`sub`), known to the server or not: the first user by default. */
  readonly user?: string | undefined
  /** Who got it (`client_id`): `test-client` by default. */
  readonly clientId?: string | undefined
  /** Laid over the usual ones; `undefined` leaves a claim out. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
  /** Laid over the usual one; `undefined` leaves a member out. */
  readonly header?: Readonly<Record<string, unknown>> | undefined
  /**
   * - `key` (default): the key of the server
   * - `previous`: the key before the last rotation
   * - `stranger`: another key under the id of the server's
   * - `public key as secret`: HS256 with the text of the public key (PEM) as the secret: the confusion of algorithms
   * - `none`: no signature, `alg` is `none`
   */
  readonly sign?: "key" | "previous" | "stranger" | "public key as secret" | "none" | undefined
}

/**
 * What somebody does who is sent to a login.
 *
 * @category models
 * @since 0.1.0
 */
export interface BrowserOptions {
  /** What they say on the consent page; `allow` by default. */
  readonly decision?: "allow" | "deny" | undefined
  /** The id of the user they log in as; the first user by default. */
  readonly user?: string | undefined
  /** Where logins come back to; `http://127.0.0.1:8976/callback` by default. Nothing listens there. */
  readonly redirectUri?: string | undefined
}

/**
 * The browser that a test uses.
 *
 * @category models
 * @since 0.1.0
 */
export interface UserAgentOptions extends BrowserOptions {
  /** How pages are fetched; in memory by default. It need not leave redirects alone: that is seen to. */
  readonly client?: HttpClient.HttpClient | undefined
}

/** A client as the server keeps it. */
export interface Client {
  readonly kind: "preregistered" | "metadata document" | "dynamic"
  readonly clientId: string
  readonly clientSecret: string | undefined
  /** The ways it may prove itself, of which one has to be used. */
  readonly authentication: ReadonlyArray<AuthenticationMethod>
  readonly jwks: JSONWebKeySet | undefined
  readonly jwksUri: string | undefined
  readonly redirectUris: ReadonlyArray<string>
  /** `undefined` for all. */
  readonly grantTypes: ReadonlyArray<string> | undefined
  readonly scopes: ReadonlyArray<string> | undefined
  readonly name: string | undefined
  readonly audiences: Readonly<Record<string, string>> | undefined
}

/** A key of the server, with both halves. */
export interface SigningKey {
  readonly kid: string
  readonly alg: string
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
  readonly jwk: JWK
}
