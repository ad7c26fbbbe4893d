/**
 * What a handler of a tool gives when there is more to say than its structured output or its content.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import type * as Content from "./Content.ts"
import type { JsonObject } from "./JsonRpc.ts"

/**
 * What a handler gives when its structured output, or its plain content, is not all there is to say. It is recognised by
 * being an instance of this class, never by its shape: see {@link result}.
 *
 * @category models
 * @since 0.1.0
 */
export class Result<out A = never> {
  readonly structured: Option.Option<A>
  readonly content: ReadonlyArray<Content.Content>
  readonly meta: JsonObject | undefined
  readonly isError: boolean
  constructor(
    structured: Option.Option<A>,
    content: ReadonlyArray<Content.Content>,
    meta: JsonObject | undefined,
    isError: boolean
  ) {
    this.structured = structured
    this.content = content
    this.meta = meta
    this.isError = isError
  }
}

/**
 * Content as a handler may write it: a text, a block, or several of either.
 *
 * @category models
 * @since 0.1.0
 */
export type ContentInput = string | Content.Content | ReadonlyArray<string | Content.Content>

const isList = (content: ContentInput): content is ReadonlyArray<string | Content.Content> => Array.isArray(content)

const block = (content: string | Content.Content): Content.Content =>
  typeof content === "string" ? { type: "text", text: content } : content

/**
 * The blocks that content stands for.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toContent = (content: ContentInput): ReadonlyArray<Content.Content> =>
  isList(content) ? content.map(block) : [block(content)]

/**
 * What {@link result} takes besides `structured`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResultOptions {
  readonly content?: ContentInput | undefined
  readonly meta?: JsonObject | undefined
  /** Default `false`. */
  readonly isError?: boolean | undefined
}

/**
 * A result with structured output, content, `_meta` and an error flag of the handler's choice. Without `content` a server
 * writes the structured output as text; `structured: null` is a value like any other (SCH-15 of field practice).
 *
 * **Example** (A result with a picture)
 *
 * ```ts
 * import { Tool } from "@mcpfx/schema"
 *
 * const drawn = Tool.result({
 *   structured: { width: 1 },
 *   content: ["One pixel", { type: "image", data: "AAAA", mimeType: "image/png" }]
 * })
 * drawn.content.length // => 2
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export function result<A>(options: ResultOptions & { readonly structured: A }): Result<A>
export function result(options: ResultOptions): Result
export function result(options: ResultOptions & { readonly structured?: unknown }): Result<unknown> {
  return new Result(
    "structured" in options ? Option.some(options.structured) : Option.none(),
    options.content === undefined ? [] : toContent(options.content),
    options.meta,
    options.isError ?? false
  )
}
