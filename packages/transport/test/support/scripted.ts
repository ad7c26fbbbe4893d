/** Endpoints that do as they are told, and what tests need around them. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { Admission, Endpoint, Rejected } from "@mcpfx/transport/Endpoint"
import type { Exchange } from "@mcpfx/transport/Exchange"
import { Effect, Exit, Queue, Sink, Stream } from "effect"

export const admitted: Exit.Exit<Admission> = Exit.succeed({})

/** An endpoint made of its `handle`. */
export const endpoint = (
  handle: Endpoint["Service"]["handle"],
  admitBatch: Endpoint["Service"]["admitBatch"] = () => Exit.void
): Endpoint["Service"] => ({
  handle,
  admitBatch,
  attach: () => Effect.void,
  terminate: () => Effect.void
})

/** Answers every request with its method and params, on the caller's stack. */
export const echo: Endpoint["Service"] = endpoint(({ message, outlet }) => {
  if (JsonRpc.isRequest(message)) {
    outlet.answer(JsonRpc.success(message.id, { method: message.method, params: message.params ?? {} }))
  }
  return admitted
})

/** Keeps every exchange it gets; requests stay open. */
export const keeper = (
  admission: (exchange: Exchange) => Effect.Effect<Admission, Rejected> = () => admitted
): { readonly exchanges: Array<Exchange>; readonly endpoint: Endpoint["Service"] } => {
  const exchanges: Array<Exchange> = []
  return {
    exchanges,
    endpoint: endpoint((exchange) => {
      exchanges.push(exchange)
      return admission(exchange)
    })
  }
}

const encoder = new TextEncoder()

/** Both ends of a pair of byte streams, held by the test. */
export const streams = Effect.gen(function*() {
  const input = yield* Queue.unbounded<Uint8Array, import("effect/Cause").Done>()
  const writes: Array<string> = []
  return {
    streams: {
      input: Stream.fromQueue(input),
      output: Sink.forEachArray((texts: ReadonlyArray<string>) => Effect.sync(() => void writes.push(texts.join(""))))
    },
    /** What was written, one entry a write. */
    writes,
    /** What was written, one entry a line, parsed. */
    received: (): Array<unknown> =>
      writes.join("").split("\n").filter((line) => line !== "").map((line): unknown => JSON.parse(line)),
    write: (text: string | Uint8Array) => Queue.offer(input, typeof text === "string" ? encoder.encode(text) : text),
    /** One line a message; texts as they are. */
    send: (...messages: ReadonlyArray<unknown>) =>
      Queue.offer(
        input,
        encoder.encode(messages.map((m) => `${typeof m === "string" ? m : JSON.stringify(m)}\n`).join(""))
      ),
    end: Queue.end(input)
  }
})

/** Lets every fiber run that can. */
export const settled: Effect.Effect<void> = Effect.forEach(Array.from({ length: 30 }), () => Effect.yieldNow, {
  discard: true
})
