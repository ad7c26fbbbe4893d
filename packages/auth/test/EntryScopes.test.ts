/** Tools, resources, templates and prompts that need scopes of their own, behind a server that checks tokens. */
import { assert, describe, it } from "@effect/vitest"
import { ResourceServer, TokenVerifier } from "@mcpfx/auth"
import { type JsonRpc, Prompt, Resource, Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Effect, Layer, Schema } from "effect"
import { bearer, challengeOf, jsonOf, modern, origin, post, type Send, serve, session } from "./support/protecting.ts"

const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`

const Registrations = Layer.mergeAll(
  McpServer.tool(Tool.make("free", { input: {} }), () => Effect.succeed("free")),
  McpServer.tool(Tool.make("admin", { input: {}, scopes: ["read", "write"] }), () => Effect.succeed("admin")),
  McpServer.resource(Resource.make("notes://one", { name: "one", scopes: ["read"] }), () => Effect.succeed("one"), {
    scopes: ["write"]
  }),
  McpServer.template(
    Resource.template("notes://all/{id}", { name: "all", params: { id: Schema.String }, scopes: ["read", "write"] }),
    ({ id }) => Effect.succeed(id),
    { complete: { id: () => Effect.succeed(["secret-id"]) } }
  ),
  // The caller does not see it, so what it is read from is the template.
  McpServer.resource(Resource.make("notes://all/hidden", { name: "hidden" }), () => Effect.succeed("hidden"), {
    visible: () => false
  }),
  McpServer.prompt(
    Prompt.make("plan", { arguments: { day: Schema.String }, scopes: ["read", "write"] }),
    () => Effect.succeed("plan"),
    { complete: { day: () => Effect.succeed(["secret-day"]) } }
  )
)

const Server = ResourceServer.layer(
  { resource: `${origin}/mcp`, implies: (scope) => scope === "admin" ? ["read", "write"] : [] },
  (protect) => McpServer.layerHttp(Registrations, { name: "t", version: "1", allowedHosts: "any", middleware: protect })
).pipe(Layer.provide(TokenVerifier.layerStatic({
  tokens: {
    "t-none": { subject: "ada" },
    "t-read": { subject: "ada", scopes: ["read"] },
    "t-both": { subject: "ada", scopes: ["write", "read"] },
    "t-admin": { subject: "ada", scopes: ["admin"] }
  },
  issuers: ["https://login.example"]
})))

interface Ask {
  readonly method: string
  readonly params: JsonRpc.JsonObject
  readonly name?: string
}

const guarded: ReadonlyArray<Ask> = [
  { method: "tools/call", params: { name: "admin", arguments: {} }, name: "admin" },
  { method: "resources/read", params: { uri: "notes://one" }, name: "notes://one" },
  { method: "resources/read", params: { uri: "notes://all/7" }, name: "notes://all/7" },
  { method: "resources/read", params: { uri: "notes://all/hidden" }, name: "notes://all/hidden" },
  { method: "prompts/get", params: { name: "plan", arguments: { day: "x" } }, name: "plan" },
  {
    method: "completion/complete",
    params: { ref: { type: "ref/prompt", name: "plan" }, argument: { name: "day", value: "" } }
  },
  {
    method: "completion/complete",
    params: { ref: { type: "ref/resource", uri: "notes://all/{id}" }, argument: { name: "id", value: "" } }
  }
]

const free: ReadonlyArray<Ask> = [
  { method: "tools/call", params: { name: "free", arguments: {} }, name: "free" },
  { method: "tools/list", params: {} },
  { method: "resources/list", params: {} }
]

type Caller = (token: string, ask: Ask) => Effect.Effect<Response>

const eras: ReadonlyArray<[era: string, (send: Send) => Effect.Effect<Caller>]> = [
  ["2026-07-28", (send) =>
    Effect.succeed((token, { method, name, params }) => {
      const { body, headers } = modern(method, params, name)
      return send("POST", "/mcp", { ...headers, ...bearer(token) }, body)
    })],
  [
    "2025-11-25",
    (send) =>
      Effect.map(
        session(send, "t-none"),
        ({ request }) => (token, { method, params }) => request(method, params, token)
      )
  ]
]

describe("scopes of entries", () => {
  for (const [era, callerOf] of eras) {
    it.effect(`[ARS-09] [ARS-10] [SEC-12] ${era}: a token that lacks one is 403, with all of them and where to read more`, () =>
      Effect.gen(function*() {
        const call = yield* callerOf(yield* serve(Server))
        for (const ask of guarded) {
          for (const token of ["t-none", "t-read"]) {
            const response = yield* call(token, ask)
            assert.strictEqual(response.status, 403, JSON.stringify(ask))
            const { scope = "", ...rest } = challengeOf(response)
            assert.deepStrictEqual(scope.split(" ").toSorted(), ["read", "write"])
            assert.deepStrictEqual(rest, { error: "insufficient_scope", resource_metadata: metadata })
            assert.notMatch(yield* Effect.promise(() => response.text()), /secret|hidden/)
          }
        }
        for (const ask of free) assert.strictEqual((yield* call("t-none", ask)).status, 200, ask.method)
      }))

    it.effect(`[ARS-10] ${era}: a token with all of them, or with one that stands for them, is enough`, () =>
      Effect.gen(function*() {
        const call = yield* callerOf(yield* serve(Server))
        for (const ask of guarded) {
          for (const token of ["t-both", "t-admin"]) {
            const response = yield* call(token, ask)
            assert.strictEqual(response.status, 200, JSON.stringify(ask))
            assert.isDefined((yield* jsonOf(response)).result, JSON.stringify(ask))
          }
        }
      }))
  }

  it.effect("[ARS-09] 2025-11-25: a resource is watched by who may read it", () =>
    Effect.gen(function*() {
      const send = yield* serve(Server)
      const { request } = yield* session(send, "t-none")
      for (const uri of ["notes://one", "notes://all/7"]) {
        assert.strictEqual((yield* request("resources/subscribe", { uri })).status, 403)
        assert.strictEqual((yield* request("resources/subscribe", { uri }, "t-both")).status, 200)
      }
    }))

  it.effect("[ARS-09] who brings nothing is asked to log in, not for more scopes", () =>
    Effect.gen(function*() {
      const send = yield* serve(
        ResourceServer.layer({ resource: `${origin}/mcp`, optional: true }, (protect) =>
          McpServer.layerHttp(Registrations, { name: "t", version: "1", allowedHosts: "any", middleware: protect }))
          .pipe(
            Layer.provide(TokenVerifier.layerStatic({ tokens: {}, issuers: ["https://login.example"] }))
          )
      )
      const { body, headers } = modern("tools/call", { name: "admin", arguments: {} }, "admin")
      const response = yield* send("POST", "/mcp", headers, body)
      assert.strictEqual(response.status, 401)
      assert.deepStrictEqual(challengeOf(response), { resource_metadata: metadata, scope: "read write" })
      const open = modern("tools/call", { name: "free", arguments: {} }, "free")
      assert.strictEqual((yield* send("POST", "/mcp", { ...post, ...open.headers }, open.body)).status, 200)
    }))
})
