/**
 * Redirects are for those to judge who know what goes with a request: `fetch` follows them to any origin, as GET, with all of
 * its headers.
 *
 * @since 0.1.0
 */
import { identity } from "effect/Function"
import type * as HttpClient from "effect/http/HttpClient"
import { notFollowed as redirectsNotFollowed } from "./internal/notFollowed.ts"

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
  redirectsNotFollowed(client, init, identity)
