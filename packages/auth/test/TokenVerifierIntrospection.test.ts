import { assert, describe, it } from "@effect/vitest"
import { AuthError, TokenVerifierIntrospection } from "@mcpfx/auth"
import { TestHttp } from "@mcpfx/testing"
import { Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { issuer, redacted, resource } from "./support/signing.ts"

const endpoint = `${issuer}/introspect`
const active = { active: true, sub: "ada", client_id: "editor", scope: "a b", aud: resource, exp: 3600 }
const basic: TokenVerifierIntrospection.Client = { method: "basic", id: "m:cp", secret: Redacted.make("s%+ é") }

interface Asked {
  readonly url: string
  readonly authorization: string | null
  readonly form: Readonly<Record<string, string>>
}

type Answer = () => Response | Effect.Effect<Response>

const make = (options: Partial<TokenVerifierIntrospection.Options> = {}) =>
  Effect.gen(function*() {
    const asked: Array<Asked> = []
    const server: { answer: Answer } = { answer: () => Response.json(active) }
    const client = TestHttp.clientOf((request) =>
      Effect.gen(function*() {
        const form = Object.fromEntries(new URLSearchParams(yield* Effect.promise(() => request.text())))
        asked.push({ url: request.url, authorization: request.headers.get("authorization"), form })
        if (request.url.includes("/.well-known/")) return Response.json({ issuer, introspection_endpoint: endpoint })
        const answer = server.answer()
        return Effect.isEffect(answer) ? yield* answer : answer
      })
    )
    const verifier = yield* Effect.provideService(
      TokenVerifierIntrospection.make({ issuer, endpoint, client: basic, ...options }),
      HttpClient.HttpClient,
      client
    )
    const verify = (token: string, names: ReadonlyArray<string> = [resource]) => verifier.verify(redacted(token), names)
    const outcome = (token: string, names?: ReadonlyArray<string>) =>
      verify(token, names).pipe(
        Effect.as("good"),
        Effect.catch((error) => Effect.succeed(error._tag === "InvalidToken" ? error.reason : error._tag))
      )
    return { asked, server, verify, outcome }
  })

describe("introspection", () => {
  it.effect("[ARS-06] the issuer says who it is", () =>
    Effect.gen(function*() {
      const { asked, verify } = yield* make()
      const { expiresAt, principal } = yield* verify("t0ken")
      assert.deepInclude(principal, { issuer, subject: "ada", clientId: "editor", scopes: ["a", "b"] })
      assert.strictEqual(expiresAt, 3_600_000)
      assert.deepStrictEqual(asked, [{
        url: endpoint,
        authorization: `Basic ${Buffer.from("m%3Acp:s%25%2B+%C3%A9").toString("base64")}`,
        form: { token: "t0ken", token_type_hint: "access_token" }
      }])
    }))

  it.effect("[ARS-06] the server proves itself in each way there is", () =>
    Effect.gen(function*() {
      const post = yield* make({ client: { method: "post", id: "mcp", secret: Redacted.make("s") } })
      yield* post.verify("t")
      assert.deepInclude(post.asked[0], { authorization: null })
      assert.deepInclude(post.asked[0]?.form, { client_id: "mcp", client_secret: "s", token: "t" })
      const bearer = yield* make({ client: { method: "bearer", token: Redacted.make("own") } })
      yield* bearer.verify("t")
      assert.deepInclude(bearer.asked[0], { authorization: "Bearer own" })
    }))

  it.effect("[ACL-04] the metadata of the issuer say where to ask, once", () =>
    Effect.gen(function*() {
      const { asked, verify } = yield* make({ endpoint: undefined })
      yield* Effect.all([verify("t"), verify("u")], { concurrency: 2 })
      const urls = asked.map(({ url }) => url)
      assert.deepStrictEqual(urls, [`${issuer}/.well-known/oauth-authorization-server`, endpoint, endpoint])
      assert.isNull(asked[0]?.authorization)
    }))

  const judged: ReadonlyArray<[reason: string, answer: Readonly<Record<string, unknown>>]> = [
    ["inactive", { active: false, sub: "ada", aud: resource }],
    ["audience", { ...active, aud: undefined }],
    ["audience", { ...active, aud: "https://other.example" }],
    ["audience", { ...active, aud: [] }],
    ["expired", { ...active, exp: -31 }],
    ["not yet valid", { ...active, nbf: 31 }],
    ["issuer", { ...active, iss: "https://evil.example" }],
    ["claims", { ...active, exp: "soon" }],
    ["claims", { active: true, aud: resource }],
    ["binding", { ...active, cnf: { "x5t#S256": "t" } }],
    ["good", { ...active, iss: issuer, aud: ["https://other.example", `${resource}/`] }],
    ["good", { ...active, exp: "3600" }],
    ["good", { active: true, aud: resource, client_id: "robot" }]
  ]
  it.effect("[ARS-06] [ARS-07] [SEC-04] active is not enough", () =>
    Effect.gen(function*() {
      for (const [reason, answer] of judged) {
        const { outcome, server } = yield* make()
        server.answer = () => Response.json(answer)
        assert.strictEqual(yield* outcome("t"), reason, JSON.stringify(answer))
      }
    }))

  it.effect("[field AUT-20] an issuer that gives no answer makes nobody good", () =>
    Effect.gen(function*() {
      const answers: ReadonlyArray<Answer> = [
        () => new Response("", { status: 401 }),
        () => new Response("", { status: 500 }),
        () => new Response("<html>"),
        () => Response.json({ sub: "ada", aud: resource }),
        () => Response.json({ ...active, active: "true" }),
        () => Response.json([active]),
        () => new Response(null, { status: 302, headers: { location: "https://evil.example" } })
      ]
      const { asked, outcome, server } = yield* make()
      for (const answer of answers) {
        server.answer = answer
        assert.strictEqual(yield* outcome("t"), "VerifierUnavailable")
      }
      // Nothing of it was remembered.
      assert.strictEqual(asked.length, answers.length)
      server.answer = () => Effect.never
      const fiber = yield* Effect.forkChild(outcome("t"), { startImmediately: true })
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), "VerifierUnavailable")
    }))

  it.effect("[ARS-06] no token and no secret is in an error", () =>
    Effect.gen(function*() {
      const { server, verify } = yield* make({ client: { method: "post", id: "mcp", secret: Redacted.make("hush") } })
      server.answer = () => new Response("t0ken hush", { status: 400 })
      const error = yield* Effect.flip(verify("t0ken"))
      assert.notMatch(JSON.stringify([error, String(error)]), /t0ken|hush/)
    }))
})

