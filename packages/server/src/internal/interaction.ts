/**
 * How questions of a handler reach the client: by a nested request on revisions with sessions, by rounds on 2026-07-28, by the
 * task's own state while it runs as a task. `Input` and `Step` speak to this and to nothing else.
 *
 * `group` is for ways that have to know which questions belong together; a way that sends each at once leaves it out.
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import type { InputRequest } from "@mcpfx/schema/InputRequired"
import type { JsonObject } from "@mcpfx/schema/JsonRpc"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type { InputError, StepInDoubt } from "../ServerError.ts"

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

/** Questions that are asked at the same time, each in a fiber of its own. */
export interface Group {
  /** The fiber of one of them; called in that fiber, before it asks. */
  readonly join: (fiber: Fiber.Fiber<unknown, unknown>) => void
  /** One of them has failed: the others are given up. */
  readonly fail: () => void
  /** All have ended. */
  readonly close: () => void
  /** Whether it, or one that it is part of, has failed. */
  readonly isGivenUp?: boolean | undefined
}

export interface Interaction {
  /** Sends a question and waits for the answer, as JSON of the neutral model, unread. */
  readonly ask: (question: Question) => Effect.Effect<JsonObject, InputError>
  readonly step: <A, E>(step: KeptStep<A, E>) => Effect.Effect<A, E | StepInDoubt>
  /** Announces so many questions that `owner` waits for together. */
  readonly group?: ((owner: Fiber.Fiber<unknown, unknown>, size: number) => Group) | undefined
}

/** The step that runs here: a question inside of it could never be answered. */
export const CurrentStep = Context.Reference<string | undefined>("@mcpfx/server/CurrentStep", {
  defaultValue: () => undefined
})

/** The questions that this one is asked together with. */
export const CurrentGroup = Context.Reference<Group | undefined>("@mcpfx/server/CurrentGroup", {
  defaultValue: () => undefined
})

/** The way of the request being served, where it is not that of its revision: a task brings its own. */
export const CurrentInteraction = Context.Reference<Interaction | undefined>("@mcpfx/server/CurrentInteraction", {
  defaultValue: () => undefined
})
