/**
 * Log messages to the client that waits for a request: what a handler logs with Effect's logger, and what it sends with
 * {@link log}. They travel on the stream of that request and end with it (LOG-04).
 *
 * @since 0.1.0
 */
import * as Logging from "@mcpfx/schema/Logging"
import * as Methods from "@mcpfx/schema/Methods"
import { RequestContext } from "@mcpfx/session/RequestContext"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import { jsonSafe } from "./internal/jsonSafe.ts"
import { Meter } from "./internal/meter.ts"
import { ServerLimits } from "./ServerLimits.ts"

type Request = RequestContext["Service"]

/** Names of loggers are annotations of this key. */
const loggerAnnotation = "logger"

const levels: Readonly<Record<LogLevel.LogLevel, Logging.Level>> = {
  All: "debug",
  Trace: "debug",
  Debug: "debug",
  Info: "info",
  Warn: "warning",
  Error: "error",
  Fatal: "critical",
  None: "debug"
}

/**
 * The protocol's level for one of Effect's.
 *
 * **Example** (Mapping levels)
 *
 * ```ts
 * import { LogBridge } from "@mcpfx/server"
 *
 * LogBridge.levelOf("Warn") // => "warning"
 * LogBridge.levelOf("Fatal") // => "critical"
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const levelOf = (level: LogLevel.LogLevel): Logging.Level => levels[level]

const meters = new WeakMap<Request, Meter>()

/** Logs of one request, from its handler and its logger alike, share one allowance (LOG-06). */
const allowed = (request: Request, context: Context.Context<never>): boolean => {
  const limits = Context.get(context, ServerLimits)
  let meter = meters.get(request)
  if (meter === undefined) meters.set(request, meter = new Meter(limits.logBurst, limits.logRate))
  return meter.take(Context.get(context, Clock.Clock).currentTimeMillisUnsafe())
}

const wants = (request: Request, level: Logging.Level): boolean =>
  request.logLevel !== undefined && Logging.passes(level, request.logLevel)

const send = (request: Request, level: Logging.Level, data: unknown, logger: string | undefined): Effect.Effect<void> =>
  request.notify(
    Methods.LoggingMessage,
    logger === undefined ? { level, data } : { level, logger, data }
  )

/**
 * Sends a log message to the client of the request being served, if it wants messages of this level. `data` is any JSON
 * value; anything else is made one, errors by their names alone. Waits while the request's stream is full.
 *
 * **Example** (A notice from a handler)
 *
 * ```ts
 * import { LogBridge } from "@mcpfx/server"
 *
 * const notice = LogBridge.log("notice", { step: "indexed", files: 3 }, "indexer")
 * ```
 *
 * @category logging
 * @since 0.1.0
 */
export const log = (
  level: Logging.Level,
  data: unknown,
  logger?: string
): Effect.Effect<void, never, RequestContext> =>
  Effect.contextWith((context: Context.Context<RequestContext>) => {
    const request = Context.get(context, RequestContext)
    if (!wants(request, level) || !allowed(request, context)) return Effect.void
    return send(request, level, jsonSafe(data, Context.get(context, ServerLimits).logLength), logger)
  })

/** What a logger sends must not wait for the stream: one message of a request may, those that come meanwhile are dropped. */
const waiting = new WeakSet<Request>()

const forward = (request: Request, options: Logger.Options<unknown>, level: Logging.Level): void => {
  const { context } = options.fiber
  if (waiting.has(request) || !allowed(request, context)) return
  const { message } = options
  const data = Array.isArray(message) && message.length === 1 ? message[0] : message
  const name = Context.get(context, References.CurrentLogAnnotations)[loggerAnnotation]
  const safe = jsonSafe(data, Context.get(context, ServerLimits).logLength)
  const sending = send(request, level, safe, typeof name === "string" ? name : undefined)
  waiting.add(request)
  const fiber = Effect.runForkWith(context)(Effect.ensuring(sending, Effect.sync(() => waiting.delete(request))))
  const scope = Context.getOrUndefined(context, Scope.Scope)
  if (scope !== undefined) Fiber.runIn(fiber, scope)
}

/**
 * A logger that hands messages to the client of the request in whose fiber they are logged, and none outside of requests.
 * Of a message only its text and values travel: no cause, no stack, no annotation but `logger`, which names the logger.
 *
 * @category loggers
 * @since 0.1.0
 */
export const logger: Logger.Logger<unknown, void> = Logger.make((options) => {
  const request = Context.getOrUndefined(options.fiber.context, RequestContext)
  if (request === undefined) return
  const level = levels[options.logLevel]
  if (wants(request, level)) forward(request, options, level)
})

/**
 * Adds the bridge to the loggers of a context.
 *
 * @category combinators
 * @since 0.1.0
 */
export const install = <R>(context: Context.Context<R>): Context.Context<R> =>
  Context.add(context, Logger.CurrentLoggers, new Set([...Context.get(context, Logger.CurrentLoggers), logger]))

const quiet = (original: Logger.Logger<unknown, unknown>, minimum: number): Logger.Logger<unknown, void> =>
  Logger.make((options) => {
    if (ordinal(options.logLevel) >= minimum) original.log(options)
  })

const order: ReadonlyArray<LogLevel.LogLevel> = ["All", "Trace", "Debug", "Info", "Warn", "Error", "Fatal", "None"]
const ordinal = (level: LogLevel.LogLevel): number => order.indexOf(level)

/**
 * Lets messages below the program's own minimum level come as far as the bridge, when a client asked for them. The other
 * loggers go on as before.
 *
 * @category combinators
 * @since 0.1.0
 */
export const listen = <R>(context: Context.Context<R>, level: Logging.Level | undefined): Context.Context<R> => {
  if (level !== "debug") return context
  const minimum = Context.get(context, References.MinimumLogLevel)
  const loggers = Context.get(context, Logger.CurrentLoggers)
  if (!loggers.has(logger) || ordinal(minimum) <= ordinal("Debug")) return context
  const filtered = Array.from(loggers, (other) => other === logger ? other : quiet(other, ordinal(minimum)))
  return Context.add(
    Context.add(context, Logger.CurrentLoggers, new Set(filtered)),
    References.MinimumLogLevel,
    "Debug"
  )
}
