/** Asks a server, without a token, what it wants to see. */
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Challenge from "../Challenge.ts"
import type { Keeper } from "./keeper.ts"
import type { Outbound } from "./outbound.ts"

/** The least of messages: a server that wants a token says so before it reads it. */
const ping = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "ping" })

/** Heeds the challenge; where there is none, the search goes on without. */
export const challenge = (outbound: Outbound, keeper: Keeper): Effect.Effect<void> => {
  const request = HttpClientRequest.post(keeper.settings.url).pipe(
    HttpClientRequest.setHeader("accept", "application/json, text/event-stream"),
    HttpClientRequest.bodyText(ping, "application/json")
  )
  return Effect.match(outbound.send(request), {
    onFailure: () => {},
    onSuccess: ({ headers, status }) => {
      const challenges = status === 401 ? Challenge.parse(headers["www-authenticate"]) : []
      const found = challenges.find(({ scheme }) => scheme === "bearer" || scheme === "dpop")
      if (found !== undefined) keeper.heed(found, undefined)
    }
  })
}
