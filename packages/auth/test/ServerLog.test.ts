/** What the log of a protected server says of requests that it turned away: enough to mend it, and no token. */
import { assert, describe, it } from "@effect/vitest"
import {
  type AuthError,
  ResourceServer,
  TokenVerifier,
  TokenVerifierIntrospection,
  TokenVerifierJwt
} from "@mcpfx/auth"
import { McpServer } from "@mcpfx/server"
import { TestHttp } from "@mcpfx/testing"
import { Effect, Layer, Logger, Redacted, References } from "effect"
import { HttpClient, HttpRouter, HttpServerResponse } from "effect/http"
import { bearer, modern, origin, type Send, serve } from "./support/protecting.ts"
import { issuer, makeKey, redacted, resource, sign } from "./support/signing.ts"

const key = await makeKey("es")
const info = { name: "t", version: "1" }
const issuers = [issuer]
const listed = TokenVerifier.layerStatic({ tokens: { t: { subject: "ada", scopes: ["read"] } }, issuers })
const wellKnown = "/.well-known/oauth-protected-resource"

const call = (send: Send, path = "/mcp", headers: Readonly<Record<string, string>> = {}) => {
  const { body, headers: needed } = modern("tools/list")
  return send("POST", path, { ...needed, ...headers }, body)
}

/** What is logged, with its level. */
const logging = <A, E, R>(run: (lines: Array<readonly [level: string, text: string]>) => Effect.Effect<A, E, R>) => {
  const lines: Array<readonly [string, string]> = []
  const logger = Logger.make(({ logLevel, message }) =>
    lines.push([logLevel, Array.isArray(message) ? message.join(" ") : String(message)])
  )
  return run(lines).pipe(
    Effect.provide(Logger.layer([logger])),
    Effect.provideService(References.MinimumLogLevel, "Trace")
  )
}

