/** Registrations without an endpoint around them: built into a registry, called by hand. */
import { assert } from "@effect/vitest"
import type { Version } from "@mcpfx/schema/Revision"
import * as Revisions from "@mcpfx/schema/Revisions"
import type * as Tool from "@mcpfx/schema/Tool"
import { RequestContext } from "@mcpfx/session/RequestContext"
import type { Principal } from "@mcpfx/transport/Principal"
import { Cause, Context, Effect, Exit, Layer, Option } from "effect"
import { layerMemory } from "../../src/ChangeBus.ts"
import type { InvalidArguments, RequestServices } from "../../src/Entry.ts"
import { allParts } from "../../src/internal/allParts.ts"
import { layer, Registry, type Snapshot } from "../../src/Registry.ts"

export interface Caller {
  readonly version?: Version
  readonly principal?: Principal
}

export const requestContext = ({ principal, version = "2025-11-25" }: Caller = {}): RequestContext["Service"] => {
  const revision = Revisions.all.find((one) => one.version === version)
  assert.isDefined(revision)
  return {
    method: "test",
    id: 1,
    revision,
    sessionId: undefined,
    facts: {
      transport: "memory",
      connection: undefined,
      sessionId: undefined,
      protocolVersion: undefined,
      headers: undefined,
      principal: Option.fromUndefinedOr(principal)
    },
    clientCapabilities: {},
    clientInfo: undefined,
    meta: {},
    progressToken: undefined,
    progress: undefined,
    logLevel: undefined,
    notify: () => Effect.void,
    asker: undefined,
    round: 1
  }
}

/** Runs what belongs to a request, as a dispatcher does. */
export const asRequest = <A, E>(effect: Effect.Effect<A, E, RequestServices>, caller?: Caller): Effect.Effect<A, E> =>
  Effect.scoped(Effect.provideService(effect, RequestContext, requestContext(caller)))

export interface Offered {
  readonly snapshot: () => Snapshot
  readonly call: (
    name: string,
    args?: unknown,
    caller?: Caller
  ) => Effect.Effect<Tool.CallResult, InvalidArguments | { readonly _tag: string }>
  readonly registry: Registry["Service"]
}

/** What comes in need not have the shape it is declared with. */
const paramsOf = (name: string, args: unknown): Tool.CallParams =>
  args === undefined ? { name } : JSON.parse(JSON.stringify({ name, arguments: args }))

/**
 * Builds registrations as an endpoint does, into a registry of their own. Requests run in the context of the endpoint, as
 * far as the test has not changed it.
 */
export const offer = <E, R>(registrations: Layer.Layer<never, E, R>) =>
  Effect.gen(function*() {
    const endpoint = yield* Effect.context<never>()
    const built = yield* Layer.build(
      Layer.provideMerge(Layer.fresh(registrations), Layer.provideMerge(Layer.fresh(layer), Layer.fresh(layerMemory)))
        .pipe(Layer.provide(allParts))
    )
    const registry = yield* Effect.provide(Registry, built)
    const request = Context.add(endpoint, Registry, registry)
    const offered: Offered = {
      registry,
      snapshot: registry.snapshot,
      call: (name, args, caller) => {
        const entry = registry.snapshot().tool(name)
        assert.isDefined(entry, `no tool "${name}"`)
        return Effect.updateContext(
          asRequest(Effect.suspend(() => entry.run(paramsOf(name, args))), caller),
          (context: Context.Context<never>) => Context.merge(request, context)
        )
      }
    }
    return offered
  })

/** The defect of an exit that has one. */
export const defectOf = (exit: Exit.Exit<unknown, unknown>): unknown => {
  assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause), `expected a defect, got ${String(exit)}`)
  return Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
}

/** An effect that fails with what its type does not allow. */
export const failsUnseen = (error: unknown): Effect.Effect<never> => {
  const box = JSON.parse("{}")
  box.effect = Effect.fail(error)
  return box.effect
}
