/** Requests to addresses that others name, and what answers them. */
import { assert } from "@effect/vitest"
import { type AuthError, OutboundGuard } from "@mcpfx/auth"
import { Effect } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import * as outbound from "../../src/internal/outbound.ts"

export type Answer = (url: URL, request: HttpClientRequest.HttpClientRequest) => Response

export const remote: OutboundGuard.Policy = { loopback: false }
export const url = "https://login.example.com/.well-known/x?secret=1"
export const get = HttpClientRequest.get(url)
export const post = HttpClientRequest.post(url).pipe(HttpClientRequest.bodyText("code=secret", "text/plain"))

/** A client that keeps what it was asked. */
export const scripted = (answer: Answer) => {
  const asked: Array<HttpClientRequest.HttpClientRequest> = []
  const client = HttpClient.make((request, url) => {
    asked.push(request)
    return Effect.succeed(HttpClientResponse.fromWeb(request, answer(url, request)))
  })
  return { asked, client }
}

export const out = (client: HttpClient.HttpClient, options?: Partial<outbound.Options>) =>
  outbound.make({ client, guard: OutboundGuard.make(), policy: remote, ...options })

export const reasonOf = <A>(effect: Effect.Effect<A, AuthError.AuthError>) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.notInclude(JSON.stringify(error), "secret")
    return error.reason
  })
