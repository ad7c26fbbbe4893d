/** The metadata of an issuer that the program itself names. */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type * as AuthError from "../AuthError.ts"
import type { Metadata } from "../AuthorizationServer.ts"
import { CurrentOutboundGuard } from "../OutboundGuard.ts"
import { MetadataSearch } from "./metadataSearch.ts"
import * as Outbound from "./outbound.ts"
import { quoted } from "./quoted.ts"
import { isLocal, isSecure } from "./secureUrl.ts"

/** Whether an address that the program names may be one at all: https, or http on the loopback interface. */
export const isAddress = (address: string): boolean => {
  const url = URL.parse(address)
  // Parsing drops spaces and line ends, which are no part of an issuer that is compared to the letter.
  return url !== null && !/[\s\p{C}]/u.test(address) && url.hash === "" && url.username === "" && url.password === "" &&
    isSecure(url)
}

/** Why an address that the program gave under a name is none. */
export const addressFault = (name: string, address: string): string | undefined =>
  isAddress(address)
    ? undefined
    : `${name}: ${quoted(address)} is no https address (http is for the loopback interface alone)`

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

/** Looks for them. What they say of endpoints is not checked: who uses one does. */
export const find = (out: Outbound.Outbound, issuer: string): Effect.Effect<Metadata, AuthError.AuthError> =>
  Effect.suspend(() => {
    const search = new MetadataSearch(out)
    return Effect.flatMap(
      search.issuer([issuer]),
      (metadata) => metadata === undefined ? search.end("authorization server") : Effect.succeed(metadata)
    )
  })
