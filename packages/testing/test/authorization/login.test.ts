import { assert, describe, it } from "@effect/vitest"
import { TestAuthorizationServer, TestNetwork } from "@mcpfx/testing"
import { Effect, Layer } from "effect"
import { HttpClientRequest, HttpRouter, HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import {
  type Answer,
  app,
  asked,
  authorize,
  backOf,
  callback,
  codeOf,
  exchange,
  register,
  send,
  type Server
} from "./support.ts"

const automatic = TestAuthorizationServer.make({ clients: [app], consent: "automatic" })

const documentId = "https://client.test/app.json"
const document = { client_id: documentId, client_name: "<Notes> & more", redirect_uris: [callback] }

const cookieOf = ({ headers }: Answer) => headers["set-cookie"]?.split(";")[0] ?? ""

const csrfOf = ({ text }: Answer) => /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? ""

const consent = (
  server: Server,
  page: Answer,
  headers: Readonly<Record<string, string>>,
  decision = "allow"
) =>
  send(
    server,
    HttpClientRequest.post(server.url("consent"), { headers }).pipe(
      HttpClientRequest.bodyUrlParams({ csrf: csrfOf(page), decision })
    )
  )

describe("login", () => {
  it.effect("[AAS-01] goes back to registered addresses only, to the letter", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({
        clients: [{ clientId: "app", redirectUris: ["https://app.test/cb?x=1", callback] }],
        consent: "automatic"
      })
      for (
        const uri of [
          "https://app.test/cb",
          "https://app.test/cb?x=1/",
          "https://app.test/cb?x=1&y=2",
          "https://evil.test/"
        ]
      ) {
        const answer = yield* authorize(server, { redirect_uri: uri })
        assert.deepStrictEqual([answer.status, answer.headers["location"]], [400, undefined], uri)
      }
      const query = yield* authorize(server, { redirect_uri: "https://app.test/cb?x=1" })
      assert.match(query.headers["location"] ?? "", /^https:\/\/app\.test\/cb\?x=1&code=/)
      const port = yield* authorize(server, { redirect_uri: "http://127.0.0.1:1/callback" })
      assert.match(port.headers["location"] ?? "", /^http:\/\/127\.0\.0\.1:1\/callback\?code=/)
      for (
        const uri of [
          "http://localhost:8976/callback",
          "https://127.0.0.1:8976/callback",
          "http://127.0.0.1.evil.test/callback"
        ]
      ) {
        assert.strictEqual((yield* authorize(server, { redirect_uri: uri })).status, 400, uri)
      }
    }))

  it.effect("[AAS-01] [field AUT-14] demands PKCE with S256", () =>
    Effect.gen(function*() {
      const server = yield* automatic
      for (
        const changes of [
          { code_challenge: undefined },
          { code_challenge_method: undefined },
          { code_challenge_method: "plain" },
          { code_challenge: "short" }
        ]
      ) {
        const { error, state } = backOf(yield* authorize(server, changes))
        assert.deepStrictEqual([error, state], ["invalid_request", "st"])
      }
      const code = yield* codeOf(server)
      const wrong = yield* exchange(server, code, { code_verifier: "a".repeat(43) })
      assert.deepInclude(wrong.body, { error: "invalid_grant" })
    }))

  it.effect("[AAS-01] all its endpoints are https", () =>
    Effect.gen(function*() {
      const server = yield* automatic
      const { body } = yield* send(server, HttpClientRequest.get(server.url("metadata")))
      const endpoints = Object.entries(body).filter(([name]) => /_endpoint$|_uri$/.test(name))
      assert.isAbove(endpoints.length, 6)
      for (const [name, value] of endpoints) assert.match(String(value), /^https:\/\/login\.test\//, name)
    }))

  it.effect("[AAS-02] offers metadata with its challenge methods, in both forms", () =>
    Effect.gen(function*() {
      const server = yield* automatic
      for (const path of ["oauth-authorization-server", "openid-configuration"]) {
        const { body } = yield* send(server, HttpClientRequest.get(`https://login.test/.well-known/${path}`))
        assert.deepInclude(body, { issuer: "https://login.test", code_challenge_methods_supported: ["S256"] })
      }
    }))

  it.effect("[AAS-03] names itself in every answer, errors too, and says that it does", () =>
    Effect.gen(function*() {
      const server = yield* automatic
      const { body } = yield* send(server, HttpClientRequest.get(server.url("metadata")))
      assert.strictEqual(body["authorization_response_iss_parameter_supported"], true)
      assert.deepInclude(backOf(yield* authorize(server)), { iss: "https://login.test", state: "st" })
      assert.deepInclude(backOf(yield* authorize(server, { scope: "a", response_type: "token" })), {
        error: "unsupported_response_type",
        iss: "https://login.test"
      })
      yield* server.setConsent("deny")
      assert.deepInclude(backOf(yield* authorize(server)), { error: "access_denied", iss: "https://login.test" })
    }))

  it.effect("[AAS-03] leaves its name out where it does not say so", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({ clients: [app], consent: "automatic", iss: false })
      const { body } = yield* send(server, HttpClientRequest.get(server.url("metadata")))
      assert.notProperty(body, "authorization_response_iss_parameter_supported")
      assert.notProperty(backOf(yield* authorize(server)), "iss")
    }))

  it.effect("[AAS-04] takes the address of a document for a client, if the document says the same", () =>
    Effect.gen(function*() {
      const other = "https://client.test/other.json"
      const server = yield* TestAuthorizationServer.make({
        consent: "automatic",
        documents: { [documentId]: document, [other]: document, "https://client.test/": document }
      })
      const code = yield* codeOf(server, { client_id: documentId })
      assert.strictEqual((yield* exchange(server, code, { client_id: documentId })).status, 200)
      for (const id of [other, "https://client.test/", "https://client.test/none.json", `${documentId}#x`]) {
        const answer = yield* authorize(server, { client_id: id })
        assert.deepStrictEqual([answer.status, answer.headers["location"]], [400, undefined], id)
      }
      assert.strictEqual(
        (yield* authorize(server, { client_id: documentId, redirect_uri: "https://evil.test/" })).status,
        400
      )
    }))

  it.effect("[AAS-04] fetches documents of public addresses, and remembers them for a while", () =>
    Effect.gen(function*() {
      let fetched = 0
      const hosted = yield* TestNetwork.serve(HttpRouter.add(
        "GET",
        "/app.json",
        Effect.sync(() => {
          fetched++
          return HttpServerResponse.jsonUnsafe(document)
        })
      ))
      const inside = yield* TestNetwork.serve(Layer.mergeAll(
        HttpRouter.add(
          "GET",
          "/app.json",
          HttpServerResponse.jsonUnsafe({ ...document, client_id: "https://10.0.0.1/app.json" })
        )
      ))
      const outbound = TestNetwork.client({ "https://client.test": hosted, "https://10.0.0.1": inside })
      const server = yield* TestAuthorizationServer.make({ consent: "automatic", outbound })
      assert.notStrictEqual(yield* codeOf(server, { client_id: documentId }), "")
      assert.notStrictEqual(yield* codeOf(server, { client_id: documentId }), "")
      assert.strictEqual(fetched, 1)
      yield* TestClock.adjust("6 minutes")
      yield* codeOf(server, { client_id: documentId })
      assert.strictEqual(fetched, 2)
      assert.strictEqual((yield* authorize(server, { client_id: "https://10.0.0.1/app.json" })).status, 400)
    }))

  it.effect("[AAS-04] [SEC-02] the page names the client, what it may do, where, and the host it leads to", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({ documents: { [documentId]: document } })
      const page = yield* authorize(server, { client_id: documentId, scope: "notes files" })
      assert.strictEqual(page.status, 200)
      for (
        const text of [
          "&lt;Notes&gt; &amp; more",
          documentId,
          "notes",
          "files",
          "https://mcp.test/mcp",
          "<strong>http://127.0.0.1:8976</strong>",
          `<code>${callback}</code>`
        ]
      ) {
        assert.include(page.text, text)
      }
      assert.notInclude(page.text, "<Notes>")
      assert.strictEqual(page.headers["x-frame-options"], "DENY")
      assert.include(page.headers["content-security-policy"] ?? "", "frame-ancestors 'none'")
      assert.include(page.headers["content-security-policy"] ?? "", "form-action 'self' http://127.0.0.1:8976")
      assert.match(
        page.headers["set-cookie"] ?? "",
        /^__Host-consent=[^;]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/
      )
    }))

  it.effect("[SEC-02] the page may lead to the address of the client alone, as browsers hold it to", () =>
    Effect.gen(function*() {
      const uris = ["https://app.test/cb", "http://[::1]:1/cb", "com.example.app:/cb"]
      const server = yield* TestAuthorizationServer.make({ clients: [{ clientId: "app", redirectUris: uris }] })
      const policies = yield* Effect.forEach(
        uris,
        (redirect_uri) =>
          Effect.map(
            authorize(server, { redirect_uri }),
            ({ headers }) => /form-action ([^;]*)/.exec(headers["content-security-policy"] ?? "")?.[1]
          )
      )
      assert.deepStrictEqual(policies, ["'self' https://app.test", "'self' http:", "'self' com.example.app:"])
    }))

  it.effect("[SEC-02] takes an answer from the browser that was asked only, and once", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({ clients: [app] })
      const page = yield* authorize(server)
      const other = yield* authorize(server)
      for (
        const headers of [
          {},
          { cookie: cookieOf(other) },
          { cookie: cookieOf(page), origin: "https://evil.test" }
        ]
      ) {
        const answer = yield* consent(server, page, headers)
        assert.deepStrictEqual([answer.status, answer.headers["location"]], [403, undefined])
      }
      assert.strictEqual((yield* send(server, HttpClientRequest.get(server.url("consent")))).status, 404)
      const own = { cookie: `x=y; ${cookieOf(page)}`, origin: "https://login.test" }
      const allowed = yield* consent(server, page, own)
      assert.strictEqual(allowed.status, 303)
      assert.strictEqual((yield* exchange(server, backOf(allowed)["code"] ?? "")).status, 200)
      assert.strictEqual((yield* consent(server, page, own)).status, 400)
      const denied = yield* consent(server, other, { cookie: cookieOf(other) }, "deny")
      assert.deepInclude(backOf(denied), { error: "access_denied", state: "st" })
    }))

  it.effect("[SEC-02] a page that was left alone is no longer good", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({ clients: [app] })
      const page = yield* authorize(server)
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual((yield* consent(server, page, { cookie: cookieOf(page) })).status, 400)
    }))

  it.effect("[SEC-01] asks for every client anew: what one was allowed is nothing to another", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({ clients: [app, { ...app, clientId: "second" }] })
      yield* server.login({ clientId: "app", scopes: ["notes"] })
      for (const clientId of ["app", "second"]) {
        const page = yield* authorize(server, { client_id: clientId })
        assert.deepStrictEqual([page.status, page.headers["location"]], [200, undefined])
      }
    }))

  it.effect("refuses scopes and resources that there are not", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({
        clients: [app],
        consent: "automatic",
        scopes: ["notes"],
        resources: ["https://mcp.test/mcp"]
      })
      const errors = []
      for (
        const changes of [
          { scope: "notes admin" },
          { resource: "https://mcp.test/mcp/" },
          { resource: "https://mcp.test/mcp#x" },
          {}
        ]
      ) errors.push(backOf(yield* authorize(server, changes))["error"])
      assert.deepStrictEqual(errors, ["invalid_scope", "invalid_target", "invalid_target", undefined])
    }))

  it.effect("refuses parameters that come twice", () =>
    Effect.gen(function*() {
      const server = yield* automatic
      const query = `${new URLSearchParams(asked())}&state=other`
      const answer = yield* send(server, HttpClientRequest.get(`${server.url("authorize")}?${query}`))
      assert.deepInclude(backOf(answer), {
        error: "invalid_request",
        error_description: "state is there more than once"
      })
    }))

  it.effect("[ACL-12] registers loopback addresses for native clients only, with what RFC 7591 says of the rest", () =>
    Effect.gen(function*() {
      const server = yield* automatic
      const web = yield* register(server, { redirect_uris: [callback] })
      assert.deepStrictEqual([web.status, web.body["error"]], [400, "invalid_redirect_uri"])
      const native = yield* register(server, { redirect_uris: [callback], application_type: "native" })
      assert.strictEqual(native.status, 201)
      assert.deepInclude(native.body, {
        redirect_uris: [callback],
        token_endpoint_auth_method: "client_secret_basic",
        grant_types: ["authorization_code"],
        client_secret_expires_at: 0
      })
      assert.isString(native.body["client_secret"])
      const bad = ["javascript:alert(1)", "http://app.test/cb", "https://app.test/cb#x", "nonsense"]
      for (const uri of bad) {
        const answer = yield* register(server, { redirect_uris: [uri], application_type: "native" })
        assert.strictEqual(answer.body["error"], "invalid_redirect_uri", uri)
      }
      assert.strictEqual((yield* register(server, { redirect_uris: "x" })).body["error"], "invalid_client_metadata")
    }))
})
