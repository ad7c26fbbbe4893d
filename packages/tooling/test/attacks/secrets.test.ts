/** A whole life with everything told: no secret in a line of the log, a span, an error or a state, however it is printed. */
import { assert, describe, it } from "@effect/vitest"
import { AuthorizationCode, ClientCredentials, Dpop, type Grant, TokenStore, type UserAgent } from "@mcpfx/auth"
import { AuthorizationFault } from "@mcpfx/testing"
import { Cause, Effect, Exit, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Jose from "jose"
import { challenge, redirect, type Seen } from "../../src/attacks/network.ts"
import { everything, Recorder } from "../../src/attacks/recorder.ts"
import {
  Add,
  authorize,
  browserWith,
  connect,
  evil,
  issuer,
  make,
  mcpUrl,
  tokenUrl,
  type World,
  type WorldOptions
} from "../../src/attacks/world.ts"

const clientSecret = "the client's own secret: s3cr3t/+&=%"

/** A key as it is configured, and all the ways in which its private part may be written. */
const clientKey = Effect.promise(async () => {
  const pair = await Jose.generateKeyPair("ES256", { extractable: true })
  const [jwk, publicJwk, pem] = await Promise.all([
    Jose.exportJWK(pair.privateKey),
    Jose.exportJWK(pair.publicKey),
    Jose.exportPKCS8(pair.privateKey)
  ])
  return { pem, d: jwk.d ?? "", body: pem.split("\n")[1] ?? "", publicJwk: { ...publicJwk, kid: "k", alg: "ES256" } }
})

interface Told {
  readonly texts: Array<string>
}

/** What a request fails with, in all the ways to print it. */
const tell = <A, E>({ texts }: Told, effect: Effect.Effect<A, E>): Effect.Effect<Exit.Exit<A, E>> =>
  Effect.tap(Effect.exit(effect), (exit) =>
    Effect.sync(() => {
      if (Exit.isSuccess(exit)) return
      texts.push(Cause.pretty(exit.cause), everything(exit.cause), everything(exit))
      for (const error of Cause.prettyErrors(exit.cause)) texts.push(everything(error))
      const failure = Cause.findErrorOption(exit.cause)
      if (failure._tag === "Some") texts.push(everything(failure.value))
    }))

const failures: ReadonlyArray<(world: World, token: string) => void> = [
  ({ network }) => network.on(tokenUrl, () => undefined),
  ({ network }) => network.on(tokenUrl, () => redirect(`${evil}/token`)),
  ({ network }) => network.on(tokenUrl, ({ body }) => new Response(body, { status: 400 })),
  ({ network }) =>
    network.on(
      tokenUrl,
      ({ body, headers }) =>
        Response.json({ error: "invalid_request", error_description: `${body} ${headers["authorization"]}` }, {
          status: 400
        })
    ),
  ({ network }) =>
    network.on(
      tokenUrl,
      ({ form }) =>
        Response.json({ error: "server_error", error_description: [...form.values()].join(" ") }, { status: 500 })
    ),
  ({ network }, token) => network.on(tokenUrl, () => new Response(`<p>${token}</p>`, { status: 502 }))
]

/** A login, calls, a refresh, what fails, a logout; everything that is said meanwhile. */
const life = (
  grant: (world: World) => Grant.Grant<UserAgent.UserAgent> | Grant.Grant,
  options: WorldOptions = {},
  dpop?: Dpop.Dpop,
  scripts: typeof failures = failures.slice(2, 4)
) =>
  Effect.gen(function*() {
    const recorder = new Recorder()
    const told: Told = { texts: [] }
    const secrets = yield* Effect.gen(function*() {
      const world = yield* make(options)
      const { network } = world
      const agent = browserWith(world, (answer) => {
        network.secrets.add("code", answer.searchParams.get("code"), issuer)
        return answer
      })
      const store = yield* TokenStore.makeMemory
      const settings = { agent, store, dpop, grant: grant(world) }
      recorder.clear()
      const { mcp, oauth } = yield* connect(world, settings)
      const listening = yield* Effect.forkChild(
        Stream.runForEach(oauth.changes, (status) => Effect.sync(() => told.texts.push(everything(status))))
      )
      assert.deepStrictEqual(yield* mcp.call(Add, { a: 1, b: 1 }), { sum: 2 })
      told.texts.push(everything(yield* oauth.status), everything(oauth), everything(mcp), everything(store))
      const refuse = () => {
        const known = network.secrets.of("access token")
        network.on(mcpUrl, (seen: Seen) =>
          known.some((token) => seen.headers["authorization"]?.includes(token) === true)
            ? challenge(`error="invalid_token", error_description="${seen.headers["authorization"]} is no good"`)
            : "real")
      }
      refuse()
      yield* tell(told, mcp.call(Add, { a: 1, b: 1 }))
      for (const script of scripts) {
        const { http, oauth } = yield* authorize(world, settings)
        refuse()
        script(world, network.secrets.of("access token").at(-1) ?? "")
        yield* tell(told, http.post(mcpUrl))
        yield* TestClock.adjust("2 minutes")
        yield* tell(told, oauth.login())
        told.texts.push(everything(yield* oauth.status))
        network.off(tokenUrl)
      }
      network.on(mcpUrl, ({ headers }) =>
        challenge(`error="invalid_token", error_description="${headers["authorization"]}"`))
      yield* TestClock.adjust("2 minutes")
      yield* tell(told, mcp.call(Add, { a: 1, b: 1 }))
      yield* tell(told, mcp.callTool("nothing"))
      yield* world.login.fault("revoke", AuthorizationFault.oauth("unsupported_token_type"))
      yield* tell(told, oauth.logout)
      told.texts.push(everything(yield* oauth.status), everything(listening))
      assert.deepStrictEqual(network.strays, [])
      return network.secrets
    }).pipe(Effect.provide(recorder.layer))
    return { recorder, told, secrets }
  })

const silent = ({ recorder, secrets, told }: Effect.Success<ReturnType<typeof life>>) => {
  // It was a life in which there was something to tell, and to keep.
  assert.isAtLeast(secrets.all.length, 3)
  assert.isAtLeast(recorder.spans.length, 20)
  assert.isAtLeast(told.texts.length, 20)
  const leaks = (texts: ReadonlyArray<string>) =>
    texts.flatMap((text) =>
      secrets.within(text).map(({ kind, value }) =>
        `${kind} in ${text.slice(Math.max(0, text.indexOf(value) - 200))}`.slice(0, 400)
      )
    )
  assert.deepStrictEqual(leaks(recorder.lines), [])
  assert.deepStrictEqual(leaks(recorder.spans), [])
  assert.deepStrictEqual(leaks(told.texts), [])
}

describe("no secret is told", () => {
  it.effect("[ACL-25] [field AUT-21] of a person's login, with a client that registered itself", () =>
    Effect.gen(function*() {
      const all = yield* life(() => AuthorizationCode.grant(), {}, undefined, failures)
      for (const kind of ["access token", "refresh token", "code", "verifier"] as const) {
        assert.isNotEmpty(all.secrets.of(kind), kind)
      }
      silent(all)
    }))

  it.effect("[ACL-25] of a person's login, with a client that has a secret", () =>
    Effect.gen(function*() {
      for (const authentication of ["client_secret_basic", "client_secret_post"] as const) {
        const client = { clientId: "app", clientSecret, redirectUris: ["http://127.0.0.1:8976/callback"] }
        const all = yield* life(
          () =>
            AuthorizationCode.grant({
              client: { issuer, clientId: "app", clientSecret: Redacted.make(clientSecret), authentication }
            }),
          { authority: { clients: [{ ...client, authentication }] } }
        )
        all.secrets.add("client secret", clientSecret, issuer)
        silent(all)
      }
    }))

  it.effect("[ACL-25] of a machine's login, with a key", () =>
    Effect.gen(function*() {
      const key = yield* clientKey
      const all = yield* life(
        () =>
          ClientCredentials.grant({
            client: { issuer, clientId: "machine", key: { key: Redacted.make(key.pem), keyId: "k" } }
          }),
        { authority: { clients: [{ clientId: "machine", jwks: { keys: [key.publicJwk] } }] } }
      )
      assert.isNotEmpty(all.secrets.of("assertion"))
      for (const value of [key.d, key.body]) all.secrets.add("private key", value, issuer)
      silent(all)
    }))

  it.effect("[ACL-25] of a login that is bound to a key", () =>
    Effect.gen(function*() {
      const secret = yield* Dpop.generateKey()
      const dpop = yield* Dpop.make({ key: secret })
      const all = yield* life(
        () => AuthorizationCode.grant(),
        { resource: { dpop: "require" }, authority: { dpop: "required" } },
        dpop
      )
      const { d = "" }: { readonly d?: string } = JSON.parse(Redacted.value(secret))
      all.secrets.add("private key", d, issuer)
      assert.notInclude(everything(dpop), d)
      silent(all)
    }))
})

describe("the ways to look", () => {
  it.effect("find what is there", () =>
    Effect.gen(function*() {
      const recorder = new Recorder()
      yield* Effect.logDebug("a line", { token: "the-secret-of-it" }).pipe(
        Effect.andThen(Effect.annotateCurrentSpan("what", "the-secret-of-it")),
        Effect.withSpan("a span"),
        Effect.andThen(Effect.fail("the-secret-of-it")),
        Effect.withSpan("a failure"),
        Effect.ignore,
        Effect.provide(recorder.layer)
      )
      assert.strictEqual(recorder.lines.filter((text) => text.includes("the-secret-of-it")).length, 1)
      assert.strictEqual(recorder.spans.filter((text) => text.includes("the-secret-of-it")).length, 2)
      assert.include(everything(new Error("x", { cause: { deep: ["the-secret-of-it"] } })), "the-secret-of-it")
      assert.notInclude(everything(Redacted.make("the-secret-of-it")), "the-secret-of-it")
    }))
})
