import { assert, describe, it } from "@effect/vitest"
import { AuthError, AuthorizationCode, type AuthorizationServer, type Credentials, Dpop } from "@mcpfx/auth"
import { Effect, Fiber, Latch, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { agrees, browser, type Options as BrowserOptions, type Person, redirectUri } from "./support/browser.ts"
import { good, issuer, provider, requestTo, resource, server } from "./support/provider.ts"

const client = { issuer, clientId: "client-1", redirectUris: [redirectUri] }

interface Setup {
  readonly options?: AuthorizationCode.Options
  readonly server?: AuthorizationServer.AuthorizationServer
  readonly person?: Person
  readonly scopes?: ReadonlyArray<string>
  readonly browser?: BrowserOptions
}

const setUp = (setup: Setup = {}) => {
  const as = provider(() => good)
  const person = browser(setup.person ?? agrees(issuer), setup.browser)
  const target = setup.server ?? server()
  const { request } = requestTo(as.endpoint(), {
    server: target,
    ...(setup.scopes === undefined ? {} : { scopes: setup.scopes })
  })
  const grant = AuthorizationCode.grant({ client, ...setup.options })
  const obtain: Effect.Effect<Credentials.Tokens, AuthError.AuthError> = grant.obtain(request).pipe(
    Effect.provide(person.layer)
  )
  return { as, person, obtain }
}

/** Why a login failed; nothing of it is told, and the listener is closed. */
const refused = Effect.fnUntraced(function*(setup: Setup) {
  const { as, obtain, person } = setUp(setup)
  const error = yield* Effect.flip(obtain)
  const verifier = as.asked[0]?.form["code_verifier"] ?? "the-code-4711"
  for (const text of [JSON.stringify(error), error.message]) {
    assert.notInclude(text, "the-code-4711")
    assert.notInclude(text, verifier)
  }
  assert.strictEqual(person.listening, 0)
  return { reason: error.reason, asked: as.asked.length, opened: person.opened.length }
})

const answering = (parameters: (right: Readonly<Record<string, string>>) => ReturnType<Person>): Person => (page) =>
  parameters({ code: "the-code-4711", state: page.searchParams.get("state") ?? "", iss: issuer })

const rejected = (parameter: AuthError.CallbackRejected["parameter"], fault: AuthError.CallbackRejected["fault"]) =>
  new AuthError.CallbackRejected({ issuer, parameter, fault })

const advertised = server({ authorization_response_iss_parameter_supported: true })

describe("the way there", () => {
  it.effect("[ACL-14] [ACL-16] [ACL-21] asks with S256, a fresh state, the resource to the letter; answers once", () =>
    Effect.gen(function*() {
      const { as, obtain, person } = setUp({ scopes: ["read", "write"] })
      const tokens = yield* obtain
      assert.strictEqual(Redacted.value(tokens.accessToken), "access-token-1")
      assert.deepStrictEqual(tokens.scopes, ["read", "write"])
      assert.strictEqual(tokens.clientId, "client-1")
      const query = Object.fromEntries(person.opened[0]?.searchParams ?? [])
      const { code_verifier = "", ...form } = as.asked[0]?.form ?? {}
      assert.match(code_verifier, /^[\w-]{43}$/)
      assert.match(query["state"] ?? "", /^[\w-]{43}$/)
      assert.deepStrictEqual(query, {
        response_type: "code",
        client_id: "client-1",
        redirect_uri: redirectUri,
        state: query["state"] ?? "",
        code_challenge: createHash("sha256").update(code_verifier).digest("base64url"),
        code_challenge_method: "S256",
        resource,
        scope: "read write"
      })
      assert.deepStrictEqual(form, {
        grant_type: "authorization_code",
        code: "the-code-4711",
        redirect_uri: redirectUri,
        resource,
        client_id: "client-1"
      })
      assert.strictEqual(as.asked.length, 1)
      assert.strictEqual(person.listening, 0)
      yield* obtain
      assert.notStrictEqual(person.opened[1]?.searchParams.get("state"), query["state"])
      assert.notStrictEqual(as.asked[1]?.form["code_verifier"], code_verifier)
    }))

  it.effect("[field AUT-12] leaves the scope out where nobody knows one", () =>
    Effect.gen(function*() {
      for (const setup of [{}, { scopes: [] }]) {
        const { obtain, person } = setUp(setup)
        yield* obtain
        assert.isFalse(person.opened[0]?.searchParams.has("scope"))
      }
    }))

  it.effect("[field AUT-01] adds no slash to a resource, at either endpoint", () =>
    Effect.gen(function*() {
      const as = provider(() => good)
      const person = browser(agrees(issuer))
      const { request } = requestTo(as.endpoint())
      const grant = AuthorizationCode.grant({ client })
      yield* grant.obtain({ ...request, resource: "https://api.example.com" }).pipe(Effect.provide(person.layer))
      assert.strictEqual(person.opened[0]?.searchParams.get("resource"), "https://api.example.com")
      assert.strictEqual(as.asked[0]?.form["resource"], "https://api.example.com")
    }))

  it.effect("keeps what the endpoint has in its query, but for what belongs to the flow", () =>
    Effect.gen(function*() {
      const authorization_endpoint = `${issuer}/authorize?p=B2C&state=theirs&client_id=theirs#there`
      const { obtain, person } = setUp({ server: server({ authorization_endpoint }) })
      yield* obtain
      const page = person.opened[0]
      assert.strictEqual(page?.searchParams.get("p"), "B2C")
      assert.deepStrictEqual(page?.searchParams.getAll("client_id"), ["client-1"])
      assert.strictEqual(page?.searchParams.getAll("state").length, 1)
      assert.strictEqual(page?.hash, "")
    }))

  it.effect("takes a prompt and other parameters, and none of the flow's own", () =>
    Effect.gen(function*() {
      const { obtain, person } = setUp({ options: { prompt: "consent", parameters: { login_hint: "a@b" } } })
      yield* obtain
      assert.strictEqual(person.opened[0]?.searchParams.get("prompt"), "consent")
      assert.strictEqual(person.opened[0]?.searchParams.get("login_hint"), "a@b")
      for (const name of ["state", "redirect_uri", "code_challenge", "response_mode", "request_uri", "resource"]) {
        const { opened, reason } = yield* refused({ options: { parameters: { [name]: "x" } } })
        assert.strictEqual(reason._tag, "Misconfigured")
        assert.strictEqual(opened, 0)
      }
    }))

  it.effect("names the key that the tokens are to be bound to", () =>
    Effect.gen(function*() {
      const dpop = yield* Dpop.make({ required: false })
      const person = browser(agrees(issuer))
      const { request } = requestTo(provider(() => good).endpoint(dpop))
      yield* AuthorizationCode.grant({ client }).obtain(request).pipe(Effect.provide(person.layer))
      assert.strictEqual(person.opened[0]?.searchParams.get("dpop_jkt"), dpop.thumbprint)
    }))

  it.effect("[ACL-14] [field AUT-14] refuses servers that do not say S256, unless told that they know it", () =>
    Effect.gen(function*() {
      const { code_challenge_methods_supported: _, ...silent } = server().metadata
      const absent = (found: AuthorizationServer.AuthorizationServer["found"]) => ({ issuer, found, metadata: silent })
      const plain = (found: AuthorizationServer.AuthorizationServer["found"]) =>
        server({ code_challenge_methods_supported: ["plain"] }, found)
      for (const target of [absent("resource"), plain("resource"), plain("origin"), plain("defaults")]) {
        const { opened, reason } = yield* refused({ server: target })
        assert.strictEqual(reason._tag === "InsecureServer" ? reason.why : "", "pkce")
        assert.strictEqual(opened, 0)
        const { obtain, person } = setUp({ server: target, options: { assumePkce: true } })
        yield* obtain
        assert.strictEqual(person.opened[0]?.searchParams.get("code_challenge_method"), "S256")
      }
      const both = server({ code_challenge_methods_supported: ["S256", "plain"] })
      for (const target of [both, absent("origin"), absent("defaults")]) {
        const { obtain, person } = setUp({ server: target })
        yield* obtain
        assert.strictEqual(person.opened[0]?.searchParams.get("code_challenge_method"), "S256")
      }
    }))

  it.effect("[SEC-10] opens no page but https, and http on the machine itself", () =>
    Effect.gen(function*() {
      const pages = ["http://login.example.com/a", "javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "x"]
      for (const authorization_endpoint of [...pages, "https://user:pw@login.example.com/a"]) {
        const { opened, reason } = yield* refused({ server: server({ authorization_endpoint }) })
        assert.include(["InsecureServer", "BadAnswer"], reason._tag)
        assert.strictEqual(opened, 0)
      }
      // What is elsewhere sends no browser to what listens here.
      for (const authorization_endpoint of ["http://127.0.0.1:9/a", "https://localhost/a", "http://[::1]:9/a"]) {
        const target = server({ authorization_endpoint })
        const { opened, reason } = yield* refused({ server: target })
        assert.strictEqual(reason._tag === "InsecureServer" ? reason.why : "", "scheme")
        assert.strictEqual(opened, 0)
        const person = browser(agrees(issuer))
        const { request } = requestTo(provider(() => good).endpoint(), { server: target })
        const local = { ...request, resource: "http://localhost:3000/mcp" }
        yield* AuthorizationCode.grant({ client }).obtain(local).pipe(Effect.provide(person.layer))
        assert.strictEqual(person.opened.length, 1)
      }
    }))

  it.effect("says what a server lacks before anybody is asked", () =>
    Effect.gen(function*() {
      const { authorization_endpoint: _, ...without } = server().metadata
      const lacking = [
        { issuer, found: "resource" as const, metadata: without },
        server({ response_types_supported: ["token"] })
      ]
      for (const target of lacking) {
        const { opened, reason } = yield* refused({ server: target })
        assert.strictEqual(reason._tag, "NotSupported")
        assert.strictEqual(opened, 0)
      }
    }))
})

describe("the way back", () => {
  it.effect("[ACL-19] [field AUT-23] iss is the issuer to the letter, and missing only where nobody promised it", () =>
    Effect.gen(function*() {
      const wrong = ["https://other.example", `${issuer}/`, `${issuer}:443`, issuer.toUpperCase()]
      for (const target of [server(), advertised]) {
        for (const iss of wrong) {
          const { asked, reason } = yield* refused({
            server: target,
            person: answering((right) => ({ ...right, iss }))
          })
          assert.deepStrictEqual(reason, rejected("iss", "wrong"))
          assert.strictEqual(asked, 0)
        }
      }
      const missing = yield* refused({ server: advertised, person: answering(({ iss: _, ...right }) => right) })
      assert.deepStrictEqual(missing.reason, rejected("iss", "missing"))
      assert.strictEqual(missing.asked, 0)
      yield* setUp({ person: answering(({ iss: _, ...right }) => right) }).obtain
      yield* setUp({ server: advertised }).obtain
    }))

  it.effect("[ACL-18] a mix-up: the answer of an attacker's server is thrown away, with its errors and its code", () =>
    Effect.gen(function*() {
      const evil = {
        iss: "https://evil.example",
        error: "access_denied",
        error_description: "click https://evil.example"
      }
      const { asked, reason } = yield* refused({ person: answering((right) => ({ ...right, ...evil })) })
      assert.deepStrictEqual(reason, rejected("iss", "wrong"))
      assert.strictEqual(asked, 0)
    }))

  it.effect("[ACL-21] an answer to another login is no answer", () =>
    Effect.gen(function*() {
      const cases = [
        [(right: object) => ({ ...right, state: "x" }), rejected("state", "wrong")],
        [({ state: _, ...right }: Record<string, string>) => right, rejected("state", "missing")],
        [(right: object) => ({ ...right, state: "" }), rejected("state", "missing")]
      ] as const
      for (const [parameters, expected] of cases) {
        const { asked, reason } = yield* refused({ person: answering(parameters) })
        assert.deepStrictEqual(reason, expected)
        assert.strictEqual(asked, 0)
      }
    }))

  it.effect("[ACL-30] a replayed answer belongs to a state that is over", () =>
    Effect.gen(function*() {
      const states: Array<string> = []
      const person: Person = (page) => {
        states.push(page.searchParams.get("state") ?? "")
        return { code: "the-code-4711", state: states[0] ?? "", iss: issuer }
      }
      const { as, obtain } = setUp({ person })
      yield* obtain
      assert.deepStrictEqual((yield* Effect.flip(obtain)).reason, rejected("state", "wrong"))
      assert.strictEqual(as.asked.length, 1)
    }))

  it.effect("[ACL-30] a code that was put beside the right one is found out: every parameter is there once", () =>
    Effect.gen(function*() {
      for (const name of ["code", "state", "iss", "error"] as const) {
        const person = answering((right) => ({ ...right, [name]: [right[name] ?? "access_denied", "injected"] }))
        const { asked, reason } = yield* refused({ person })
        assert.deepStrictEqual(reason, rejected(name, "repeated"))
        assert.strictEqual(asked, 0)
      }
      const { reason } = yield* refused({ person: answering((right) => ({ ...right, code: "" })) })
      assert.deepStrictEqual(reason, rejected("code", "missing"))
    }))

  it.effect("[field AUT-23] a denial is told at once, in short and printable words", () =>
    Effect.gen(function*() {
      const description = `no\u0000 ${"x".repeat(500)}`
      const person = answering(({ code: _, ...right }) => ({
        ...right,
        error: "access_denied",
        error_description: description
      }))
      const { asked, reason } = yield* refused({ person })
      assert.strictEqual(reason._tag, "LoginDenied")
      if (reason._tag === "LoginDenied") {
        assert.strictEqual(reason.error, "access_denied")
        assert.strictEqual(reason.description?.length, 200)
        assert.notInclude(reason.description, "\u0000")
      }
      assert.strictEqual(asked, 0)
      const both = yield* refused({ person: answering((right) => ({ ...right, error: "invalid_scope" })) })
      assert.strictEqual(both.reason._tag, "LoginDenied")
      assert.strictEqual(both.asked, 0)
    }))

  it.effect("[field AUT-17] waits for a bounded time, and lets go of the listener", () =>
    Effect.gen(function*() {
      const waiting = Effect.fnUntraced(function*(options: AuthorizationCode.Options) {
        const shown = Latch.makeUnsafe()
        const { obtain, person } = setUp({
          options,
          person: () => {
            shown.openUnsafe()
            return undefined
          }
        })
        const fiber = yield* Effect.forkChild(Effect.flip(obtain))
        yield* shown.await
        yield* Effect.yieldNow
        return { fiber, person }
      })
      const usual = yield* waiting({})
      yield* TestClock.adjust("599 seconds")
      assert.strictEqual(usual.person.listening, 1)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(
        (yield* Fiber.join(usual.fiber)).reason,
        new AuthError.LoginTimedOut({ issuer, millis: 600_000 })
      )
      assert.strictEqual(usual.person.listening, 0)
      const short = yield* waiting({ timeout: "1 second" })
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(short.fiber)).reason._tag, "LoginTimedOut")
      const givenUp = yield* waiting({})
      yield* Fiber.interrupt(givenUp.fiber)
      assert.strictEqual(givenUp.person.listening, 0)
    }))

  it.effect("[ACL-30] a code is spent once, whatever becomes of it", () =>
    Effect.gen(function*() {
      for (const reply of [{ status: 503 }, { status: 400, body: { error: "invalid_grant" } }, undefined]) {
        const as = provider(() => reply)
        const person = browser(agrees(issuer))
        const grant = AuthorizationCode.grant({ client })
        const failure = grant.obtain(requestTo(as.endpoint()).request).pipe(Effect.provide(person.layer), Effect.flip)
        assert.notInclude((yield* failure).message, "4711")
        assert.strictEqual(as.asked.length, 1)
        assert.strictEqual(person.opened.length, 1)
      }
    }))
})
