/** What clients log in to: a server, two authorization servers that it may name, a person, and a store for all clients. */
import type { AuthError } from "@mcpfx/auth"
import { ResourceServer, TokenStore, TokenVerifier, TokenVerifierJwt, type UserAgent } from "@mcpfx/auth"
import { TestAuthorizationServer, TestNetwork } from "@mcpfx/testing"
import { Principal } from "@mcpfx/transport"
import { Effect, Layer, Option, Redacted } from "effect"
import { HttpClient, HttpClientRequest, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { at, parse } from "../wire.ts"
import { Watch } from "./watch.ts"

export const server = "https://mcp.test/mcp"
export const elsewhere = "https://other.test/mcp"
export const issuers = ["https://one.test", "https://two.test"] as const

/** What access tokens are like. */
export type Tokens = "opaque" | "jwt"

type Login = TestAuthorizationServer.TestAuthorizationServer["Service"]

const machine = { clientId: "machine", clientSecret: "machine-secret" }
const checker = { clientId: "checker", clientSecret: "checker-secret" }

/** The client that is known beforehand. */
export const machines = issuers.map((issuer) => ({
  issuer,
  clientId: machine.clientId,
  clientSecret: Redacted.make(machine.clientSecret)
}))

const down = new TokenVerifier.VerifierUnavailable({ detail: "nobody to ask" })

/** What the authorization server says about a token. */
const asked = (login: Login, token: string) =>
  Effect.gen(function*() {
    const { clientId, clientSecret } = checker
    const request = HttpClientRequest.bodyUrlParams(HttpClientRequest.post(login.url("introspect")), {
      client_id: clientId,
      client_secret: clientSecret,
      token
    })
    const response = yield* login.client.execute(request)
    return response.status === 200 ? parse(yield* response.text) : yield* Effect.fail(down)
  }).pipe(Effect.mapError(() => down))

/** Asks about each token, so that what ends there is ended here at once. */
const verifier = (login: Login): TokenVerifier.TokenVerifier["Service"] => ({
  issuers: [login.issuer],
  verify: Effect.fnUntraced(function*(token, audience) {
    const answer = yield* asked(login, Redacted.value(token))
    if (at(answer, "active") !== true || !audience.includes(String(at(answer, "aud")))) {
      return yield* new TokenVerifier.InvalidToken({ reason: "inactive" })
    }
    const scope = at(answer, "scope")
    const scopes = typeof scope === "string" ? scope.split(" ") : []
    return { principal: { issuer: login.issuer, subject: "somebody", scopes, claims: {} } }
  })
})

/** Wants what the request says that it needs. */
const app = Effect.gen(function*() {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const principal = Option.getOrUndefined(yield* Principal.CurrentPrincipal)
  const needs = headers["x-needs"]
  if (needs === undefined || (needs !== "more" && principal?.scopes.includes(needs) === true)) {
    return HttpServerResponse.text("served")
  }
  return HttpServerResponse.empty({
    status: 403,
    headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="read ${needs}"` }
  })
})

/** Signed ones are good for as long as they say, or until nobody has the key any more. */
const verifying = (login: Login, tokens: Tokens) =>
  tokens === "opaque"
    ? Layer.succeed(TokenVerifier.TokenVerifier, verifier(login))
    : Layer.provide(
      TokenVerifierJwt.layer({ issuers: [{ issuer: login.issuer }] }),
      Layer.succeed(HttpClient.HttpClient, login.client)
    )

const protectedBy = (login: Login, tokens: Tokens) =>
  TestNetwork.serve(
    ResourceServer.layer(
      { resource: server, scopes: ["read"] },
      (protect) => HttpRouter.add("*", "/mcp", protect(app))
    ).pipe(
      Layer.provide(verifying(login, tokens))
    )
  )

/** What the person does whom a login asks. */
export type Mood = "allows" | "allows slowly" | "denies" | "never answers"

/** A store whose reads and writes can be made to fail, and that takes its time. */
export class Store {
  readonly values = new Map<string, string>()
  readonly service: TokenStore.TokenStore["Service"]
  failsToRead = false
  failsToWrite = false
  /** Milliseconds. */
  delay = 0

  constructor(lost: () => void) {
    const exclusive = TokenStore.makeExclusive()
    const run = <A>(operation: "read" | "write" | "remove", fails: () => boolean, act: () => A) =>
      Effect.suspend(() => Effect.sleep(this.delay)).pipe(
        Effect.andThen(Effect.suspend(() => {
          if (!fails()) return Effect.sync(act)
          if (operation !== "read") lost()
          return Effect.fail(new TokenStore.TokenStoreError({ operation, detail: "scripted" }))
        }))
      )
    this.service = {
      get: (key) =>
        run(
          "read",
          () => this.failsToRead,
          () => Option.map(Option.fromUndefinedOr(this.values.get(key)), (text) => Redacted.make(text))
        ),
      set: (key, value) =>
        run("write", () => this.failsToWrite, () => void this.values.set(key, Redacted.value(value))),
      remove: (key) => run("remove", () => this.failsToWrite, () => void this.values.delete(key)),
      exclusive
    }
  }

  /** The tokens that are kept for an issuer. */
  tokens(issuer: string): string | undefined {
    const token = at(parse(this.values.get(JSON.stringify(["tokens", issuer, server])) ?? ""), "accessToken")
    return typeof token === "string" ? token : undefined
  }
}

/** Where a page says what is wrong, a person is not sent back: nobody answers. */
const isPage = ({ reason }: AuthError.AuthError): boolean =>
  (reason._tag === "LoginDenied" && reason.error === "invalid_request") ||
  (reason._tag === "Unavailable" && reason.status !== undefined)

export class Provider {
  readonly logins: ReadonlyArray<Login>
  readonly watch: Watch
  readonly store: Store
  readonly network: HttpClient.HttpClient
  mood: Mood = "allows"
  /** Which of the authorization servers the server names. */
  current = 0
  /** Pages that the person was shown. */
  visits = 0

  constructor(logins: ReadonlyArray<Login>, servers: ReadonlyArray<HttpClient.HttpClient>) {
    this.logins = logins
    this.watch = new Watch(server, issuers)
    this.store = new Store(() => this.watch.lost())
    const own = HttpClient.make((request) =>
      Effect.suspend(() => servers[this.current]?.execute(request) ?? Effect.die(new Error("no server")))
    )
    const other = HttpClient.make((request) => own.execute(HttpClientRequest.setUrl(request, "https://mcp.test/none")))
    this.network = TestNetwork.client({
      "https://mcp.test": own,
      "https://other.test": other,
      ...Object.fromEntries(logins.map((login) => [login.issuer, login.client]))
    })
  }

  get login(): Login {
    const login = this.logins[this.current]
    if (login === undefined) throw new Error("there is no such authorization server")
    return login
  }

  /** The person's browser. */
  agent(): UserAgent.UserAgent["Service"] {
    const redirectUri = "http://127.0.0.1:8976/callback"
    return {
      redirectUris: [redirectUri],
      visit: (registered) =>
        Effect.succeed({
          redirectUri: registered?.[0] ?? redirectUri,
          open: (url, { issuer, resource }) =>
            Effect.suspend(() => {
              this.visits++
              const { mood } = this
              const login = this.logins.find((login) => login.issuer === url.origin)
              if (login === undefined) return Effect.die(new Error(`somebody is sent to ${url.origin}`))
              if (mood === "never answers") return Effect.never
              const browser = login.userAgent({ decision: mood === "denies" ? "deny" : "allow", redirectUri })
              const visited = Effect.scoped(
                Effect.flatMap(browser.visit(registered), ({ open }) => open(url, { issuer, resource }))
              )
              return Effect.andThen(
                mood === "allows slowly" ? Effect.sleep("20 seconds") : Effect.void,
                Effect.catchIf(visited, isPage, () => Effect.never)
              )
            })
        })
    }
  }
}

/** Starts all of it, in the scope. */
export const make = Effect.fnUntraced(function*(tokens: Tokens) {
  const logins = yield* Effect.forEach(issuers, (issuer) =>
    TestAuthorizationServer.make({
      issuer,
      scopes: ["read", "write", "more", "offline_access"],
      accessTokens: tokens,
      clients: [machine, checker],
      lifetimes: { accessToken: "10 minutes", refreshToken: "1 day" }
    }))
  const servers = yield* Effect.orDie(Effect.forEach(logins, (login) => protectedBy(login, tokens)))
  return new Provider(logins, servers)
})
