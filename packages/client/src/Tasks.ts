/**
 * Calls whose work outlives them: the tasks of 2025-11-25, and of the extension `io.modelcontextprotocol/tasks` on 2026-07-28.
 *
 * `client.callTask` gives a handle instead of waiting: the handle knows how the task stands, waits for its result and cancels
 * it, and its id finds the task again later, from another client too. What a task asks while it is waited for is answered by
 * the handlers of the client.
 *
 * With the option `tasks` the extension is announced on 2026-07-28. Then a server may answer any call with a task (TKX-03), and
 * `client.call` waits for it: it looks no different from a call that takes long, and interrupting it cancels the task.
 *
 * **Example** (A report that is fetched later)
 *
 * ```ts
 * import { McpClient } from "@mcpfx/client"
 * import { Tool } from "@mcpfx/schema"
 * import { Effect, Schema } from "effect"
 *
 * const Report = Tool.make("report", { input: { year: Schema.Int }, output: { pages: Schema.Int }, task: "may" })
 *
 * const program = Effect.gen(function*() {
 *   const client = yield* McpClient.McpClient
 *   const task = yield* client.callTask(Report, { year: 2026 })
 *   yield* Effect.log(`the report is ${task.id ?? "done"}`)
 *   const { pages } = yield* task.wait
 *   return pages
 * })
 * ```
 *
 * @since 0.1.0
 */
import type * as Task from "@mcpfx/schema/Task"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { McpClientError } from "./McpClientError.ts"

/**
 * How a client deals with tasks.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** How long to wait for the end of a task, whatever its time; 24 hours by default. Past it, `TimedOut`. */
  readonly timeout?: Duration.Input | undefined
  /** The shortest time between two looks, whatever the server says; 50 milliseconds by default. */
  readonly minPollInterval?: Duration.Input | undefined
  /**
   * Whether to listen for the status of tasks that are waited for, on 2026-07-28, which takes a stream each. On by default but
   * over HTTP. Tasks are looked at as often as the server says either way.
   */
  readonly listen?: boolean | undefined
  /**
   * Whether what the server asks, of the model and of the user, may run as tasks of this client, on 2025-11-25 (TKL-01). Off
   * by default.
   */
  readonly asks?: boolean | undefined
}

/**
 * A task, or what stands for one: a call that was answered at once.
 *
 * @category models
 * @since 0.1.0
 */
export interface Handle<out A, out E = never> {
  /** Finds the task again, by `client.task`; `undefined` where the server answered at once and there is no task. */
  readonly id: string | undefined
  /** How the task stands, asked for now; `undefined` where there is none. */
  readonly status: Effect.Effect<Task.Task | undefined, McpClientError>
  /** How the task stands, and each change of it that is seen, to its end. */
  readonly changes: Stream.Stream<Task.Task, McpClientError>
  /**
   * The result, once there is one. Answers meanwhile what the task asks. May be run again; interrupting it leaves the task
   * alone. A task that was cancelled is `TaskCancelled`, one that failed by an error of the protocol `Refused`.
   */
  readonly wait: Effect.Effect<A, McpClientError | E>
  /** Asks the server to cancel the task; one that has ended stays as it is. */
  readonly cancel: Effect.Effect<void, McpClientError>
}

/**
 * What a call as a task may be given besides the options of a request.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallOptions {
  /** How long the server should keep the task, on 2025-11-25; the server may say otherwise. */
  readonly ttl?: Duration.Input | undefined
}
