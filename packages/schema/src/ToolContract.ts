/**
 * The contract of a tool: its name, what it takes, what it gives and how it may fail, as a value that server and client share.
 *
 * @since 0.1.0
 */
import type * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Ask } from "./Capabilities.ts"
import * as HeaderParam from "./HeaderParam.ts"
import type { Icon } from "./Implementation.ts"
import type { Fields as Fields_, Plain as Plain_ } from "./internal/contractSpec.ts"
import { refuse, ToolContract } from "./internal/toolContract.ts"
import type { JsonObject } from "./JsonRpc.ts"
import type * as JsonSchema from "./JsonSchema.ts"
import type { SchemaMismatch } from "./SchemaMismatch.ts"
import type * as Tool from "./Tool.ts"

export * from "./ToolResult.ts"

/**
 * A schema that needs no services, so that a value is decoded where it arrives.
 *
 * @category models
 * @since 0.1.0
 */
export interface Plain<out A, out Encoded = unknown> extends Plain_<A, Encoded> {}

/**
 * Fields of a struct.
 *
 * @category models
 * @since 0.1.0
 */
export interface Fields extends Fields_ {}

/**
 * What `input` can be: fields, a schema whose encoded side is an object, or a JSON Schema taken over as it is.
 *
 * @category models
 * @since 0.1.0
 */
export type Input = Fields | Plain<unknown, object> | JsonSchema.Foreign

/**
 * What `output` can be: fields, any schema, or a JSON Schema taken over as it is.
 *
 * @category models
 * @since 0.1.0
 */
export type Output = Fields | Plain<unknown> | JsonSchema.Foreign

/**
 * What a handler gets, or gives, for an `input` or `output`. Foreign arguments are a record, foreign output is any JSON.
 *
 * @category type-level
 * @since 0.1.0
 */
export type TypeOf<Spec, ForeignType = unknown> = Spec extends JsonSchema.Foreign ? ForeignType
  : Spec extends Plain<infer A> ? A
  : Spec extends Fields ? { readonly [K in keyof Schema.Struct.Type<Spec>]: Schema.Struct.Type<Spec>[K] }
  : never

/**
 * Whether calls run as tasks: never, if the client wants it, always.
 *
 * @category models
 * @since 0.1.0
 */
export type TaskSupport = "never" | "may" | "must"

/**
 * What {@link make} takes besides the name.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<I, O, F> {
  readonly title?: string | undefined
  readonly description?: string | undefined
  /** Left out: the tool takes no arguments. */
  readonly input?: I | undefined
  /** Left out: the tool gives content, nothing structured. */
  readonly output?: O | undefined
  /** A tagged error, or a union of them, that a handler may fail with. */
  readonly failure?: F | undefined
  /** Members of the arguments that the input does not name: dropped (the default), or refused and shown to be refused. */
  readonly excess?: JsonSchema.Excess | undefined
  readonly annotations?: Tool.Annotations | undefined
  readonly icons?: ReadonlyArray<Icon> | undefined
  readonly meta?: JsonObject | undefined
  /** What a handler asks the client for. */
  readonly asks?: ReadonlyArray<Ask> | undefined
  /** Scopes a caller must have been granted. */
  readonly scopes?: ReadonlyArray<string> | undefined
  /** Default `"never"`. */
  readonly task?: TaskSupport | undefined
}

/**
 * A tagged error, or a union of them, with its schema.
 *
 * @category models
 * @since 0.1.0
 */
export interface Failure extends Plain<{ readonly _tag: string }> {}

/**
 * @category models
 * @since 0.1.0
 */
export interface AnyOptions extends Options<Input, Output, Failure> {}

/**
 * The contract of a tool. `O` is `never` for one without structured output, `F` for one without declared failures.
 *
 * @category models
 * @since 0.1.0
 */
export interface Contract<out Name extends string, out I, out O, out F> {
  readonly _tag: "ToolContract"
  readonly name: Name
  readonly title: string | undefined
  readonly description: string | undefined
  readonly annotations: Tool.Annotations | undefined
  readonly icons: ReadonlyArray<Icon> | undefined
  readonly meta: JsonObject | undefined
  readonly asks: ReadonlyArray<Ask>
  readonly scopes: ReadonlyArray<string>
  readonly task: TaskSupport
  /**
   * Set when arguments are to be checked against `inputSchema` by a validator; `decodeInput` only sees that they are an
   * object.
   */
  readonly foreignInput: JsonSchema.Foreign | undefined
  readonly foreignOutput: JsonSchema.Foreign | undefined
  readonly hasOutput: boolean
  /** Made when first read. Its root is an object (TOL-05). Throws {@link InvalidContract} for a header that is none (XH-02). */
  readonly inputSchema: JsonSchema.ObjectRoot
  /** Made when first read; absent without `output`. Its root may be of any type (TOL-06). */
  readonly outputSchema: JsonSchema.JsonSchema | undefined
  /** The arguments that HTTP clients mirror in headers (XH-01). */
  readonly headerParams: ReadonlyArray<HeaderParam.HeaderParam>
  /** From `arguments` as they came; `undefined` means none were sent, which equals `{}` (SCH-10 of field practice). */
  decodeInput(args: unknown): Result.Result<I, SchemaMismatch>
  encodeInput(input: I): Result.Result<JsonObject, SchemaMismatch>
  decodeOutput(structured: unknown): Result.Result<O, SchemaMismatch>
  /** To the JSON of `structuredContent`. */
  encodeOutput(output: O): Result.Result<unknown, SchemaMismatch>
  decodeFailure(failure: unknown): Result.Result<F, SchemaMismatch>
  encodeFailure(failure: F): Result.Result<unknown, SchemaMismatch>
}

