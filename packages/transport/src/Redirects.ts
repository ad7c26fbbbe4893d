/**
 * Redirects are for those to judge who know what goes with a request: `fetch` follows them to any origin, as GET, with all of
 * its headers.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"

/**
 * The same client, whose `fetch` follows no redirect. All else that the user told `fetch` stays, also where it was told to the
 * layer of the client, which puts it into the context only inside of the client: so it is changed there.
 *
 * Clients that do not use `fetch` are left as they are; those of Node follow nothing by themselves.
 *
 * **Example** (A redirect is an answer)
 *
 * ```ts
 * import { Redirects } from "@mcpfx/transport"
 * import { Effect, Layer } from "effect"
 * import { FetchHttpClient, HttpClient } from "effect/http"
 *
 * const fetch = Layer.succeed(FetchHttpClient.Fetch, (_url, init) => Promise.resolve(new Response(init?.redirect)))
 * const program = Effect.gen(function*() {
 *   const client = Redirects.notFollowed(yield* HttpClient.HttpClient)
 *   return yield* (yield* client.get("https://example.com/")).text
 * })
 * const Live = Layer.provide(FetchHttpClient.layer, fetch)
 * await Effect.runPromise(Effect.provide(program, Live)) // => "manual"
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const notFollowed = (client: HttpClient.HttpClient, init: globalThis.RequestInit = {}): HttpClient.HttpClient =>
  HttpClient.transformResponse(
    HttpClient.mapRequestEffect(client, told(init)),
    // Puts the context back that `told` changes.
    (response) => Effect.updateContext(response, identity<Context.Context<never>>)
  )

const told = (init: globalThis.RequestInit) => (request: HttpClientRequest.HttpClientRequest) =>
  Effect.withFiber((fiber) => {
    const user = Context.getOrUndefined(fiber.context, FetchHttpClient.RequestInit)
    const all = { ...user, ...init, redirect: "manual" } as const
    fiber.setContext(Context.add(fiber.context, FetchHttpClient.RequestInit, all))
    return Effect.succeed(request)
  })
