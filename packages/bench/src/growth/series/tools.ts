import * as Tool from "@mcpfx/schema/Tool"
import * as McpServer from "@mcpfx/server/McpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Messages from "../../messages.ts"
import { descriptions } from "../../tools.ts"
import { inTurn } from "../adding.ts"
import { factsOf, hand, serve, verify } from "../endpoint.ts"
import { type Bench, inProcess, type Series } from "../series.ts"

const nameOf = (index: number): string => `add_${String(index).padStart(5, "0")}`

const registrations = (count: number) =>
  Layer.mergeAll(
    Layer.empty,
    ...Array.from({ length: count }, (_, index) =>
      McpServer.tool(
        Tool.make(nameOf(index), {
          description: descriptions.add,
          input: { a: Schema.Finite, b: Schema.Finite }
        }),
        ({ a, b }) => Effect.succeed(String(a + b))
      ))
  )

const add = Messages.add("2026-07-28")
const call = (name: string, id: number): string => add.body(id).replace("\"name\":\"add\"", `"name":"${name}"`)

/** Calls of the tools in `names`, one after the other. */
const calling = async (size: number, names: ReadonlyArray<string>): Promise<Bench> => {
  const server = await serve(registrations(size))
  const facts = factsOf()
  const texts = names.map((name, index) => call(name, index + 1))
  for (const [index, text] of texts.entries()) verify(server, text, facts, `"text":"${index + 2}"`)
  return inTurn(server, texts, (text, sink) => hand(server, text, facts, sink))
}

const sizes = [1, 10, 100, 1000, 10_000]

export const toolSeries: ReadonlyArray<Series> = [
  {
    id: "tools",
    title: "a call, with so many tools registered",
    shape: "flat",
    effort: inProcess,
    sizes,
    make: (size) => calling(size, [nameOf(Math.floor(size / 2))])
  },
  // Each call needs what no call has needed for a while: with more than a few tools that comes from ever slower memory.
  {
    id: "tools-all",
    title: "a call of each of so many tools in turn",
    shape: "shown",
    effort: inProcess,
    sizes,
    make: (size) => calling(size, Array.from({ length: size }, (_, index) => nameOf(index)))
  }
]
