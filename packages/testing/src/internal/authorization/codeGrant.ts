/** A code for tokens: once, for its client, address, verifier and resources (RFC 6749, 4.1.3; RFC 7636; OAuth 2.1). */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { base64url } from "jose"
import { type Answer, refuse, type Refused } from "./answer.ts"
import { equal } from "./clientAuthentication.ts"
import type { GrantRequest } from "./grantRequest.ts"
import { family, issue } from "./issue.ts"
import type { Code } from "./state.ts"

const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/

export const challengeOf = (verifier: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))),
    (digest) => base64url.encode(new Uint8Array(digest))
  )

const check = ({ client, jkt, parameters }: GrantRequest, { asked }: Code): Effect.Effect<void, Refused> =>
  Effect.gen(function*() {
    const no = (description: string) => refuse("invalid_grant", description)
    if (asked.client.clientId !== client.clientId) return yield* no("the code was given to another client")
    const redirectUri = parameters.get("redirect_uri")
    if (redirectUri === undefined ? asked.redirectNamed : redirectUri !== asked.redirectUri) {
      return yield* no("the redirect_uri is not that of the login")
    }
    const verifier = parameters.get("code_verifier")
    if (verifier === undefined) return yield* refuse("invalid_request", "there is no code_verifier")
    if (!verifierPattern.test(verifier) || !equal(yield* challengeOf(verifier), asked.challenge)) {
      return yield* no("the code_verifier does not fit")
    }
    if (asked.jkt !== undefined && asked.jkt !== jkt) return yield* no("the code is bound to another key")
  })

export const codeGrant = (request: GrantRequest): Effect.Effect<Answer, Refused> =>
  Effect.gen(function*() {
    const { client, jkt, parameters, state } = request
    const code = state.codes.get(parameters.get("code") ?? "")
    const now = yield* Clock.currentTimeMillis
    if (code === undefined) return yield* refuse("invalid_grant", "the code is not known")
    if (code.family === undefined && code.expiresAt <= now) {
      return yield* refuse("invalid_grant", "the code has expired")
    }
    const { asked, user } = code
    const owner = yield* family(state, { client, user })
    if (code.family === undefined) yield* check(request, code)
    // Looked at again after the last wait, so that of two requests at once only one is the first.
    if (code.family !== undefined) {
      // Somebody has a code that was used: what came of it is not safe any more (RFC 6749, 4.1.2).
      code.family.revoked = true
      return yield* refuse("invalid_grant", "the code was used before")
    }
    const wanted = parameters.all("resource")
    if (wanted.some((resource) => !asked.resources.includes(resource))) {
      return yield* refuse("invalid_target", "the resource is not one that was consented to")
    }
    code.family = owner
    return yield* issue(state, {
      client,
      user,
      scopes: asked.scopes,
      resources: wanted.length === 0 ? asked.resources : wanted,
      whole: asked,
      jkt,
      family: owner,
      nonce: asked.nonce,
      refreshable: true
    })
  })
