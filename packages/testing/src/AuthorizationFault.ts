/**
 * What goes wrong at a test authorization server: scripted answers for its endpoints, one request each.
 *
 * A fault that gives no `answer` lets the endpoint do its work and changes what it says. One that does takes its place,
 * unless `served` is set: then the work is done and its answer is lost on the way.
 *
 * **Example** (A token endpoint that is down once)
 *
 * ```ts
 * import { AuthorizationFault, TestAuthorizationServer } from "@mcpfx/testing"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* TestAuthorizationServer.TestAuthorizationServer
 *   yield* server.fault("token", AuthorizationFault.status(503, { "retry-after": "1" }))
 *   yield* server.fault("token", { change: { expires_in: "3600" } })
 * })
 * ```
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"

/**
 * @category models
 * @since 0.1.0
 */
export interface Fault {
  /** How many requests it is for; 1 by default, `Infinity` for all that follow. */
  readonly times?: number | undefined
  /** Waits before anything is answered. */
  readonly delay?: Duration.Input | undefined
  /** Waits between the headers and the body. */
  readonly slowBody?: Duration.Input | undefined
  /** Cuts the connection without an answer. */
  readonly reset?: boolean | undefined
  /** Whether the endpoint does its work although its answer is lost to `answer` or `reset`. */
  readonly served?: boolean | undefined
  /** Takes the place of the real answer. A record is sent as JSON; the status is 200 unless this says otherwise. */
  readonly answer?: {
    readonly status?: number | undefined
    readonly headers?: Readonly<Record<string, string>> | undefined
    readonly body?: string | Readonly<Record<string, unknown>> | undefined
  } | undefined
  /** Another status for the real answer. */
  readonly status?: number | undefined
  /** More headers for the real answer. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Members of the real JSON answer, or parameters of the real redirect, to be others; `undefined` leaves one out. */
  readonly change?: Readonly<Record<string, unknown>> | undefined
  /** Writes the real JSON answer as a form, as some servers do. */
  readonly urlencoded?: boolean | undefined
}

/**
 * An empty answer with a status.
 *
 * @category constructors
 * @since 0.1.0
 */
export const status = (status: number, headers?: Readonly<Record<string, string>>): Fault => ({
  answer: { status, headers }
})

/**
 * An OAuth error.
 *
 * @category constructors
 * @since 0.1.0
 */
export const oauth = (error: string, status = 400): Fault => ({ answer: { status, body: { error } } })

/**
 * A page instead of JSON, as proxies and catch-all routes answer; 200 by default.
 *
 * @category constructors
 * @since 0.1.0
 */
export const html = (status = 200): Fault => ({
  answer: {
    status,
    headers: { "content-type": "text/html; charset=utf-8" },
    body: "<!doctype html><title>Maintenance</title><p>Back soon."
  }
})

/**
 * JSON of at least so many bytes.
 *
 * @category constructors
 * @since 0.1.0
 */
export const oversized = (bytes: number): Fault => ({ answer: { body: { padding: "x".repeat(bytes) } } })

/**
 * A redirect to elsewhere; 307 by default, which keeps the method and the body.
 *
 * @category constructors
 * @since 0.1.0
 */
export const redirect = (location: string, status = 307): Fault => ({ answer: { status, headers: { location } } })

/**
 * A connection that is cut. With `served`, after the work was done.
 *
 * @category constructors
 * @since 0.1.0
 */
export const reset = (options: { readonly served?: boolean | undefined } = {}): Fault => ({ reset: true, ...options })
