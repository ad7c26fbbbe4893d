/** One challenge names all that an operation needs: what every request does, and what this one does beside. */
import { assert, describe, it } from "@effect/vitest"
import { ResourceServer, TokenVerifier } from "@mcpfx/auth"
import { Prompt, Resource, Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { bearer, challengeOf, modern, origin, type Send, serve, session } from "./support/protecting.ts"

const resource = `${origin}/mcp`
const scopes = ["write"]

const Registrations = Layer.mergeAll(
  McpServer.tool(Tool.make("add", { input: {}, scopes: ["write", "read"] }), () => Effect.succeed("added")),
  McpServer.resource(Resource.make("notes://one", { name: "one", scopes }), () => Effect.succeed("one")),
  McpServer.prompt(Prompt.make("plan", { scopes }), () => Effect.succeed("plan"))
)

/** Tokens are their scopes, joined by dots. */
const tokens = Object.fromEntries(
  ["none", "read", "write", "read.write"].map((token) => [token, { subject: "ada", scopes: token.split(".") }])
)
const verifier = TokenVerifier.layerStatic({ tokens, issuers: ["https://login.example"] })

const make = (options: ResourceServer.LayerOptions = {}) =>
  serve(
    ResourceServer.layer({ resource, scopes: ["read"], ...options }, (protect) =>
      McpServer.layerHttp(Registrations, { name: "t", version: "1", allowedHosts: "any", middleware: protect }))
      .pipe(Layer.provide(verifier))
  )

const asks = [
  ["tools/call", { name: "add", arguments: {} }, "add"],
  ["resources/read", { uri: "notes://one" }, "notes://one"],
  ["prompts/get", { name: "plan", arguments: {} }, "plan"]
] as const

type Ask = (typeof asks)[number]

const current = (send: Send, [method, params, name]: Ask, token?: string) => {
  const { body, headers } = modern(method, params, name)
  return send("POST", "/mcp", token === undefined ? headers : { ...headers, ...bearer(token) }, body)
}

/** Asks for exactly what each challenge names, as clients do that keep no union of their own. */
const steps = Effect.fnUntraced(function*(first: string, call: (token: string) => Effect.Effect<Response>) {
  const tried = [first]
  for (let response = yield* call(first); response.status === 403; response = yield* call(tried.at(-1) ?? "")) {
    tried.push((challengeOf(response)["scope"] ?? "").replaceAll(" ", "."))
    if (tried.length > 4) break
  }
  return tried
})

describe("step-up", () => {
  it.effect("[ARS-09] [ARS-10] a caller that asks for what the challenge names comes in at once, whatever it had", () =>
    Effect.gen(function*() {
      const send = yield* make()
      for (const ask of asks) {
        assert.deepStrictEqual(yield* steps("read", (token) => current(send, ask, token)), ["read", "read.write"])
        // It lacks what every request needs, which is all that is known before the body is read.
        assert.deepStrictEqual(
          yield* steps("none", (token) => current(send, ask, token)),
          ["none", "read", "read.write"]
        )
      }
    }))

  it.effect("[ARS-09] [ARS-10] 2025-11-25: the same within a session", () =>
    Effect.gen(function*() {
      const { request } = yield* session(yield* make(), "read")
      for (const [method, params] of asks) {
        assert.deepStrictEqual(
          yield* steps("read", (token) => request(method, params, token)),
          ["read", "read.write"]
        )
      }
    }))

  it.effect("[ARS-05] [ARS-10] a caller without a token is told the same, and asks once", () =>
    Effect.gen(function*() {
      const send = yield* make({ optional: true })
      for (const ask of asks) {
        const response = yield* current(send, ask)
        assert.strictEqual(response.status, 401)
        assert.strictEqual(challengeOf(response)["scope"], "read write")
      }
    }))

  it.effect("[ARS-09] [ARS-10] where proofs are required the challenge is theirs, with the same scopes", () =>
    Effect.gen(function*() {
      const send = yield* make({ optional: true, dpop: "require" })
      const [ask] = asks
      assert.strictEqual(challengeOf(yield* current(send, ask), "dpop")["scope"], "read write")
    }))

  it.effect("[ARS-09] other challenges of an application keep what they say", () =>
    Effect.gen(function*() {
      const own = [
        [`Bearer error="insufficient_scope"`, { error: "insufficient_scope" }],
        [`Bearer error="other", scope="a"`, { error: "other", scope: "a" }],
        [`Bearer error="insufficient_scope", scope=" b  read b "`, { error: "insufficient_scope", scope: "read b" }]
      ] as const
      for (const [challenge, expected] of own) {
        const response = HttpServerResponse.empty({ status: 403, headers: { "www-authenticate": challenge } })
        const send = yield* serve(
          ResourceServer.layer(
            { resource, scopes: ["read"] },
            (protect) => HttpRouter.add("*", "/mcp", protect(Effect.succeed(response)))
          ).pipe(Layer.provide(verifier))
        )
        const { resource_metadata: _, ...said } = challengeOf(yield* send("GET", "/mcp", bearer("read")))
        assert.deepStrictEqual(said, expected)
      }
    }))
})
