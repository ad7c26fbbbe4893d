/** The servers of Node that routes may be behind: what is said of one holds for all. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeListener from "@mcpfx/node/NodeListener"
import { Context, Effect, Layer, type Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"

/** Serves routes on a free port, and gives the port. */
export type Serve = <E>(
  routes: Layer.Layer<never, E, HttpRouter.HttpRouter>
) => Effect.Effect<number, unknown, Scope.Scope>

const portOf = <E>(serving: Layer.Layer<HttpServer.HttpServer, E>): Effect.Effect<number, E, Scope.Scope> =>
  Effect.map(Layer.build(serving), (context) => {
    const { address } = Context.get(context, HttpServer.HttpServer)
    return "port" in address ? address.port : 0
  })

export const servers: ReadonlyArray<readonly [name: string, serve: Serve]> = [
  [
    "NodeHttpServer",
    Effect.fnUntraced(function*(routes) {
      const server = createServer()
      const port = yield* portOf(
        HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
          Layer.provideMerge(
            NodeHttpServer.layerServer(() => server, {
              port: 0,
              host: "127.0.0.1",
              gracefulShutdownTimeout: "1 second"
            })
          )
        )
      )
      yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
      return port
    })
  ],
  ["NodeListener", (routes) => portOf(NodeListener.layer(routes, { drainTimeout: "1 second" }))]
]
