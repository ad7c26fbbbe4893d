import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"

type AnyContext = Context.Context<never>

/**
 * The same client, whose `fetch` follows no redirect. `around` is what becomes of the context that its requests run in, which
 * is changed for them in any case.
 */
export const notFollowed = (
  client: HttpClient.HttpClient,
  init: globalThis.RequestInit,
  around: (context: AnyContext) => AnyContext
): HttpClient.HttpClient =>
  HttpClient.transformResponse(
    HttpClient.mapRequestEffect(client, told(init)),
    // Puts the context back that `told` changes.
    (response) => Effect.updateContext(response, around)
  )

const told = (init: globalThis.RequestInit) => (request: HttpClientRequest.HttpClientRequest) =>
  Effect.withFiber((fiber) => {
    const user = Context.getOrUndefined(fiber.context, FetchHttpClient.RequestInit)
    const all = { ...user, ...init, redirect: "manual" } as const
    fiber.setContext(Context.add(fiber.context, FetchHttpClient.RequestInit, all))
    return Effect.succeed(request)
  })
