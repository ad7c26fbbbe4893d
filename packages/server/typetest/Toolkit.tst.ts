import { RequestContext } from "@mcpfx/session/RequestContext"
import { Context, Effect, Layer, Schema } from "effect"
import { Tool, Toolkit as AiToolkit } from "effect/ai"
import { expect, test } from "tstyche"
import type { Registry } from "../src/Registry.ts"
import type { DuplicateEntry } from "../src/ServerError.ts"
import * as Toolkit from "../src/Toolkit.ts"

class Db extends Context.Service<Db, { readonly name: string }>()("Db") {}

const tools = AiToolkit.make(
  Tool.make("weather", { parameters: Schema.Struct({ city: Schema.String }), success: Schema.String }),
  Tool.make("db", { success: Schema.String, dependencies: [Db, RequestContext] })
)

test("a toolkit needs its handlers and the dependencies of its tools, but not what a request brings", () => {
  expect(Toolkit.toolkit(tools)).type.toBe<
    Layer.Layer<never, DuplicateEntry, Registry | Tool.Handler<"weather"> | Tool.Handler<"db"> | Db>
  >()
  const handlers = tools.toLayer({
    weather: ({ city }) => Effect.succeed(city),
    db: () => Effect.map(Db, ({ name }) => name)
  })
  const live = Toolkit.toolkit(tools).pipe(Layer.provide(handlers), Layer.provide(Layer.succeed(Db, { name: "x" })))
  expect(live).type.toBe<Layer.Layer<never, DuplicateEntry, Registry>>()
})
