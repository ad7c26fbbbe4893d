/**
 * The person's browser, as a port: it is shown a page and brings back where that page led.
 *
 * What is there: a listener on the loopback interface and a terminal to paste into (`LoopbackLogin` and `PasteLogin` of the
 * package for Node), and nobody (`layerNone`). A program with a window of its own, or a page of its own, implements it.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { type AuthError, fail, LoginRequired } from "./AuthError.ts"

/**
 * What a login is for; not secret, and shown to the person.
 *
 * @category models
 * @since 0.1.0
 */
export interface Login {
  /** The authorization server that asks for the login. */
  readonly issuer: string
  /** The server that wants a token. */
  readonly resource: string
}

/**
 * One login that waits for its answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Visit {
  /**
   * Where the login comes back to, to the letter: what the client is registered with and what the authorization request
   * names. It is known, and listened at, before anybody is sent away (field AUT-15).
   */
  readonly redirectUri: string
  /**
   * Shows the page and waits for the first address that comes back with the one `state` of `url`, compared in constant
   * time; gives it whole. What comes back without it is not the answer, and the wait goes on. An answer with `error` is an
   * answer too: what it says, and whether `iss` is right, is for the grant to judge.
   *
   * Never opens anything but https, and http on the loopback interface (SEC-10). Waits for a bounded time.
   *
   * Fails with `LoginRequired` where nobody can be shown the page, `LoginTimedOut` where nobody came back, `LoginDenied`
   * where the person turned away from it here, `CallbackRejected` where what a person brought back is no answer,
   * `InsecureServer` where the page is not one to visit.
   */
  readonly open: (url: URL, login: Login) => Effect.Effect<URL, AuthError>
}

/**
 * @category services
 * @since 0.1.0
 */
export class UserAgent extends Context.Service<UserAgent, {
  /**
   * The addresses it can take answers at, the preferred one first. A loopback address with port 0 stands for whichever port
   * is free when a visit begins: such an address is not one to register, `Visit.redirectUri` is.
   */
  readonly redirectUris: ReadonlyArray<string>
  /**
   * Makes ready to take one answer, for as long as the scope lives: a listener is open after it.
   *
   * `registered` are the addresses the client is known with; `undefined` while it is not known at all, so that what the
   * visit takes is what gets registered. Otherwise `redirectUri` is one of them to the letter, but for loopback addresses
   * without a port, which stand for any port (RFC 8252, 7.3).
   *
   * Fails with `CallbackUnavailable`, at once, where the port is taken or none of `registered` can be listened at: a client
   * that registers itself may then do so anew with a visit of its own choice (field AUT-15).
   */
  readonly visit: (
    registered: ReadonlyArray<string> | undefined
  ) => Effect.Effect<Visit, AuthError, Scope.Scope>
}>()("@mcpfx/auth/UserAgent") {}

const nowhere = "http://127.0.0.1/callback"

/**
 * Nobody: every login that needs a person fails at once with `LoginRequired`, which has the address of the page. For
 * programs that run unattended, and for hosts that begin logins only when somebody asks for it.
 *
 * **Example** (A job without a person)
 *
 * ```ts
 * import { AuthError, UserAgent } from "@mcpfx/auth"
 * import { Effect } from "effect"
 *
 * const attempt = Effect.scoped(Effect.gen(function*() {
 *   const agent = yield* UserAgent.UserAgent
 *   const { open } = yield* agent.visit(undefined)
 *   const login = { issuer: "https://login.example.com", resource: "https://mcp.example.com" }
 *   return yield* open(new URL("https://login.example.com/authorize?state=s"), login)
 * }))
 * const error = Effect.runSync(Effect.flip(Effect.provide(attempt, UserAgent.layerNone)))
 * error.reason._tag // => "LoginRequired"
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerNone: Layer.Layer<UserAgent> = Layer.succeed(UserAgent, {
  redirectUris: [nowhere],
  visit: (registered) =>
    Effect.succeed({
      redirectUri: registered?.[0] ?? nowhere,
      open: (url, { issuer, resource }) =>
        fail(new LoginRequired({ resource, issuer, url: url.href, detail: "there is nobody to ask" }))
    })
})
