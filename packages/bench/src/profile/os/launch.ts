/** Effect's HTTP server, on any port. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import { listening } from "./serving.ts"

/** Says where it listens. */
export const Listening = Layer.effectDiscard(Effect.map(HttpServer.HttpServer, ({ address }) => {
  if ("port" in address) listening(address.port)
}))

export const launch = <E>(served: Layer.Layer<never, E, HttpServer.HttpServer>): void =>
  NodeRuntime.runMain(Layer.launch(served.pipe(
    Layer.merge(Listening),
    Layer.provide(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
  )))

export const quiet = { disableListenLog: true, disableLogger: true }
