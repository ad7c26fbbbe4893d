import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpSchema from "effect/ai/McpSchema"
import * as McpServer from "effect/ai/McpServer"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"
import { hello, question, resource } from "../texts.ts"
import { descriptions, fillerNames, info, layers, listening, start, steps } from "../tools.ts"

const Tools = Toolkit.make(
  Tool.make("add", {
    description: descriptions.add,
    parameters: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
    success: Schema.String
  }),
  Tool.make("echo", {
    description: descriptions.echo,
    parameters: Schema.Struct({ text: Schema.String }),
    success: Schema.String
  }),
  Tool.make("progress", {
    description: descriptions.progress,
    parameters: Tool.EmptyParams,
    success: Schema.String,
    dependencies: [McpSchema.McpRequestContext]
  })
)

const handlers = Effect.map(McpServer.McpServer, (server) => ({
  add: ({ a, b }: { readonly a: number; readonly b: number }) => Effect.succeed(String(a + b)),
  echo: ({ text }: { readonly text: string }) => Effect.succeed(text),
  progress: Effect.fnUntraced(function*() {
    const request = yield* McpSchema.McpRequestContext
    const progressToken = request.requestMetadata?.["progressToken"]
    if (typeof progressToken === "string" || typeof progressToken === "number") {
      for (const progress of steps) {
        yield* server.notifications["notifications/progress"]({ progressToken, progress, total: 3 })
      }
    }
    return "done"
  })
}))

const ToolsLive = McpServer.toolkit(Tools).pipe(Layer.provide(Tools.toLayer(handlers)))

const fillerParameters = Schema.Struct({
  query: Schema.String.annotate({ description: "What to look for" }),
  limit: Schema.Int.annotate({ description: "How many at most" }),
  tags: Schema.optionalKey(
    Schema.Array(Schema.String).annotate({ description: "Only documents with all of these" })
  ),
  drafts: Schema.optionalKey(Schema.Boolean.annotate({ description: "Whether drafts count" }))
})

const fillers = fillerNames.map((name) => {
  const kit = Toolkit.make(
    Tool.make(name, { description: descriptions.filler, parameters: fillerParameters, success: Schema.String })
  )
  return McpServer.toolkit(kit).pipe(
    Layer.provide(kit.toLayer({ [name]: ({ query }: { readonly query: string }) => Effect.succeed(query) }))
  )
})

const Extras = Toolkit.make(
  Tool.make("sleep", {
    description: descriptions.sleep,
    parameters: Schema.Struct({ ms: Schema.Finite }),
    success: Schema.String
  }),
  Tool.make("touch", { description: descriptions.touch, parameters: Tool.EmptyParams, success: Schema.String })
)

const extraHandlers = Effect.map(McpServer.McpServer, (server) => ({
  sleep: ({ ms }: { readonly ms: number }) => Effect.as(Effect.sleep(ms), "done"),
  touch: () => Effect.as(server.notifications["notifications/resources/updated"]({ uri: resource.uri }), "done")
}))

const ExtrasLive = McpServer.toolkit(Extras).pipe(Layer.provide(Extras.toLayer(extraHandlers)))

const Name = Schema.Struct({ name: Schema.String })

const greeting = (name: unknown) => new McpSchema.CallToolResult({ content: [{ type: "text", text: hello(name) }] })

/** Tools of a toolkit cannot ask for another round. */
const ask = Effect.gen(function*() {
  const { inputResponses, protocolVersion } = yield* McpSchema.McpRequestContext
  if (protocolVersion !== "2026-07-28") {
    const client = yield* Effect.serviceOption(McpSchema.McpServerClient)
    const asking = McpServer.elicit({ message: question.message, schema: Name })
    const { name } = yield* Effect.orDie(
      Effect.flatMap(
        Effect.fromOption(client),
        (client) => Effect.provideService(asking, McpSchema.McpServerClient, client)
      )
    )
    return greeting(name)
  }
  const answer = yield* Effect.orDie(
    Schema.decodeUnknownEffect(Schema.Struct({ content: Name }))(inputResponses?.["name"] ?? { content: { name: "" } })
  )
  return inputResponses === undefined
    ? new McpSchema.InputRequired({
      inputRequests: { name: { method: "elicitation/create", params: { mode: "form", ...question } } }
    })
    : greeting(answer.content.name)
})

const AskLive = Layer.effectDiscard(Effect.flatMap(McpServer.McpServer, (server) =>
  server.addTool({
    tool: new McpSchema.Tool({ name: "ask", description: descriptions.ask, inputSchema: { type: "object" } }),
    annotations: Context.empty(),
    handle: () => ask
  })))

const TextLive = McpServer.resource({
  uri: resource.uri,
  name: resource.name,
  mimeType: resource.mimeType,
  content: Effect.succeed(resource.text)
})

const around = layers.map(() => McpServer.middleware()((effect) => effect).layerGlobal)

const options = {
  ...info,
  protocols: [McpProtocol.v2026_07_28, McpProtocol.v2025_11_25] as const,
  registrations: Layer.mergeAll(
    ToolsLive,
    start.extras ? Layer.mergeAll(ExtrasLive, AskLive, TextLive) : Layer.empty,
    ...fillers,
    ...around
  )
}

const Listening = Layer.effectDiscard(Effect.map(HttpServer.HttpServer, ({ address }) => {
  if ("port" in address) listening(address.port)
}))

const Http = HttpRouter.serve(McpServer.layerHttp({ ...options, path: "/mcp" }), {
  disableListenLog: true,
  disableLogger: true
}).pipe(
  Layer.merge(Listening),
  Layer.provide(NodeHttpServer.layer(createServer, { port: start.port, host: "127.0.0.1" }))
)

const Stdio = McpServer.layerStdio(options).pipe(Layer.provide(NodeStdio.layer))

NodeRuntime.runMain(
  Layer.launch(start.transport === "http" ? Http : Stdio).pipe(Effect.provideService(Logger.LogToStderr, true))
)
