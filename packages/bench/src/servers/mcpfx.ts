import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Tool from "@mcpfx/schema/Tool"
import * as McpServer from "@mcpfx/server/McpServer"
import * as Progress from "@mcpfx/session/Progress"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"
import { descriptions, fillerNames, info, listening, start, steps } from "../tools.ts"

const Add = Tool.make("add", { description: descriptions.add, input: { a: Schema.Finite, b: Schema.Finite } })
const Echo = Tool.make("echo", { description: descriptions.echo, input: { text: Schema.String } })
const Steps = Tool.make("progress", { description: descriptions.progress })

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

const Registrations = Layer.mergeAll(
  McpServer.tool(Add, ({ a, b }) => Effect.succeed(String(a + b))),
  McpServer.tool(Echo, ({ text }) => Effect.succeed(text)),
  McpServer.tool(
    Steps,
    Effect.fnUntraced(function*() {
      for (const progress of steps) yield* Progress.report({ progress, total: 3 })
      return "done"
    })
  ),
  ...fillers
)

const options = { ...info, pageSize: 1000 }

const Listening = Layer.effectDiscard(Effect.map(HttpServer.HttpServer, ({ address }) => {
  if ("port" in address) listening(address.port)
}))

const Http = HttpRouter.serve(McpServer.layerHttp(Registrations, options), {
  disableListenLog: true,
  disableLogger: true
}).pipe(
  Layer.merge(Listening),
  Layer.provide(NodeHttpServer.layer(createServer, { port: start.port, host: "127.0.0.1" }))
)

if (start.transport === "http") NodeRuntime.runMain(Layer.launch(Http))
else NodeRuntime.runMain(Effect.provide(McpServer.runStdio(Registrations, options), NodeServices.layer))
