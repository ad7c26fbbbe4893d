import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Endpoint from "../src/Endpoint.ts"
import * as StreamableHttpServer from "../src/StreamableHttpServer.ts"
const admitted = Effect.succeed({})
export const app = (kind: string) => {
  const answer = (m: any) => JsonRpc.success(m.id, { content: [{ type: "text", text: m.params.arguments.text }] })
  const sync = Layer.succeed(Endpoint.Endpoint, {
    handle: ({ message, outlet }: any) => { outlet.answer(answer(message)); return admitted },
    admitBatch: () => Effect.void, attach: () => Effect.void, terminate: () => Effect.void
  } as any)
  const run = Effect.runForkWith({ mapUnsafe: new Map() } as any)
  const async_ = Layer.succeed(Endpoint.Endpoint, {
    handle: ({ message, outlet }: any) => { setImmediate(() => outlet.answer(answer(message))); return admitted },
    admitBatch: () => Effect.void, attach: () => Effect.void, terminate: () => Effect.void
  } as any)
  const note = (i: number) => JsonRpc.notification("notifications/progress", { progressToken: 1, progress: i })
  const sse = Layer.succeed(Endpoint.Endpoint, {
    handle: ({ message, outlet }: any) => { Effect.runFork(Effect.gen(function*() { for (let i = 0; i < 3; i++) yield* outlet.push(note(i)); outlet.answer(answer(message)) })); return admitted },
    admitBatch: () => Effect.void, attach: () => Effect.void, terminate: () => Effect.void
  } as any)
  const sse2 = Layer.succeed(Endpoint.Endpoint, {
    handle: ({ message, outlet }: any) => { Effect.runFork(Effect.gen(function*() { for (let i = 0; i < 3; i++) { yield* Effect.yieldNow; yield* outlet.push(note(i)) } ; yield* Effect.yieldNow; outlet.answer(answer(message)) })); return admitted },
    admitBatch: () => Effect.void, attach: () => Effect.void, terminate: () => Effect.void
  } as any)
  return StreamableHttpServer.routes().pipe(Layer.provide(kind.endsWith("async") ? async_ : kind.endsWith("sse2") ? sse2 : kind.endsWith("sse") ? sse : sync)) as any
}
