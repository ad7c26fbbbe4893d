/** Where the endpoints are, below the issuer. */
import type { Endpoint } from "./model.ts"
import type { State } from "./state.ts"

export const paths = {
  authorize: "/authorize",
  consent: "/consent",
  token: "/token",
  register: "/register",
  device: "/device_authorization",
  verification: "/device",
  introspect: "/introspect",
  revoke: "/revoke",
  jwks: "/jwks"
} as const satisfies Readonly<Record<Exclude<Endpoint, "metadata">, `/${string}`>>

/** The address of an endpoint. */
export const at = ({ issuer }: State, endpoint: keyof typeof paths): string =>
  `${issuer.endsWith("/") ? issuer.slice(0, -1) : issuer}${paths[endpoint]}`
