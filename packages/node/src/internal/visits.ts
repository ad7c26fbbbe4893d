/** What every way of showing a page has in common. */
import * as AuthError from "@mcpfx/auth/AuthError"
import type * as UserAgent from "@mcpfx/auth/UserAgent"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { LoginTerminal } from "../LoginTerminal.ts"
import * as Pasted from "./pasted.ts"
import { isVisitable, oneLine, withoutQuery } from "./visitable.ts"

/** As long as other questions to a person wait for their answer. */
export const defaultTimeout = Duration.minutes(10)

/** Wrong addresses that a person may paste before it is enough. */
const attempts = 5

/** The `state` by which the answer is told from everything else; fails for a page that is not one to show. */
export const stateOf = (url: URL): Effect.Effect<string, AuthError.AuthError> => {
  if (!isVisitable(url)) {
    const detail = "a login page is reached by https, or by http on this machine"
    return AuthError.fail(new AuthError.InsecureServer({ url: withoutQuery(url), why: "scheme", detail }))
  }
  const [state, ...more] = url.searchParams.getAll("state")
  return state === undefined || state === "" || more.length > 0
    ? AuthError.fail(new AuthError.Misconfigured({ detail: "the address of a login has no single state" }))
    : Effect.succeed(state)
}

/** Ends a wait for a person. */
export const bounded = <A>(
  wait: Effect.Effect<A, AuthError.AuthError>,
  timeout: Duration.Duration,
  { issuer }: UserAgent.Login
): Effect.Effect<A, AuthError.AuthError> =>
  Effect.timeoutOrElse(wait, {
    duration: timeout,
    orElse: () => AuthError.fail(new AuthError.LoginTimedOut({ issuer, millis: Duration.toMillis(timeout) }))
  })

/** What a person is told in any case: a browser that opens may be the wrong one. */
export const invitation = (url: URL, { issuer, resource }: UserAgent.Login): string =>
  `\n${oneLine(resource)} needs a login at ${oneLine(issuer)}. Its page is:\n\n  ${url.href}\n`

export const nobody = (url: URL, { issuer, resource }: UserAgent.Login, detail: string) =>
  AuthError.fail(new AuthError.LoginRequired({ resource, issuer, url: url.href, detail }))

const how = "After the login the browser goes to an address that it may not be able to show. " +
  "Copy that address from its bar, and paste it here."

/** Asks for the address at the terminal until it is the right one, a few times. */
export const paste = Effect.fnUntraced(function*(
  terminal: LoginTerminal,
  visit: { readonly url: URL; readonly login: UserAgent.Login; readonly redirectUri: string; readonly state: string }
) {
  const { login, redirectUri, state, url } = visit
  yield* terminal.show(how)
  for (let attempt = 1;; attempt++) {
    const line = yield* Effect.catch(terminal.ask("Address: "), ({ reason }) => {
      if (reason === "closed") return nobody(url, login, "nobody is at the terminal")
      const description = "the person turned away at the terminal"
      return AuthError.fail(new AuthError.LoginDenied({ issuer: login.issuer, error: "access_denied", description }))
    })
    const read = Pasted.read(line, redirectUri, state)
    if (read._tag === "Success") return read.success
    const { fault, hint, parameter } = read.failure
    if (attempt >= attempts) {
      return yield* AuthError.fail(new AuthError.CallbackRejected({ issuer: login.issuer, parameter, fault }))
    }
    yield* terminal.show(hint)
  }
})
