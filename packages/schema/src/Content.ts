/**
 * What tools, prompts and models say: blocks of text, images, audio and resources.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Annotations } from "./Annotations.ts"
import { meta } from "./internal/fields.ts"
import { JsonObject } from "./internal/json.ts"
import * as Resource from "./internal/resourceShapes.ts"

const extras = { annotations: Schema.optionalKey(Annotations), ...meta }

/**
 * @category schemas
 * @since 0.1.0
 */
export const Text = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String, ...extras })

/**
 * @category models
 * @since 0.1.0
 */
export interface Text extends Schema.Schema.Type<typeof Text> {}

/**
 * An image; `data` is base64 (PRM-04).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Image = Schema.Struct({
  type: Schema.Literal("image"),
  data: Schema.String,
  mimeType: Schema.String,
  ...extras
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Image extends Schema.Schema.Type<typeof Image> {}

/**
 * Audio, from 2025-03-26 on; `data` is base64.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Audio = Schema.Struct({
  type: Schema.Literal("audio"),
  data: Schema.String,
  mimeType: Schema.String,
  ...extras
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Audio extends Schema.Schema.Type<typeof Audio> {}

/**
 * A resource to be read on its own, from 2025-06-18 on; it need not be listed (TOL-20).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceLink = Schema.Struct({ type: Schema.Literal("resource_link"), ...Resource.Descriptor.fields })

/**
 * @category models
 * @since 0.1.0
 */
export interface ResourceLink extends Schema.Schema.Type<typeof ResourceLink> {}

/**
 * A resource with its contents.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Embedded = Schema.Struct({ type: Schema.Literal("resource"), resource: Resource.Contents, ...extras })

/**
 * @category models
 * @since 0.1.0
 */
export interface Embedded extends Schema.Schema.Type<typeof Embedded> {}

/**
 * The block types that the protocol knows, on any revision.
 *
 * @category models
 * @since 0.1.0
 */
export const knownTypes: ReadonlySet<string> = new Set(["text", "image", "audio", "resource_link", "resource"])

/**
 * A block of a type this version does not know, kept as it came in `block` so that the rest of a result survives (SCH-08
 * of field practice). Nothing on the wire has the type `opaque`: such a block is written as a text that names its type.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Opaque = Schema.Struct({ type: Schema.Literal("opaque"), block: JsonObject })

/**
 * @category models
 * @since 0.1.0
 */
export interface Opaque extends Schema.Schema.Type<typeof Opaque> {}

/**
 * One block of content.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Content = Schema.Union([Text, Image, Audio, ResourceLink, Embedded, Opaque])

/**
 * @category models
 * @since 0.1.0
 */
export type Content = Text | Image | Audio | ResourceLink | Embedded | Opaque

/**
 * **Example** (A block of text)
 *
 * ```ts
 * import { Content } from "@mcpfx/schema"
 *
 * Content.text("hello") // => { type: "text", text: "hello" }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const text = (text: string): Text => ({ type: "text", text })

/**
 * @category constructors
 * @since 0.1.0
 */
export const image = (data: string, mimeType: string): Image => ({ type: "image", data, mimeType })

/**
 * @category constructors
 * @since 0.1.0
 */
export const audio = (data: string, mimeType: string): Audio => ({ type: "audio", data, mimeType })

/**
 * @category constructors
 * @since 0.1.0
 */
export const embedded = (resource: Resource.Contents): Embedded => ({ type: "resource", resource })

/**
 * @category constructors
 * @since 0.1.0
 */
export const resourceLink = (resource: Resource.Descriptor): ResourceLink => ({ type: "resource_link", ...resource })

/**
 * @category guards
 * @since 0.1.0
 */
export const isText = (content: Content): content is Text => content.type === "text"
