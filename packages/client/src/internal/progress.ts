/** The progress of a request as a stream. */
import type * as Progress from "@mcpfx/schema/Progress"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { ProgressEvent } from "../McpClient.ts"

/** How many reports wait for a reader before the session keeps them for it. */
const ahead = 16

type Report = (progress: Progress.Params) => Effect.Effect<void>

export const events = <A, E, R>(
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
