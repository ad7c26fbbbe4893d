/** Pure: what came back from a login, checked in the order that leaves no room for answers of others (RFC 9207, RFC 6749). */
import * as Result from "effect/Result"
import * as AuthError from "../AuthError.ts"
import type { AuthorizationServer } from "../AuthorizationServer.ts"
import { sameText } from "./sameText.ts"
import { tidy } from "./serverText.ts"

/** What was kept when somebody was sent away (ACL-18). */
export interface Departure {
  readonly server: AuthorizationServer
  readonly state: string
}

type Checked = Result.Result<string, AuthError.Reason>
type Parameter = AuthError.CallbackRejected["parameter"]
type Fault = AuthError.CallbackRejected["fault"]

/** A parameter that may be there once (RFC 6749, 3.1). An empty one is one that is not there. */
const single = (
  parameters: URLSearchParams,
  name: Parameter,
  rejected: (parameter: Parameter, fault: Fault) => Checked
): Result.Result<string | undefined, AuthError.Reason> => {
  const [value = "", ...more] = parameters.getAll(name)
  if (more.length > 0) return rejected(name, "repeated")
  return Result.succeed(value === "" ? undefined : value)
}

/**
 * The code, or why there is none: `iss` before all else, to the letter, so that nothing of what another server says is looked
 * at, not even its errors (ACL-19); then `state`; then an error; then the code.
 */
export const codeOf = (answer: URL, { server: { issuer, metadata }, state }: Departure): Checked => {
  const parameters = answer.searchParams
  const rejected = (parameter: Parameter, fault: Fault): Result.Result<never, AuthError.Reason> =>
    Result.fail(new AuthError.CallbackRejected({ issuer, parameter, fault }))

  return Result.gen(function*() {
    const iss = yield* single(parameters, "iss", rejected)
    if (iss === undefined && metadata.authorization_response_iss_parameter_supported === true) {
      return yield* rejected("iss", "missing")
    }
    if (iss !== undefined && iss !== issuer) return yield* rejected("iss", "wrong")

    const returned = yield* single(parameters, "state", rejected)
    if (returned === undefined) return yield* rejected("state", "missing")
    if (!sameText(returned, state)) return yield* rejected("state", "wrong")

    const error = yield* single(parameters, "error", rejected)
    if (error !== undefined) {
      const description = tidy(parameters.get("error_description"), [state])
      const denied = { issuer, error: tidy(error, [state], 64) ?? "unreadable" }
      return yield* Result.fail(
        new AuthError.LoginDenied(description === undefined ? denied : { ...denied, description })
      )
    }
    return (yield* single(parameters, "code", rejected)) ?? (yield* rejected("code", "missing"))
  })
}
