import * as Tool from "@mcpfx/schema/ToolContract"
import { RequestContext } from "@mcpfx/session/RequestContext"
import { Context, Effect, Layer, Schema, Scope } from "effect"
import { layerMemory } from "../../src/ChangeBus.ts"
import { layer, Registry } from "../../src/Registry.ts"
import * as ServerTool from "../../src/ServerTool.ts"
import * as Middleware from "../../src/Middleware.ts"
class Db extends Context.Service<Db, { readonly name: string }>()("test/Db") {}
const Add = Tool.make("add", { input: { a: Schema.Finite, b: Schema.Finite }, output: { sum: Schema.Finite } })
const Echo = Tool.make("echo", { input: { text: Schema.String } })
const EchoLive = ServerTool.tool(Echo, ({ text }) => Effect.succeed(text))
const AddLive = ServerTool.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))
const DbT = ServerTool.tool(Tool.make("db"), () => Effect.map(Db, (d) => d.name)).pipe(Layer.provide(Layer.succeed(Db, { name: "x" })))
const many = Array.from({ length: 12 }, (_, i) => Context.Service<never, number>(`test/Many${i}`))
const DbMany = ServerTool.tool(Tool.make("many"), () => Effect.map(Effect.succeed("x"), (d) => d)).pipe(Layer.provide(Layer.succeedContext(many.reduce((c, k, i) => Context.add(c, k, i), Context.empty()))))
const Mw = ServerTool.tool(Tool.make("mw"), () => Effect.succeed("x")).pipe(Middleware.apply(Middleware.make()("x", (next, call) => next(call))))
const regs = Layer.mergeAll(EchoLive, AddLive, DbT, DbMany, Mw)
const program = Effect.gen(function*() {
  const ctx = yield* Layer.build(Layer.provideMerge(regs, Layer.provideMerge(layer, layerMemory)))
  const reg = Context.get(ctx, Registry)
  const scope = yield* Scope.make()
  const base = Context.merge(yield* Effect.context<never>(), ctx)
  const rc: any = { revision: { era: "legacy" } }
  const time = (label: string, n: number, f: () => void) => { for (let i = 0; i < n; i++) f(); let best = Infinity; for (let k = 0; k < 30; k++) { const t = process.cpuUsage(); const m = n / 10; for (let i = 0; i < m; i++) f(); const u = process.cpuUsage(t); best = Math.min(best, (u.user + u.system) * 1e3 / m) } console.log(label, Math.round(best), "ns") }
  const call = (name: string, args: any) => {
    const params = { name, arguments: args }
    return () => {
      const entry = reg.snapshot().tool(name)!
      const c = Context.add(Context.add(base, RequestContext, rc), Scope.Scope, scope)
      const f = Effect.runForkWith(c as any)(entry.run(params) as any)
      if (f.pollUnsafe() === undefined) throw new Error("async")
    }
  }
  const n = 200000
  for (let r = 0; r < 1; r++) {
    time("fork of succeed", n, () => { Effect.runForkWith(Context.add(Context.add(base, RequestContext, rc), Scope.Scope, scope) as any)(Effect.suspend(() => Effect.succeed(1))) })
    time("decode add", n, () => { Add.decodeInput({ a: 1, b: 2 }) })
    time("encode add", n, () => { Add.encodeOutput({ sum: 3 }) })
    time("echo", n, call("echo", { text: "hi" }))
    time("add", n, call("add", { a: 1, b: 2 }))
    time("db", n, call("db", {}))
    time("many", n, call("many", {}))
    time("mw", n, call("mw", {}))
  }
})
Effect.runPromise(Effect.scoped(program))
