/**
 * How questions of a handler reach the client: by a nested request on revisions with sessions, by rounds on 2026-07-28, by the
 * task's own state while it runs as a task. `Input` and `Step` speak to this and to nothing else.
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import type { InputRequest } from "@mcpfx/schema/InputRequired"
import type { JsonObject } from "@mcpfx/schema/JsonRpc"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type { InputError } from "../ServerError.ts"

/** One thing asked of the client, in the neutral model. */
export interface Question {
  /** What the client must be able to do; the first is named in errors. */
  readonly asks: readonly [Capabilities.Ask, ...ReadonlyArray<Capabilities.Ask>]
  readonly request: InputRequest
  /** What the handler calls the question; made from what it asks where it does not. */
  readonly key: string | undefined
  /** How long the client may take; the limit for asks where it is not given. */
  readonly timeout: Duration.Duration | undefined
}

/** An effect whose outcome is kept, so that a later pass over the handler does not run it again. */
export interface KeptStep<A, E> {
  readonly key: string
  readonly run: (idempotencyKey: string) => Effect.Effect<A, E>
  /** What is kept of an outcome, as JSON, and the way back. */
  readonly encode: (value: A) => unknown
  readonly decode: (json: unknown) => Effect.Effect<A>
}

export interface Interaction {
  /** Sends a question and waits for the answer, as JSON of the neutral model, unread. */
  readonly ask: (question: Question) => Effect.Effect<JsonObject, InputError>
  readonly step: <A, E>(step: KeptStep<A, E>) => Effect.Effect<A, E>
}

/** The way of the request being served, where it is not that of its revision: a task brings its own. */
export const CurrentInteraction = Context.Reference<Interaction | undefined>("@mcpfx/server/CurrentInteraction", {
  defaultValue: () => undefined
})
