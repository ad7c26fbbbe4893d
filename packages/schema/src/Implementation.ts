/**
 * Who is speaking: the self-reported identity of a client or server. For display only (META-10).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { isJsonObject } from "./JsonRpc.ts"

/**
 * An image that stands for something in a user interface (ICO-04). Only `https:` and `data:` sources are to be loaded.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Icon = Schema.Struct({
  src: Schema.String,
  mimeType: Schema.optionalKey(Schema.String),
  /** `"48x48"` or `"any"`. */
  sizes: Schema.optionalKey(Schema.Array(Schema.String)),
  theme: Schema.optionalKey(Schema.Literals(["light", "dark"]))
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Icon extends Schema.Schema.Type<typeof Icon> {}

/**
 * Name and version of a client or server. `title` exists from 2025-06-18 on, the members after `version` from 2025-11-25.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Implementation = Schema.Struct({
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  version: Schema.String,
  description: Schema.optionalKey(Schema.String),
  websiteUrl: Schema.optionalKey(Schema.String),
  icons: Schema.optionalKey(Schema.Array(Icon))
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Implementation extends Schema.Schema.Type<typeof Implementation> {}

const isIcons = Schema.is(Schema.Array(Icon))
const isText = (u: unknown): boolean => u === undefined || typeof u === "string"

/**
 * The rule of {@link Implementation} by hand: it is checked on every request of 2026-07-28.
 *
 * @category guards
 * @since 0.1.0
 */
export const isImplementation = (u: unknown): u is Implementation =>
  isJsonObject(u) && typeof u["name"] === "string" && typeof u["version"] === "string" && isText(u["title"]) &&
  isText(u["description"]) && isText(u["websiteUrl"]) && (u["icons"] === undefined || isIcons(u["icons"]))
