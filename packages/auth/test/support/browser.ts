/** A person in front of a browser, as a function from the page that is opened to the address that comes back. */
import { AuthError, UserAgent } from "@mcpfx/auth"
import { Effect, Layer } from "effect"

export interface Browser {
  /** The pages that were opened. */
  readonly opened: Array<URL>
  /** What `visit` was called with. */
  readonly visits: Array<ReadonlyArray<string> | undefined>
  /** How many listeners are open now. */
  listening: number
  readonly layer: Layer.Layer<UserAgent.UserAgent>
}

/** Parameters of the answer; an array repeats one, `undefined` is an answer that never comes. */
export type Parameters = Readonly<Record<string, string | ReadonlyArray<string>>>
export type Person = (page: URL) => Parameters | undefined

export const redirectUri = "http://127.0.0.1:3334/callback"

export interface Options {
  readonly redirectUri?: string
  readonly redirectUris?: ReadonlyArray<string>
  /** Addresses that cannot be listened at. */
  readonly taken?: ReadonlyArray<string>
}

const answerOf = (page: URL, parameters: Parameters): URL => {
  const url = new URL(page.searchParams.get("redirect_uri") ?? "")
  for (const [name, values] of Object.entries(parameters)) {
    for (const value of [values].flat()) url.searchParams.append(name, value)
  }
  return url
}

/** Right in all that it says. */
export const agrees = (issuer: string): Person => (page) => ({
  code: "the-code-4711",
  state: page.searchParams.get("state") ?? "",
  iss: issuer
})

export const browser = (person: Person, options: Options = {}): Browser => {
  const free = options.redirectUri ?? redirectUri
  const state: Browser = {
    opened: [],
    visits: [],
    listening: 0,
    layer: Layer.suspend(() =>
      Layer.succeed(UserAgent.UserAgent, {
        redirectUris: options.redirectUris ?? ["http://127.0.0.1:0/callback", "http://localhost:0/callback"],
        visit: (registered) => {
          state.visits.push(registered)
          const address = registered?.[0] ?? free
          return options.taken?.includes(address) === true
            ? AuthError.fail(new AuthError.CallbackUnavailable({ address, detail: "taken" }))
            : Effect.acquireRelease(
              Effect.sync(() => {
                state.listening++
                return {
                  redirectUri: address,
                  open: (page: URL) => {
                    state.opened.push(page)
                    const parameters = person(page)
                    return parameters === undefined ? Effect.never : Effect.succeed(answerOf(page, parameters))
                  }
                }
              }),
              () => Effect.sync(() => state.listening--)
            )
        }
      })
    )
  }
  return state
}
