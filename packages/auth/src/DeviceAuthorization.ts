/**
 * A person logs in on another device, for machines without a browser (RFC 8628): a code is shown here and typed there.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as AuthError from "./AuthError.ts"
import type * as Credentials from "./Credentials.ts"
import type { ClientIdentity, Grant, Request } from "./Grant.ts"
import { type Device, deviceOf, nextInterval } from "./internal/deviceAnswer.ts"
import { scopeOf, tokenEndpointOf } from "./internal/endpoints.ts"
import { existing, register, withKnown } from "./internal/registering.ts"
import { bareUrl } from "./internal/serverText.ts"
import type * as Registration from "./Registration.ts"

/**
 * What a person has to see.
 *
 * @category models
 * @since 0.1.0
 */
export interface Prompt {
  readonly issuer: string
  readonly resource: string
  /** To be typed at the page, as it is written here. */
  readonly userCode: string
  /** The page: https, or http on the loopback interface. */
  readonly verificationUri: string
  /** The page with the code in it, for a link or a QR code. The person still has to compare the code (RFC 8628, 5.4). */
  readonly verificationUriComplete?: string | undefined
  /** Seconds. */
  readonly expiresIn: number
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options<R = never> extends Registration.Options {
  /** Shows the code. The login goes on when it ends; what it shows may stay until then. */
  readonly show: (prompt: Prompt) => Effect.Effect<void, AuthError.AuthError, R>
  /** How long a login may take: as long as the code is good for, by default, and never longer. */
  readonly timeout?: Duration.Input | undefined
}

const grantType = "urn:ietf:params:oauth:grant-type:device_code"

const startOf = Effect.fnUntraced(function*(request: Request, client: ClientIdentity) {
  const { endpoint, resource, scopes, server: { issuer, metadata } } = request
  const url = metadata.device_authorization_endpoint
  if (url === undefined) {
    return yield* AuthError.fail(new AuthError.NotSupported({ issuer, what: "logins on another device" }))
  }
  const parameters = { client_id: client.registration.clientId, resource, scope: scopeOf(scopes) }
  const answer = yield* endpoint.form({ url, issuer, endpoint: "device authorization", parameters, client })
  const device = deviceOf(answer, resource)
  return Result.isSuccess(device)
    ? device.success
    : yield* AuthError.fail(new AuthError.BadAnswer({ url: bareUrl(url), detail: device.failure }))
})

/** What the end of a login means for whoever began it. */
const ended = (issuer: string, millis: number) => (error: AuthError.AuthError): AuthError.AuthError => {
  const { reason } = error
  if (reason._tag !== "OAuthRefused") return error
  if (reason.error === "expired_token") {
    return new AuthError.AuthError({ reason: new AuthError.LoginTimedOut({ issuer, millis }) })
  }
  if (reason.error !== "access_denied") return error
  const description = reason.description === undefined ? {} : { description: reason.description }
  const denied = new AuthError.LoginDenied({ issuer, error: reason.error, ...description })
  return new AuthError.AuthError({ reason: denied })
}

/** Asks until there is an answer, waiting before each time; who began it bounds the whole in time. */
const poll = Effect.fnUntraced(function*(request: Request, client: ClientIdentity, device: Device, began: number) {
  const { endpoint, resource, scopes, server } = request
  const url = yield* tokenEndpointOf(server)
  const ask = endpoint.tokens({
    url,
    issuer: server.issuer,
    parameters: {
      grant_type: grantType,
      device_code: device.deviceCode,
      client_id: client.registration.clientId,
      resource
    },
    client,
    scopes
  })
  let interval = device.interval
  while (true) {
    yield* Effect.sleep(Duration.seconds(interval))
    const answer = yield* Effect.result(ask)
    if (Result.isSuccess(answer)) return answer.success
    const next = nextInterval(answer.failure.reason, interval)
    if (next === undefined) {
      const now = yield* Clock.currentTimeMillis
      return yield* Effect.fail(ended(server.issuer, now - began)(answer.failure))
    }
    interval = next
  }
})

const flow = <R>(request: Request, options: Options<R>) =>
  Effect.fnUntraced(function*(
    known: ClientIdentity | undefined
  ): Effect.fn.Return<Credentials.Tokens, AuthError.AuthError, R> {
    const { show, timeout } = options
    const { resource, server: { issuer } } = request
    const client = known ?? (yield* register(request, options, { grantTypes: [grantType], refreshes: true }))
    const device = yield* startOf(request, client)
    const began = yield* Clock.currentTimeMillis
    const { expiresIn, userCode, verificationUri, verificationUriComplete } = device
    const limit = Duration.seconds(expiresIn)
    const duration = timeout === undefined ? limit : Duration.min(limit, Duration.fromInputUnsafe(timeout))
    const millis = Duration.toMillis(duration)
    const login = Effect.andThen(
      show({ issuer, resource, userCode, verificationUri, verificationUriComplete, expiresIn }),
      poll(request, client, device, began)
    )
    return yield* Effect.timeoutOrElse(login, {
      duration,
      orElse: () => AuthError.fail(new AuthError.LoginTimedOut({ issuer, millis }))
    })
  })

/**
 * Logs in by a code that is typed elsewhere.
 *
 * The server is asked at its own pace, slower when it says so, and half as often while it is not there. Denied is
 * `LoginDenied`, a code that went stale `LoginTimedOut`.
 *
 * **Example** (On a terminal)
 *
 * ```ts
 * import { DeviceAuthorization } from "@mcpfx/auth"
 * import { Console } from "effect"
 *
 * const grant = DeviceAuthorization.grant({
 *   show: ({ userCode, verificationUri }) => Console.error(`Open ${verificationUri} and type ${userCode}`),
 *   dynamic: { clientName: "Example" }
 * })
 * const facts = [grant.interactive, grant.refreshes] // => [true, true]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const grant = <R = never>(options: Options<R>): Grant<R> => ({
  name: "device_code",
  interactive: true,
  refreshes: true,
  obtain: Effect.fn("DeviceAuthorization.obtain")(function*(request: Request) {
    return yield* withKnown(request, options, flow(request, options))
  }),
  client: (request) => existing(request, options)
})