describe("the log", () => {
  const protectedAt = (
    options: ResourceServer.LayerOptions,
    trust: Layer.Layer<TokenVerifier.TokenVerifier, AuthError.AuthError>,
    path: `/${string}` = "/mcp"
  ) =>
    serve(
      ResourceServer.layer(options, (protect) =>
        McpServer.layerHttp(Layer.empty, { ...info, path, allowedHosts: "any", middleware: protect })).pipe(
          Layer.provide(trust)
        )
    )

  it.effect("[ARS-06] [ARS-07] [ARS-08] says what was expected of a token and what came, and never the token", () =>
    logging((lines) =>
      Effect.gen(function*() {
        const send = yield* protectedAt(
          { resource, audience: ["api"] },
          TokenVerifierJwt.layerKeys({ issuer, keys: [key.jwk] })
        )
        const hostile = `https://other.example/\n\u001b[31m${"x".repeat(5000)}`
        const sent = [
          [
            yield* sign(key, { aud: "https://other.example" }),
            `audience: it is for "https://other.example", and this server is "${resource}", "api"`
          ],
          [yield* sign(key, { aud: undefined }), `audience: it is for none, and`],
          [yield* sign(key, { aud: ["a", "b", "c", "d", "e", "f"] }), `"d" and 2 more`],
          [yield* sign(key, { aud: hostile }), `audience: it is for "https://other.example/ [31mxxx`],
          [
            yield* sign(key, { iss: `${issuer}/` }),
            `issuer: it is of "${issuer}/", and taken are those of "${issuer}"`
          ],
          [yield* sign(key, { iss: undefined }), "issuer: it is of nobody"],
          [yield* sign(key, { iss: hostile }), "issuer: it is of"],
          [yield* sign(key, {}, { header: { typ: "id+jwt" } }), `type: it is "id+jwt"`]
        ] as const
        for (const [token, said] of sent) {
          lines.length = 0
          assert.strictEqual((yield* call(send, "/mcp", bearer(token))).status, 401)
          assert.lengthOf(lines, 1)
          const [level, text] = lines[0] ?? ["", ""]
          assert.strictEqual(level, "Debug")
          assert.include(text, said)
          assert.isBelow(text.length, 600)
          assert.notMatch(text, /\p{C}/u)
          assert.notInclude(text, token.slice(-20))
        }
      })
    ))

  it.effect("[ARS-08] says no token that a verifier of the program writes into its words", () =>
    logging((lines) =>
      Effect.gen(function*() {
        const failing = [
          (token: string) => new TokenVerifier.InvalidToken({ reason: "claims", detail: `no ${token}\n!` }),
          (token: string) => new TokenVerifier.VerifierUnavailable({ detail: `no ${token}\n!` })
        ]
        for (const failure of failing) {
          const verify: TokenVerifier.TokenVerifier["Service"]["verify"] = (token) =>
            Effect.fail(failure(Redacted.value(token)))
          const send = yield* protectedAt({ resource }, Layer.succeed(TokenVerifier.TokenVerifier, { issuers, verify }))
          yield* call(send, "/mcp", bearer("a-secret-token"))
          assert.match(lines.at(-1)?.[1] ?? "", /: no … !$/)
        }
        assert.lengthOf(lines, 2)
      })
    ))

  it.effect("[ARS-07] a list and introspection say the audience and the issuer too", () =>
    Effect.gen(function*() {
      const list = TokenVerifier.layerStatic({ tokens: { t: { subject: "ada", audience: ["https://other.example"] } } })
      const answers = [{ aud: "https://other.example" }, { iss: "https://other.example", aud: resource }]
      const introspecting = answers.map((claims) =>
        TokenVerifierIntrospection.layer({
          issuer,
          endpoint: `${issuer}/introspect`,
          client: { method: "bearer", token: Redacted.make("own") }
        }).pipe(Layer.provide(Layer.succeed(
          HttpClient.HttpClient,
          TestHttp.clientOf(() => Response.json({ active: true, sub: "ada", ...claims }))
        )))
      )
      for (const trust of [list, ...introspecting]) {
        const error = yield* TokenVerifier.TokenVerifier.use(({ verify }) => verify(redacted("t"), [resource])).pipe(
          Effect.provide(trust),
          Effect.flip
        )
        const detail = error._tag === "InvalidToken" ? error.detail : undefined
        assert.match(detail ?? "", /^it is (?:for|of) "https:\/\/other\.example", and /)
      }
    }))

  it.effect("[ARS-02] warns once where the path that is asked is not the resource's", () =>
    logging((lines) =>
      Effect.gen(function*() {
        const send = yield* protectedAt({ resource: `${origin}/other` }, listed, "/todo")
        for (const headers of [{}, bearer("t"), bearer("x")]) yield* call(send, "/todo?x=hunter2", headers)
        const warnings = lines.filter(([level]) => level === "Warn").map(([, text]) => text)
        assert.lengthOf(warnings, 1)
        assert.include(warnings[0], `for the path "/todo", and the resource is "${origin}/other"`)
        assert.notInclude(warnings[0], "hunter2")
      })
    ))

  it.effect("[ARS-02] does not warn where it is, whatever the router, and below it", () =>
    logging((lines) =>
      Effect.gen(function*() {
        for (const own of [origin, `${origin}/`, `${origin}/mcp`, `${origin}/mcp/`]) {
          const send = yield* protectedAt({ resource: own }, listed)
          for (const path of ["/mcp", "/mcp/", "/mcp?x=1"]) yield* call(send, path, bearer("t"))
        }
        const prefixed = yield* serve(
          ResourceServer.layer({ resource: `${origin}/api/mcp` }, (protect) =>
            HttpRouter.use((router) =>
              router.prefixed("/api").add("*", "/mcp", protect(Effect.succeed(HttpServerResponse.text("in"))))
            )).pipe(Layer.provide(listed))
        )
        assert.strictEqual((yield* call(prefixed, "/api/mcp", bearer("t"))).status, 200)
        assert.deepStrictEqual(
          lines.filter(([level]) =>
            level === "Warn"
          ),
          []
        )
      })
    ))

  it.effect("[ARS-07] names the host that was refused for want of a resource, loudly once", () =>
    logging((lines) =>
      Effect.gen(function*() {
        const send = yield* protectedAt({}, listed)
        for (const host of ["mcp.example.com", "evil.example"]) {
          const refused = yield* call(send, "/mcp", { host, ...bearer("t") })
          assert.strictEqual(refused.status, 403)
          assert.notInclude(yield* Effect.promise(() => refused.text()), host)
          assert.strictEqual((yield* send("GET", wellKnown, { host })).status, 404)
        }
        assert.deepStrictEqual(lines.map(([level]) => level), ["Warn", "Warn", "Debug", "Debug"])
        for (const [, text] of lines) {
          assert.match(text, /for the host "(?:mcp|evil)\.example[.com]*" was refused: without the option resource/)
        }
      })
    ))
})
