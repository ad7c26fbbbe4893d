/** Standard streams in memory, in lines of JSON. */
import { Effect, Queue, Sink, Stdio, Stream } from "effect"
import type { Json } from "./harness.ts"

export const streams = Effect.gen(function*() {
  const input = yield* Queue.unbounded<Uint8Array, "end">()
  const lines: Array<Json> = []
  const stdio = Stdio.layerTest({
    stdin: Stream.fromQueue(input).pipe(Stream.catch(() => Stream.empty)),
    stdout: () =>
      Sink.forEach((chunk) =>
        Effect.sync(() => {
          const written = typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk)
          for (const line of written.split("\n")) if (line !== "") lines.push(JSON.parse(line))
        })
      )
  })
  const send = (message: Json) => Queue.offer(input, new TextEncoder().encode(`${JSON.stringify(message)}\n`))
  return { stdio, lines, send, end: Queue.fail(input, "end" as const) }
})
