/**
 * All of it on one machine: `node main.ts` starts a login page, the diary server and a client, and opens your browser.
 *
 * On a machine without one, copy the printed address into a browser, and the address that you are sent to back to here. Where
 * there is neither a browser nor a terminal it says so and ends, with exit code 1.
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
  // A login that fails is no fault of the program: its message says what happened, its `reason` what can be done.
  Effect.catch((error) =>
    Option.match(AuthError.find(error), {
      onNone: () => Effect.fail(error),
      onSome: ({ message }) =>
        Effect.andThen(
          Console.error(message),
          Effect.sync(() => {
            process.exitCode = 1
          })
        )
    })
  )
)

if (process.argv[1] === import.meta.filename) await Effect.runPromise(main)
