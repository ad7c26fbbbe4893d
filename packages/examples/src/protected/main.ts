/**
 * All of it on one machine: `node main.ts` starts a login page, the diary server and a client, and opens your browser.
 *
 * On a machine without one, copy the printed address into a browser, and the address that you are sent to back to here.
 */
import { AuthError } from "@mcpfx/auth"
import { LoopbackLogin } from "@mcpfx/node"
import { TestAuthorizationServer } from "@mcpfx/testing"
import { Console, Effect, Layer, Option } from "effect"
import { FetchHttpClient, HttpServer } from "effect/http"
import { connect, tour } from "./client.ts"
import * as Http from "./http.ts"
import * as Login from "./login.ts"

/** The two servers: the address of the diary, and its login. */
export const Servers = Layer.unwrap(
  Effect.map(TestAuthorizationServer.TestAuthorizationServer, ({ issuer }) => Http.layer({ port: 0, issuer }))
).pipe(Layer.provideMerge(Login.layer(0)))

export const diaryUrl = Effect.map(
  HttpServer.HttpServer,
  ({ address }) => `http://127.0.0.1:${address._tag === "UnixPathAddress" ? 0 : address.port}/mcp`
)

const main = Effect.gen(function*() {
  const Client = connect(yield* diaryUrl).pipe(
    Layer.provide(LoopbackLogin.layer()),
    Layer.provide(FetchHttpClient.layer)
  )
  yield* Effect.provide(tour, Client)
}).pipe(
  Effect.provide(Servers),
  // Every failure of a login has a reason that a program can act on.
  Effect.catch((error) =>
    Option.match(AuthError.find(error), {
      onNone: () => Effect.fail(error),
      onSome: ({ reason }) => Console.error(`no login: ${reason._tag}`)
    })
  )
)

if (process.argv[1] === import.meta.filename) await Effect.runPromise(main)
