import { Effect, Scope } from "effect"
import type { Provider, Providers } from "../../src/Completer.ts"
declare const f1: <const C extends Providers>(o: { complete?: C }) => C
export const a1 = f1({ complete: { code: (value) => Effect.succeed([value]) } })
declare const f2: <C extends Providers = {}>(o: { complete?: C }) => C
export const a2 = f2({ complete: { code: (value) => Effect.succeed([value]) } })
declare const f8: <A, R = never>(a: A, o?: { complete?: { readonly [k in keyof NoInfer<A>]?: Provider<R> | undefined } | undefined }) => R
export const a8: Scope.Scope = f8({ code: 1, b: 2 }, { complete: { code: (value) => Effect.as(Effect.scope, [value]), b: ["x"] } })
export const a9: never = f8({ code: 1, b: 2 }, { complete: {  b: ["x"] } })
export const a10: "no" = f8({ code: 1, b: 2 }, { complete: { code: (value) => Effect.as(Effect.scope, [value]), b: ["x"], c: 1 } })
export const a11: "no" = f8({ code: 1, b: 2 }, { complete: { code: () => Effect.as(Effect.scope, ["x"]), b: ["x"] } })
