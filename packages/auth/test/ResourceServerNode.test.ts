/** Behind Node's own HTTP server, whose requests are not those of the web. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, layer } from "@effect/vitest"
import { ResourceServer, TokenVerifier } from "@mcpfx/auth"
import * as NodeListener from "@mcpfx/node/NodeListener"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import { Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { request } from "node:http"
import { modern } from "./support/protecting.ts"

const Me = McpServer.tool(
  Tool.make("me", { input: {} }),
  () => Effect.map(CurrentPrincipal, Option.match({ onNone: () => "nobody", onSome: ({ subject }) => subject }))
)

const Routes = ResourceServer.layer(
  {},
  (protect) => McpServer.layerHttp(Me, { name: "t", version: "1", middleware: protect })
).pipe(
  Layer.provide(TokenVerifier.layerStatic({
    tokens: { t: { subject: "ada" }, u: { subject: "bob" } },
    issuers: ["https://login.example"]
  }))
)

const servers: ReadonlyArray<readonly [name: string, server: Layer.Layer<HttpServer.HttpServer, unknown>]> = [
  [
    "NodeHttpServer",
    HttpRouter.serve(Routes, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provideMerge(NodeHttpServer.layerTest)
    )
  ],
  ["NodeListener", NodeListener.layer(Routes)]
]

interface Answer {
  readonly status: number | undefined
  readonly challenge: string | undefined
  readonly text: string
}

/** Sends headers as they are, which `fetch` would not. */
const send = (headers: ReadonlyArray<readonly [string, string]>) =>
  Effect.gen(function*() {
    const { address } = yield* HttpServer.HttpServer
    if (address._tag === "UnixPathAddress") return yield* Effect.die("no port")
    const { body, headers: needed } = modern("tools/call", { name: "me", arguments: {} }, "me")
    const all = [...Object.entries(needed), ["Host", `127.0.0.1:${address.port}`], ...headers].flat()
    return yield* Effect.callback<Answer>((resume) => {
      const sent = request(
        { host: "127.0.0.1", port: address.port, path: "/mcp", method: "POST", headers: all },
        (answer) => {
          let text = ""
          answer.on("data", (chunk) => text += String(chunk))
          answer.on("end", () => {
            const { headers, statusCode } = answer
            resume(Effect.succeed({ status: statusCode, challenge: headers["www-authenticate"], text }))
          })
        }
      )
      sent.end(body)
    })
  })

const suite = (name: string, server: Layer.Layer<HttpServer.HttpServer, unknown>) =>
  layer(server)(`on Node, ${name}`, (it) => {
    it.effect("[ARS-06] a caller with a good token comes in, with its body", () =>
      Effect.gen(function*() {
        const { status, text } = yield* send([["Authorization", "Bearer t"]])
        assert.strictEqual(status, 200)
        assert.include(text, "\"ada\"")
        const refused = yield* send([])
        assert.strictEqual(refused.status, 401)
        assert.match(
          refused.challenge ?? "",
          /resource_metadata="http:\/\/127\.0\.0\.1:\d+\/\.well-known\/oauth-protected-resource\/mcp"/
        )
      }))

    it.effect("[ARS-06] the header is there once: nobody can say which of two is meant", () =>
      Effect.gen(function*() {
        for (const name of ["Authorization", "AUTHORIZATION"]) {
          const { challenge, status } = yield* send([["Authorization", "Bearer t"], [name, "Bearer u"]])
          assert.strictEqual(status, 400)
          assert.match(challenge ?? "", /invalid_request/)
        }
      }))
  })

for (const [name, server] of servers) suite(name, server)
