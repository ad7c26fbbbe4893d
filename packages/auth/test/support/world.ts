/** Servers in memory, for answers that no good server gives: routes by address, and a list of all that was asked. */
import { AuthError, type Credentials, type Grant, OAuthClient, TokenStore } from "@mcpfx/auth"
import { Effect, Layer, Option, Redacted } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"

export interface Seen {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly form: URLSearchParams
}

/** `undefined` is a connection that breaks. */
export type Route = (seen: Seen) => Response | undefined | Effect.Effect<Response | undefined>

const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): string =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""

export class World {
  readonly seen: Array<Seen> = []
  private readonly routes = new Map<string, Route>()

  /** `at` is a method and an address without query, or an address for every method. */
  on(at: string, route: Route | object | number): this {
    const made: Route = typeof route === "number"
      ? () => new Response("nothing", { status: route })
      : typeof route === "function"
      ? (seen) => Reflect.apply(route, undefined, [seen])
      : () => json(route)
    for (const known of this.routes.keys()) if (known.endsWith(` ${at}`)) this.routes.delete(known)
    this.routes.set(at, made)
    return this
  }

  /** What was asked of an address, in order. */
  at(address: string): ReadonlyArray<Seen> {
    return this.seen.filter(({ url }) => url.origin + url.pathname === address)
  }

  /** All addresses that were asked but the server's own, in order. */
  get others(): ReadonlyArray<string> {
    return this.seen.map(({ url }) => url.origin + url.pathname).filter((address) => address !== server)
  }

  readonly client: HttpClient.HttpClient = HttpClient.make((request, url) => {
    const body = bodyOf(request)
    const seen: Seen = {
      method: request.method,
      url,
      headers: { ...request.headers },
      body,
      form: new URLSearchParams(body)
    }
    this.seen.push(seen)
    const address = url.origin + url.pathname
    const route = this.routes.get(`${request.method} ${address}`) ?? this.routes.get(address)
    const answer = route === undefined ? new Response("nothing here", { status: 404 }) : route(seen)
    return Effect.flatMap(
      Effect.isEffect(answer) ? answer : Effect.succeed(answer),
      (response) =>
        response === undefined
          ? Effect.fail(
            new HttpClientError.HttpClientError({
              reason: new HttpClientError.TransportError({ request, description: "the connection broke" })
            })
          )
          : Effect.succeed(HttpClientResponse.fromWeb(request, response))
    )
  })
}

export const json = (body: object, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } })

export const server = "https://mcp.example/mcp"
export const issuer = "https://as.example"
export const resourceAddress = "https://mcp.example/.well-known/oauth-protected-resource/mcp"
export const tokenAddress = `${issuer}/token`

export const metadata = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: tokenAddress,
  registration_endpoint: `${issuer}/register`,
  code_challenge_methods_supported: ["S256"]
}

export const challenge = (parameters: string, status = 401): Response =>
  new Response("{}", { status, headers: { "www-authenticate": `Bearer ${parameters}` } })

/** A server that takes some tokens, with its metadata, and an authorization server that gives them, one after the other. */
export class Provider {
  readonly world = new World()
  /** Tokens that the server takes. */
  readonly valid = new Set<string>()
  /** Refresh tokens that are good for one use. */
  readonly refreshable = new Set<string>()
  given = 0
  /** Before the number of each token. */
  prefix = ""
  /** Seconds. */
  life: number | undefined = 3600

  constructor() {
    this.world
      .on(server, (seen) => {
        const token = (seen.headers["authorization"] ?? "").replace("Bearer ", "")
        return this.valid.has(token)
          ? json({ method: seen.method })
          : challenge(token === "" ? `resource_metadata="${resourceAddress}"` : `error="invalid_token"`)
      })
      .on(`GET ${resourceAddress}`, { resource: server, authorization_servers: [issuer] })
      .on(`GET ${issuer}/.well-known/oauth-authorization-server`, metadata)
      .on(`POST ${tokenAddress}`, (seen) => this.answer(seen))
  }

