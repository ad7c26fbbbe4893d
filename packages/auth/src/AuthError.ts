/**
 * What can go wrong between a client and those who let it in: one error, with a reason that a host can turn into a state.
 *
 * No reason holds a token, a code, a verifier or a secret, nor the text of a body that might. Addresses are without query, but
 * for the page of `LoginRequired`, which would be none without it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { authText } from "./internal/authText.ts"

const id = <Name extends string>(name: Name) => `@mcpfx/auth/${name}` as const

/**
 * Somebody has to log in, and nobody can be asked here: there is no user agent, or it cannot open pages.
 *
 * @category reasons
 * @since 0.1.0
 */
export class LoginRequired extends Schema.TaggedError<LoginRequired>(id("LoginRequired"))("LoginRequired", {
  /** The server that wants a token. */
  resource: Schema.String,
  issuer: Schema.optionalKey(Schema.String),
  /**
   * The login page of the attempt that ended with this, query and all: nobody takes its answer any more, unless the user agent
   * says so. It holds no secret, and no message shows it.
   */
  url: Schema.optionalKey(Schema.String),
  /** What the server wants beyond what was granted, where there is a login already. */
  scopes: Schema.optionalKey(Schema.Array(Schema.String)),
  detail: Schema.String
}) {}

/**
 * The person or the authorization server said no (`access_denied` and the other errors of RFC 6749, 4.1.2.1).
 *
 * @category reasons
 * @since 0.1.0
 */
export class LoginDenied extends Schema.TaggedError<LoginDenied>(id("LoginDenied"))("LoginDenied", {
  issuer: Schema.String,
  error: Schema.String,
  description: Schema.optionalKey(Schema.String)
}) {}

/**
 * Nobody finished the login in time. A login page that shows an error sends nobody back: the client id is wrong, or the
 * redirect address is not registered.
 *
 * @category reasons
 * @since 0.1.0
 */
export class LoginTimedOut extends Schema.TaggedError<LoginTimedOut>(id("LoginTimedOut"))("LoginTimedOut", {
  issuer: Schema.String,
  millis: Schema.Finite
}) {}

/**
 * What came back from the login is not the answer to what was asked: another `state`, another issuer, no code.
 *
 * @category reasons
 * @since 0.1.0
 */
export class CallbackRejected extends Schema.TaggedError<CallbackRejected>(id("CallbackRejected"))("CallbackRejected", {
  issuer: Schema.String,
  parameter: Schema.Literals(["state", "iss", "code", "error"]),
  fault: Schema.Literals(["missing", "wrong", "repeated"])
}) {}

/**
 * The place for the answer of a login cannot be had, such as a port that is taken.
 *
 * @category reasons
 * @since 0.1.0
 */
export class CallbackUnavailable
  extends Schema.TaggedError<CallbackUnavailable>(id("CallbackUnavailable"))("CallbackUnavailable", {
    address: Schema.String,
    detail: Schema.String
  })
{}

/**
 * The authorization server wants a client id that has to be asked for elsewhere: nothing configured fits, and it registers
 * nobody by itself.
 *
 * @category reasons
 * @since 0.1.0
 */
export class RegistrationRequired
  extends Schema.TaggedError<RegistrationRequired>(id("RegistrationRequired"))("RegistrationRequired", {
    issuer: Schema.String,
    detail: Schema.String,
    /** The issuers that client ids are configured for, where none of them is this one, to the letter. */
    configured: Schema.optionalKey(Schema.Array(Schema.String))
  })
{}

/**
 * The authorization server refused to register the client (RFC 7591, 3.2.2).
 *
 * @category reasons
 * @since 0.1.0
 */
export class RegistrationRefused
  extends Schema.TaggedError<RegistrationRefused>(id("RegistrationRefused"))("RegistrationRefused", {
    issuer: Schema.String,
    status: Schema.Int,
    error: Schema.optionalKey(Schema.String),
    description: Schema.optionalKey(Schema.String)
  })
{}

/**
 * The login is over: the authorization server takes the refresh token no more, or there is none. Log in again.
 *
 * @category reasons
 * @since 0.1.0
 */
