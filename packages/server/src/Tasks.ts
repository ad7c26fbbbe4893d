/**
 * Tools whose work outlives the call: the tasks of 2025-11-25 and of the extension `io.modelcontextprotocol/tasks` on
 * 2026-07-28, for one and the same handler.
 *
 * A contract says with `task` whether calls may or must run as tasks. Then the caller has a handle at once, and the handler
 * runs in a fiber of the endpoint: it goes on when the client leaves, and ends when it is cancelled, when the time of the task
 * is over or with the endpoint. What it asks of the user waits until the client comes for it; how far it has come is the
 * status of the task, its result is kept until its time is over. Clients that know no tasks wait for the answer as ever.
 *
 * Tasks are kept in memory unless a `TaskStore` is provided to the endpoint. They belong to the caller who was authenticated;
 * callers nobody authenticated have the id of a task, which cannot be guessed, for a key to it, and over HTTP no list of tasks.
 *
 * **Example** (A report that takes its time)
 *
 * ```ts
 * import { Tool } from "@mcpfx/schema"
 * import { McpServer } from "@mcpfx/server"
 * import { Progress } from "@mcpfx/session"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Report = Tool.make("report", { input: { year: Schema.Int }, task: "may" })
 * const ReportLive = McpServer.tool(Report, ({ year }) =>
 *   Effect.gen(function*() {
 *     yield* Progress.report({ progress: 1, total: 12, message: "January" })
 *     return `all of ${year}`
 *   }), { task: { ttl: "2 hours" } })
 * Layer.isLayer(ReportLive) // => true
 * ```
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { CurrentTask } from "./internal/currentTask.ts"
import { TaskPart } from "./internal/parts.ts"
import { make } from "./internal/tasks.ts"

export { CurrentTask, type Running } from "./internal/currentTask.ts"

/**
 * How calls of one tool run as tasks, where its contract lets them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * When a call of 2026-07-28 becomes a task: `at-once`, the default, before the handler begins, so that whatever it asks is
   * asked of the task; `when-told`, where the handler says {@link detach}: until then it asks as in any call (TKX-16), and a
   * call that ends before never becomes one.
   */
  readonly start?: "at-once" | "when-told" | undefined
  /** How long a task is kept from its beginning; one that still runs then ends. The limit `taskTtl` by default. */
  readonly ttl?: Duration.Input | undefined
  /** How long clients are told to wait between two looks; the limit `taskPollInterval` by default. */
  readonly pollInterval?: Duration.Input | undefined
  /** What the model may be told on 2025-11-25 while the task runs (HST-03). */
  readonly immediateResponse?: string | undefined
}

/**
 * What runs tasks. `McpServer` and `McpHttp` bring it; a server that is put together with `McpStdio` is given it where the
 * contract of a tool says `task`, and does not start without.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never> = Layer.succeed(TaskPart, make)

/**
 * The id of the task that the current handler runs as, if it does.
 *
 * @category getters
 * @since 0.1.0
 */
export const id: Effect.Effect<Option.Option<string>> = Effect.map(
  CurrentTask,
  (task) => Option.fromUndefinedOr(task?.id())
)

/**
 * From here on the call is a task: the client has its handle, and the handler goes on. Does nothing where it is one already,
 * and where the client cannot have one: then it waits for the answer.
 *
 * For tools that are registered with `task: { start: "when-told" }`, on 2026-07-28.
 *
 * **Example** (Asking before the work begins)
 *
 * ```ts
 * import { Tool } from "@mcpfx/schema"
 * import { McpServer, Tasks } from "@mcpfx/server"
 * import { Effect, Layer } from "effect"
 *
 * const Rebuild = Tool.make("rebuild", { task: "may" })
 * const RebuildLive = McpServer.tool(Rebuild, () =>
 *   Effect.gen(function*() {
 *     // questions here are part of the call
 *     yield* Tasks.detach
 *     yield* Effect.sleep("10 minutes")
 *     return "rebuilt"
 *   }), { task: { start: "when-told" } })
 * Layer.isLayer(RebuildLive) // => true
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const detach: Effect.Effect<void> = Effect.flatMap(CurrentTask, (task) => task?.detach ?? Effect.void)