  /** What the token endpoint says. */
  answer({ form }: Seen): Response {
    const refresh = form.get("refresh_token")
    if (form.get("grant_type") === "refresh_token" && (refresh === null || !this.refreshable.delete(refresh))) {
      return json({ error: "invalid_grant" }, 400)
    }
    return json(this.next(form.get("scope")))
  }

  /** New tokens, which are valid from now on. */
  next(scope: string | null = null): Record<string, unknown> {
    const n = ++this.given
    const access = `${this.prefix}a${n}`
    const refresh = `${this.prefix}r${n}`
    this.valid.add(access)
    this.refreshable.add(refresh)
    return {
      access_token: access,
      token_type: "Bearer",
      refresh_token: refresh,
      ...(this.life === undefined ? undefined : { expires_in: this.life }),
      ...(scope === null ? undefined : { scope })
    }
  }

  /** Requests to the token endpoint, by what they ask with. */
  asked(grantType: string): ReadonlyArray<Seen> {
    return this.world.at(tokenAddress).filter(({ form }) => form.get("grant_type") === grantType)
  }
}

export const registration: Credentials.Registration = {
  kind: "preregistered",
  clientId: "client",
  authentication: "none",
  redirectUris: []
}

/** A grant that asks the token endpoint at once; `interactive` ones run `person` before. */
export const grant = (options: {
  readonly interactive?: boolean
  readonly refreshes?: boolean
  readonly person?: (request: Grant.Request) => Effect.Effect<void, AuthError.AuthError>
  readonly registration?: Credentials.Registration
} = {}): Grant.Grant => {
  const client = {
    registration: options.registration ?? registration,
    authenticate: () => Effect.succeed({ parameters: { client_id: "client" }, headers: {} })
  }
  return {
    name: "test",
    interactive: options.interactive ?? false,
    refreshes: options.refreshes ?? true,
    client: () => Effect.succeed(client),
    obtain: (request) =>
      Effect.andThen(
        options.person?.(request) ?? Effect.void,
        request.endpoint.tokens({
          url: request.server.metadata.token_endpoint ?? "",
          issuer: request.server.issuer,
          parameters: { grant_type: "test", resource: request.resource, scope: request.scopes?.join(" ") },
          client,
          scopes: request.scopes
        })
      )
  }
}

/** The client and its service over a world. */
export const connect = (
  world: World,
  options: Partial<OAuthClient.Options> = {},
  store?: TokenStore.TokenStore["Service"]
) =>
  Effect.gen(function*() {
    const layer = OAuthClient.layer({ url: server, grant: grant(), ...options }).pipe(
      Layer.provide(Layer.succeed(HttpClient.HttpClient, world.client)),
      Layer.provide(store === undefined ? Layer.empty : Layer.succeed(TokenStore.TokenStore, store))
    )
    const context = yield* Layer.build(layer)
    return yield* Effect.provideContext(
      Effect.all({ client: HttpClient.HttpClient, oauth: OAuthClient.OAuthClient }),
      context
    )
  })

/** What a failed request says. */
export const reasonOf = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<AuthError.Reason, A, R> =>
  Effect.flatMap(Effect.flip(effect), (error) =>
    Option.match(AuthError.find(error), {
      onNone: () => Effect.die(error),
      onSome: ({ reason }) => Effect.succeed(reason)
    }))

export const tokenOf = (seen: Seen | undefined): string | undefined => seen?.headers["authorization"]

export const tokensKey = JSON.stringify(["tokens", issuer, server])

export const kept = (store: TokenStore.TokenStore["Service"]) =>
  Effect.map(
    store.get(tokensKey),
    (value) => value._tag === "Some" ? JSON.parse(Redacted.value(value.value)) : undefined
  )

/** A client that is logged in. */
export const loggedIn = Effect.fnUntraced(function*(
  options: Parameters<typeof connect>[1] = {},
  given?: TokenStore.TokenStore["Service"]
) {
  const provider = new Provider()
  const store = given ?? (yield* TokenStore.makeMemory)
  const made = yield* connect(provider.world, options, store)
  yield* made.client.post(server)
  return { ...made, provider, store }
})
