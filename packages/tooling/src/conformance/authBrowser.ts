/** The browser of the auth scenarios: the page of their authorization server sends everybody straight back. */
import { AuthError, UserAgent } from "@mcpfx/auth"
import { Effect, Layer } from "effect"

/** Where the suite sends the answers of logins; nothing listens there. */
const redirectUri = "http://localhost:3000/callback"

const open: UserAgent.Visit["open"] = (url, { issuer, resource }) =>
  Effect.promise((signal) => fetch(url, { redirect: "manual", signal })).pipe(
    Effect.flatMap(({ headers, status }) => {
      const location = headers.get("location")
      return location === null
        ? AuthError.fail(new AuthError.LoginRequired({ resource, issuer, detail: `the page answers ${status}` }))
        : Effect.succeed(new URL(location))
    })
  )

export const layerBrowser: Layer.Layer<UserAgent.UserAgent> = Layer.succeed(UserAgent.UserAgent, {
  redirectUris: [redirectUri],
  visit: () => Effect.succeed({ redirectUri, open })
})