/**
 * Any contract of a tool.
 *
 * @category models
 * @since 0.1.0
 */
export interface AnyContract extends Contract<string, unknown, unknown, unknown> {}

/**
 * @category type-level
 * @since 0.1.0
 */
export type NameOf<C> = C extends Contract<infer Name, unknown, unknown, unknown> ? Name : never

/**
 * What a handler gets.
 *
 * @category type-level
 * @since 0.1.0
 */
export type InputOf<C> = C extends Contract<string, infer I, unknown, unknown> ? I : never

/**
 * What the structured result is; `never` when there is none.
 *
 * @category type-level
 * @since 0.1.0
 */
export type OutputOf<C> = C extends Contract<string, unknown, infer O, unknown> ? O : never

/**
 * What a handler may fail with.
 *
 * @category type-level
 * @since 0.1.0
 */
export type FailureOf<C> = C extends Contract<string, unknown, unknown, infer F> ? F : never

/**
 * The arguments of a function that calls a tool: its input may be left out when nothing in it is required.
 *
 * @category type-level
 * @since 0.1.0
 */
export type CallArguments<C> = {} extends InputOf<C> ? readonly [input?: InputOf<C>] : readonly [input: InputOf<C>]

const namePattern = /^[A-Za-z0-9_.-]{1,128}$/

/**
 * Whether a text is a tool name: 1 to 128 letters, digits, `_`, `-` and `.` (TOL-11). Other servers may list other names.
 *
 * @category guards
 * @since 0.1.0
 */
export const isName = (name: string): boolean => namePattern.test(name)

/**
 * Makes the contract of a tool.
 *
 * **Details**
 *
 * - `input` is fields, a schema or {@link JsonSchema.foreign}; transforming schemas give handlers decoded values and are
 *   listed by their JSON. Without it the tool takes no arguments and is listed with `{"type":"object"}`.
 * - `output` likewise, of any type. `failure` is a tagged error that a client gets back typed.
 * - JSON Schemas are made when first read, once.
 *
 * **Gotchas**
 *
 * A name outside {@link isName}, an input that is not always an object and a header that is none are mistakes in the program:
 * an {@link InvalidContract} that names the tool is thrown, for the name and the input at once, for the header when
 * `inputSchema` is first read.
 *
 * **Example** (A tool that adds)
 *
 * ```ts
 * import { Tool } from "@mcpfx/schema"
 * import { Result, Schema } from "effect"
 *
 * const Add = Tool.make("add", {
 *   description: "Adds two numbers",
 *   input: { a: Schema.Finite, b: Schema.Finite },
 *   output: { sum: Schema.Finite }
 * })
 * Add.decodeInput({ a: 1, b: 2 }) // => Result.succeed({ a: 1, b: 2 })
 * Add.inputSchema.type // => "object"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export function make<
  const Name extends string,
  I extends Input = {},
  O extends Output = never,
  F extends Failure = never
>(
  name: Name,
  options?: Options<I, O, F>
): Contract<Name, TypeOf<I, JsonObject>, TypeOf<O>, TypeOf<F>>
export function make(name: string, options: AnyOptions = {}): AnyContract {
  if (!isName(name)) refuse(name, "a name is 1 to 128 letters, digits, \"_\", \"-\" and \".\"")
  return new ToolContract(name, options)
}

/**
 * @category guards
 * @since 0.1.0
 */
export const isContract = (u: unknown): u is AnyContract => u instanceof ToolContract

/**
 * Marks a field to be mirrored by HTTP clients in the header `Mcp-Param-<name>` (XH-01): a string, an integer or a boolean,
 * reached from the root through structs alone. Not for secrets or personal data (XH-14).
 *
 * **Example** (Routing by region)
 *
 * ```ts
 * import { Tool } from "@mcpfx/schema"
 * import { Schema } from "effect"
 *
 * const Deploy = Tool.make("deploy", { input: { region: Schema.String.pipe(Tool.header("Region")) } })
 * Deploy.headerParams // => [{ path: ["region"], header: "Region", type: "string" }]
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const header =
  (name: string) =>
  <S extends Schema.Top & { readonly Encoded: string | number | boolean | undefined }>(schema: S): S["Rebuild"] =>
    schema.annotate({ [HeaderParam.keyword]: name })

const taskSupport = { may: "optional", must: "required" } as const

/**
 * The tool as a server lists it, in the neutral shape. Throws {@link InvalidContract} where `inputSchema` does.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toDescriptor = (contract: AnyContract): Tool.Descriptor => ({
  name: contract.name,
  ...(contract.title === undefined ? {} : { title: contract.title }),
  ...(contract.description === undefined ? {} : { description: contract.description }),
  inputSchema: contract.inputSchema,
  ...(contract.outputSchema === undefined ? {} : { outputSchema: contract.outputSchema }),
  ...(contract.annotations === undefined ? {} : { annotations: contract.annotations }),
  ...(contract.task === "never" ? {} : { execution: { taskSupport: taskSupport[contract.task] } }),
  ...(contract.icons === undefined ? {} : { icons: contract.icons }),
  ...(contract.meta === undefined ? {} : { _meta: contract.meta })
})
