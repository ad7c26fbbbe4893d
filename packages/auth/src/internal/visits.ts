/** Sees where people are sent. */
import * as Effect from "effect/Effect"
import type { UserAgent } from "../UserAgent.ts"

/** A user agent that tells the address of each page before it shows it. */
export const watched = (
  agent: UserAgent["Service"],
  tell: (page: string) => Effect.Effect<void>
): UserAgent["Service"] => ({
  redirectUris: agent.redirectUris,
  visit: (registered) =>
    Effect.map(agent.visit(registered), (visit) => ({
      redirectUri: visit.redirectUri,
      open: (url, login) => Effect.andThen(tell(url.href), visit.open(url, login))
    }))
})
