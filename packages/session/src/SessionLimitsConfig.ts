/**
 * The limits of sessions from the program's configuration. A module of its own: what reads configuration takes longer to
 * load than the limits themselves, and most programs say theirs in code.
 *
 * **Example** (Limits from the environment)
 *
 * ```ts
 * import { SessionLimits, SessionLimitsConfig } from "@mcpfx/session"
 * import { ConfigProvider, Effect } from "effect"
 *
 * const program = Effect.map(SessionLimits.SessionLimits, (limits) => limits.sessions).pipe(
 *   Effect.provide(SessionLimitsConfig.layer("mcp")),
 *   Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({ mcp: { sessions: "50" } }))
 * )
 * Effect.runSync(program) // => 50
 * ```
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Layer from "effect/Layer"
import { defaults, type Limits, SessionLimits } from "./SessionLimits.ts"

/**
 * The limits as configuration; each key is optional and falls back to its default.
 *
 * @category config
 * @since 0.1.0
 */
export const config: Config.Config<Limits> = Config.all({
  requestsInFlight: Config.withDefault(Config.Int("requestsInFlight"), defaults.requestsInFlight),
  sessions: Config.withDefault(Config.Int("sessions"), defaults.sessions),
  sessionsPerPrincipal: Config.withDefault(Config.Int("sessionsPerPrincipal"), defaults.sessionsPerPrincipal),
  idle: Config.withDefault(Config.Duration("idle"), defaults.idle),
  requestTimeout: Config.withDefault(Config.Duration("requestTimeout"), defaults.requestTimeout),
  maxRequestTimeout: Config.withDefault(Config.Duration("maxRequestTimeout"), defaults.maxRequestTimeout),
  askTimeout: Config.withDefault(Config.Duration("askTimeout"), defaults.askTimeout),
  closeGrace: Config.withDefault(Config.Duration("closeGrace"), defaults.closeGrace),
  cancelGrace: Config.withDefault(Config.Duration("cancelGrace"), defaults.cancelGrace),
  progressBacklog: Config.withDefault(Config.Int("progressBacklog"), defaults.progressBacklog),
  subscriptions: Config.withDefault(Config.Int("subscriptions"), defaults.subscriptions)
})

/**
 * The limits from the program's configuration, under the given name.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (name: string): Layer.Layer<never, Config.ConfigError> =>
  Layer.effect(SessionLimits, config.pipe(Config.nested(name)))
