/** The server of the soak, over HTTP on free ports of the loopback interface: behind both servers of Node. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeListener from "@mcpfx/node/NodeListener"
import * as Resource from "@mcpfx/schema/Resource"
import * as Input from "@mcpfx/server/Input"
import * as McpServer from "@mcpfx/server/McpServer"
import * as TaskStore from "@mcpfx/server/TaskStore"
import * as Polling from "@mcpfx/session/Polling"
import * as Progress from "@mcpfx/session/Progress"
import * as EventStore from "@mcpfx/transport/EventStore"
import * as Limits from "@mcpfx/transport/Limits"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"
import { census } from "./census.ts"
import { Add, Ask, Job, Never, Resumed, Steps, Touch, watched } from "./contracts.ts"

/** What is left behind goes soon, so that its going is part of what is looked at. */
const life = Duration.seconds(3)

const Registrations = Layer.mergeAll(
  McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b })),
  McpServer.tool(Steps, ({ wait }) =>
    Effect.gen(function*() {
      yield* Progress.report({ progress: 1, total: 2 })
      yield* Effect.sleep(wait)
      yield* Progress.report({ progress: 2, total: 2 })
      return "done"
    })),
  McpServer.tool(Ask, () => Input.elicit("How many?", Schema.Struct({ given: Schema.Finite }))),
  McpServer.tool(Resumed, ({ wait }) =>
    Effect.gen(function*() {
      yield* Progress.report({ progress: 1, total: 2 })
      yield* Polling.hangUp({ retry: "20 millis" })
      yield* Effect.sleep(wait)
      return "resumed"
    })),
  McpServer.tool(Job, ({ wait }) => Effect.as(Effect.sleep(wait), "worked"), {
    task: { ttl: life, pollInterval: "20 millis" }
  }),
  McpServer.tool(Never, () => Effect.never),
  McpServer.tool(Touch, () => Effect.as(McpServer.resourceUpdated(watched), "touched")),
  McpServer.resource(Resource.make(watched, { name: "watched", mimeType: "text/plain" }), Effect.succeed("text"))
)

const limits = { idle: life, eventLife: life }
const Stores = Layer.provide(
  Layer.merge(EventStore.layerMemory, TaskStore.layerMemory),
  Limits.layer({ eventLife: life })
)

const Routes = McpServer.layerHttp(Registrations, {
  name: "soak",
  version: "1.0.0",
  sse: true,
  limits
})

process.on("message", () => {
  void census().then((counted) => process.send?.({ census: counted }))
})

const portOf = <E, R>(server: Layer.Layer<HttpServer.HttpServer, E, R>) =>
  Effect.map(Layer.build(McpServer.drainFirst(server)), (context) => {
    const { address } = Context.get(context, HttpServer.HttpServer)
    return "port" in address ? address.port : 0
  })

const Usual = HttpRouter.serve(Routes, { disableListenLog: true, disableLogger: true }).pipe(
  Layer.provideMerge(NodeHttpServer.layerServer(createServer, { port: 0, host: "127.0.0.1" }))
)

const Main = Layer.effectDiscard(Effect.gen(function*() {
  const ports = [yield* portOf(Usual), yield* portOf(NodeListener.layer(Routes, { keepAliveTimeout: "5 seconds" }))]
  process.send?.({ ports })
})).pipe(Layer.provide(Stores))

NodeRuntime.runMain(Layer.launch(Main))
