/** A page that only a login opens, authorization servers that check, and all that a client sends to any of them. */
import { AuthorizationCode, OAuthClient, ResourceServer, TokenVerifierJwt, UserAgent } from "@mcpfx/auth"
import { type TestAuthorizationServer, TestNetwork } from "@mcpfx/testing"
import { Context, Effect, Layer } from "effect"
import { HttpClient, type HttpClientRequest, HttpRouter, HttpServerResponse } from "effect/http"

export type Login = TestAuthorizationServer.TestAuthorizationServer["Service"]

export const url = "https://mcp.test/mcp"
const origin = new URL(url).origin

export interface Sent {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): string =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""

/** The page, whose server takes the tokens of this login. */
const pageOf = (login: Login) =>
  TestNetwork.serve(
    ResourceServer.layer(
      { resource: url, scopes: ["read"] },
      (protect) =>
        HttpRouter.use((router) => router.add("GET", "/mcp", protect(Effect.succeed(HttpServerResponse.text("open")))))
    ).pipe(
      Layer.provide(TokenVerifierJwt.layer({ issuer: login.issuer })),
      Layer.provide(Layer.succeed(HttpClient.HttpClient, login.client))
    )
  )

/** The page trusts the first login until `trust` says another. */
export const makeWhole = Effect.fnUntraced(function*(first: Login, ...others: ReadonlyArray<Login>) {
  const hosts = new Map([first, ...others].map(({ client, issuer }) => [issuer, client]))
  hosts.set(origin, yield* pageOf(first))
  const reach = (request: HttpClientRequest.HttpClientRequest) =>
    TestNetwork.client(Object.fromEntries(hosts)).execute(request)
  const sent: Array<Sent> = []
  const recorded = HttpClient.make((request, url) => {
    sent.push({ url, headers: { ...request.headers }, body: bodyOf(request) })
    return reach(request)
  })
  // What the browser sees is none of the client's spans.
  const browser = HttpClient.make(reach).pipe(
    HttpClient.transform(Effect.provideService(HttpClient.TracerDisabledWhen, () => true))
  )
  const agent = first.userAgent({ client: browser })
  const context = yield* Layer.build(
    OAuthClient.layer({ url, grant: AuthorizationCode.grant() }).pipe(
      Layer.provide([Layer.succeed(HttpClient.HttpClient, recorded), Layer.succeed(UserAgent.UserAgent, agent)])
    )
  )
  const client = Context.get(context, HttpClient.HttpClient)
  return {
    sent,
    oauth: Context.get(context, OAuthClient.OAuthClient),
    open: Effect.flatMap(client.get(url), (response) => response.text),
    trust: (login: Login) => Effect.map(pageOf(login), (page) => void hosts.set(origin, page))
  }
})
