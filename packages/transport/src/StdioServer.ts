/**
 * Serves one client over a pair of byte streams, one message a line: standard input and output, or any others (STD-17).
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import type { Endpoint } from "./Endpoint.ts"
import { LineReader } from "./Framing.ts"
import { peek } from "./internal/peek.ts"
import * as Refusals from "./internal/refusals.ts"
import * as Wire from "./internal/wire.ts"
import * as Limits from "./Limits.ts"
import { TransportClosed } from "./TransportError.ts"

/**
 * Two byte streams.
 *
 * @category models
 * @since 0.1.0
 */
export interface Streams<EI = never, EO = never> {
  /** What the client sends; its end is the end of the connection. */
  readonly input: Stream.Stream<Uint8Array, EI>
  /** Where the answers go; its end, or its failure, ends the connection too. */
  readonly output: Sink.Sink<unknown, string, unknown, EO>
}

const closedBy = (reason: string): TransportClosed => new TransportClosed({ reason })

const makeReader = (wire: Wire.Wire, maxBytes: number): LineReader =>
  new LineReader({
    maxBytes,
    onLine: (line) => wire.inbound.accept(line),
    onTooLong: (bytes, head) => {
      const { id, response } = peek(head)
      if (!response) wire.inbound.refuse("", Refusals.messageTooLarge(bytes, maxBytes), id)
    },
    onInvalid: () => wire.inbound.refuse("", Refusals.encodingError)
  })

/**
 * Serves `endpoint` until the input ends, and succeeds when the requests in flight are answered and written (SHT-01 of
 * field practice). It never fails: an input or output that breaks is the end of the connection (FRM-07 of field practice).
 *
 * - Lines that are no messages are answered with -32700 or -32600 and do no harm (FRM-06 of field practice); so are lines past
 *   `Limits.stdioMessageIn`, of which nothing is kept.
 * - Reading pauses while `Limits.outgoingMessages` answers, or `Limits.outgoingBytes` of them, wait to be written; a client
 *   that takes nothing for `Limits.deadReader` is given up.
 * - At the end of the input requests have `Limits.drain` to finish; interruption ends at once, but for `Limits.lastWrite` for
 *   the answers that are ready.
 *
 * @category serving
 * @since 0.1.0
 */
export const serve: <EI, EO>(endpoint: Endpoint["Service"], streams: Streams<EI, EO>) => Effect.Effect<void> = Effect
  .fnUntraced(function*(endpoint, streams) {
    const limits = yield* Limits.Limits
    const wire = yield* Wire.make({
      transport: "stdio",
      endpoint,
      limits,
      maxOut: limits.stdioMessageOut,
      unreadable: "answer"
    })
    const reader = makeReader(wire, limits.stdioMessageIn)
    const outbox = wire.outbox
    let ended = false

    const write = Effect.ensuring(
      Effect.exit(Stream.run(outbox.stream, streams.output)),
      Effect.sync(() => wire.close(closedBy(ended ? "The input ended" : "The output was closed")))
    )

    const read = Stream.runForEachArray(streams.input, (chunks) => {
      // All answers to what was read at once go out in one write.
      outbox.cork()
      for (const chunk of chunks) reader.push(chunk)
      outbox.uncork()
      return wire.unsettled ? wire.settle : Effect.void
    })

    yield* Effect.scoped(Effect.gen(function*() {
      yield* Effect.addFinalizer(() => Effect.sync(() => wire.close(closedBy("The server stopped"))))
      const writer = yield* Effect.forkScoped(write)
      yield* Effect.forkScoped(outbox.watch)
      // An interrupted server still writes what is ready, as far as it is taken at once.
      yield* Effect.addFinalizer(() => {
        outbox.end()
        return Effect.raceFirst(Effect.timeoutOption(Fiber.await(writer), limits.lastWrite), wire.closed)
      })
      const connection = Effect.gen(function*() {
        yield* Effect.catch(read, (cause) => Effect.logDebug("The input broke", cause))
        reader.end()
        yield* wire.settle
        yield* Effect.timeoutOption(wire.drained, limits.drain)
        wire.abandon()
        ended = true
        outbox.end()
        yield* Fiber.await(writer)
      })
      yield* Effect.raceFirst(connection, wire.closed)
    }))
  })

/**
 * {@link serve} over the standard streams of the process. Standard output is left open, and must not be written to by
 * anything else (STD-02).
 *
 * **Example** (A server that knows `ping`)
 *
 * ```ts
 * import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
 * import * as NodeServices from "@effect/platform-node/NodeServices"
 * import { JsonRpc } from "@mcpfx/schema"
 * import { StdioServer } from "@mcpfx/transport"
 * import { Effect } from "effect"
 *
 * const program = StdioServer.run({
 *   handle: ({ message, outlet }) => {
 *     if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.success(message.id, {}))
 *     return Effect.succeed({})
 *   },
 *   admitBatch: () => Effect.void,
 *   attach: () => Effect.void,
 *   terminate: () => Effect.void
 * })
 * NodeRuntime.runMain(Effect.provide(program, NodeServices.layer))
 * ```
 *
 * @category serving
 * @since 0.1.0
 */
export const run = (endpoint: Endpoint["Service"]): Effect.Effect<void, never, Stdio.Stdio> =>
  Effect.flatMap(
    Stdio.Stdio,
    (stdio) => serve(endpoint, { input: stdio.stdin, output: stdio.stdout({ endOnDone: false }) })
  )
