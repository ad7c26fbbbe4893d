/** Keys that issuers publish: fetched when needed, and never as often as tokens ask for it. */
import { assert, describe, it } from "@effect/vitest"
import { AuthError, TokenVerifier, TokenVerifierJwt } from "@mcpfx/auth"
import { TestHttp } from "@mcpfx/testing"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { issuer, makeKey, redacted, resource, sign } from "./support/signing.ts"

const first = await makeKey("first")
const second = await makeKey("second")
const jwksUri = `${issuer}/keys`

/** An issuer whose answers are made up, and whose visitors are counted. */
const makeIssuer = () => {
  const asked: Array<string> = []
  const answers = new Map<string, () => Response | Effect.Effect<Response>>()
  const client = TestHttp.clientOf((request) => {
    asked.push(request.url)
    return answers.get(request.url)?.() ?? new Response("nothing here", { status: 404 })
  })
  const publish = (...keys: ReadonlyArray<unknown>) => answers.set(jwksUri, () => Response.json({ keys }))
  const describeAs = (path: string, metadata: unknown) => answers.set(`${issuer}${path}`, () => Response.json(metadata))
  return { asked, answers, publish, describeAs, http: Layer.succeed(HttpClient.HttpClient, client) }
}

const make = (options: Partial<TokenVerifierJwt.Options> = {}) =>
  Effect.gen(function*() {
    const issuing = makeIssuer()
    const verifier = yield* Effect.provide(
      TokenVerifierJwt.make({ issuer, jwksUri, cacheLife: 0, ...options }),
      issuing.http
    )
    const outcome = (token: string) =>
      verifier.verify(redacted(token), [resource]).pipe(
        Effect.as("good"),
        Effect.catch((error) => Effect.succeed(error._tag === "InvalidToken" ? error.reason : error._tag))
      )
    return { ...issuing, outcome }
  })

describe("fetching", () => {
  it.effect("[ARS-06] keys are fetched at the first token, once for all that come at once", () =>
    Effect.gen(function*() {
      const { answers, asked, outcome } = yield* make()
      const gate = yield* Deferred.make<void>()
      answers.set(jwksUri, () => Effect.as(Deferred.await(gate), Response.json({ keys: [first.jwk] })))
      const token = yield* sign(first)
      assert.deepStrictEqual(asked, [])
      const fibers = yield* Effect.forEach(
        Array.from({ length: 20 }),
        () => Effect.forkChild(outcome(token), { startImmediately: true })
      )
      // Whoever asked first does not take the answer away from the others.
      const [leaving, ...waiting] = fibers
      if (leaving !== undefined) yield* Fiber.interrupt(leaving)
      yield* Deferred.succeed(gate, undefined)
      for (const fiber of waiting) assert.strictEqual(yield* Fiber.join(fiber), "good")
      assert.deepStrictEqual(asked, [jwksUri])
    }))

  it.effect("[ARS-06] a new key is found when a token names it, and then no sooner than the cooldown", () =>
    Effect.gen(function*() {
      const { asked, outcome, publish } = yield* make()
      publish(first.jwk)
      assert.strictEqual(yield* outcome(yield* sign(first)), "good")
      publish(first.jwk, second.jwk)
      const rotated = yield* sign(second)
      assert.strictEqual(yield* outcome(rotated), "signature")
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* outcome(rotated), "good")
      assert.strictEqual(asked.length, 2)
    }))

  it.effect("[ARS-06] many made-up key ids cause one fetch in a while", () =>
    Effect.gen(function*() {
      const { asked, outcome, publish } = yield* make()
      publish(first.jwk)
      for (let minute = 0; minute < 3; minute++) {
        for (let index = 0; index < 50; index++) {
          const token = yield* sign(first, {}, { header: { kid: `made-up-${minute}-${index}` } })
          assert.strictEqual(yield* outcome(token), "signature")
        }
        assert.strictEqual(yield* outcome(yield* sign(first)), "good")
        yield* TestClock.adjust("1 minute")
      }
      assert.strictEqual(asked.length, 3)
    }))

  it.effect("[ARS-06] a key that was taken back is good no more once keys are old", () =>
    Effect.gen(function*() {
      const { outcome, publish } = yield* make()
      publish(first.jwk)
      const token = yield* sign(first)
      assert.strictEqual(yield* outcome(token), "good")
      publish(second.jwk)
      yield* TestClock.adjust("9 minutes")
      assert.strictEqual(yield* outcome(token), "good")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* outcome(token), "signature")
    }))

  it.effect("[field AUT-20] old keys are used while new ones cannot be had, and after that nobody can say", () =>
    Effect.gen(function*() {
      const { answers, asked, outcome, publish } = yield* make()
      publish(first.jwk)
      const token = yield* sign(first, { exp: 100_000 })
      assert.strictEqual(yield* outcome(token), "good")
      answers.set(jwksUri, () => new Response("down", { status: 503 }))
      yield* TestClock.adjust("10 minutes")
      for (let index = 0; index < 20; index++) assert.strictEqual(yield* outcome(token), "good")
      assert.strictEqual(asked.length, 2)
      assert.strictEqual(yield* outcome(yield* sign(second, { exp: 100_000 })), "VerifierUnavailable")
      yield* TestClock.adjust("59 minutes")
      assert.strictEqual(yield* outcome(token), "good")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* outcome(token), "VerifierUnavailable")
      publish(first.jwk)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* outcome(token), "good")
    }))

  it.effect("[field AUT-20] without any keys nobody can say, and the next try is soon", () =>
    Effect.gen(function*() {
      const { answers, asked, outcome, publish } = yield* make()
      const token = yield* sign(first)
      const broken = [
        () => new Response("no", { status: 500 }),
        () => new Response("<html>"),
        () => Response.json([]),
        () => Response.json({ keys: {} }),
        () => new Response(null, { status: 302, headers: { location: "https://evil.example/keys" } }),
        () => new Response(`{"keys":[],"x":"${"x".repeat(600_000)}"}`)
      ]
      for (const [index, answer] of broken.entries()) {
        answers.set(jwksUri, answer)
        for (let time = 0; time < 3; time++) assert.strictEqual(yield* outcome(token), "VerifierUnavailable")
        assert.strictEqual(asked.length, index + 1)
        yield* TestClock.adjust("5 seconds")
      }
      publish(first.jwk)
      assert.strictEqual(yield* outcome(token), "good")
    }))

  it.effect("[ARS-06] an endpoint that never answers is waited for so long and no longer", () =>
    Effect.gen(function*() {
      const { answers, outcome } = yield* make()
      answers.set(jwksUri, () => Effect.never)
      const fiber = yield* Effect.forkChild(outcome(yield* sign(first)), { startImmediately: true })
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), "VerifierUnavailable")
    }))

  it.effect("[ARS-06] keys of a set that are unfit, private, twice or of another kind are passed over", () =>
    Effect.gen(function*() {
      const { outcome, publish } = yield* make()
      const { kid, ...nameless } = first.jwk
      publish(
        null,
        "key",
        {},
        { kty: "oct", k: "c2VjcmV0", kid },
        { ...first.jwk, d: "private" },
        { ...first.jwk, use: "enc" },
        { ...first.jwk, key_ops: ["sign"] },
        { ...first.jwk, alg: "ES384" },
        { ...first.jwk, x: "%" },
        { ...second.jwk, kid },
        nameless,
        first.jwk,
        first.jwk
      )
      assert.strictEqual(yield* outcome(yield* sign(first)), "good")
    }))
})

