/** A process that calls a server again and again with what a shared store has, and prints what became of each call. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as AuthError from "@mcpfx/auth/AuthError"
import * as AuthorizationCode from "@mcpfx/auth/AuthorizationCode"
import * as OAuthClient from "@mcpfx/auth/OAuthClient"
import * as UserAgent from "@mcpfx/auth/UserAgent"
import * as TokenStoreFile from "@mcpfx/node/TokenStoreFile"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"

const [url = "", issuer = "", directory = "", times = "0"] = process.argv.slice(2)

const Client = OAuthClient.layer({
  url,
  grant: AuthorizationCode.grant({ client: { issuer, clientId: "app" } }),
  onLoginNeeded: "fail"
}).pipe(
  Layer.provide(UserAgent.layerNone),
  Layer.provide(TokenStoreFile.layer({ directory })),
  Layer.provide([FetchHttpClient.layer, NodeFileSystem.layer])
)

const call = Effect.match(HttpClient.post(url), {
  onSuccess: ({ status }) => String(status),
  onFailure: (error) =>
    Option.match(AuthError.find(error), { onNone: () => error.message, onSome: (e) => e.reason._tag })
})

const program = Effect.forEach(Array.from({ length: Number(times) }), () => call)

process.stdout.write(JSON.stringify(await Effect.runPromise(Effect.provide(program, Client))))
