/**
 * Logs a person in whose browser is on another machine: the address of the login page is printed, and the address that the
 * browser came back to is pasted at the terminal. Nothing is listened at.
 *
 * @since 0.1.0
 */
import * as UserAgent from "@mcpfx/auth/UserAgent"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Visits from "./internal/visits.ts"
import { CurrentLoginTerminal } from "./LoginTerminal.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * Where the browser is sent after the login, and shows an error, for nothing listens there:
   * `http://127.0.0.1:49531/callback` by default. A registration with other addresses goes before it.
   */
  readonly redirectUri?: string | undefined
  /** How long the person has; 10 minutes by default. The grant may have a shorter time of its own. */
  readonly timeout?: Duration.Input | undefined
}

/** A port that hardly anything listens at. */
const nowhere = "http://127.0.0.1:49531/callback"

const choose = (own: string, registered: ReadonlyArray<string> | undefined): string =>
  registered === undefined || registered.includes(own) ? own : registered[0] ?? own

/**
 * A user agent that asks at the terminal.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Effect.Effect<UserAgent.UserAgent["Service"]> =>
  Effect.gen(function*() {
    const terminal = yield* CurrentLoginTerminal
    const own = options.redirectUri ?? nowhere
    const timeout = Duration.fromInputUnsafe(options.timeout ?? Visits.defaultTimeout)

    const open = Effect.fnUntraced(function*(redirectUri: string, url: URL, login: UserAgent.Login) {
      const state = yield* Visits.stateOf(url)
      // A page whose answer nobody can bring is not shown to anybody.
      if (!(yield* terminal.isInteractive)) return yield* Visits.nobody(url, login, "there is no terminal to paste at")
      yield* terminal.show(Visits.invitation(url, login))
      return yield* Visits.bounded(Visits.paste(terminal, { url, login, redirectUri, state }), timeout, login)
    })
    return {
      redirectUris: [own],
      visit: (registered) => {
        const redirectUri = choose(own, registered)
        return Effect.succeed({ redirectUri, open: (url, login) => open(redirectUri, url, login) })
      }
    }
  })

/**
 * The terminal as the user agent of logins.
 *
 * Logins fail at once with `LoginRequired` where there is no terminal, with `LoginDenied` after Ctrl-C, and with
 * `CallbackRejected` after five addresses that are not the answer.
 *
 * **Example** (A client on a machine that is reached by SSH)
 *
 * ```ts
 * import { PasteLogin } from "@mcpfx/node"
 * import { Layer } from "effect"
 *
 * Layer.isLayer(PasteLogin.layer({ timeout: "5 minutes" })) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<UserAgent.UserAgent> =>
  Layer.effect(UserAgent.UserAgent, make(options))
