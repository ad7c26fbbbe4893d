import * as Tool from "@mcpfx/schema/Tool"
import * as McpServer from "@mcpfx/server/McpServer"
import * as Middleware from "@mcpfx/server/Middleware"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Messages from "../../messages.ts"
import { factsOf, hand, serve, Sink, verify } from "../endpoint.ts"
import { inProcess, type Series } from "../series.ts"

const Add = Tool.make("add", { input: { a: Schema.Finite, b: Schema.Finite } })

export const middlewareSeries: ReadonlyArray<Series> = [{
  id: "middleware",
  title: "a call, behind so many middlewares that only pass it on",
  shape: "linear",
  effort: inProcess,
  sizes: [0, 1, 2, 4, 8, 16],
  make: async (size) => {
    let registrations = McpServer.tool(Add, ({ a, b }) => Effect.succeed(String(a + b)))
    for (let depth = 0; depth < size; depth++) {
      const pass = Middleware.make()(`pass-${depth}`, (next, call) => next(call))
      registrations = registrations.pipe(Middleware.apply(pass))
    }
    const server = await serve(registrations)
    const text = Messages.add("2026-07-28").body(1)
    const [facts, sink] = [factsOf(), new Sink()]
    verify(server, text, facts, "\"text\":\"2\"")
    return {
      run: (times) => {
        for (let i = 0; i < times; i++) hand(server, text, facts, sink)
      },
      stop: server.stop
    }
  }
}]
