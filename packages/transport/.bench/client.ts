import { fork } from "node:child_process"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as StreamableHttpClient from "../src/StreamableHttpClient.ts"
const port = 43500 + Math.floor(Math.random() * 500)
const child = fork(new URL("./servers.ts", import.meta.url).pathname, ["bare", String(port)])
await new Promise((r) => child.once("message", r))
const msg = { jsonrpc: "2.0", id: 12, method: "tools/call", params: { name: "echo", arguments: { text: "hello there" } } } as any
const N = 4000, C = 16
const url = `http://127.0.0.1:${port}/mcp`
const bench = async (name: string, one: () => Promise<unknown>) => {
  const go = async (n: number) => { let left = n; await Promise.all(Array.from({ length: C }, async () => { while (left-- > 0) await one() })) }
  await go(1000)
  const res: number[] = []
  for (let r = 0; r < 4; r++) { const a = process.cpuUsage(); await go(N); const b = process.cpuUsage(a); res.push((b.user + b.system) / N) }
  console.log(name.padEnd(20), res.map((x) => x.toFixed(1)).join(" "), "us")
}
await bench("raw fetch", () => fetch(url, { method: "POST", headers: { "content-type": "application/json", accept: "application/json, text/event-stream" }, body: JSON.stringify(msg) }).then((r) => r.json()))
const mk = async (layer: Layer.Layer<HttpClient.HttpClient>) => {
  let got = 0
  const scope = Effect.runSync(Effect.scope.pipe(Effect.scoped))
  const prog = Effect.gen(function*() {
    const t = yield* StreamableHttpClient.make({ url })
    return yield* t.connect({ handle: () => { got++; return Effect.succeed({}) } } as any)
  })
  const S = await import("effect/Scope")
  const sc = S.makeUnsafe()
  const ctx = await Effect.runPromise(Layer.buildWithScope(layer, sc) as any)
  const link = await Effect.runPromise(S.provide(Effect.provideContext(prog as any, ctx as any) as any, sc) as any) as any
  return link
}
const raw = async (layer: any) => { const S = await import("effect/Scope"); const ctx: any = await Effect.runPromise(Layer.buildWithScope(layer, S.makeUnsafe()) as any); const HCR = await import("effect/http/HttpClientRequest"); const Ctx = await import("effect/Context"); const c: any = Ctx.get(ctx, HttpClient.HttpClient as any); return () => Effect.runPromise(Effect.flatMap(c.execute(HCR.bodyJsonUnsafe(HCR.post(url), msg)), (r: any) => r.json) as any) }
await bench("effect fetch", await raw(FetchHttpClient.layer))
const f = await mk(FetchHttpClient.layer)
await bench("ours fetch", () => Effect.runPromise(f.send(msg)))
await bench("effect undici", await raw(NodeHttpClient.layerUndici))
const u = await mk(NodeHttpClient.layerUndici)
await bench("ours undici", () => Effect.runPromise(u.send(msg)))
await bench("effect node:http", await raw(NodeHttpClient.layerNodeHttp))
const h = await mk(NodeHttpClient.layerNodeHttp)
await bench("ours node:http", () => Effect.runPromise(h.send(msg)))
process.exit(0)
