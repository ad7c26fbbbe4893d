import { assert, describe, it } from "@effect/vitest"
import { AuthError, Registration } from "@mcpfx/auth"
import { Effect, Exit, Fiber, Latch, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import { agrees, redirectUri } from "./support/browser.ts"
import { good, issuer, secret } from "./support/provider.ts"
import { cimd, clientIdOf, document, dynamic, refused, registered, setUp } from "./support/registering.ts"

describe("registrations that were kept", () => {
  it.effect("[field AUT-15] a taken port is a new registration, with the address that is listened at", () =>
    Effect.gen(function*() {
      const free = "http://127.0.0.1:4444/callback"
      const run = setUp({ kept: dynamic(), browser: { taken: [redirectUri], redirectUri: free } })
      yield* run.obtain
      assert.deepStrictEqual(run.documents().map((sent) => sent["redirect_uris"]), [[free]])
      assert.strictEqual(run.person.opened[0]?.searchParams.get("redirect_uri"), free)
      assert.strictEqual(run.person.opened[0]?.searchParams.get("client_id"), "dynamic-1")
      assert.deepStrictEqual(run.kept.registration?.redirectUris, [free])
    }))

  it.effect("[field AUT-15] one whose addresses are not those of the listener is replaced; one that was arranged is not", () =>
    Effect.gen(function*() {
      const moved = setUp({ kept: dynamic({ redirectUris: [] }) })
      yield* moved.obtain
      assert.strictEqual(moved.documents().length, 1)
      const client = { issuer, clientId: "arranged", redirectUris: [redirectUri] }
      const busy = { options: { client }, browser: { taken: [redirectUri] } }
      assert.strictEqual((yield* refused(busy))._tag, "CallbackUnavailable")
    }))

  it.effect("a client that the server forgot is registered anew, and somebody asked again, once", () =>
    Effect.gen(function*() {
      const unknown = { status: 401, body: { error: "invalid_client" } }
      const run = setUp({ kept: dynamic(), token: (_, count) => count === 1 ? unknown : good })
      assert.strictEqual((yield* run.obtain).clientId, "dynamic-1")
      assert.strictEqual(run.person.opened.length, 2)
      assert.strictEqual(run.documents().length, 1)
      const always = setUp({ kept: dynamic(), token: () => unknown })
      assert.strictEqual((yield* Effect.flip(always.obtain)).reason._tag, "OAuthRefused")
      assert.strictEqual(always.documents().length, 1)
      assert.strictEqual(always.forms().length, 2)
      const fresh = setUp({ token: () => unknown })
      yield* Effect.flip(fresh.obtain)
      assert.strictEqual(fresh.documents().length, 1)
      const arranged = setUp({ options: { client: { issuer, clientId: "arranged" } }, token: () => unknown })
      yield* Effect.flip(arranged.obtain)
      assert.strictEqual(arranged.forms().length, 1)
    }))

  it.effect("[field AUT-15] a page that nobody came back from is a reason to register anew, but not to forget yet", () =>
    Effect.gen(function*() {
      const away = Effect.fnUntraced(function*(give: "up" | "out") {
        const shown = Latch.makeUnsafe()
        let isThere = false
        const run = setUp({
          kept: dynamic(),
          person: (page) => {
            shown.openUnsafe()
            return isThere ? agrees(issuer)(page) : undefined
          }
        })
        const fiber = yield* Effect.forkChild(run.obtain)
        yield* shown.await
        yield* Effect.yieldNow
        if (give === "up") yield* Fiber.interrupt(fiber)
        yield* TestClock.adjust("10 minutes")
        assert.isTrue(Exit.isFailure(yield* Fiber.await(fiber)))
        const known = yield* run.grant.client(run.request).pipe(Effect.provide(run.person.layer))
        assert.strictEqual(known.registration.clientId, "before")
        isThere = true
        assert.strictEqual((yield* run.obtain).clientId, "dynamic-1")
        assert.strictEqual((yield* run.obtain).clientId, "dynamic-1")
        assert.strictEqual(run.documents().length, 1)
      })
      yield* away("up")
      yield* away("out")
    }))

  it.effect("a secret that has ended is as good as no registration", () =>
    Effect.gen(function*() {
      const run = setUp({
        register: () => registered({ client_secret: "s3cret", client_secret_expires_at: "60" })
      })
      yield* run.obtain
      assert.strictEqual(run.kept.registration?.secretExpiresAt, 60_000)
      assert.strictEqual(Redacted.value(run.kept.registration?.clientSecret ?? secret("")), "s3cret")
      yield* TestClock.adjust("59 seconds")
      yield* run.obtain
      assert.strictEqual(run.documents().length, 1)
      yield* TestClock.adjust("1 second")
      const client = run.grant.client(run.request).pipe(Effect.provide(run.person.layer))
      assert.strictEqual((yield* Effect.flip(client)).reason._tag, "RegistrationRequired")
      yield* run.obtain
      assert.strictEqual(run.documents().length, 2)
    }))

  it.effect("[field AUT-09] one that cannot be kept is good for this process", () =>
    Effect.gen(function*() {
      const { documents, grant, person, request } = setUp()
      const full = AuthError.fail(new AuthError.StoreFailed({ operation: "write", detail: "read-only" }))
      const readOnly = { ...request, registrations: { ...request.registrations, set: () => full } }
      const obtain = grant.obtain(readOnly).pipe(Effect.provide(person.layer))
      yield* obtain
      yield* obtain
      assert.strictEqual(documents().length, 1)
      const known = yield* grant.client(readOnly).pipe(Effect.provide(person.layer))
      assert.strictEqual(known.registration.clientId, "dynamic-1")
    }))
})

describe("client id metadata documents", () => {
  it.effect("[ACL-09] an address that cannot be an id is a mistake of the configuration", () =>
    Effect.gen(function*() {
      const bad = [
        "http://app.example.com/client.json",
        "https://app.example.com",
        "https://app.example.com/",
        "https://app.example.com/client.json#x",
        "https://user@app.example.com/client.json",
        "https://app.example.com/a/../client.json",
        "https://app.example.com/./client.json",
        "https://app.example.com/%2E%2e/client.json",
        "https://app.example.com\\client.json",
        "https://app.example.com/client .json",
        "client-1"
      ]
      for (const metadataDocument of bad) {
        const reason = yield* refused({ server: cimd, options: { metadataDocument } })
        assert.strictEqual(reason._tag, "Misconfigured")
        assert.include(
          "detail" in reason ? reason.detail : "",
          ", the address of the client's document, cannot be a client id: "
        )
        const made = Registration.clientMetadataDocument({
          clientId: metadataDocument,
          clientName: "x",
          redirectUris: [redirectUri]
        })
        assert.isTrue(Result.isFailure(made), metadataDocument)
      }
      for (const metadataDocument of [document, "https://app.example.com:8443/a/b?c=d"]) {
        assert.strictEqual(yield* clientIdOf({ server: cimd, options: { metadataDocument } }), metadataDocument)
      }
    }))

  it("[ACL-09] makes the document to host, with public keys only", () => {
    const make = (options: Partial<Registration.DocumentOptions>) =>
      Registration.clientMetadataDocument({
        clientId: document,
        clientName: "Example",
        redirectUris: [redirectUri],
        ...options
      })
    assert.deepStrictEqual(Result.getOrThrow(make({ scopes: ["a", "b"] })), {
      client_id: document,
      client_name: "Example",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      scope: "a b"
    })
    const keys = [{ kty: "EC", crv: "P-256", x: "x", y: "y" }]
    assert.strictEqual(Result.getOrThrow(make({ keys })).token_endpoint_auth_method, "private_key_jwt")
    const bad: ReadonlyArray<Partial<Registration.DocumentOptions>> = [
      { clientName: " " },
      { redirectUris: [] },
      { redirectUris: ["http://app.example.com/callback"] },
      { keys: [{ kty: "EC", crv: "P-256", x: "x", y: "y", d: "secret" }] },
      { keys: [{ kty: "oct", k: "secret" }] }
    ]
    for (const options of bad) assert.isTrue(Result.isFailure(make(options)))
  })
})
