/**
 * Spans and metrics of requests and sessions, by the semantic conventions of OpenTelemetry for MCP.
 *
 * Nothing is paid where nobody listens: spans are made when a tracer is installed, metrics when they are switched on. What
 * a request says and what its answer holds never enters a span.
 *
 * @since 0.1.0
 */
import * as Codes from "@mcpfx/schema/Codes"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import * as Meta from "@mcpfx/schema/Meta"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import * as TraceContext from "@mcpfx/schema/TraceContext"
import type { Facts } from "@mcpfx/transport/Exchange"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Tracer from "effect/Tracer"
import { type Fault, type Kind, type Meter, meter, type Target, versionOf } from "./internal/meter.ts"
import type { PeerFailure } from "./Peer.ts"
import * as Suspended from "./Suspended.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** `auto`, the default, makes spans where a tracer other than the built-in one is installed. */
  readonly spans: "auto" | "on" | "off"
  /** Records the metrics of `SessionMetrics`; off by default. */
  readonly metrics: boolean
  /** Puts `mcp.session.id` on spans; off by default, since ids of sessions are sensitive (HTTP-41). */
  readonly sessionId: boolean
}

/**
 * Options as they are in force: metrics come with what records them, which a program that has none is spared.
 *
 * @category models
 * @since 0.1.0
 */
export interface Recording extends Omit<Options, "metrics"> {
  readonly metrics: Meter | undefined
}

/**
 * What is recorded.
 *
 * @category references
 * @since 0.1.0
 */
export const Telemetry = Context.Reference<Recording>("@mcpfx/session/Telemetry", {
  defaultValue: () => ({ spans: "auto", metrics: undefined, sessionId: false })
})

/**
 * Sets some options and keeps the rest.
 *
 * **Example** (Switching metrics on)
 *
 * ```ts
 * import { Telemetry } from "@mcpfx/session"
 * import { Effect } from "effect"
 *
 * const program = Effect.map(Telemetry.Telemetry, (recording) => recording.metrics !== undefined)
 * Effect.runSync(Effect.provide(program, Telemetry.layer({ metrics: true }))) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = ({ metrics, ...options }: Partial<Options>): Layer.Layer<never> =>
  Layer.effect(
    Telemetry,
    Effect.map(Telemetry, (current) => ({
      ...current,
      ...options,
      metrics: metrics === undefined ? current.metrics : metrics ? meter : undefined
    }))
  )

/**
 * One request, served or sent, as telemetry sees it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Operation {
  readonly method: string
  /** The params, for the name of a tool or a prompt and for nothing else. */
  readonly params: JsonRpc.JsonObject | undefined
  readonly id: JsonRpc.RequestId | undefined
  readonly revision: Revision | undefined
  readonly sessionId: string | undefined
  readonly transport: Facts["transport"] | undefined
}

/**
 * Records what it is told. There is one where somebody listens, and `undefined` where nobody does.
 *
 * @category models
 * @since 0.1.0
 */
export interface Listener {
  /** Records a request that is served; the parent is the span the sender named in `_meta` (META-15), or the one around. */
  readonly serve: <A>(
    effect: Effect.Effect<A, McpError.McpError>,
    operation: Operation,
    facts: Facts
  ) => Effect.Effect<A, McpError.McpError>
  /** Records a request that is sent; its span is current inside, so that `_meta` can name it. */
  readonly call: <A>(effect: Effect.Effect<A, PeerFailure>, operation: Operation) => Effect.Effect<A, PeerFailure>
  /** Records a session; the result is called with the reason when it is over. */
  readonly session: (role: "server" | "client", revision: () => Revision | undefined) => (reason: string) => void
}

/**
 * Who listens in this context; `undefined` for nobody.
 *
 * @category constructors
 * @since 0.1.0
 */
export const listener = (context: Context.Context<never>): Listener | undefined => {
  const options = Context.get(context, Telemetry)
  const tracer = Context.getOrUndefined(context, Tracer.Tracer)
  const spans = options.spans === "on" ||
    (options.spans === "auto" && tracer !== undefined && tracer !== Tracer.nativeTracer)
  return spans || options.metrics !== undefined ? makeListener(context, options, spans) : undefined
}

