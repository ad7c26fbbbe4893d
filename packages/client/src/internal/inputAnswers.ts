/** The answers to what a round asks for. */
import * as Capabilities from "@mcpfx/schema/Capabilities"
import type { InputRequest } from "@mcpfx/schema/InputRequired"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as McpError from "@mcpfx/schema/McpError"
import * as Methods from "@mcpfx/schema/Methods"
import type { Limits } from "@mcpfx/session/SessionLimits"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ClientHandlers from "../ClientHandlers.ts"
import type { ClientOptions } from "../ClientOptions.ts"
import type { Connection, Live } from "../Connection.ts"
import {
  BadAnswer,
  fail,
  InputFailed,
  InputNeeded,
  InputRejected,
  type McpClientError,
  type Reason,
  TimedOut
} from "../McpClientError.ts"

export interface Parts {
  readonly connection: Pick<Connection, "target">
  readonly handlers: ClientHandlers.ClientHandlers
  readonly declared: Capabilities.Client
  readonly limits: Limits
  readonly options: ClientOptions
}

export interface Round {
  readonly live: Live
  /** The request that came back. */
  readonly during: string
  readonly round: number
  readonly asks: ReadonlyArray<readonly [key: string, ask: InputRequest]>
}

type Answer = readonly [key: string, answer: JsonRpc.JsonObject]

/** What a client has to have declared to be asked this. */
const needs = ({ method, params }: InputRequest): ReadonlyArray<Capabilities.Ask> => {
  switch (method) {
    case Methods.ElicitationCreate.name:
      return [params.mode === "url" ? "elicitation.url" : "elicitation.form"]
    case Methods.RootsList.name:
      return ["roots"]
    default:
      return params.tools === undefined && params.toolChoice === undefined ? ["sampling"] : ["sampling.tools"]
  }
}

/** Answers everything that a round asks for, or fails with the reason why its request is not sent again. */
export const answerAll = (
  parts: Parts,
  { asks, during, live, round }: Round
): Effect.Effect<ReadonlyArray<Answer>, McpClientError> => {
  const { concurrentAsks = 8, maxAsks = 100 } = parts.options
  const { info, revision } = live
  if (asks.length > maxAsks) {
    return Effect.fail(
      fail(new BadAnswer({ detail: `${asks.length} asks in one round, maxAsks is ${maxAsks}` }), during)
    )
  }
  const declared = Capabilities.clientFor(parts.declared, revision.version)
  // Nobody is asked anything where the whole cannot be answered.
  const required = Capabilities.missing(declared, asks.flatMap(([, ask]) => needs(ask)))
  if (required !== undefined) return Effect.fail(fail(new InputNeeded({ required }), during))
  const server = { target: parts.connection.target, info }
  return Effect.forEach(asks, ([key, { method, params }]) =>
    Effect.map(
      bounded(
        parts.limits.askTimeout,
        during,
        method,
        ClientHandlers.answer(parts.handlers, {
          params,
          revision,
          declared,
          facts: { server, revision: revision.version, method, during, round }
        })
      ),
      (answer): Answer => [key, answer]
    ), { concurrency: concurrentAsks })
}

const bounded = <A>(
  timeout: Duration.Duration,
  during: string,
  ask: string,
  answered: Effect.Effect<A, McpError.McpError>
): Effect.Effect<A, McpClientError> =>
  answered.pipe(
    Effect.mapError((error) => fail(reason(ask, error), during)),
    Effect.catchCause((cause) => {
      // A handler that interrupts itself has broken as well: nobody else did, or this would not run.
      if (Cause.hasFails(cause)) return Effect.failCause(cause)
      const failed = new InputFailed({ ask, cause: Cause.squash(cause) })
      return Effect.andThen(Effect.logError(`The handler of ${ask} failed`, cause), Effect.fail(fail(failed, during)))
    }),
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () => Effect.fail(fail(new TimedOut({ millis: Duration.toMillis(timeout) }), during))
    })
  )

/** Why a request is not sent again. */
const reason = (ask: string, error: McpError.McpError): Reason => {
  switch (error._tag) {
    case "UserRejected":
      return new InputRejected({ ask })
    case "InvalidParams":
      return new BadAnswer({ detail: `${ask}: ${error.detail}` })
    default:
      return new InputFailed({ ask, cause: error })
  }
}
