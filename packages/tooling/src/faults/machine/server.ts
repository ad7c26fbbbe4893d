/** One life of the server under test: built over stores that outlive it, and what can be seen of it. */
import { McpServer } from "@mcpfx/server"
import { McpEndpoint } from "@mcpfx/server/McpEndpoint"
import { Sessions } from "@mcpfx/session"
import type { Session } from "@mcpfx/session/Session"
import { SessionFactory } from "@mcpfx/session/Sessions"
import { Endpoint, Principal, StreamableHttpServer } from "@mcpfx/transport"
import { Context, Effect, Exit, Layer, Option, Scope } from "effect"
import { HttpEffect, HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { Tables } from "./model.ts"

const principalOf = (subject: string): Principal.Principal => ({ issuer: "bench", subject, scopes: [], claims: {} })

/** Takes callers at their word. */
const middleware = <E, R>(app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    ({ headers }) =>
      Effect.provideService(
        app,
        Principal.CurrentPrincipal,
        Option.map(Option.fromUndefinedOr(headers["x-user"]), principalOf)
      )
  )

/** Sessions as ever, each noted as long as it is open. */
const directory = (open: Set<Session>) =>
  Layer.provide(
    Sessions.layerDefault,
    Layer.effect(
      SessionFactory,
      Effect.map(SessionFactory, (factory) => ({
        make: (seed: Sessions.Seed) =>
          Effect.tap(
            factory.make({
              ...seed,
              onClosed: (reason) => {
                for (const session of open) if (session.id === seed.id) open.delete(session)
                seed.onClosed(reason)
              }
            }),
            (session) => Effect.sync(() => open.add(session))
          )
      }))
    )
  )

const route = Layer.unwrap(Effect.gen(function*() {
  const self = yield* McpEndpoint
  const server = yield* StreamableHttpServer.make({ middleware })
  yield* self.beforeShutdown(server.drain)
  return StreamableHttpServer.route(server, "/mcp")
}))

export interface Server {
  readonly self: McpEndpoint["Service"]
  /** What transports hand their messages to. */
  readonly endpoint: Endpoint.Endpoint["Service"]
  readonly handler: (request: Request) => Promise<Response>
  readonly tables: () => Tables
  readonly close: Effect.Effect<void>
}

export interface Parts<E> {
  readonly registrations: Layer.Layer<never, E, McpServer.Provided>
  readonly options: McpServer.Options
  /** The handlers that run. */
  readonly running: () => Iterable<string>
  /** What outlives the server. */
  readonly stores: Context.Context<never>
  /** What stands between the transports and the endpoint. */
  readonly between?: ((endpoint: Endpoint.Endpoint["Service"]) => Endpoint.Endpoint["Service"]) | undefined
}

/** Builds one. */
export const start = Effect.fnUntraced(function*<E>(parts: Parts<E>) {
  const { between = (endpoint) => endpoint, options, registrations, running, stores } = parts
  const open = new Set<Session>()
  const scope = yield* Scope.make()
  const endpoint = McpServer.layerWith(registrations, options, directory(open))
  const door = Layer.effect(Endpoint.Endpoint, Effect.map(McpEndpoint, (self) => between(self.endpoint)))
  const layer = route.pipe(
    Layer.provide(door),
    Layer.provideMerge(endpoint),
    Layer.provideMerge(HttpRouter.layer),
    Layer.provide(Layer.succeedContext(stores))
  )
  const built = yield* Effect.orDie(Layer.buildWithScope(layer, scope))
  const context = yield* Effect.context<never>()
  const app = Effect.orDie(Context.get(built, HttpRouter.HttpRouter).asHttpEffect())
  const self = Context.get(built, McpEndpoint)
  const tables = (): Tables => {
    const { inFlight, listening, sessions, status } = self.health()
    const loads = Array.from(open, (session) => session.load())
    const sum = (of: (load: ReturnType<Session["load"]>) => number) => loads.reduce((all, load) => all + of(load), 0)
    return {
      status,
      sessions,
      inFlight,
      listening,
      serving: sum(({ serving }) => serving),
      waiting: sum(({ waiting }) => waiting),
      streams: sum(({ streams }) => streams),
      timers: sum(({ timer }) => timer ? 1 : 0),
      running: Array.from(running()).sort()
    }
  }
  const server: Server = {
    self,
    endpoint: between(self.endpoint),
    handler: HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(context)(app),
    tables,
    close: Scope.close(scope, Exit.void)
  }
  return server
})