export class LoginExpired extends Schema.TaggedError<LoginExpired>(id("LoginExpired"))("LoginExpired", {
  resource: Schema.String,
  issuer: Schema.String
}) {}

/**
 * The server wants scopes that could not be had, after as many attempts as allowed.
 *
 * @category reasons
 * @since 0.1.0
 */
export class ScopeRefused extends Schema.TaggedError<ScopeRefused>(id("ScopeRefused"))("ScopeRefused", {
  resource: Schema.String,
  required: Schema.Array(Schema.String),
  granted: Schema.Array(Schema.String)
}) {}

/**
 * The server takes no token of its own authorization server: not even a fresh one.
 *
 * @category reasons
 * @since 0.1.0
 */
export class TokenRejected extends Schema.TaggedError<TokenRejected>(id("TokenRejected"))("TokenRejected", {
  resource: Schema.String,
  issuer: Schema.String,
  error: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String)
}) {}

/**
 * The metadata found are those of another server: a token for it would be for the wrong audience.
 *
 * @category reasons
 * @since 0.1.0
 */
export class WrongAudience extends Schema.TaggedError<WrongAudience>(id("WrongAudience"))("WrongAudience", {
  /** The server that was called. */
  server: Schema.String,
  /** The resource that its metadata name. */
  resource: Schema.String
}) {}

/**
 * One address that was asked, and what it answered.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Attempt = Schema.Struct({ url: Schema.String, outcome: Schema.String })

/**
 * @category models
 * @since 0.1.0
 */
export interface Attempt extends Schema.Schema.Type<typeof Attempt> {}

/**
 * No address said how to log in; here is each that was tried (field AUT-04). Where some may only be out of order, and all
 * others have nothing, it is `Unavailable` instead.
 *
 * @category reasons
 * @since 0.1.0
 */
export class DiscoveryFailed extends Schema.TaggedError<DiscoveryFailed>(id("DiscoveryFailed"))("DiscoveryFailed", {
  what: Schema.Literals(["protected resource", "authorization server", "keys"]),
  attempts: Schema.Array(Attempt)
}) {}

/**
 * Metadata name another issuer than the one they were asked of (RFC 8414, 3.3), to the letter.
 *
 * @category reasons
 * @since 0.1.0
 */
export class IssuerMismatch extends Schema.TaggedError<IssuerMismatch>(id("IssuerMismatch"))("IssuerMismatch", {
  url: Schema.String,
  expected: Schema.String,
  found: Schema.String
}) {}

/**
 * What is asked for would not be safe.
 *
 * - `scheme`: an address is neither https nor on the loopback interface
 * - `address`: it leads to a private, link-local or otherwise special address
 * - `redirect`: a redirect leads to another origin
 * - `pkce`: the authorization server does not say that it knows PKCE with S256
 *
 * @category reasons
 * @since 0.1.0
 */
export class InsecureServer extends Schema.TaggedError<InsecureServer>(id("InsecureServer"))("InsecureServer", {
  url: Schema.String,
  why: Schema.Literals(["scheme", "address", "redirect", "pkce"]),
  detail: Schema.String
}) {}

/**
 * An endpoint of the authorization server answered with an OAuth error (RFC 6749, 5.2).
 *
 * @category reasons
 * @since 0.1.0
 */
export class OAuthRefused extends Schema.TaggedError<OAuthRefused>(id("OAuthRefused"))("OAuthRefused", {
  issuer: Schema.String,
  endpoint: Schema.Literals(["token", "revocation", "device authorization", "introspection"]),
  status: Schema.Int,
  error: Schema.String,
  description: Schema.optionalKey(Schema.String)
}) {}

/**
 * No answer, or one that says to try later: credentials stay as they are. A search that ends so has `attempts`, and names
 * the first address that may answer later.
 *
 * @category reasons
 * @since 0.1.0
 */
export class Unavailable extends Schema.TaggedError<Unavailable>(id("Unavailable"))("Unavailable", {
  url: Schema.String,
  status: Schema.optionalKey(Schema.Int),
  /** The header `Retry-After`, as the server wrote it. */
  retryAfter: Schema.optionalKey(Schema.String),
  detail: Schema.String,
  /** Each address that was tried, where several were (field AUT-04). */
  attempts: Schema.optionalKey(Schema.Array(Attempt))
}) {}

