/** Which address is which endpoint. */
import * as Effect from "effect/Effect"
import type { HttpRouter } from "effect/http/HttpRouter"
import { json } from "./answer.ts"
import { authorize } from "./authorize.ts"
import { consent } from "./consent.ts"
import { device, verification } from "./device.ts"
import { type Handler, serve } from "./front.ts"
import * as Keys from "./keys.ts"
import { metadata, wellKnownPaths } from "./metadata.ts"
import type { Endpoint } from "./model.ts"
import { register } from "./register.ts"
import type { State } from "./state.ts"
import { token } from "./token.ts"
import { introspect, revoke } from "./tokenState.ts"

interface Place {
  readonly endpoint: Endpoint
  readonly methods: ReadonlyArray<"GET" | "POST">
  readonly path: `/${string}`
  readonly handler: Handler
}

const places = (state: State): ReadonlyArray<Place> => [
  { endpoint: "authorize", methods: ["GET", "POST"], path: "/authorize", handler: authorize(state) },
  { endpoint: "consent", methods: ["POST"], path: "/consent", handler: consent(state) },
  { endpoint: "token", methods: ["GET", "POST"], path: "/token", handler: token(state) },
  { endpoint: "register", methods: ["GET", "POST"], path: "/register", handler: register(state) },
  { endpoint: "device", methods: ["POST"], path: "/device_authorization", handler: device(state) },
  { endpoint: "verification", methods: ["GET", "POST"], path: "/device", handler: verification(state) },
  { endpoint: "introspect", methods: ["POST"], path: "/introspect", handler: introspect(state) },
  { endpoint: "revoke", methods: ["POST"], path: "/revoke", handler: revoke(state) },
  {
    endpoint: "jwks",
    methods: ["GET"],
    path: "/jwks",
    handler: () => Effect.succeed(json({ ...Keys.jwks(state.keys) }, 200, { "cache-control": "no-cache" }))
  }
]

const describe = (state: State): Handler => () => Effect.sync(() => json(metadata(state)))

/** Adds the endpoints to a router. */
export const addTo = (router: HttpRouter, state: State): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (const path of wellKnownPaths(state)) yield* router.add("GET", path, serve(state, "metadata", describe(state)))
    for (const { endpoint, handler, methods, path } of places(state)) {
      const served = serve(state, endpoint, handler)
      for (const method of methods) yield* router.add(method, `${state.base}${path}`, served)
    }
  })
