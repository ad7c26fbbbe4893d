/**
 * What the endpoints of an application are doing, for a route of the user's own, and how they are all told to stop.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/**
 * One endpoint.
 *
 * @category models
 * @since 0.1.0
 */
export interface EndpointHealth {
  /** The name the server gives itself. */
  readonly name: string
  readonly version: string
  /** `draining` once it was told to stop: nothing new is admitted. */
  readonly status: "serving" | "draining"
  /** Requests whose handlers run, over all sessions and connections. */
  readonly inFlight: number
  /** Open `subscriptions/listen` streams (2026-07-28). */
  readonly listening: number
  /** Open sessions of the stateful revisions. */
  readonly sessions: number
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Health {
  /** `serving` while every endpoint serves. */
  readonly status: "serving" | "draining"
  readonly endpoints: ReadonlyArray<EndpointHealth>
}

/**
 * What an endpoint lets others do with it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Member {
  readonly health: () => EndpointHealth
  /**
   * Stops admitting, ends listen streams and sessions' streams, waits for what is in flight as long as the limit `drain`
   * allows, then interrupts. Idempotent.
   */
  readonly shutdown: Effect.Effect<void>
}

/**
 * The endpoints of an application, each listed as long as its scope is open.
 *
 * @category models
 * @since 0.1.0
 */
export interface Members {
  readonly join: (member: Member) => Effect.Effect<void, never, Scope.Scope>
  readonly all: () => ReadonlyArray<Member>
}

/**
 * A list of endpoints; who joins it joins `above` as well.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMembers = (above?: Members): Members => {
  const members = new Set<Member>()
  const join = (member: Member) =>
    Effect.acquireRelease(
      Effect.sync(() => void members.add(member)),
      () => Effect.sync(() => members.delete(member))
    )
  return {
    join: above === undefined ? join : (member) => Effect.andThen(above.join(member), join(member)),
    all: () => Array.from(members)
  }
}

/**
 * Where endpoints enter themselves: one list for the process, unless a layer says otherwise.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentMembers = Context.Reference<Members>("@mcpfx/server/CurrentMembers", {
  defaultValue: () => makeMembers()
})

/**
 * What the endpoints are doing now. For a health route: answer 200 while the status is `serving`.
 *
 * **Example** (A process without endpoints)
 *
 * ```ts
 * import { Health } from "@mcpfx/server"
 * import { Effect } from "effect"
 *
 * Effect.runSync(Health.health) // => { status: "serving", endpoints: [] }
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const health: Effect.Effect<Health> = Effect.map(CurrentMembers, (members) => {
  const endpoints = members.all().map((member) => member.health())
  return {
    status: endpoints.every((endpoint) => endpoint.status === "serving") ? "serving" : "draining",
    endpoints
  }
})
