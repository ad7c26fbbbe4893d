/** How clients prove to an endpoint who they are (RFC 6749, 2.3; RFC 7523, 2.2). */
import type { AuthenticationMethod } from "@mcpfx/auth/Credentials"
import { timingSafeEqual } from "effect/crypto/Mac"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { decodeJwt, type JSONWebKeySet } from "jose"
import { refuse, type Refused } from "./answer.ts"
import { fetchJson, find, isKeySet } from "./clients.ts"
import { basic } from "./front.ts"
import type { Incoming } from "./incoming.ts"
import * as Keys from "./keys.ts"
import type { Client } from "./model.ts"
import { at } from "./paths.ts"
import type { State } from "./state.ts"

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

const no = (description: string): Effect.Effect<never, Refused> =>
  refuse("invalid_client", description, 401, { "www-authenticate": "Basic realm=\"test\"" })

const encoder = new TextEncoder()

/** Compares without telling by its time where the difference is. */
export const equal = (left: string, right: string): boolean =>
  timingSafeEqual(encoder.encode(left), encoder.encode(right))

interface Credentials {
  readonly method: AuthenticationMethod
  readonly clientId: string | undefined
  readonly secret: string
}

/** What a request shows, of which there may be one only. */
const shown = ({ headers, parameters }: Incoming): Effect.Effect<Credentials, Refused> => {
  const header = headers["authorization"]
  const pair = basic(header)
  const secret = parameters.get("client_secret")
  const assertion = parameters.get("client_assertion")
  if ([pair, secret, assertion].filter(Predicate.isNotUndefined).length > 1) {
    return refuse("invalid_request", "the client proves itself in more than one way")
  }
  if (header !== undefined && pair === undefined) return no("the Authorization header cannot be read")
  const clientId = parameters.get("client_id")
  if (pair !== undefined) {
    if (clientId !== undefined && clientId !== pair.id) return no("the client has two ids")
    return Effect.succeed({ method: "client_secret_basic", clientId: pair.id, secret: pair.secret })
  }
  if (secret !== undefined) return Effect.succeed({ method: "client_secret_post", clientId, secret })
  if (assertion === undefined) return Effect.succeed({ method: "none", clientId, secret: "" })
  if (parameters.get("client_assertion_type") !== assertionType) return no("client_assertion_type is not known")
  const claims = Result.try(() => decodeJwt(assertion))
  const subject = Result.isSuccess(claims) ? claims.success.sub : undefined
  if (clientId !== undefined && subject !== clientId) return no("the assertion is of another client")
  return Effect.succeed({ method: "private_key_jwt", clientId: subject, secret: assertion })
}

const keysOf = (state: State, client: Client): Effect.Effect<JSONWebKeySet, Refused> => {
  if (client.jwks !== undefined) return Effect.succeed(client.jwks)
  if (client.jwksUri === undefined) return no("the client has no keys")
  return fetchJson(state, client.jwksUri).pipe(
    Effect.catch(() => no("the keys of the client cannot be fetched")),
    Effect.flatMap((keys) => isKeySet(keys) ? Effect.succeed(keys) : no("the keys of the client are none"))
  )
}

/** The assertion is good once: its id is remembered. */
const checkAssertion = (
  state: State,
  client: Client,
  assertion: string,
  endpoint: string
): Effect.Effect<void, Refused> =>
  Effect.gen(function*() {
    const keys = yield* keysOf(state, client)
    const { payload } = yield* Keys.verify(assertion, keys, {
      issuer: client.clientId,
      subject: client.clientId,
      audience: [state.issuer, endpoint, at(state, "token")],
      requiredClaims: ["exp", "jti"]
    }).pipe(Effect.catch((why) => no(`the assertion is no good: ${why}`)))
    const id = `client ${client.clientId} ${payload.jti}`
    if (state.jtis.has(id)) return yield* no("the assertion was used before")
    state.jtis.set(id, true)
  })

/** The client of a request to an endpoint, which has proved itself. */
export const authenticate = (state: State, incoming: Incoming): Effect.Effect<Client, Refused> =>
  Effect.gen(function*() {
    const { clientId, method, secret } = yield* shown(incoming)
    const client = yield* Effect.catch(find(state, clientId), ({ description }) => no(description))
    if (!client.authentication.includes(method)) {
      return yield* no(`the client has to prove itself with ${client.authentication.join(" or ")}, not ${method}`)
    }
    if (method === "private_key_jwt") {
      const { origin, pathname } = incoming.url
      yield* checkAssertion(state, client, secret, `${origin}${pathname}`)
    } else if (method !== "none" && (client.clientSecret === undefined || !equal(client.clientSecret, secret))) {
      return yield* no("the secret is wrong")
    }
    return client
  })
