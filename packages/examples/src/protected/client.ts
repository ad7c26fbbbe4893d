/** A client that logs its person in when the server wants it, and again when a tool wants more. */
import { AuthorizationCode, OAuthClient } from "@mcpfx/auth"
import { McpClient } from "@mcpfx/client"
import { Console, Effect, Layer } from "effect"
import { Read, Write } from "./contract.ts"

/**
 * The client of one server. It needs an HTTP client, and a user agent to show the login page with: `LoopbackLogin` opens the
 * browser of this machine. Tokens are kept in memory unless there is a `TokenStore`.
 */
export const connect = (url: string) =>
  McpClient.layerHttp({ url }).pipe(
    Layer.provideMerge(OAuthClient.layer({
      url,
      grant: AuthorizationCode.grant({ dynamic: { clientName: "Diary reader" } })
    }))
  )

/** What a host shows of the login; `OAuthClient.changes` has every change of it. */
const tellLogin = Effect.gen(function*() {
  const status = yield* (yield* OAuthClient.OAuthClient).status
  yield* Console.log(status._tag === "LoggedIn" ? `logged in for ${status.scopes.join(" ")}` : status._tag)
})

export const tour = Effect.gen(function*() {
  const client = yield* McpClient.McpClient
  const login = yield* OAuthClient.OAuthClient

  // The first request is refused; the client finds the login page, shows it, and sends the request again.
  const { owner, pages } = yield* client.call(Read)
  yield* Console.log(`${owner} has ${pages.length} pages`)
  yield* tellLogin

  // The token is good for reading alone; this asks the person once more.
  const written = yield* client.call(Write, { page: "Today the engine computed." })
  yield* Console.log(`now there are ${written.pages}`)
  yield* tellLogin

  yield* login.logout
  yield* tellLogin
})
