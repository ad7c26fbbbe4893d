/** One process with a client that logs in, and all that was asked of it. */
import {
  AuthError,
  AuthorizationCode,
  ClientCredentials,
  type Grant,
  OAuthClient,
  TokenStore,
  UserAgent
} from "@mcpfx/auth"
import { Cause, Clock, Context, Effect, Exit, type Fiber, Layer, Option, Result, Scope } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { machines, type Provider, server, type Tokens } from "./provider.ts"

export interface Setup {
  /** Who logs in: a person, a person who has to ask for it, or a machine. */
  readonly who: "person" | "person who asks" | "machine"
  /** Processes that share a store. */
  readonly processes: 1 | 2
  readonly tokens: Tokens
}

/** Something that was asked of a client. */
export interface Asked {
  readonly what: string
  readonly life: Life
  /** When, in milliseconds. */
  readonly since: number
  readonly fiber: Fiber.Fiber<number | undefined, unknown>
}

const grantOf = ({ who }: Setup): Grant.Grant<UserAgent.UserAgent> =>
  who === "machine" ? ClientCredentials.grant({ client: machines }) : AuthorizationCode.grant()

export class Life {
  readonly name: string
  readonly client: HttpClient.HttpClient
  readonly oauth: OAuthClient.OAuthClient["Service"]
  private readonly scope: Scope.Closeable
  isOver = false

  constructor(
    name: string,
    scope: Scope.Closeable,
    context: Context.Context<OAuthClient.OAuthClient | HttpClient.HttpClient>
  ) {
    this.name = name
    this.scope = scope
    this.client = Context.get(context, HttpClient.HttpClient)
    this.oauth = Context.get(context, OAuthClient.OAuthClient)
  }

  /** A request; the status of its answer comes of it. */
  request(method: "GET" | "POST", needs?: string, url = server): Effect.Effect<number, unknown> {
    const request = (method === "GET"
      ? HttpClientRequest.get(url)
      : HttpClientRequest.bodyText(HttpClientRequest.post(url), "{}", "application/json")).pipe(
        needs === undefined ? (self) => self : HttpClientRequest.setHeader("x-needs", needs)
      )
    return Effect.scoped(
      Effect.flatMap(this.client.execute(request), (response) => Effect.as(response.text, response.status))
    )
  }

  get close(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.isOver = true
      return Scope.close(this.scope, Exit.void)
    })
  }
}

/** Starts one, in a scope of its own below that of the caller. */
export const start = Effect.fnUntraced(function*(setup: Setup, provider: Provider, name: string) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const layer = OAuthClient.layer({
    url: server,
    grant: grantOf(setup),
    onLoginNeeded: setup.who === "person who asks" ? "fail" : "login"
  }).pipe(
    Layer.provide(Layer.succeed(UserAgent.UserAgent, provider.agent())),
    Layer.provide(Layer.succeed(HttpClient.HttpClient, provider.watch.client(name, provider.network))),
    Layer.provide(Layer.succeed(TokenStore.TokenStore, provider.store.service))
  )
  return new Life(name, scope, yield* Effect.orDie(Layer.buildWithScope(layer, scope)))
})

/** Asks, without waiting for what comes of it. */
export const ask = (
  life: Life,
  what: string,
  effect: Effect.Effect<number | undefined, unknown>
): Effect.Effect<Asked> =>
  Effect.gen(function*() {
    const since = yield* Clock.currentTimeMillis
    const fiber = yield* Effect.forkDetach(effect)
    return { what: `${life.name} ${what}`, life, since, fiber }
  })

/** Answers that a request may come to: served, and nobody can say whether the token is good. */
const statuses: ReadonlySet<number | undefined> = new Set([200, 404, 503, undefined])

/** What of the outcome is not as it has to be. */
export const faultOf = ({ fiber, what }: Asked): string | undefined => {
  const exit = fiber.pollUnsafe()
  if (exit === undefined) return undefined
  if (Exit.isSuccess(exit)) return statuses.has(exit.value) ? undefined : `${what}: status ${exit.value}`
  if (Cause.hasInterruptsOnly(exit.cause)) return undefined
  const error = Cause.findError(exit.cause)
  return Result.isSuccess(error) && Option.isSome(AuthError.find(error.success))
    ? undefined
    : `${what}: ${Cause.pretty(exit.cause)}`
}
