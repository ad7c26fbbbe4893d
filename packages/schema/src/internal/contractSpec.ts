/** What fields, schemas and foreign schemas have in common, whichever contract they stand in. */
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as JsonSchema from "../JsonSchema.ts"

export interface Plain<out A, out Encoded = unknown> extends Schema.ConstraintCodec<A, Encoded, never, never> {}

export interface Fields {
  readonly [name: PropertyKey]: Plain<unknown>
}

export type Spec = Fields | Plain<unknown> | JsonSchema.Foreign

export const isSchema = (spec: Spec): spec is Plain<unknown> => Schema.isSchema(spec)

export const toSchema = (spec: Fields | Plain<unknown>): Plain<unknown> => isSchema(spec) ? spec : Schema.Struct(spec)

/** A struct without fields decodes arrays and keeps every member, so it is treated as nothing at all. */
export const isEmpty = (spec: Spec): boolean =>
  isSchema(spec)
    ? SchemaAST.isObjects(spec.ast) && spec.ast.encoding === undefined && spec.ast.checks === undefined &&
      spec.ast.propertySignatures.length + spec.ast.indexSignatures.length === 0
    : !JsonSchema.isForeign(spec) && Object.keys(spec).length === 0
