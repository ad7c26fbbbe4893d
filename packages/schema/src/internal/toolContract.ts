/** How a tool's contract decodes, encodes and describes itself. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import type { Ask } from "../Capabilities.ts"
import * as HeaderParam from "../HeaderParam.ts"
import type { Icon } from "../Implementation.ts"
import { InvalidContract } from "../InvalidContract.ts"
import { isJsonObject, type JsonObject } from "../JsonRpc.ts"
import * as JsonSchema from "../JsonSchema.ts"
import type { SchemaMismatch } from "../SchemaMismatch.ts"
import type { Annotations } from "../Tool.ts"
import type { AnyContract, AnyOptions, TaskSupport } from "../ToolContract.ts"
import { isEmpty, type Spec, toSchema } from "./contractSpec.ts"
import { mismatch, schemaSide, type Side, type SideName } from "./side.ts"

const Nothing = Schema.Record(Schema.String, Schema.Never)
const nothing: JsonObject = {}

export const refuse = (name: string, reason: string): never => {
  throw new InvalidContract({ kind: "tool", name, reason })
}

/** Whether the encoded side can only be an object; what is suspended is taken to be one until its schema is made. */
const encodesObject = (ast: SchemaAST.AST): boolean => {
  const last = ast.encoding?.at(-1)
  if (last !== undefined) return encodesObject(last.to)
  return ast._tag === "Objects" || ast._tag === "Suspend" || (ast._tag === "Union" && ast.types.every(encodesObject))
}

const passing = (name: string, side: SideName): Side<unknown> => ({
  decode: (u) => u === undefined ? mismatch(name, side, "is missing") : Result.succeed(u),
  encode: (u) => u === undefined ? mismatch(name, side, "is missing") : Result.succeed(u)
})

const absent = (name: string, side: SideName): Side<unknown> => ({
  decode: () => mismatch(name, side, `the tool declares no ${side}`),
  encode: () => mismatch(name, side, `the tool declares no ${side}`)
})

const ignoring: Side<unknown> = { decode: () => Result.succeed(nothing), encode: () => Result.succeed(nothing) }

const makeInput = (name: string, spec: Spec | undefined, excess: JsonSchema.Excess): Side<unknown> => {
  if (spec === undefined || isEmpty(spec)) {
    return excess === "ignore" ? ignoring : schemaSide<unknown>(name, "input", () => Nothing)
  }
  if (JsonSchema.isForeign(spec)) return passing(name, "input")
  const codec = JsonSchema.codec(toSchema(spec))
  if (!encodesObject(codec.ast)) refuse(name, "the encoded side of its input is not always an object")
  return schemaSide(name, "input", () => codec, excess)
}

const makeOutput = (name: string, spec: Spec | undefined): Side<unknown> =>
  spec === undefined
    ? absent(name, "output")
    : JsonSchema.isForeign(spec)
    ? passing(name, "output")
    : schemaSide(name, "output", () => JsonSchema.codec(toSchema(spec)))

const objectRoot = (name: string, schema: JsonSchema.JsonSchema): JsonSchema.ObjectRoot => {
  const root = JsonSchema.rootObject(schema)
  return Result.isSuccess(root) ? root.success : refuse(name, `input: ${root.failure}`)
}

const describeInput = (name: string, spec: Spec | undefined, excess: JsonSchema.Excess): JsonSchema.ObjectRoot => {
  if (spec === undefined || isEmpty(spec)) {
    return excess === "ignore" ? { type: "object" } : { type: "object", additionalProperties: false }
  }
  if (JsonSchema.isForeign(spec)) return objectRoot(name, spec.json)
  const schema = JsonSchema.fromSchema(toSchema(spec), { excess })
  return JsonSchema.isObjectOnly(schema) ? objectRoot(name, schema) : refuse(name, "its input is not always an object")
}

