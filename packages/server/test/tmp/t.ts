import { Effect, Schema } from "effect"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import * as Middleware from "../../src/Middleware.ts"
class A extends Schema.TaggedError<A>("A")("A", { x: Schema.String }) {}
class B extends Schema.TaggedError<B>("B")("B", { y: Schema.String }) {}
declare const nb: Effect.Effect<unknown, B, "x">
export const t1 = Effect.flatMap(CurrentPrincipal, (p) => p._tag === "None" ? Effect.fail(new A({ x: "" })) : nb)
export const f = (k: () => Effect.Effect<unknown, A | B, any>) => k
export const t2 = f(() => Effect.flatMap(CurrentPrincipal, (p) => p._tag === "None" ? Effect.fail(new A({ x: "" })) : nb))
export const g = <R>(k: () => Effect.Effect<unknown, A | B, R>): R => null as any
export const t3 = g(() => Effect.flatMap(CurrentPrincipal, (p) => p._tag === "None" ? Effect.fail(new A({ x: "" })) : nb))
export const h = <R, E, R2>(k: (() => Effect.Effect<unknown, A | B, R>) | Effect.Effect<() => Effect.Effect<unknown, A | B, R>, E, R2>): R => null as any
export const t4 = h(() => Effect.flatMap(CurrentPrincipal, (p) => p._tag === "None" ? Effect.fail(new A({ x: "" })) : nb))
export const h2: { <R, E, R2>(k: Effect.Effect<() => Effect.Effect<unknown, A | B, R>, E, R2>): R; <R>(k: () => Effect.Effect<unknown, A | B, R>): R } = null as any
export const t5 = h2(() => Effect.flatMap(CurrentPrincipal, (p) => p._tag === "None" ? Effect.fail(new A({ x: "" })) : nb))
export const t6 = h(() => Effect.gen(function*() { const p = yield* CurrentPrincipal; if (p._tag === "None") return yield* new A({ x: "" }); return yield* nb }))
