/**
 * What holds for every value: arbitrary messages, and the round trips that contracts and codecs have to survive.
 *
 * A law is an effect that fails with {@link LawBroken}; `it.effect.prop` and `Arbitrary.checkEffect` run it over many values.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as PromptContract from "@mcpfx/schema/PromptContract"
import type * as ResourceContract from "@mcpfx/schema/ResourceContract"
import type { Revision } from "@mcpfx/schema/Revision"
import type * as ToolContract from "@mcpfx/schema/ToolContract"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/**
 * A value for which a law does not hold.
 *
 * @category errors
 * @since 0.1.0
 */
export class LawBroken extends Schema.TaggedError<LawBroken>("@mcpfx/testing/LawBroken")("LawBroken", {
  law: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `${this.law}: ${this.detail}`
  }
}

/**
 * Any message.
 *
 * @category arbitraries
 * @since 0.1.0
 */
export const message: Arbitrary.Arbitrary<JsonRpc.Message> = Arbitrary.schema(JsonRpc.Message)

/**
 * Params that a method may have on a revision, as on the wire; `undefined` where the revision does not have the method.
 *
 * @category arbitraries
 * @since 0.1.0
 */
export const params = (revision: Revision, method: string): Arbitrary.Arbitrary<unknown> | undefined => {
  const codec = revision.requestByName(method) ?? revision.notificationByName(method)
  return codec === undefined ? undefined : Arbitrary.schema(codec.wire.params)
}

/**
 * Results that a method may have on a revision, as on the wire.
 *
 * @category arbitraries
 * @since 0.1.0
 */
export const result = (revision: Revision, method: string): Arbitrary.Arbitrary<unknown> | undefined => {
  const codec = revision.requestByName(method)
  return codec === undefined ? undefined : Arbitrary.schema(codec.wire.result)
}

/** One text for one value, whatever the order of its keys. */
const canonical = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, member: unknown) =>
    JsonRpc.isJsonObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : member)

const broken = (law: string, detail: string) => Effect.fail(new LawBroken({ law, detail }))

const reasonOf = (failure: unknown): string => {
  if (typeof failure === "object" && failure !== null && "message" in failure) {
    const { message } = failure
    return typeof message === "function" ? String(message.call(failure)) : String(message)
  }
  return String(failure)
}

/**
 * Written, sent as JSON, read and written again, a value is the same text.
 *
 * **Example** (A codec of your own)
 *
 * ```ts
 * import { Laws } from "@mcpfx/testing"
 * import { Effect, Result } from "effect"
 *
 * const law = Laws.roundTrip(
 *   "counter",
 *   (n: number) => Result.succeed({ n }),
 *   (json) => Result.succeed(Number(Reflect.get(Object(json), "n")))
 * )
 * Effect.runSync(law(7)) // => undefined
 * ```
 *
 * @category laws
 * @since 0.1.0
 */
export const roundTrip = <A, E, F>(
  law: string,
  encode: (value: A) => Result.Result<unknown, E>,
  decode: (json: unknown) => Result.Result<A, F>
) =>
(value: A): Effect.Effect<void, LawBroken> =>
  Effect.gen(function*() {
    const first = encode(value)
    if (Result.isFailure(first)) return yield* broken(law, `a value does not encode: ${reasonOf(first.failure)}`)
    const text = canonical(first.success)
    const wire: unknown = text === undefined ? undefined : JSON.parse(text)
    const read = decode(wire)
    if (Result.isFailure(read)) return yield* broken(law, `${text} is not read back: ${reasonOf(read.failure)}`)
    const second = encode(read.success)
    const again = Result.isFailure(second) ? `nothing: ${reasonOf(second.failure)}` : canonical(second.success)
    if (again !== text) return yield* broken(law, `${text} comes back as ${again}`)
  })

/**
 * Arguments of a tool arrive as they were sent.
 *
 * @category laws
 * @since 0.1.0
 */
export const toolInput = <I>(
  contract: ToolContract.Contract<string, I, unknown, unknown>
): (input: I) => Effect.Effect<void, LawBroken> =>
  roundTrip(
    `input of ${contract.name}`,
    (input: I) => contract.encodeInput(input),
    (json) => contract.decodeInput(json)
  )

/**
 * The output of a tool arrives as it was given.
 *
 * @category laws
 * @since 0.1.0
 */
export const toolOutput = <O>(
  contract: ToolContract.Contract<string, unknown, O, unknown>
): (output: O) => Effect.Effect<void, LawBroken> =>
  roundTrip(
    `output of ${contract.name}`,
    (output: O) => contract.encodeOutput(output),
    (json) => contract.decodeOutput(json)
  )

/**
 * Arguments of a prompt arrive as they were sent.
 *
 * @category laws
 * @since 0.1.0
 */
export const promptArguments = <A>(
  contract: PromptContract.Contract<string, A>
): (args: A) => Effect.Effect<void, LawBroken> =>
  roundTrip(
    `arguments of ${contract.name}`,
    (args: A) => contract.encodeArguments(args),
    (json) => contract.decodeArguments(json)
  )

/**
 * The URI that a template makes of its params matches it, and gives them back.
 *
 * @category laws
 * @since 0.1.0
 */
export const template = <P>(
  contract: ResourceContract.TemplateContract<string, P, unknown>
): (params: P) => Effect.Effect<void, LawBroken> => {
  const law = `URIs of ${contract.uriTemplate}`
  return (params) =>
    Effect.gen(function*() {
      const uri = contract.expand(params)
      // What has no form in a URI is refused where it is written.
      if (Result.isFailure(uri)) return
      const variables = contract.match(uri.success)
      if (Option.isNone(variables)) return yield* broken(law, `${uri.success} does not match`)
      const read = contract.decodeParams(variables.value)
      if (Result.isFailure(read)) return yield* broken(law, `${uri.success} is not read: ${read.failure.message()}`)
      const again = contract.expand(read.success)
      if (Result.isFailure(again) || again.success !== uri.success) {
        return yield* broken(law, `${uri.success} comes back as ${Result.isSuccess(again) ? again.success : "nothing"}`)
      }
    })
}
