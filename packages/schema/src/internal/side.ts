/** One side of a contract: a value's schema with its decoder and encoder, each made once and only when needed. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import type { Excess } from "../JsonSchema.ts"
import { fromIssue, type Issue, SchemaMismatch } from "../SchemaMismatch.ts"

export type SideName = SchemaMismatch["side"]

export interface Side<in out A> {
  readonly decode: (u: unknown) => Result.Result<A, SchemaMismatch>
  readonly encode: (value: A) => Result.Result<unknown, SchemaMismatch>
}

type Step<A> = (u: unknown, options?: { readonly errors?: "all" }) => Result.Result<A, Schema.SchemaError>

const issueOf = (error: Schema.SchemaError): SchemaIssue.Issue => error.issue

const explain = <A>(name: string, side: SideName, run: Step<A>, u: unknown) => (failure: Schema.SchemaError) =>
  new SchemaMismatch(name, side, () => {
    const all = run(u, { errors: "all" })
    return fromIssue(issueOf(Result.isFailure(all) ? all.failure : failure))
  })

/** Stops at the first fault, and looks for the rest only when the message is wanted. */
const explained = <A>(name: string, side: SideName, make: () => Step<A>) => {
  let step: Step<A> | undefined
  return (u: unknown): Result.Result<A, SchemaMismatch> => {
    const run = step ??= make()
    const result = run(u)
    return Result.isSuccess(result)
      ? Result.succeed(result.success)
      : Result.mapError(result, explain(name, side, run, u))
  }
}

/** Schemas read structs several times faster while nothing is asked of them that is the default anyway. */
const optionsOf = (excess: Excess): { readonly onExcessProperty: Excess } | undefined =>
  excess === "ignore" ? undefined : { onExcessProperty: excess }

/** A side that an Effect schema describes; `codec` is asked for once. */
export const schemaSide = <A>(
  name: string,
  side: SideName,
  codec: () => Schema.ConstraintCodec<A, unknown, never, never>,
  excess: Excess = "ignore"
): Side<A> => ({
  decode: explained(name, side, () => Schema.decodeUnknownResult(codec(), optionsOf(excess))),
  encode: explained(name, side, () => Schema.encodeUnknownResult(codec(), optionsOf(excess)))
})

/** A mismatch with one issue, at the root unless `path` says otherwise. */
export const mismatch = (
  name: string,
  side: SideName,
  message: string,
  path: Issue["path"] = []
): Result.Result<never, SchemaMismatch> => Result.fail(new SchemaMismatch(name, side, () => [{ path, message }]))
