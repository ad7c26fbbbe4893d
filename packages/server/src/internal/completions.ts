/** The completions of one registration, with its middleware around them. */
import * as Effect from "effect/Effect"
import type { Target } from "../Call.ts"
import * as Completer from "../Completer.ts"
import type { Complete } from "../Entry.ts"
import { ResultMismatch } from "../ServerError.ts"
import type { Captured } from "./capture.ts"
import { type Enclosing, type Run, wrap } from "./enclosing.ts"
import { refuse } from "./failures.ts"
import { running } from "./handling.ts"

const isTexts = (u: unknown): u is ReadonlyArray<string> =>
  Array.isArray(u) && u.every((one) => typeof one === "string")

const isOffered = (u: unknown): u is Completer.Offered =>
  isTexts(u) || (typeof u === "object" && u !== null && "values" in u && isTexts(u.values))

const provide = <R>(provider: Completer.Provider<R>, captured: Captured<R>): Run => (call) => {
  if (call.kind !== "completion") return Effect.die(`a completion became a call of kind "${call.kind}"`)
  return typeof provider === "function"
    ? running(captured, provider(call.value, call.siblings))
    : Effect.succeed(Completer.prefix(provider, call.value))
}

/** What completes the arguments of `target`, by name. */
export const completions = <R>(
  providers: { readonly [name: string]: Completer.Provider<R> | undefined },
  options: {
    readonly target: Target
    readonly contract: object
    readonly enclosing: Enclosing
    readonly captured: Captured<R>
  }
): ReadonlyMap<string, Complete> => {
  const { captured, contract, enclosing, target } = options
  const all = new Map<string, Complete>()
  const encode = (offered: unknown) =>
    isOffered(offered)
      ? Effect.succeed(Completer.offer(offered))
      : Effect.die(new ResultMismatch({ ...target, detail: "a completion did not give a list of texts" }))
  for (const [argument, provider] of Object.entries(providers)) {
    if (provider === undefined) continue
    const run = wrap(enclosing, provide(provider, captured))
    all.set(argument, (value, siblings) =>
      Effect.matchEffect(
        Effect.suspend(() => run({ kind: "completion", target, contract, argument, value, siblings })),
        { onFailure: refuse, onSuccess: encode }
      ))
  }
  return all
}
