/** An MCP client over an HTTP client that logs in. */
import { assert, describe, it } from "@effect/vitest"
import { AuthError, type Grant, OAuthClient } from "@mcpfx/auth"
import { McpClient, type McpClientError, Negotiation } from "@mcpfx/client"
import { Context, Effect, Fiber, Layer, Option } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import {
  challenge,
  grant,
  issuer,
  json,
  metadata,
  Provider,
  resourceAddress,
  type Seen,
  server,
  tokenOf
} from "./support/world.ts"

type Call = { readonly id?: number; readonly method: string }

const answer = (seen: Seen): Response => {
  if (seen.method !== "POST") return new Response("", { status: seen.method === "GET" ? 405 : 200 })
  const call: Call = JSON.parse(seen.body)
  if (call.id === undefined) return new Response("", { status: 202 })
  const results: Readonly<Record<string, object>> = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
    "tools/call": { content: [{ type: "text", text: "done" }] },
    "tools/list": { tools: [] }
  }
  const result = results[call.method]
  return result === undefined
    ? json({ jsonrpc: "2.0", id: call.id, error: { code: -32601, message: "no such method" } }, 404)
    : json({ jsonrpc: "2.0", id: call.id, result })
}

/** A server of 2025-11-25 behind a login. */
const protectedServer = () => {
  const provider = new Provider()
  provider.world.on(server, (seen) =>
    provider.valid.has((tokenOf(seen) ?? "").replace("Bearer ", ""))
      ? answer(seen)
      : challenge(`resource_metadata="${resourceAddress}"`))
  return provider
}

const calls = (provider: Provider): ReadonlyArray<string> =>
  provider.world.at(server).flatMap(({ body, method }) => {
    if (method !== "POST") return [method]
    const call: Call = JSON.parse(body)
    return [call.method]
  })

const connected = (provider: Provider, options: Partial<OAuthClient.Options>, lazy = false) =>
  Layer.build(
    McpClient.layerHttp({ url: server, lazy }).pipe(
      Layer.provide(OAuthClient.layer({ url: server, grant: grant(), ...options })),
      Layer.provide(Layer.succeed(HttpClient.HttpClient, provider.world.client)),
      Layer.provide(Layer.succeed(Negotiation.CurrentEraCache, Negotiation.makeEraCache()))
    )
  ).pipe(Effect.map((context) => Context.get(context, McpClient.McpClient)))

const slowly = (minutes: number): Grant.Grant =>
  grant({ interactive: true, person: () => Effect.sleep(`${minutes} minutes`) })

const pass = (minutes: number) =>
  Effect.forEach(Array.from({ length: minutes * 6 }), () => TestClock.adjust("10 seconds"))

/** What became of an error of the login, above. */
const found = (error: McpClientError.McpClientError | AuthError.AuthError) =>
  Option.getOrUndefined(AuthError.find(error))?.reason._tag

