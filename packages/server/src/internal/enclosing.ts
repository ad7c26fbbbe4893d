/** What was laid around a registration by the layers above it: middleware, and checks of who may see it. */
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Call, Target } from "../Call.ts"
import type { RequestServices } from "../Entry.ts"

/** Runs one decoded request to its result, not yet encoded. */
export type Run = (call: Call) => Effect.Effect<unknown, unknown, RequestServices>

export class Around {
  readonly wrap: (inner: Run) => Run
  constructor(wrap: (inner: Run) => Run) {
    this.wrap = wrap
  }
}

export class Check {
  readonly visible: (context: RequestContext["Service"], target: Target) => boolean
  constructor(visible: (context: RequestContext["Service"], target: Target) => boolean) {
    this.visible = visible
  }
}

/** Outermost first. */
export type Enclosing = ReadonlyArray<Around | Check>

const none: Enclosing = []

export const CurrentEnclosing = Context.Reference<Enclosing>("@mcpfx/server/CurrentEnclosing", {
  defaultValue: () => none
})

const extensions = new WeakMap<Enclosing, WeakMap<Around | Check, Enclosing>>()

/**
 * The same parts in the same order are the same object, so that equal surroundings can be told by identity. What is there
 * already is not added again.
 */
export const extend = (outer: Enclosing, part: Around | Check): Enclosing => {
  if (outer.includes(part)) return outer
  let known = extensions.get(outer)
  if (known === undefined) extensions.set(outer, known = new WeakMap())
  let extended = known.get(part)
  if (extended === undefined) known.set(part, extended = [...outer, part])
  return extended
}

/** Whether nothing runs around the handler. */
export const isBare = (enclosing: Enclosing): boolean => !enclosing.some((part) => part instanceof Around)

/** Lays the middleware around a handler. */
export const wrap = (enclosing: Enclosing, inner: Run): Run =>
  enclosing.reduceRight((run, part) => part instanceof Around ? part.wrap(run) : run, inner)

/** Everybody has to agree that a caller sees the target; `undefined` when nobody asks. */
export const visibility = (
  enclosing: Enclosing,
  target: Target,
  own: ((context: RequestContext["Service"]) => boolean) | undefined
): ((context: RequestContext["Service"]) => boolean) | undefined => {
  const checks = enclosing.filter((part) => part instanceof Check)
  if (checks.length === 0) return own
  return (context) => checks.every((check) => check.visible(context, target)) && (own === undefined || own(context))
}

/**
 * A layer that registers something. Used twice under equal surroundings it is one registration, as layers are; used under
 * different ones it is two, and the second is refused as a duplicate instead of silently having the first one's guards.
 */
export const registration = <E, R>(
  register: (enclosing: Enclosing) => Effect.Effect<void, E, R>
): Layer.Layer<never, E, Exclude<R, Scope.Scope>> => {
  const leaves = new WeakMap<Enclosing, Layer.Layer<never, E, Exclude<R, Scope.Scope>>>()
  const leaf = (enclosing: Enclosing) => {
    let known = leaves.get(enclosing)
    if (known === undefined) leaves.set(enclosing, known = Layer.effectDiscard(register(enclosing)))
    return known
  }
  return Layer.fromBuild((memoMap, scope) =>
    Effect.flatMap(CurrentEnclosing, (enclosing) => Layer.buildWithMemoMap(leaf(enclosing), memoMap, scope))
  )
}