/** A schema that only objects fit says so at its root, as revisions before 2026-07-28 need it (TOL-06). */
const describeOutput = (spec: Spec | undefined): JsonSchema.JsonSchema | undefined => {
  if (spec === undefined) return undefined
  if (JsonSchema.isForeign(spec)) return spec.json
  if (isEmpty(spec)) return { type: "object" }
  const schema = JsonSchema.fromSchema(toSchema(spec))
  return JsonSchema.isObjectOnly(schema) ? Result.getOrElse(JsonSchema.rootObject(schema), () => schema) : schema
}

export class ToolContract implements AnyContract {
  readonly _tag = "ToolContract"
  readonly name: string
  readonly title: string | undefined
  readonly description: string | undefined
  readonly annotations: Annotations | undefined
  readonly icons: ReadonlyArray<Icon> | undefined
  readonly meta: JsonObject | undefined
  readonly asks: ReadonlyArray<Ask>
  readonly scopes: ReadonlyArray<string>
  readonly task: TaskSupport
  readonly foreignInput: JsonSchema.Foreign | undefined
  readonly foreignOutput: JsonSchema.Foreign | undefined
  readonly hasOutput: boolean
  readonly #options: AnyOptions
  readonly #input: Side<unknown>
  readonly #output: Side<unknown>
  readonly #failure: Side<unknown>
  #inputSchema: JsonSchema.ObjectRoot | undefined
  #outputSchema: JsonSchema.JsonSchema | undefined
  #headerParams: ReadonlyArray<HeaderParam.HeaderParam> | undefined

  constructor(name: string, options: AnyOptions) {
    const { failure, input, output } = options
    this.name = name
    this.title = options.title
    this.description = options.description
    this.annotations = options.annotations
    this.icons = options.icons
    this.meta = options.meta
    this.asks = options.asks ?? []
    this.scopes = options.scopes ?? []
    this.task = options.task ?? "never"
    this.foreignInput = JsonSchema.isForeign(input) ? input : undefined
    this.foreignOutput = JsonSchema.isForeign(output) ? output : undefined
    this.hasOutput = output !== undefined
    this.#options = options
    this.#input = makeInput(name, input, options.excess ?? "ignore")
    this.#output = makeOutput(name, output)
    this.#failure = failure === undefined
      ? absent(name, "failure")
      : schemaSide<unknown>(name, "failure", () => JsonSchema.codec<unknown, never, never>(failure))
  }

  get inputSchema(): JsonSchema.ObjectRoot {
    if (this.#inputSchema !== undefined) return this.#inputSchema
    const schema = describeInput(this.name, this.#options.input, this.#options.excess ?? "ignore")
    const params = HeaderParam.headerParams(schema)
    this.#headerParams = Result.isSuccess(params) ? params.success : refuse(this.name, params.failure)
    return this.#inputSchema = schema
  }

  get headerParams(): ReadonlyArray<HeaderParam.HeaderParam> {
    void this.inputSchema
    return this.#headerParams ?? []
  }

  get outputSchema(): JsonSchema.JsonSchema | undefined {
    return this.#outputSchema ??= describeOutput(this.#options.output)
  }

  decodeInput(args: unknown): Result.Result<unknown, SchemaMismatch> {
    const given = args === undefined ? nothing : args
    return isJsonObject(given) ? this.#input.decode(given) : mismatch(this.name, "input", "arguments must be an object")
  }

  encodeInput(input: unknown): Result.Result<JsonObject, SchemaMismatch> {
    const encoded = this.#input.encode(input === undefined ? nothing : input)
    if (Result.isFailure(encoded)) return Result.fail(encoded.failure)
    return isJsonObject(encoded.success)
      ? Result.succeed(encoded.success)
      : mismatch(this.name, "input", "arguments must be an object")
  }

  decodeOutput(structured: unknown): Result.Result<unknown, SchemaMismatch> {
    return this.#output.decode(structured)
  }

  encodeOutput(output: unknown): Result.Result<unknown, SchemaMismatch> {
    return this.#output.encode(output)
  }

  decodeFailure(failure: unknown): Result.Result<unknown, SchemaMismatch> {
    return this.#failure.decode(failure)
  }

  encodeFailure(failure: unknown): Result.Result<unknown, SchemaMismatch> {
    return this.#failure.encode(failure)
  }
}
