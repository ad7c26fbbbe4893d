/**
 * Completion: the values that may follow what was typed for an argument of a prompt or a variable of a template.
 *
 * @since 0.1.0
 */
import * as Completion from "@mcpfx/schema/Completion"
import type * as Effect from "effect/Effect"
import type { InputError, Refusal } from "./ServerError.ts"

/**
 * Values that a provider gives: all there are, or the first of them with what it knows about the rest.
 *
 * @category models
 * @since 0.1.0
 */
export type Offered = ReadonlyArray<string> | {
  readonly values: ReadonlyArray<string>
  /** How many there are, when more than are given. */
  readonly total?: number | undefined
  readonly hasMore?: boolean | undefined
}

/**
 * What completes one argument: a list, of which those that begin with what was typed are offered, or a function that gets
 * what was typed and the arguments already filled in (CMP-04), and offers what it gives in that order.
 *
 * @category models
 * @since 0.1.0
 */
export type Provider<R = never> =
  | ReadonlyArray<string>
  | ((
    value: string,
    siblings: Readonly<Record<string, string>>
  ) => Effect.Effect<Offered, Refusal | InputError, R>)

/**
 * Providers by the names of what they complete. Names without one complete to nothing.
 *
 * @category models
 * @since 0.1.0
 */
export type Providers<Names extends string, R = never> = { readonly [Name in Names]?: Provider<R> | undefined }

/**
 * Does not type-check when there is a provider for something that is not there to complete.
 *
 * @category type-level
 * @since 0.1.0
 */
export type Only<Names extends string, Known> = [Names] extends [Known] ? unknown
  : { readonly complete: `There is no "${Exclude<Names, Known>}" to complete` }

/**
 * The values that begin with what was typed, in their order; the case of letters does not matter.
 *
 * **Example** (Choosing by prefix)
 *
 * ```ts
 * import { Completer } from "@mcpfx/server"
 *
 * Completer.prefix(["Rome", "Riga", "Oslo"], "r") // => ["Rome", "Riga"]
 * ```
 *
 * @category filtering
 * @since 0.1.0
 */
export const prefix = (values: ReadonlyArray<string>, typed: string): ReadonlyArray<string> => {
  if (typed === "") return values
  const wanted = typed.toLowerCase()
  return values.filter((value) => value.toLowerCase().startsWith(wanted))
}

const isList = (offered: Offered): offered is ReadonlyArray<string> => Array.isArray(offered)

/**
 * The answer that offers what a provider gave: at most a hundred values (CMP-02), with the number of all of them where that
 * is known and greater (SCH-25 of field practice).
 *
 * **Example** (More than an answer holds)
 *
 * ```ts
 * import { Completer } from "@mcpfx/server"
 *
 * const many = Array.from({ length: 150 }, (_, i) => `v${i}`)
 * const { completion } = Completer.offer(many)
 * completion.values.length // => 100
 * completion.total // => 150
 * completion.hasMore // => true
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const offer = (offered: Offered): Completion.Result => {
  if (isList(offered)) return Completion.offer(offered)
  const { completion } = Completion.offer(offered.values)
  const hasMore = completion.hasMore ?? offered.hasMore
  const total = offered.total ?? completion.total
  return {
    completion: {
      values: completion.values,
      ...(total === undefined ? undefined : { total }),
      ...(hasMore === undefined ? undefined : { hasMore })
    }
  }
}