const makeListener = (context: Context.Context<never>, options: Recording, spans: boolean): Listener => {
  const { metrics } = options
  const observe = <A, E>(
    kind: Kind,
    effect: Effect.Effect<A, E>,
    operation: Operation,
    trace: Pick<Tracer.SpanOptions, "parent" | "links">,
    faultOf: (error: E | undefined) => string
  ): Effect.Effect<A, E> => {
    const target = targetOf(operation)
    const run = (span: Tracer.Span | undefined): Effect.Effect<A, E> =>
      Effect.suspend(() => {
        const clock = Context.get(context, Clock.Clock)
        const start = clock.monotonicTimeNanosUnsafe()
        metrics?.requests(kind, 1, context)
        return Effect.onExit(
          span === undefined ? effect : Effect.withParentSpan(effect, span, { captureStackTrace: false }),
          (exit) =>
            Effect.sync(() => {
              const fault = faultOfExit(exit, faultOf)
              if (span !== undefined) endSpan(span, clock, fault)
              if (metrics === undefined) return
              metrics.requests(kind, -1, context)
              metrics.request(kind, secondsSince(clock, start), { operation, target, fault }, context)
            })
        )
      })
    if (!spans) return run(undefined)
    const name = target === undefined ? operation.method : `${operation.method} ${target.name}`
    const attributes = attributesOf(operation, target, options)
    return Effect.flatMap(Effect.makeSpan(name, { kind, attributes, ...trace }), run)
  }

  return {
    serve: (effect, operation, facts) =>
      observe("server", effect, operation, spans ? traceOf(operation, facts) : {}, faultOfServer(operation.revision)),
    call: (effect, operation) => observe("client", effect, operation, {}, faultOfPeer),
    session: (role, revision) => {
      if (metrics === undefined) return () => {}
      const clock = Context.get(context, Clock.Clock)
      const start = clock.monotonicTimeNanosUnsafe()
      metrics.sessions(role, 1, context)
      return (reason) => {
        metrics.sessions(role, -1, context)
        metrics.session(role, secondsSince(clock, start), { revision: revision(), reason }, context)
      }
    }
  }
}

const targetOf = (operation: Operation): Target | undefined => {
  const name = operation.params?.["name"]
  if (typeof name !== "string") return undefined
  switch (operation.method) {
    case Methods.ToolsCall.name:
      return { key: "gen_ai.tool.name", name }
    case Methods.PromptsGet.name:
      return { key: "gen_ai.prompt.name", name }
    default:
      return undefined
  }
}

const attributesOf = (
  operation: Operation,
  target: Target | undefined,
  options: Recording
): Record<string, string> => {
  const { id, method, revision, sessionId, transport } = operation
  const attributes: Record<string, string> = { "mcp.method.name": method, ...versionOf(revision) }
  if (target !== undefined) attributes[target.key] = target.name
  if (method === Methods.ToolsCall.name) attributes["gen_ai.operation.name"] = "execute_tool"
  if (id !== undefined) attributes["jsonrpc.request.id"] = String(id)
  if (sessionId !== undefined && options.sessionId) attributes["mcp.session.id"] = sessionId
  if (transport === "stdio") attributes["network.transport"] = "pipe"
  if (transport === "http") attributes["network.transport"] = "tcp"
  return attributes
}

const traceOf = (operation: Operation, facts: Facts): Pick<Tracer.SpanOptions, "parent" | "links"> => {
  const around = Fiber.getCurrent()?.cache.span
  const sent = Meta.trace(operation.params) ?? (around === undefined ? headerTrace(facts) : undefined)
  if (sent === undefined) return around === undefined ? {} : { parent: around }
  const parent = Tracer.externalSpan({ traceId: sent.traceId, spanId: sent.spanId, sampled: sent.sampled })
  return around === undefined || around.spanId === sent.spanId
    ? { parent }
    : { parent, links: [{ span: around, attributes: {} }] }
}

const headerTrace = (facts: Facts): ReturnType<typeof TraceContext.parseParent> =>
  facts.headers === undefined ? undefined : TraceContext.parseParent(facts.headers["traceparent"])

const jsonRpcCode = /^-?\d+$/

const faultOfExit = <A, E>(exit: Exit.Exit<A, E>, faultOf: (error: E | undefined) => string): Fault | undefined => {
  if (Exit.isSuccess(exit)) {
    return JsonRpc.isJsonObject(exit.value) && exit.value["isError"] === true
      ? { type: "tool_error", code: undefined }
      : undefined
  }
  if (Cause.hasInterruptsOnly(exit.cause)) {
    // A request that asks its client has not failed: it comes again with the answers.
    return Suspended.isSuspended(exit.cause) ? undefined : { type: "cancelled", code: undefined }
  }
  const error = Cause.findError(exit.cause)
  const type = Result.isSuccess(error) ? faultOf(error.success) : faultOf(undefined)
  return { type, code: jsonRpcCode.test(type) ? type : undefined }
}

/** A defect is `undefined` here and an internal error to the peer. */
const faultOfServer = (revision: Revision | undefined) => (error: McpError.McpError | undefined): string =>
  error === undefined
    ? String(Codes.internalError)
    : revision === undefined
    ? error._tag
    : String(McpError.toWire(error, revision).code)

const faultOfPeer = (error: PeerFailure | undefined): string => {
  if (error === undefined) return "_OTHER"
  switch (error._tag) {
    case "PeerError":
      return String(error.code)
    case "RequestTimeout":
      return "timeout"
    default:
      return error._tag
  }
}

/** A span ends with the kind of its failure: causes and messages may hold what the request said. */
const endSpan = (span: Tracer.Span, clock: Clock.Clock, fault: Fault | undefined): void => {
  if (fault !== undefined) span.attribute("error.type", fault.type)
  if (fault?.code !== undefined) span.attribute("rpc.response.status_code", fault.code)
  const exit = fault === undefined
    ? Exit.void
    : fault.type === "cancelled"
    ? Exit.interrupt()
    : Exit.fail(fault.type)
  span.end(clock.currentTimeNanosUnsafe(), exit)
}

const secondsSince = (clock: Clock.Clock, start: bigint): number =>
  Number(clock.monotonicTimeNanosUnsafe() - start) / 1_000_000_000
