import { assert, describe, it } from "@effect/vitest"
import { AuthError, Registration } from "@mcpfx/auth"
import { Effect } from "effect"
import { redirectUri } from "./support/browser.ts"
import { issuer, type Reply, secret, server } from "./support/provider.ts"
import {
  cimd,
  clientIdOf,
  document,
  documentOf,
  dynamic,
  refused,
  registered,
  setUp,
  withoutDcr
} from "./support/registering.ts"

describe("the order", () => {
  it.effect("[ACL-08] [field AUT-13] takes what was arranged, then the document, then a registration, then gives up", () =>
    Effect.gen(function*() {
      const client = { issuer, clientId: "arranged" }
      assert.strictEqual(
        yield* clientIdOf({ server: cimd, options: { client, metadataDocument: document, dynamic: {} } }),
        "arranged"
      )
      const options = { metadataDocument: document, dynamic: {} }
      assert.strictEqual(yield* clientIdOf({ server: cimd, options }), document)
      assert.strictEqual(yield* clientIdOf({ options }), "dynamic-1")
      assert.strictEqual((yield* refused({ server: withoutDcr, options }))._tag, "RegistrationRequired")
      assert.strictEqual((yield* refused({ server: withoutDcr }))._tag, "RegistrationRequired")
      assert.strictEqual((yield* refused({ options: { dynamic: false } }))._tag, "RegistrationRequired")
    }))

  it.effect("[ACL-13] an id of one issuer is an error at another, to the letter, and is sent to none", () =>
    Effect.gen(function*() {
      const elsewhere = { issuer: `${issuer}/`, clientId: "arranged", clientSecret: secret("s3cret-of-another") }
      const run = setUp({ options: { client: elsewhere } })
      const error = yield* Effect.flip(run.obtain)
      assert.deepInclude(error.reason, { _tag: "RegistrationRequired", configured: [`${issuer}/`] })
      // One slash makes the difference, and can be seen.
      assert.include(error.message, `${issuer} needs a client id`)
      assert.include(error.message, `"${issuer}/"`)
      assert.strictEqual(run.person.opened.length + run.forms().length + run.documents().length, 0)
      // Another way that was configured besides is taken.
      assert.strictEqual(yield* clientIdOf({ options: { client: elsewhere, dynamic: {} } }), "dynamic-1")
      const clients = [elsewhere, { issuer, clientId: "right" }]
      assert.strictEqual(yield* clientIdOf({ options: { client: clients } }), "right")
    }))

  it.effect("an id that is none, or is for what is no issuer, is a fault of the program, which is named", () =>
    Effect.gen(function*() {
      const rows: ReadonlyArray<readonly [Registration.Preregistered, named: string]> = [
        [{ issuer: "", clientId: "4711" }, "\"4711\" is for the issuer \"\","],
        [{ issuer: "login.example.com", clientId: "4711" }, "\"login.example.com\""],
        [{ issuer: `${issuer}?tenant=1`, clientId: "4711" }, `"${issuer}?…"`],
        [{ issuer, clientId: " " }, `the client id for "${issuer}" is empty`]
      ]
      for (const [client, named] of rows) {
        for (const clients of [client, [{ issuer, clientId: "right" }, client]]) {
          const run = setUp({ options: { client: clients, dynamic: {} } })
          const error = yield* Effect.flip(run.obtain)
          assert.strictEqual(error.reason._tag, "Misconfigured")
          assert.include(error.message, named)
        }
      }
    }))

  it.effect("[ACL-13] an id for any issuer stays with the first", () =>
    Effect.gen(function*() {
      const { grant, obtain, person, request } = setUp({
        options: { client: { issuer: Registration.anyIssuer, clientId: "arranged" } }
      })
      assert.strictEqual((yield* obtain).clientId, "arranged")
      const moved = { ...request, server: { ...request.server, issuer: "https://evil.example" } }
      const error = yield* Effect.flip(grant.obtain(moved).pipe(Effect.provide(person.layer)))
      assert.strictEqual(error.reason._tag, "RegistrationRequired")
      assert.strictEqual((yield* obtain).clientId, "arranged")
    }))

  it.effect("[field AUT-18] a secret goes the way that the server takes, basic if it does not say", () =>
    Effect.gen(function*() {
      const client = { issuer, clientId: "arranged", clientSecret: secret("s3cret") }
      const basic = setUp({ options: { client } })
      yield* basic.obtain
      assert.strictEqual(basic.forms()[0]?.headers["authorization"], `Basic ${btoa("arranged:s3cret")}`)
      assert.isUndefined(basic.forms()[0]?.form["client_secret"])
      const post = setUp({
        options: { client },
        server: server({ token_endpoint_auth_methods_supported: ["client_secret_post"] })
      })
      yield* post.obtain
      assert.strictEqual(post.forms()[0]?.form["client_secret"], "s3cret")
      assert.isUndefined(post.forms()[0]?.headers["authorization"])
    }))
})

