import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import * as McpProtocol from "effect/ai/McpProtocol"
import { McpRequestContext } from "effect/ai/McpSchema"
import * as McpServer from "effect/ai/McpServer"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"
import { descriptions, fillerNames, info, listening, start, steps } from "../tools.ts"

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
    dependencies: [McpRequestContext]
  })
)

const handlers = Effect.map(McpServer.McpServer, (server) => ({
  add: ({ a, b }: { readonly a: number; readonly b: number }) => Effect.succeed(String(a + b)),
  echo: ({ text }: { readonly text: string }) => Effect.succeed(text),
  progress: Effect.fnUntraced(function*() {
    const request = yield* McpRequestContext
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

const options = {
  ...info,
  protocols: [McpProtocol.v2026_07_28, McpProtocol.v2025_11_25] as const,
  registrations: Layer.mergeAll(ToolsLive, ...fillers)
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
