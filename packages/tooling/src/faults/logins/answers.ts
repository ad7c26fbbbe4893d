/** What goes wrong at an endpoint, each for one request or a few. */
import { AuthorizationFault } from "@mcpfx/testing"

export const faults: ReadonlyArray<AuthorizationFault.Fault> = [
  AuthorizationFault.status(503),
  AuthorizationFault.status(429, { "retry-after": "30" }),
  AuthorizationFault.status(429, { "retry-after": "100000" }),
  AuthorizationFault.html(),
  AuthorizationFault.html(404),
  AuthorizationFault.reset(),
  AuthorizationFault.reset({ served: true }),
  AuthorizationFault.oversized(600_000),
  AuthorizationFault.redirect("https://other.test/token"),
  { delay: "5 seconds" },
  { delay: "15 seconds" },
  { slowBody: "3 seconds" },
  { slowBody: "20 seconds" },
  { delay: "5 seconds", ...AuthorizationFault.status(503) },
  { delay: "2 seconds", times: 20 },
  { answer: { body: "{\"access_token\":{},\"__proto__\":{}}" } }
]

export const tokenFaults: ReadonlyArray<AuthorizationFault.Fault> = [
  ...faults,
  AuthorizationFault.oauth("invalid_grant"),
  AuthorizationFault.oauth("invalid_client", 401),
  AuthorizationFault.oauth("temporarily_unavailable"),
  { change: { expires_in: "3" } },
  { change: { refresh_token: undefined } },
  { change: { expires_in: undefined, scope: undefined } }
]
