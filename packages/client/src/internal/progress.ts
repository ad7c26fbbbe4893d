/** The progress of a request as a stream. */
import type * as Progress from "@mcpfx/schema/Progress"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** How many reports wait for a reader before the session keeps them for it. */
const ahead = 16

type Report = (progress: Progress.Params) => Effect.Effect<void>

/**
 * How far a request has come, and at last what it gave.
 *
 * @category models
 * @since 0.1.0
 */
export type ProgressEvent<A> =
  | { readonly _tag: "Progress"; readonly progress: Progress.Params }
  | { readonly _tag: "Result"; readonly result: A }

/**
 * A request as a stream: its progress, in order, and its result last. Ending the stream early cancels the request on the
 * server.
 *
 * **Example** (A bar for a long call)
 *
 * ```ts
 * import { McpClient } from "@mcpfx/client"
 * import { Effect, Stream } from "effect"
 *
 * const index = Effect.gen(function*() {
 *   const client = yield* McpClient.McpClient
 *   const events = McpClient.progress((onProgress) => client.callTool("index", { path: "/" }, { onProgress }))
 *   yield* Stream.runForEach(events, (event) =>
 *     event._tag === "Progress"
 *       ? Effect.log(`${event.progress.progress} of ${event.progress.total ?? "?"}`)
 *       : Effect.log("done"))
 * })
 * ```
 *
 * @category progress
 * @since 0.1.0
 */
export const progress = <A, E, R>(
  run: (onProgress: Report) => Effect.Effect<A, E, R>
): Stream.Stream<ProgressEvent<A>, E, Exclude<R, Scope.Scope>> =>
  Stream.callback<ProgressEvent<A>, E, R>(
    (queue: Queue.Queue<ProgressEvent<A>, E | Cause.Done>) =>
      run((progress) => Effect.asVoid(Queue.offer(queue, { _tag: "Progress", progress }))).pipe(
        Effect.flatMap((result) => Queue.offer(queue, { _tag: "Result", result })),
        Effect.andThen(Queue.end(queue))
      ),
    { bufferSize: ahead, strategy: "suspend" }
  )

/** The progress of a request that is sent in rounds as that of one request: it never goes back from one round to the next. */
export class OneStream {
  private readonly onProgress: Report
  private token: Progress.Params["progressToken"] | undefined = undefined
  private floor: number | undefined = undefined
  private last: number | undefined = undefined

  constructor(onProgress: Report) {
    this.onProgress = onProgress
  }

  nextRound(): void {
    this.floor = this.last
  }

  readonly report: Report = (params) => {
    const { progress } = params
    if (this.floor !== undefined && progress <= this.floor) return Effect.void
    this.last = this.last === undefined ? progress : Math.max(this.last, progress)
    // One request has one token to its caller, however many it has on the wire.
    const progressToken = this.token ??= params.progressToken
    return this.onProgress(progressToken === params.progressToken ? params : { ...params, progressToken })
  }
}
