/**
 * Log messages from a server to its client (LOG-07).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { JsonObject, JsonValue } from "./internal/json.ts"

/**
 * The eight levels of RFC 5424, least severe first.
 *
 * @category models
 * @since 0.1.0
 */
export const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const

/**
 * @category schemas
 * @since 0.1.0
 */
export const Level = Schema.Literals(levels)

/**
 * @category models
 * @since 0.1.0
 */
export type Level = typeof Level.Type

const severities: ReadonlyMap<unknown, number> = new Map(levels.map((level, index) => [level, index]))

/**
 * The rank of a level: 0 for `debug` up to 7 for `emergency`.
 *
 * @category getters
 * @since 0.1.0
 */
export const severity = (level: Level): number => severities.get(level) ?? 0

/**
 * @category guards
 * @since 0.1.0
 */
export const isLevel = (u: unknown): u is Level => severities.has(u)

/**
 * Whether a message of level `level` passes a floor of `floor` (LOG-02).
 *
 * **Example** (Filtering by level)
 *
 * ```ts
 * import { Logging } from "@mcpfx/schema"
 *
 * Logging.passes("error", "warning") // => true
 * Logging.passes("debug", "warning") // => false
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const passes = (level: Level, floor: Level): boolean => severity(level) >= severity(floor)

/**
 * The params of `notifications/message`; `data` is any JSON value.
 *
 * @category schemas
 * @since 0.1.0
 */
export const MessageParams = Schema.Struct({
  level: Level,
  logger: Schema.optionalKey(Schema.String),
  data: JsonValue,
  _meta: Schema.optionalKey(JsonObject)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface MessageParams extends Schema.Schema.Type<typeof MessageParams> {}

/**
 * The params of `logging/setLevel`, which exists up to 2025-11-25 (LOG-02, LOG-05).
 *
 * @category schemas
 * @since 0.1.0
 */
export const SetLevelParams = Schema.Struct({ level: Level, _meta: Schema.optionalKey(JsonObject) })

/**
 * @category models
 * @since 0.1.0
 */
export interface SetLevelParams extends Schema.Schema.Type<typeof SetLevelParams> {}
