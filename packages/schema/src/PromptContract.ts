/**
 * The contract of a prompt: its name and its arguments, as a value that server and client share.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type { Ask } from "./Capabilities.ts"
import type { Icon } from "./Implementation.ts"
import type { Fields } from "./internal/contractSpec.ts"
import { mismatch } from "./internal/side.ts"
import { describeFields, type TextSide, textSide } from "./internal/textFields.ts"
import { InvalidContract } from "./InvalidContract.ts"
import type { JsonObject } from "./JsonRpc.ts"
import type * as Prompt from "./Prompt.ts"
import type { SchemaMismatch } from "./SchemaMismatch.ts"
import type { TypeOf } from "./ToolContract.ts"

/**
 * Arguments by name. They travel as strings: a schema of a number, boolean or date reads and writes its usual text form, one
 * that has none is refused.
 *
 * @category models
 * @since 0.1.0
 */
export interface Arguments extends Fields {}

/**
 * What {@link make} takes besides the name.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<A> {
  readonly title?: string | undefined
  readonly description?: string | undefined
  /** Required unless made optional, or given a default, by their schema; titled and described by its annotations. */
  readonly arguments?: A | undefined
  readonly icons?: ReadonlyArray<Icon> | undefined
  readonly meta?: JsonObject | undefined
  /** What a handler asks the client for. */
  readonly asks?: ReadonlyArray<Ask> | undefined
  /** Scopes a caller must have been granted. */
  readonly scopes?: ReadonlyArray<string> | undefined
}

/**
 * The contract of a prompt.
 *
 * @category models
 * @since 0.1.0
 */
export interface Contract<out Name extends string, out A> {
  readonly _tag: "PromptContract"
  readonly name: Name
  readonly title: string | undefined
  readonly description: string | undefined
  readonly icons: ReadonlyArray<Icon> | undefined
  readonly meta: JsonObject | undefined
  readonly asks: ReadonlyArray<Ask>
  readonly scopes: ReadonlyArray<string>
  /** In the order of their definition. */
  readonly arguments: ReadonlyArray<Prompt.Argument>
  /** From `arguments` as they came; `undefined` equals `{}`. The mismatch names every missing argument (PRM-03). */
  decodeArguments(args: unknown): Result.Result<A, SchemaMismatch>
  /** To the strings that travel. */
  encodeArguments(args: A): Result.Result<{ readonly [name: string]: string }, SchemaMismatch>
}

/**
 * Any contract of a prompt.
 *
 * @category models
 * @since 0.1.0
 */
export interface AnyContract extends Contract<string, unknown> {}

/**
 * @category type-level
 * @since 0.1.0
 */
export type NameOf<C> = C extends Contract<infer Name, unknown> ? Name : never

/**
 * What a handler gets.
 *
 * @category type-level
 * @since 0.1.0
 */
export type ArgumentsOf<C> = C extends Contract<string, infer A> ? A : never

const refuse = (name: string, reason: string): never => {
  throw new InvalidContract({ kind: "prompt", name, reason })
}

const isTexts = (values: { readonly [name: string]: unknown }): values is { readonly [name: string]: string } =>
  Object.values(values).every((value) => typeof value === "string")

const makeArguments = (name: string, fields: Fields): ReadonlyArray<Prompt.Argument> =>
  describeFields(fields).map((field) => {
    if (field.writtenAs !== "text") refuse(name, `the argument "${field.name}" has no form as a string`)
    return {
      name: field.name,
      ...(field.title === undefined ? {} : { title: field.title }),
      ...(field.description === undefined ? {} : { description: field.description }),
      required: field.required
    }
  })

class PromptContract implements AnyContract {
  readonly _tag = "PromptContract"
  readonly name: string
  readonly title: string | undefined
  readonly description: string | undefined
  readonly icons: ReadonlyArray<Icon> | undefined
  readonly meta: JsonObject | undefined
  readonly asks: ReadonlyArray<Ask>
  readonly scopes: ReadonlyArray<string>
  readonly arguments: ReadonlyArray<Prompt.Argument>
  readonly #side: TextSide

  constructor(name: string, options: Options<Arguments>) {
    const fields = options.arguments ?? {}
    this.name = name
    this.title = options.title
    this.description = options.description
    this.icons = options.icons
    this.meta = options.meta
    this.asks = options.asks ?? []
    this.scopes = options.scopes ?? []
    this.arguments = makeArguments(name, fields)
    this.#side = textSide(name, "input", fields)
  }

  decodeArguments(args: unknown): Result.Result<unknown, SchemaMismatch> {
    return this.#side.decode(args)
  }

  encodeArguments(args: unknown): Result.Result<{ readonly [name: string]: string }, SchemaMismatch> {
    const encoded = this.#side.encode(args)
    if (Result.isFailure(encoded)) return Result.fail(encoded.failure)
    return isTexts(encoded.success)
      ? Result.succeed(encoded.success)
      : mismatch(this.name, "input", "arguments must be strings")
  }
}

/**
 * Makes the contract of a prompt. An argument that has no form as a string, and an empty name, are mistakes in the program:
 * an {@link InvalidContract} that names the prompt is thrown.
 *
 * **Example** (A prompt with an optional argument)
 *
 * ```ts
 * import { Prompt } from "@mcpfx/schema"
 * import { Result, Schema } from "effect"
 *
 * const Review = Prompt.make("review", {
 *   arguments: {
 *     code: Schema.String.annotate({ description: "What to review" }),
 *     depth: Schema.optionalKey(Schema.Int)
 *   }
 * })
 * Review.decodeArguments({ code: "x = 1", depth: "2" }) // => Result.succeed({ code: "x = 1", depth: 2 })
 * Review.arguments[1] // => { name: "depth", required: false }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export function make<const Name extends string, A extends Arguments = {}>(
  name: Name,
  options?: Options<A>
): Contract<Name, TypeOf<A>>
export function make(name: string, options: Options<Arguments> = {}): AnyContract {
  if (name === "") refuse(name, "a name is not empty")
  return new PromptContract(name, options)
}

/**
 * @category guards
 * @since 0.1.0
 */
export const isContract = (u: unknown): u is AnyContract => u instanceof PromptContract

/**
 * The prompt as a server lists it, in the neutral shape.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toDescriptor = (contract: AnyContract): Prompt.Descriptor => ({
  name: contract.name,
  ...(contract.title === undefined ? {} : { title: contract.title }),
  ...(contract.description === undefined ? {} : { description: contract.description }),
  ...(contract.arguments.length === 0 ? {} : { arguments: contract.arguments }),
  ...(contract.icons === undefined ? {} : { icons: contract.icons }),
  ...(contract.meta === undefined ? {} : { _meta: contract.meta })
})
