/** Which address is which endpoint. */
import * as Effect from "effect/Effect"
import type { HttpRouter } from "effect/http/HttpRouter"
import * as Result from "effect/Result"
import { json } from "./answer.ts"
import { authorize } from "./authorize.ts"
import { consent } from "./consent.ts"
import { device, verification } from "./device.ts"
import { type Handler, serve } from "./front.ts"
import * as Keys from "./keys.ts"
import { metadata, wellKnownPaths } from "./metadata.ts"
import { paths } from "./paths.ts"
import { register } from "./register.ts"
import type { State } from "./state.ts"
import { token } from "./token.ts"
import { introspect, revoke } from "./tokenState.ts"

interface Place {
  readonly endpoint: keyof typeof paths
  readonly methods: ReadonlyArray<"GET" | "POST">
  readonly handler: Handler
}

const places = (state: State): ReadonlyArray<Place> => [
  { endpoint: "authorize", methods: ["GET", "POST"], handler: authorize(state) },
  { endpoint: "consent", methods: ["POST"], handler: consent(state) },
  { endpoint: "token", methods: ["GET", "POST"], handler: token(state) },
  { endpoint: "register", methods: ["GET", "POST"], handler: register(state) },
  { endpoint: "device", methods: ["POST"], handler: device(state) },
  { endpoint: "verification", methods: ["GET", "POST"], handler: verification(state) },
  { endpoint: "introspect", methods: ["POST"], handler: introspect(state) },
  { endpoint: "revoke", methods: ["POST"], handler: revoke(state) },
  {
    endpoint: "jwks",
    methods: ["GET"],
    handler: () => Effect.succeed(json({ ...Keys.jwks(state.keys) }, 200, { "cache-control": "no-cache" }))
  }
]

const describe = (state: State): Handler => () => Effect.sync(() => json(metadata(state)))

/** A path of an address as a router has it: decoded, and without a meaning for colons. */
const routeOf = (path: `/${string}`): `/${string}` => {
  const decoded = Result.getOrElse(Result.try(() => decodeURI(path)), () => path)
  return `/${decoded.slice(1).replaceAll(":", "::")}`
}

/** Adds the endpoints to a router. */
export const addTo = (router: HttpRouter, state: State): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (const path of wellKnownPaths(state)) {
      yield* router.add("GET", routeOf(path), serve(state, "metadata", describe(state)))
    }
    for (const { endpoint, handler, methods } of places(state)) {
      const served = serve(state, endpoint, handler)
      for (const method of methods) yield* router.add(method, routeOf(`${state.base}${paths[endpoint]}`), served)
    }
  })
