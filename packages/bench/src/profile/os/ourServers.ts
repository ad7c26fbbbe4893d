/** The transports with one answer for everything, and the whole servers. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as NodeListener from "@mcpfx/node/NodeListener"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpServer from "@mcpfx/server/McpServer"
import { Endpoint } from "@mcpfx/transport/Endpoint"
import * as StdioServer from "@mcpfx/transport/StdioServer"
import * as StreamableHttpServer from "@mcpfx/transport/StreamableHttpServer"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import { options, registrations } from "../fixture.ts"
import { launch, Listening, quiet } from "./launch.ts"
import { answer, start } from "./serving.ts"

const result = new JsonRpc.EncodedResult(answer)

/** Answers every request with the same result, which is text already. */
const still: Endpoint["Service"] = {
  handle: ({ message, outlet }) => {
    if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.success(message.id, result))
    return Effect.succeed({})
  },
  admitBatch: () => Effect.void,
  attach: () => Effect.void,
  terminate: () => Effect.void
}

const served = HttpRouter.serve(McpServer.layerHttp(registrations, options), quiet)

const runStdio = (program: Effect.Effect<void, unknown, NodeServices.NodeServices>): void =>
  NodeRuntime.runMain(Effect.provide(program, NodeServices.layer))

start(
  new Map([
    ["http-transport", () => {
      const routes = Layer.provide(StreamableHttpServer.routes(), Layer.succeed(Endpoint, still))
      launch(HttpRouter.serve(routes, quiet))
    }],
    ["http-server", () => launch(served)],
    ["http-listener", () => {
      const listener = NodeListener.layerServer({ port: 0, host: "127.0.0.1" })
      NodeRuntime.runMain(Layer.launch(Layer.provide(Layer.merge(served, Listening), listener)))
    }],
    ["stdio-transport", () => runStdio(StdioServer.run(still))],
    ["stdio-server", () => runStdio(McpServer.runStdio(registrations, options))]
  ])
)
