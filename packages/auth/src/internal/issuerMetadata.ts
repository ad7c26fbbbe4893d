/** The metadata of an issuer that the program itself names, looked for at each of its addresses. */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Result from "effect/Result"
import * as AuthError from "../AuthError.ts"
import type { Metadata } from "../AuthorizationServer.ts"
import { decodeServer, serverAddresses } from "../Discovery.ts"
import { CurrentOutboundGuard } from "../OutboundGuard.ts"
import { classifyHost } from "./addresses.ts"
import * as Outbound from "./outbound.ts"

const hostOf = (url: string): string | undefined => Result.getOrUndefined(Result.try(() => new URL(url).hostname))

const isLocal = (url: string): boolean => {
  const host = hostOf(url)
  return host !== undefined && classifyHost(host) === "loopback"
}

/** Whether an address that the program names may be one at all: https, or http on the loopback interface. */
export const isAddress = (url: string): boolean => {
  const parsed = Result.getOrUndefined(Result.try(() => new URL(url)))
  return parsed !== undefined && parsed.hash === "" && parsed.username === "" && parsed.password === "" &&
    (parsed.protocol === "https:" || (parsed.protocol === "http:" && classifyHost(parsed.hostname) === "loopback"))
}

/** The way to what the program names; loopback addresses are open where it names one. */
export const outbound = (
  named: string,
  options?: Pick<Outbound.Options, "maxBytes" | "timeout">
): Effect.Effect<Outbound.Outbound, never, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    const guard = yield* CurrentOutboundGuard
    return Outbound.make({ client, guard, policy: { loopback: isLocal(named) }, ...options })
  })

/** Reads what one address says; a text says why it is of no use. */
const ask = (
  out: Outbound.Outbound,
  url: string,
  issuer: string
): Effect.Effect<Result.Result<Metadata, string>> =>
  out.send(HttpClientRequest.get(url, { acceptJson: true })).pipe(
    Effect.map((answer) => {
      if (answer.status !== 200) return Result.fail(`status ${answer.status}`)
      const metadata = decodeServer(answer.body)
      return Result.isSuccess(metadata) && metadata.success.issuer !== issuer
        ? Result.fail("another issuer in it")
        : metadata
    }),
    Effect.catch((error) => Effect.succeed(Result.fail(error.message)))
  )

/** The first address that describes this very issuer (RFC 8414, 3.3). */
export const find = (out: Outbound.Outbound, issuer: string): Effect.Effect<Metadata, AuthError.AuthError> =>
  Effect.gen(function*() {
    const attempts: Array<AuthError.Attempt> = []
    for (const url of serverAddresses(issuer)) {
      const answer = yield* ask(out, url, issuer)
      if (Result.isSuccess(answer)) return answer.success
      attempts.push({ url, outcome: answer.failure })
    }
    return yield* AuthError.fail(new AuthError.DiscoveryFailed({ what: "authorization server", attempts }))
  })
