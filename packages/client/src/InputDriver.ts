/**
 * Requests that come back with asks: the rounds of 2026-07-28.
 *
 * What the server asks for is answered by the handlers of the client, and the request is sent again with the answers and the
 * server's state, until it is complete (MRT-11). To its caller it is one request: one stream of progress that never goes
 * back, one deadline, one interruption.
 *
 * **Example** (A call that asks too often)
 *
 * ```ts
 * import { McpClient } from "@mcpfx/client"
 * import { Effect } from "effect"
 *
 * export const program = Effect.flatMap(McpClient.McpClient, (client) => client.callTool("wizard")).pipe(
 *   Effect.catchReason("McpClientError", "TooManyRounds", ({ option, rounds }) =>
 *     Effect.logWarning(`still not done after ${rounds} rounds; ${option} allows more`))
 * )
 * ```
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import type { InputRequired } from "@mcpfx/schema/InputRequired"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Outcome from "@mcpfx/schema/Outcome"
import type { RequestOptions } from "@mcpfx/session/Peer"
import type { Limits } from "@mcpfx/session/SessionLimits"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { ClientHandlers } from "./ClientHandlers.ts"
import type { ClientOptions } from "./ClientOptions.ts"
import type { Connection } from "./Connection.ts"
import { answerAll } from "./internal/inputAnswers.ts"
import { pageVisits } from "./internal/pageVisits.ts"
import { OneStream } from "./internal/progress.ts"
import { fail, type McpClientError, TimedOut, TooManyRounds } from "./McpClientError.ts"
import type { Notifications } from "./Notifications.ts"

/**
 * What a request carries when it is sent again.
 *
 * @category models
 * @since 0.1.0
 */
export interface Retry {
  readonly inputResponses?: JsonRpc.JsonObject
  /** As the server gave it, unread; absent where it gave none (MRT-12). */
  readonly requestState?: string
}

/**
 * Sends a request once.
 *
 * @category models
 * @since 0.1.0
 */
export type Send<A> = (
  retry: Retry | undefined,
  options: RequestOptions | undefined
) => Effect.Effect<A | InputRequired, McpClientError>

/**
 * Sends a request by `send` as often as it takes, and reads what it is in the end. `send` is called when a request is due.
 *
 * @category models
 * @since 0.1.0
 */
export type InputDriver = <A extends { readonly resultType?: unknown }, B, E>(
  method: string,
  send: Send<A>,
  options: RequestOptions | undefined,
  read: (outcome: A) => Effect.Effect<B, McpClientError | E>
) => Effect.Effect<B, McpClientError | E>

/**
 * What requests in rounds take of the client.
 *
 * @category models
 * @since 0.1.0
 */
export interface Parts {
  readonly connection: Connection
  readonly handlers: ClientHandlers
  /** What the client has declared, before a revision leaves out what it does not know. */
  readonly declared: Capabilities.Client
  readonly notifications: Notifications
  readonly limits: Limits
  readonly options: ClientOptions
}

const nanosPerMilli = 1_000_000

/** Milliseconds before a request is sent again that came back with nothing asked, for the `times`th time in a row. */
const pause = (times: number): number => times <= 1 ? 0 : Math.min(100 * 2 ** (times - 2), 5000)

/**
 * Makes the driver of one client.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (parts: Parts): InputDriver => {
  const { connection, limits, options: defaults } = parts
  const { maxRounds = 10 } = defaults

  /** How long a request may take over all its rounds, in milliseconds. */
  const longest = (options: RequestOptions | undefined): number => {
    const most = options?.maxTimeout ?? defaults.maxTimeout
    if (most !== undefined) return Duration.toMillis(most)
    const timeout = options?.timeout ?? defaults.timeout ?? limits.requestTimeout
    return Math.max(Duration.toMillis(timeout), Duration.toMillis(limits.maxRequestTimeout))
  }

  const follow = Effect.fnUntraced(function*<A extends { readonly resultType?: unknown }>(
    method: string,
    first: InputRequired,
    send: (retry: Retry) => Effect.Effect<A | InputRequired, McpClientError>
  ): Effect.fn.Return<A, McpClientError> {
    let { inputRequests, requestState } = first
    let idle = 0
    for (let round = 1; round <= maxRounds; round++) {
      const asks = Object.entries(inputRequests ?? {})
      idle = asks.length === 0 ? idle + 1 : 0
      if (idle > 1) yield* Effect.sleep(pause(idle))
      const answers = asks.length === 0
        ? []
        : yield* answerAll(parts, { live: yield* connection.live, during: method, round, asks })
      const outcome = yield* send({
        ...(inputRequests === undefined ? undefined : { inputResponses: Object.fromEntries(answers) }),
        ...(requestState === undefined ? undefined : { requestState })
      })
      if (!Outcome.isInputRequired(outcome)) return outcome
      inputRequests = outcome.inputRequests
      requestState = outcome.requestState
    }
    return yield* fail(new TooManyRounds({ rounds: maxRounds, option: "maxRounds" }), method)
  })

  const inRounds: InputDriver = (method, send, given, read) =>
    Effect.clockWith((clock) => {
      const start = clock.monotonicTimeNanosUnsafe()
      const progress = given?.onProgress === undefined ? undefined : new OneStream(given.onProgress)
      const options = progress === undefined ? given : { ...given, onProgress: progress.report }
      return Effect.flatMap(send(undefined, options), (outcome) => {
        if (!Outcome.isInputRequired(outcome)) return read(outcome)
        const followed = follow(method, outcome, (retry) => {
          progress?.nextRound()
          return send(retry, options)
        })
        const most = longest(given)
        const spent = () => Number(clock.monotonicTimeNanosUnsafe() - start) / nanosPerMilli
        const limited = Number.isFinite(most)
          ? Effect.timeoutOrElse(followed, {
            duration: Math.max(0, most - spent()),
            orElse: () => Effect.fail(fail(new TimedOut({ millis: Math.round(spent()) }), method))
          })
          : followed
        return Effect.flatMap(limited, read)
      })
    })

  const visits = pageVisits(parts)
  if (visits === undefined) return inRounds

  /** On 2025-11-25 a request may be refused until the user has been somewhere (ELI-18). */
  return (method, send, options, read) => {
    const attempt = (visited: number): ReturnType<typeof first> =>
      Effect.catch(first(), (error) =>
        visited < maxRounds
          ? Effect.andThen(visits(error, method), Effect.suspend(() => attempt(visited + 1)))
          : Effect.fail(error))
    const first = () => inRounds(method, send, options, Effect.succeed)
    return Effect.flatMap(attempt(0), read)
  }
}
