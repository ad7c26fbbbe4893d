/** What the servers of mcpfx offer, whatever listens for them. */
import * as Resource from "@mcpfx/schema/Resource"
import * as Tool from "@mcpfx/schema/Tool"
import * as Input from "@mcpfx/server/Input"
import * as McpServer from "@mcpfx/server/McpServer"
import * as Middleware from "@mcpfx/server/Middleware"
import * as Progress from "@mcpfx/session/Progress"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { hello, question, resource } from "../texts.ts"
import { descriptions, fillerNames, info, layers, mostListeners, start, steps } from "../tools.ts"

const Add = Tool.make("add", { description: descriptions.add, input: { a: Schema.Finite, b: Schema.Finite } })
const Echo = Tool.make("echo", { description: descriptions.echo, input: { text: Schema.String } })
const Steps = Tool.make("progress", { description: descriptions.progress })
const Ask = Tool.make("ask", { description: descriptions.ask, asks: ["elicitation.form"] })
const Sleep = Tool.make("sleep", { description: descriptions.sleep, input: { ms: Schema.Finite } })
const Touch = Tool.make("touch", { description: descriptions.touch })
const Text = Resource.make(resource.uri, { name: resource.name, mimeType: resource.mimeType })

const fillerInput = {
  query: Schema.String.annotate({ description: "What to look for" }),
  limit: Schema.Int.annotate({ description: "How many at most" }),
  tags: Schema.optionalKey(
    Schema.Array(Schema.String).annotate({ description: "Only documents with all of these" })
  ),
  drafts: Schema.optionalKey(Schema.Boolean.annotate({ description: "Whether drafts count" }))
}
const fillers = fillerNames.map((name) =>
  McpServer.tool(
    Tool.make(name, { description: descriptions.filler, input: fillerInput }),
    ({ query }) => Effect.succeed(query)
  )
)

const Name = Schema.Struct({ name: Schema.String })

const Extras = Layer.mergeAll(
  McpServer.tool(Ask, () => Effect.map(Input.elicit(question.message, Name), ({ name }) => hello(name))),
  McpServer.tool(Sleep, ({ ms }) => Effect.as(Effect.sleep(ms), "done")),
  McpServer.tool(Touch, () => Effect.as(McpServer.resourceUpdated(resource.uri), "done")),
  McpServer.resource(Text, resource.text)
)

const around = layers.map((layer) => Middleware.make()(`layer ${layer}`, (next, call) => next(call)))

export const Registrations = Layer.mergeAll(
  McpServer.tool(Add, ({ a, b }) => Effect.succeed(String(a + b))),
  McpServer.tool(Echo, ({ text }) => Effect.succeed(text)),
  McpServer.tool(
    Steps,
    Effect.fnUntraced(function*() {
      for (const progress of steps) yield* Progress.report({ progress, total: 3 })
      return "done"
    })
  ),
  start.extras ? Extras : Layer.empty,
  ...fillers
).pipe(Middleware.apply(...around))

export const options = {
  ...info,
  pageSize: 1000,
  ...(start.extras ? { limits: { listenStreams: mostListeners } } : undefined)
}