describe("discovery", () => {
  it.effect("[ACL-04] the metadata of the issuer say where its keys are, at whichever address they stand", () =>
    Effect.gen(function*() {
      for (const path of ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]) {
        const { asked, describeAs, outcome, publish } = yield* make({ jwksUri: undefined })
        describeAs(path, { issuer, jwks_uri: jwksUri })
        publish(first.jwk)
        assert.strictEqual(yield* outcome(yield* sign(first)), "good")
        assert.strictEqual(asked.at(-1), jwksUri)
      }
    }))

  it.effect("[field AUT-05] metadata of another issuer are not believed", () =>
    Effect.gen(function*() {
      for (const said of [`${issuer}/`, "https://evil.example"]) {
        const { describeAs, outcome, publish } = yield* make({ jwksUri: undefined })
        describeAs("/.well-known/oauth-authorization-server", { issuer: said, jwks_uri: jwksUri })
        publish(first.jwk)
        assert.strictEqual(yield* outcome(yield* sign(first)), "VerifierUnavailable")
      }
    }))

  it.effect("[SEC-05] keys are not fetched from where metadata must not lead", () =>
    Effect.gen(function*() {
      for (
        const uri of [
          "http://login.example.com/keys",
          "https://169.254.169.254/keys",
          "https://127.0.0.1/keys",
          "https://10.0.0.1/keys",
          "file:///etc/passwd"
        ]
      ) {
        const { answers, asked, describeAs, outcome } = yield* make({ jwksUri: undefined })
        describeAs("/.well-known/oauth-authorization-server", { issuer, jwks_uri: uri })
        answers.set(uri, () => Response.json({ keys: [first.jwk] }))
        assert.strictEqual(yield* outcome(yield* sign(first)), "VerifierUnavailable")
        assert.notInclude(asked, uri)
      }
    }))

  it.effect("an issuer or an address of keys that is not https is told at once", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<TokenVerifierJwt.Options> = [
        { issuer: "http://login.example.com" },
        { issuer: "login.example.com" },
        { issuer, jwksUri: "http://login.example.com/keys" },
        { issuer, algorithms: ["HS256"] },
        { issuers: [] }
      ]
      for (const options of wrong) {
        const layer = Layer.provide(TokenVerifierJwt.layer(options), makeIssuer().http)
        const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
        assert.instanceOf(error, AuthError.AuthError)
        assert.strictEqual(error.reason._tag, "Misconfigured")
      }
      const local = Layer.provide(TokenVerifierJwt.layer({ issuer: "http://127.0.0.1:9000" }), makeIssuer().http)
      const verifier = yield* Effect.provide(TokenVerifier.TokenVerifier, local)
      assert.deepStrictEqual(verifier.issuers, ["http://127.0.0.1:9000"])
    }))
})