describe("memory", () => {
  it.effect("[ARS-06] what was said is kept for a minute, and not past the end of the token", () =>
    Effect.gen(function*() {
      const { asked, outcome, server } = yield* make()
      for (let time = 0; time < 3; time++) assert.strictEqual(yield* outcome("t"), "good")
      assert.strictEqual(yield* outcome("t", ["https://other.example"]), "audience")
      assert.strictEqual(asked.length, 1)
      server.answer = () => Response.json({ active: false })
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(yield* outcome("t"), "good")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* outcome("t"), "inactive")
      server.answer = () => Response.json({ ...active, exp: 70 })
      assert.strictEqual(yield* outcome("u"), "good")
      yield* TestClock.adjust("10 seconds")
      yield* outcome("u")
      assert.strictEqual(asked.filter(({ form }) => form["token"] === "u").length, 2)
    }))

  it.effect("[ARS-06] a token that was not good is asked about again soon", () =>
    Effect.gen(function*() {
      const { asked, outcome, server } = yield* make()
      server.answer = () => Response.json({ active: false })
      for (let time = 0; time < 3; time++) assert.strictEqual(yield* outcome("t"), "inactive")
      assert.strictEqual(asked.length, 1)
      server.answer = () => Response.json(active)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* outcome("t"), "good")
    }))

  it.effect("[ARS-06] a token is asked about once at a time, and only so many tokens at once", () =>
    Effect.gen(function*() {
      const { asked, outcome, server } = yield* make({ concurrency: 2 })
      const gate = yield* Deferred.make<void>()
      server.answer = () => Effect.as(Deferred.await(gate), Response.json(active))
      const start = (token: string) => Effect.forkChild(outcome(token), { startImmediately: true })
      const fibers = yield* Effect.forEach(["t", "t", "t", "u", "u"], start)
      const [leaving, ...waiting] = fibers
      if (leaving !== undefined) yield* Fiber.interrupt(leaving)
      assert.strictEqual(yield* outcome("v"), "VerifierUnavailable")
      yield* Deferred.succeed(gate, undefined)
      for (const fiber of waiting) assert.strictEqual(yield* Fiber.join(fiber), "good")
      assert.deepStrictEqual(asked.map(({ form }) => form["token"]).toSorted(), ["t", "u"])
      assert.strictEqual(yield* outcome("v"), "good")
    }))

  it.effect("[ARS-06] only so many answers are kept", () =>
    Effect.gen(function*() {
      const { asked, outcome } = yield* make({ cacheSize: 2 })
      for (const token of ["t", "u", "v", "v", "u", "t"]) yield* outcome(token)
      assert.deepStrictEqual(asked.map(({ form }) => form["token"]), ["t", "u", "v", "t"])
    }))

  it.effect("an endpoint that is not https is told at once", () =>
    Effect.gen(function*() {
      const layer = TokenVerifierIntrospection.layer({ issuer, endpoint: "http://login.example.com/i", client: basic })
      const http = Layer.succeed(HttpClient.HttpClient, TestHttp.clientOf(() => new Response()))
      const error = yield* Effect.flip(Effect.scoped(Layer.build(Layer.provide(layer, http))))
      assert.instanceOf(error, AuthError.AuthError)
    }))
})
