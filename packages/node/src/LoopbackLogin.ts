/**
 * Logs a person in with the browser of this machine: the answer comes back to a listener on the loopback interface
 * (RFC 8252, 7.3).
 *
 * The listener is open before the browser is sent away, and says at once when it cannot be. It takes the first answer with
 * the right `state`; whatever else knocks, such as other people's pages, gets a plain refusal and changes nothing. The
 * address of the login page is printed, to standard error, with and without a browser. On a machine without one the person
 * may paste the address that the login came back to; where nobody can be asked the login fails at once, and nothing is
 * printed, for nobody listens any more (field AUT-17).
 *
 * @since 0.1.0
 */
import * as AuthError from "@mcpfx/auth/AuthError"
import * as UserAgent from "@mcpfx/auth/UserAgent"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CurrentBrowser } from "./Browser.ts"
import { digest, type Waiting } from "./internal/callbackListener.ts"
import * as Listeners from "./internal/callbackListeners.ts"
import * as RedirectUris from "./internal/redirectUris.ts"
import * as Visits from "./internal/visits.ts"
import { CurrentLoginTerminal } from "./LoginTerminal.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The name of this machine in the redirect address: `127.0.0.1` by default. `localhost` is for registrations that say so;
   * both addresses it may stand for are listened at.
   */
  readonly host?: "127.0.0.1" | "localhost" | "[::1]" | undefined
  /**
   * The port of the redirect address; any free one by default, which every authorization server has to take for an address
   * of the loopback interface, and many do not: give the port of the registration then.
   */
  readonly port?: number | undefined
  /** The path of the redirect address: `/callback` by default. */
  readonly path?: string | undefined
  /** How long the person has; 10 minutes by default. The grant may have a shorter time of its own. */
  readonly timeout?: Duration.Input | undefined
  /**
   * What to do where no browser can be opened:
   *
   * - `ask` (the default): have the person paste the address at the terminal, or fail with `LoginRequired` at once if there
   *   is no terminal either
   * - `wait`: wait for somebody to visit the printed address, such as over a forwarded port
   * - `fail`: fail with `LoginRequired` at once
   */
  readonly withoutBrowser?: "ask" | "wait" | "fail" | undefined
  /**
   * Tells the person where the login page is, and that somebody listens for its answer; prints it to standard error by
   * default.
   */
  readonly print?: ((page: { readonly url: URL; readonly login: UserAgent.Login }) => Effect.Effect<void>) | undefined
}

const ownRedirect = ({ host = "127.0.0.1", path = "/callback", port = 0 }: Options) =>
  RedirectUris.parse(`http://${host}:${port}${path}`)

const unavailable = (address: string, detail: string) => new AuthError.CallbackUnavailable({ address, detail })

/** Listens at the first of the addresses that is free. */
const listenAtOne = Effect.fnUntraced(function*(
  listeners: Listeners.Listeners,
  own: RedirectUris.Redirect,
  registered: ReadonlyArray<string> | undefined
) {
  let failure = unavailable(
    registered?.[0] ?? RedirectUris.withPort(own, own.port),
    "it is not an address of this machine"
  )
  for (const [index, redirect] of RedirectUris.candidates(own, registered).entries()) {
    const listened = yield* Effect.result(listeners.borrow(redirect))
    if (listened._tag === "Success") {
      const { logins, port } = listened.success
      return { logins, redirectUri: RedirectUris.withPort(redirect, port) }
    }
    if (index === 0) failure = listened.failure
  }
  return yield* AuthError.fail(failure)
})

/**
 * A user agent that listens here.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Effect.Effect<UserAgent.UserAgent["Service"]> =>
  Effect.gen(function*() {
    const browser = yield* CurrentBrowser
    const terminal = yield* CurrentLoginTerminal
    const listeners = Listeners.make()
    const own = ownRedirect(options)
    const timeout = Duration.fromInputUnsafe(options.timeout ?? Visits.defaultTimeout)
    const print = options.print ?? (({ login, url }) => terminal.show(Visits.invitation(url, login)))

    /** Shows the page, and gives what the person brought back by hand; nothing where the browser brings it. */
    const show = Effect.fnUntraced(function*(url: URL, login: UserAgent.Login, redirectUri: string, state: string) {
      const { withoutBrowser = "ask" } = options
      const mayAsk = withoutBrowser === "ask" && (yield* terminal.isInteractive)
      // Nobody is told of a page whose answer nobody waits for.
      const waits = mayAsk || withoutBrowser === "wait"
      if (waits) yield* print({ url, login })
      const opened = yield* Effect.result(browser.open(url))
      if (opened._tag === "Failure" && !waits) {
        const rest = withoutBrowser === "ask" ? ", and there is no terminal to ask at" : ""
        return yield* Visits.nobody(url, login, `${opened.failure.message}${rest}`)
      }
      if (!waits) yield* print({ url, login })
      if (opened._tag === "Success" || !mayAsk) return yield* Effect.never
      return yield* Visits.paste(terminal, { url, login, redirectUri, state })
    })

    const visit = Effect.fnUntraced(function*(registered: ReadonlyArray<string> | undefined) {
      if (own === undefined) {
        const { path = "/callback", port = 0 } = options
        const detail = `LoopbackLogin has the port ${port} and the path ${JSON.stringify(path)}, which is no address`
        return yield* AuthError.fail(new AuthError.Misconfigured({ detail }))
      }
      const { logins, redirectUri } = yield* listenAtOne(listeners, own, registered)
      let current: Waiting | undefined
      const forget = Effect.sync(() => {
        if (current !== undefined) logins.delete(current)
      })
      // Kept after its answer until the end of the visit: a page that is loaded again is told the same.
      yield* Effect.addFinalizer(() => forget)

      const open = Effect.fnUntraced(function*(url: URL, login: UserAgent.Login) {
        const state = yield* Visits.stateOf(url)
        const answer = yield* Deferred.make<URL>()
        yield* forget
        current = {
          path: new URL(redirectUri).pathname,
          state: digest(state),
          answer: (address) => Deferred.doneUnsafe(answer, Effect.succeed(address)),
          answered: false
        }
        logins.add(current)
        const shown = show(url, login, redirectUri, state)
        return yield* Visits.bounded(Effect.raceFirst(Deferred.await(answer), shown), timeout, login)
      })
      return { redirectUri, open }
    })

    return { redirectUris: own === undefined ? [] : [RedirectUris.withPort(own, own.port)], visit }
  })

/**
 * The browser of this machine as the user agent of logins.
 *
 * **Example** (A fixed port, as it is registered)
 *
 * ```ts
 * import { UserAgent } from "@mcpfx/auth"
 * import { LoopbackLogin } from "@mcpfx/node"
 * import { Effect } from "effect"
 *
 * const addresses = Effect.map(UserAgent.UserAgent, ({ redirectUris }) => redirectUris)
 * const Live = LoopbackLogin.layer({ port: 3334, path: "/oauth/callback" })
 * Effect.runSync(Effect.provide(addresses, Live)) // => ["http://127.0.0.1:3334/oauth/callback"]
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<UserAgent.UserAgent> =>
  Layer.effect(UserAgent.UserAgent, make(options))