describe("dynamic registration", () => {
  it.effect("[ACL-11] [ACL-12] [ACL-29] says what the client is, keeps the answer, and uses it the next time", () =>
    Effect.gen(function*() {
      const run = setUp({ options: { dynamic: { clientName: "Example", softwareId: "x", scopes: ["a", "b"] } } })
      yield* run.obtain
      assert.deepStrictEqual(run.documents(), [{
        client_name: "Example",
        scope: "a b",
        software_id: "x",
        redirect_uris: [redirectUri],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
        application_type: "native"
      }])
      assert.deepStrictEqual(run.kept.registration, dynamic({ clientId: "dynamic-1" }))
      yield* run.obtain
      assert.strictEqual(run.documents().length, 1)
      assert.deepStrictEqual(run.person.visits, [undefined, [redirectUri]])
      const known = yield* run.grant.client(run.request).pipe(Effect.provide(run.person.layer))
      assert.strictEqual(known.registration.clientId, "dynamic-1")
    }))

  it.effect("[ACL-12] is web where answers come back to a server, and asks for no refresh tokens of those without", () =>
    Effect.gen(function*() {
      const address = "https://app.example.com/callback"
      const run = setUp({
        browser: { redirectUri: address },
        server: server({ grant_types_supported: ["authorization_code"] })
      })
      yield* run.obtain
      assert.strictEqual(run.documents()[0]?.["application_type"], "web")
      assert.deepStrictEqual(run.documents()[0]?.["grant_types"], ["authorization_code"])
    }))

  it.effect("[field AUT-18] proves itself in the way of the answer, and takes 200 for 201", () =>
    Effect.gen(function*() {
      const cases = [
        [{ client_secret: "s", token_endpoint_auth_method: "client_secret_basic" }, undefined, "client_secret_basic"],
        [{ client_secret: "s", token_endpoint_auth_method: "client_secret_post" }, undefined, "client_secret_post"],
        [{ client_secret: "s", token_endpoint_auth_method: "none" }, undefined, "none"],
        [{ client_secret: "s" }, undefined, "client_secret_basic"],
        [{ client_secret: "s" }, ["client_secret_post"], "client_secret_post"],
        [{ token_endpoint_auth_method: "client_secret_basic" }, undefined, "none"],
        [{ client_secret: null, client_secret_expires_at: 0 }, undefined, "none"]
      ] as const
      for (const [answer, methods, authentication] of cases) {
        const run = setUp({
          register: () => ({ ...registered(answer), status: 200 }),
          server: methods === undefined ? server() : server({ token_endpoint_auth_methods_supported: methods })
        })
        yield* run.obtain
        assert.strictEqual(run.kept.registration?.authentication, authentication)
      }
      const odd = { client_secret: "s", token_endpoint_auth_method: "tls_client_auth" }
      assert.strictEqual((yield* refused({ register: () => registered(odd) }))._tag, "NotSupported")
    }))

  it.effect("asks for the method that the server takes", () =>
    Effect.gen(function*() {
      const rows = [[["client_secret_basic"], "client_secret_basic"], [["client_secret_post", "none"], "none"]] as const
      for (const [methods, method] of rows) {
        const run = setUp({ server: server({ token_endpoint_auth_methods_supported: methods }) })
        yield* run.obtain
        assert.strictEqual(run.documents()[0]?.["token_endpoint_auth_method"], method)
      }
    }))

  it.effect("[field AUT-13] a page, a 403 or an error is a refusal, with what it says; 503 is none", () =>
    Effect.gen(function*() {
      const page: Reply = { status: 403, body: "<html>no</html>", headers: { "content-type": "text/html" } }
      assert.deepStrictEqual(
        yield* refused({ register: () => page }),
        new AuthError.RegistrationRefused({ issuer, status: 403 })
      )
      const body = { error: "invalid_client_metadata", error_description: "no\u0007name" }
      for (const status of [400, 200]) {
        assert.deepStrictEqual(
          yield* refused({ register: () => ({ status, body }) }),
          new AuthError.RegistrationRefused({
            issuer,
            status,
            error: "invalid_client_metadata",
            description: "no name"
          })
        )
      }
      for (const status of [429, 503]) {
        const reason = yield* refused({ register: () => ({ status, headers: { "retry-after": "7" } }) })
        assert.strictEqual(reason._tag === "Unavailable" ? reason.retryAfter : "", "7")
      }
      for (const answer of ["<html>", "[]", "null"]) {
        assert.strictEqual((yield* refused({ register: () => ({ body: answer }) }))._tag, "RegistrationRefused")
      }
      for (const client_id of ["", null, 7]) {
        assert.strictEqual((yield* refused({ register: () => registered({ client_id }) }))._tag, "BadAnswer")
      }
    }))

  it.effect("[ACL-12] a refused address is tried in its other form once, and used as it was registered", () =>
    Effect.gen(function*() {
      const other = "http://localhost:3334/callback"
      const run = setUp({
        register: (asked) =>
          documentOf(asked)["redirect_uris"]?.toString() === other
            ? registered()
            : { status: 400, body: { error: "invalid_redirect_uri" } }
      })
      yield* run.obtain
      assert.deepStrictEqual(run.documents().map((sent) => sent["redirect_uris"]), [[redirectUri], [other]])
      assert.strictEqual(run.person.opened[0]?.searchParams.get("redirect_uri"), other)
      assert.strictEqual(run.forms()[0]?.form["redirect_uri"], other)
      const stubborn = setUp({ register: () => ({ status: 400, body: { error: "invalid_redirect_uri" } }) })
      assert.strictEqual((yield* Effect.flip(stubborn.obtain)).reason._tag, "RegistrationRefused")
      assert.strictEqual(stubborn.documents().length, 2)
    }))

  it.effect("[ACL-12] where the address has no other form, the other type of application is tried once", () =>
    Effect.gen(function*() {
      const redirectUris = [redirectUri]
      for (const error of ["invalid_redirect_uri", "invalid_client_metadata"]) {
        const body = { error, error_description: "redirect_uris must be https" }
        const run = setUp({
          browser: { redirectUris },
          register: (_, count) => count === 1 ? { status: 400, body } : registered()
        })
        yield* run.obtain
        assert.deepStrictEqual(run.documents().map((sent) => sent["application_type"]), ["native", "web"])
      }
      const other = setUp({ register: () => ({ status: 400, body: { error: "invalid_client_metadata" } }) })
      yield* Effect.flip(other.obtain)
      assert.strictEqual(other.documents().length, 1)
    }))

  it.effect("[ACL-22] a server that registered another address than the one asked for is refused", () =>
    Effect.gen(function*() {
      const registerAs = (...redirect_uris: ReadonlyArray<string>) => ({
        register: () => registered({ redirect_uris })
      })
      assert.strictEqual((yield* refused(registerAs("https://evil.example/callback")))._tag, "RegistrationRefused")
      for (const same of [redirectUri, "http://127.0.0.1/callback"]) yield* setUp(registerAs(same)).obtain
    }))

  it.effect("[ACL-22] nobody comes back to an address that is neither https nor on the machine", () =>
    Effect.gen(function*() {
      for (
        const address of [
          "http://app.example.com/callback",
          "javascript:alert(1)",
          "myapp://callback",
          "https://a.example/#x"
        ]
      ) {
        const run = setUp({ browser: { redirectUri: address } })
        assert.strictEqual((yield* Effect.flip(run.obtain)).reason._tag, "Misconfigured")
        assert.strictEqual(run.documents().length + run.person.opened.length, 0)
      }
      const own = setUp({ browser: { redirectUri: "com.example.app:/callback" } })
      yield* own.obtain
      assert.strictEqual(own.documents()[0]?.["application_type"], "native")
    }))
})
