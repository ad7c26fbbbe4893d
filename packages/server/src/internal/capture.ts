/**
 * Services of the layer and facts of the request, brought together once for each request.
 *
 * A handler sees, in rising order: the services its layer was built with, the references of the request, and what the
 * request provides. Most services come from outside the endpoint and stand in the context of the request already, so only
 * those that a registration was given on its own are added, each for the price of one small object.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { RequestServices } from "../Entry.ts"
import { Registry } from "../Registry.ts"
import { baseOf, isAmbient } from "./ambient.ts"

interface Local {
  readonly key: Context.Key<never, unknown>
  readonly value: unknown
  /** What the endpoint has under the key: a request that has something else there set it itself. */
  readonly base: unknown
}

/** The context of a layer, ready to be joined with those of requests. */
export interface Captured<R> {
  /** What a handler of the layer runs in. */
  readonly enter: (request: Context.Context<RequestServices>) => Context.Context<R | RequestServices>
  /**
   * The way back: `inner` is what code of the layer has made of its context, `request` what it had entered from. What the
   * code provided stays, what its layer brought does not.
   */
  readonly leave: <S>(
    inner: Context.Context<S | RequestServices>,
    request: Context.Context<RequestServices>
  ) => Context.Context<S | RequestServices>
}

const make = <R>(captured: ReadonlyMap<string, unknown>, base: Context.Context<never>): Captured<R> => {
  const locals: Array<Local> = []
  for (const [key, value] of captured) {
    const atBase: unknown = base.mapUnsafe.get(key)
    if (atBase !== value) locals.push({ key: Context.Service<never, unknown>(key), value, base: atBase })
  }
  const registry = captured.get(Registry.key)

  // Contexts of an endpoint's requests grow from that of the endpoint, which holds its registry and all of the base.
  const grown = (request: Context.Context<never>): request is Context.Context<R | RequestServices> =>
    Context.getOrUndefined(request, Registry) === registry

  const overlay = (request: Context.Context<R | RequestServices>): Context.Context<R | RequestServices> => {
    let next = request
    for (const local of locals) {
      const current = Context.getOrUndefined(request, local.key)
      if (current === local.value || (current !== undefined && current !== local.base)) continue
      next = Context.add(next, local.key, local.value)
    }
    return next
  }

  /** For a request from elsewhere: its references and what it has besides, but the services of the layer. */
  const merge = (request: Context.Context<RequestServices>): Context.Context<R | RequestServices> => {
    const map = new Map(captured)
    for (const [key, value] of request.mapUnsafe) {
      if (!map.has(key) || isAmbient(key)) map.set(key, value)
    }
    return Context.makeUnsafe<R | RequestServices>(map)
  }

  const enter = (request: Context.Context<RequestServices>): Context.Context<R | RequestServices> =>
    grown(request) ? overlay(request) : merge(request)

  const leave = <S>(
    inner: Context.Context<S | RequestServices>,
    request: Context.Context<RequestServices>
  ): Context.Context<S | RequestServices> => {
    const strange = locals.filter((local) =>
      Context.getOrUndefined(inner, local.key) === local.value &&
      Context.getOrUndefined(request, local.key) !== local.value
    )
    if (strange.length === 0) return inner
    const map = new Map(inner.mapUnsafe)
    for (const { key } of strange) {
      const before = Context.getOrUndefined(request, key)
      if (before === undefined) map.delete(key.key)
      else map.set(key.key, before)
    }
    return Context.makeUnsafe<S | RequestServices>(map)
  }

  return { enter, leave }
}

/**
 * Takes hold of the services that the layer is being built with; the layer's type has to say that `R` is among them. Those
 * in `own`, which a handler brought from elsewhere, come before them.
 */
export const capture = <R>(
  own: Context.Context<never> = Context.empty()
): Effect.Effect<Captured<R>, never, Registry> =>
  Effect.contextWith((context: Context.Context<Registry>) => {
    const captured = new Map<string, unknown>()
    for (const [key, value] of [...context.mapUnsafe, ...own.mapUnsafe]) {
      if (!isAmbient(key)) captured.set(key, value)
    }
    const registry = Context.get(context, Registry)
    captured.set(Registry.key, registry)
    return Effect.succeed(make<R>(captured, baseOf(registry) ?? Context.empty()))
  })