/**
 * An answer that cannot be read: the wrong shape, the wrong type, too large, too slow.
 *
 * @category reasons
 * @since 0.1.0
 */
export class BadAnswer extends Schema.TaggedError<BadAnswer>(id("BadAnswer"))("BadAnswer", {
  url: Schema.String,
  status: Schema.optionalKey(Schema.Int),
  detail: Schema.String
}) {}

/**
 * The authorization server lacks what the flow needs.
 *
 * @category reasons
 * @since 0.1.0
 */
export class NotSupported extends Schema.TaggedError<NotSupported>(id("NotSupported"))("NotSupported", {
  issuer: Schema.String,
  what: Schema.String
}) {}

/**
 * Credentials could not be read or kept. Those of this process stay in memory.
 *
 * @category reasons
 * @since 0.1.0
 */
export class StoreFailed extends Schema.TaggedError<StoreFailed>(id("StoreFailed"))("StoreFailed", {
  operation: Schema.Literals(["read", "write", "remove", "lock"]),
  detail: Schema.String
}) {}

/**
 * What the program itself was told is wrong: an address, a key, a client that cannot be one.
 *
 * @category reasons
 * @since 0.1.0
 */
export class Misconfigured extends Schema.TaggedError<Misconfigured>(id("Misconfigured"))("Misconfigured", {
  detail: Schema.String
}) {}

/**
 * @category reasons
 * @since 0.1.0
 */
export const Reason = Schema.Union([
  LoginRequired,
  LoginDenied,
  LoginTimedOut,
  CallbackRejected,
  CallbackUnavailable,
  RegistrationRequired,
  RegistrationRefused,
  LoginExpired,
  ScopeRefused,
  TokenRejected,
  WrongAudience,
  DiscoveryFailed,
  IssuerMismatch,
  InsecureServer,
  OAuthRefused,
  Unavailable,
  BadAnswer,
  NotSupported,
  StoreFailed,
  Misconfigured
])

/**
 * @category models
 * @since 0.1.0
 */
export type Reason = typeof Reason.Type

/** What may go well a little later, by itself. */
const passing: ReadonlySet<Reason["_tag"]> = new Set(["Unavailable", "StoreFailed"])

/**
 * The one error of authorization on the client's side; `Effect.catchReason` (or a look at `reason._tag`) tells the cases
 * apart.
 *
 * @category errors
 * @since 0.1.0
 */
export class AuthError extends Schema.TaggedError<AuthError>(id("AuthError"))("AuthError", { reason: Reason }) {
  override get message(): string {
    return authText(this.reason)
  }

  /**
   * Whether trying again changes nothing before somebody has acted: logged in, registered, set something right. Transports
   * go by it, and do not connect again and again.
   */
  get isFinal(): boolean {
    return !passing.has(this.reason._tag)
  }
}

/**
 * Fails with an `AuthError` of this reason.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fail = (reason: Reason): Effect.Effect<never, AuthError> => Effect.fail(new AuthError({ reason }))

/** How deep a cause may lie. */
const depth = 8

/**
 * The `AuthError` at the bottom of another error: calls through a client that logs in fail with the error of that client,
 * whose causes lead to it.
 *
 * **Example** (A state for the user interface)
 *
 * ```ts
 * import { AuthError } from "@mcpfx/auth"
 * import { Option } from "effect"
 *
 * const reason = new AuthError.LoginExpired({ resource: "https://mcp.example.com", issuer: "https://login.example.com" })
 * const failure = new Error("no answer", { cause: new AuthError.AuthError({ reason }) })
 * Option.map(AuthError.find(failure), (error) => error.reason._tag) // => Option.some("LoginExpired")
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const find = (error: unknown): Option.Option<AuthError> => {
  let current = error
  for (let level = 0; level < depth && Predicate.isObject(current); level++) {
    if (current instanceof AuthError) return Option.some(current)
    current = Predicate.hasProperty(current, "cause") && current.cause !== undefined
      ? current.cause
      : Predicate.hasProperty(current, "reason")
      ? current.reason
      : undefined
  }
  return Option.none()
}