describe("OAuthClient under McpClient", () => {
  it.effect("[ACL-01] a client connects through a login, whatever the era", () =>
    Effect.gen(function*() {
      const provider = protectedServer()
      const client = yield* connected(provider, {})
      assert.strictEqual((yield* client.server).revision.version, "2025-11-25")
      const result = yield* client.callTool("x")
      assert.deepInclude(result, { content: [{ type: "text", text: "done" }] })
      assert.strictEqual(provider.given, 1)
    }))

  it.effect("no deadline of the client ends a login that takes its time, at connecting", () =>
    Effect.gen(function*() {
      const provider = protectedServer()
      const fiber = yield* Effect.forkChild(connected(provider, { grant: slowly(8) }))
      yield* pass(8)
      yield* Fiber.join(fiber)
      assert.strictEqual(provider.given, 1)
    }))

  it.effect("no deadline of the client ends a login that takes its time, during a call", () =>
    Effect.gen(function*() {
      const provider = protectedServer()
      provider.refreshable.clear()
      const client = yield* connected(provider, { grant: { ...slowly(15), refreshes: false } }, true)
      const first = yield* Effect.forkChild(client.callTool("x"))
      yield* pass(15)
      yield* Fiber.join(first)
      provider.valid.clear()
      const second = yield* Effect.forkChild(client.callTool("x"))
      yield* pass(15)
      assert.deepInclude(yield* Fiber.join(second), { content: [{ type: "text", text: "done" }] })
      assert.strictEqual(provider.given, 2)
    }))

  it.effect("after the login each deadline has its time again, and no more", () =>
    Effect.gen(function*() {
      const provider = protectedServer()
      const client = yield* connected(provider, { grant: slowly(2) }, true)
      const first = yield* Effect.forkChild(client.callTool("x"))
      yield* pass(2)
      yield* Fiber.join(first)
      provider.world.on(server, () => Effect.never)
      const silent = yield* Effect.forkChild(Effect.flip(client.callTool("x")))
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual((yield* Fiber.join(silent)).reason._tag, "TimedOut")
    }))

  it.effect("a login that fails ends the connecting with its own words, and says nothing about the era", () =>
    Effect.gen(function*() {
      const provider = protectedServer()
      const denied = new AuthError.LoginDenied({ issuer, error: "access_denied" })
      const person = () => AuthError.fail(denied)
      const error = yield* Effect.flip(connected(provider, { grant: grant({ interactive: true, person }) }))
      assert.strictEqual(found(error), "LoginDenied")
      assert.strictEqual(error.message, `server/discover: the login at ${issuer} was denied: access_denied`)
      assert.deepStrictEqual(calls(provider), ["server/discover"])
    }))

  it.effect("[field AUT-21] an authorization server that is down is told as that, and a client connects when it is back", () =>
    Effect.gen(function*() {
      const provider = protectedServer()
      const addresses = ["oauth-authorization-server", "openid-configuration"].map((name) =>
        `${issuer}/.well-known/${name}`
      )
      const [first = ""] = addresses
      for (const address of addresses) provider.world.on(address, () => undefined)
      const client = yield* connected(provider, {}, true)
      const error = yield* Effect.flip(client.callTool("x"))
      assert.strictEqual(found(error), "Unavailable")
      assert.isUndefined(error.reason._tag === "HttpRefused" ? error.reason.final : true)
      for (const address of addresses) assert.include(error.message, `${address} (it does not answer)`)
      // Nothing of it speaks of the era of the server.
      assert.notInclude(calls(provider), "initialize")

      provider.world.on(first, metadata)
      yield* pass(1)
      assert.deepInclude(yield* client.callTool("x"), { content: [{ type: "text", text: "done" }] })
    }))

  it.effect("[field AUT-10] a client that lost its login does not connect again and again", () =>
    Effect.gen(function*() {
      const provider = protectedServer()
      const client = yield* connected(provider, { onLoginNeeded: "fail", grant: grant({ interactive: true }) }, true)
      for (let n = 0; n < 3; n++) {
        const before = provider.world.at(server).length
        const error = yield* Effect.flip(client.callTool("x"))
        assert.strictEqual(found(error), "LoginRequired")
        assert.strictEqual(error.message, `server/discover: ${server} needs a login: log in to go on`)
        assert.strictEqual(provider.world.at(server).length - before, 1)
      }
    }))

  it.effect("[field AUT-10] a lost session whose login is over is not opened again and again", () =>
    Effect.gen(function*() {
      const provider = protectedServer()
      let asked = 0
      const denied = new AuthError.LoginDenied({ issuer, error: "access_denied" })
      const person = () => Effect.suspend(() => asked++ === 0 ? Effect.void : AuthError.fail(denied))
      const headers = { "mcp-session-id": "s1", "content-type": "application/json" }
      provider.world.on(server, (seen) =>
        tokenOf(seen) === undefined
          ? challenge(`resource_metadata="${resourceAddress}"`)
          : Effect.map(Effect.promise(() => answer(seen).text()), (body) => new Response(body, { headers })))
      const client = yield* connected(provider, {
        grant: { ...grant({ interactive: true, person }), refreshes: false }
      })
      provider.world.on(server, ({ headers }) =>
        headers["mcp-session-id"] === undefined
          ? challenge("error=\"invalid_token\"")
          : new Response("", { status: 404 }))
      const before = provider.world.at(server).filter(({ method }) => method === "POST").length
      const fiber = yield* Effect.forkChild(Effect.flip(client.callTool("x")))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(found(yield* Fiber.join(fiber)), "LoginDenied")
      assert.strictEqual(asked, 2)
      assert.strictEqual(provider.world.at(server).filter(({ method }) => method === "POST").length - before, 2)
    }))

  it.effect("[field AUT-10] a stream that is not let in is opened again after the next call, and asks nobody", () =>
    Effect.gen(function*() {
      const provider = protectedServer()
      const session = { headers: { "mcp-session-id": "s1" } }
      provider.world.on(server, (seen) => {
        if (tokenOf(seen) === undefined || seen.method === "GET") return challenge("error=\"invalid_token\"")
        const response = answer(seen)
        return seen.body.includes("\"initialize\"")
          ? Effect.promise(() => response.text()).pipe(
            Effect.map((body) =>
              new Response(body, { headers: { "content-type": "application/json", ...session.headers } })
            )
          )
          : response
      })
      let asked = 0
      const person = () => Effect.sync(() => void asked++)
      const client = yield* connected(provider, {
        grant: { ...grant({ interactive: true, person }), refreshes: false }
      })
      yield* TestClock.adjust("10 minutes")
      const gets = () => calls(provider).filter((method) => method === "GET").length
      assert.strictEqual(gets(), 1)
      for (let n = 0; n < 5; n++) yield* client.callTool("x")
      yield* TestClock.adjust("10 minutes")
      assert.isAtMost(gets(), 6)
      assert.strictEqual(asked, 1)
    }))

  it.effect("a server with HTTP+SSE alone is found behind a login, which its opening waits for", () =>
    Effect.gen(function*() {
      const provider = protectedServer()
      provider.world.on(server, (seen) => {
        if (seen.method === "POST") return new Response("", { status: 405 })
        if (!provider.valid.has((tokenOf(seen) ?? "").replace("Bearer ", ""))) return challenge("")
        return new Response("event: endpoint\ndata: /messages\n\n", {
          headers: { "content-type": "text/event-stream" }
        })
      })
      const fiber = yield* Effect.forkChild(Effect.flip(connected(provider, { grant: slowly(3) })))
      yield* pass(4)
      const error = yield* Fiber.join(fiber)
      assert.isUndefined(found(error))
      assert.strictEqual(provider.given, 1)
      assert.include(calls(provider), "GET")
    }))
})
