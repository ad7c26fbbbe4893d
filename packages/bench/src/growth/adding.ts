/** The tool that the series call, and calls of it at an endpoint. */
import * as Tool from "@mcpfx/schema/Tool"
import * as McpServer from "@mcpfx/server/McpServer"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Messages from "../messages.ts"
import { factsOf, hand, type Server, Sink, verify } from "./endpoint.ts"
import type { Bench } from "./series.ts"

const contract = Tool.make("add", { input: { a: Schema.Finite, b: Schema.Finite } })

export const adding = McpServer.tool(contract, ({ a, b }) => Effect.succeed(String(a + b)))

/** Sends for one of `all` after the other, and again from the first, for as long as it is measured. */
export const inTurn = <A>(server: Server, all: ReadonlyArray<A>, send: (one: A, sink: Sink) => void): Bench => {
  const sink = new Sink()
  let next = 0
  return {
    run: (times) => {
      for (let i = 0; i < times; i++) {
        const one = all[next]
        if (one !== undefined) send(one, sink)
        if (++next === all.length) next = 0
      }
    },
    stop: server.stop
  }
}

/** The same call again and again, on the revision without sessions. */
export const addingAgain = (server: Server): Bench => {
  const text = Messages.add("2026-07-28").body(1)
  const facts = factsOf()
  verify(server, text, facts, "\"text\":\"2\"")
  return inTurn(server, [text], (text, sink) => hand(server, text, facts, sink))
}
