import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Revisions from "@mcpfx/schema/Revisions"
import * as Session from "../src/Session.ts"
import * as Sessions from "../src/Sessions.ts"
const factory = Layer.succeed(Sessions.SessionFactory, { make: (seed) => Session.make({ ...seed, role: "server", revisions: Revisions.all, handler: { request: () => Effect.succeed({}), notification: () => Effect.void } }) })
const l = Sessions.layerMemory.pipe(Layer.provide(Layer.merge(factory, SecureRandom.layerWebCrypto)))
const N = Number(process.argv[2])
let t = performance.now(); const lap = (s: string) => { const n = performance.now(); console.log(s, (n - t).toFixed(0), "ms"); t = n }
await Effect.runPromise(Effect.scoped(Effect.gen(function*() {
  const s = yield* Sessions.Sessions
  lap("start")
  globalThis.gc?.(); const h0 = process.memoryUsage().heapUsed
  for (let i = 0; i < N; i++) yield* s.open({ principalKey: "" })
  lap("open")
  globalThis.gc?.(); console.log("bytes per session", ((process.memoryUsage().heapUsed - h0) / N).toFixed(0))
}).pipe(Effect.provide(l))))
lap("close")
