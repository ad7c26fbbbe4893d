/**
 * Who a piece of content is for and how much it matters.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Unit } from "./internal/json.ts"

/**
 * Who speaks in a conversation, or who content is meant for.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Role = Schema.Literals(["user", "assistant"])

/**
 * @category models
 * @since 0.1.0
 */
export type Role = typeof Role.Type

/**
 * Hints for the client on content, resources and templates. `lastModified` exists from 2025-06-18 on (RES-14).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Annotations = Schema.Struct({
  audience: Schema.optionalKey(Schema.Array(Role)),
  /** From 0, entirely optional, to 1, effectively required. */
  priority: Schema.optionalKey(Unit),
  /** An ISO 8601 instant, with its offset. */
  lastModified: Schema.optionalKey(Schema.String)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Annotations extends Schema.Schema.Type<typeof Annotations> {}
