/**
 * Routes of an `HttpRouter` behind a Node server of their own, for about a third less than behind `NodeHttpServer`: what a
 * request does not use is not made for it.
 *
 * Everything that an `HttpRouter` has works: middleware, prefixes, parameters, `HttpServerRequest` in the context, spans
 * where there is a tracer, pre-response handlers. WebSockets do not: a request to upgrade is answered like any other. There
 * is no log line for each request; `HttpMiddleware.logger` is a middleware that writes one.
 *
 * **Example** (A server on port 3000)
 *
 * ```ts
 * import { NodeListener } from "@mcpfx/node"
 * import { Tool } from "@mcpfx/schema"
 * import { McpServer } from "@mcpfx/server"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Add = Tool.make("add", { input: { a: Schema.Finite, b: Schema.Finite } })
 * const AddLive = McpServer.tool(Add, ({ a, b }) => Effect.succeed(String(a + b)))
 *
 * const Routes = McpServer.layerHttp(AddLive, { name: "calculator", version: "1.0.0" })
 * const Main = McpServer.drainFirst(NodeListener.layer(Routes, { port: 3000 }))
 * Layer.isLayer(Main) // => true
 * ```
 *
 * @since 0.1.0
 */
import * as Guard from "@mcpfx/transport/Guard"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FindMyWay from "effect/http/FindMyWay"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import type { HttpServerError } from "effect/http/HttpServerError"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import * as Bounds from "./internal/listenerBounds.ts"
import { Connections } from "./internal/listenerConnections.ts"
import type { Limits } from "./internal/listenerHandler.ts"
import { Seat } from "./internal/listenerSeat.ts"
import * as Server from "./internal/listenerServer.ts"
import { type CannotListen, Exposed } from "./ListenerError.ts"

/**
 * Where to listen, and the bounds of what comes.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServerOptions {
  /** The port; any free one by default. */
  readonly port?: number | undefined
  /**
   * The name or address of the interface: `127.0.0.1` by default, which only this machine reaches (HTTP-04). On any other
   * every endpoint needs `allowedHosts`.
   */
  readonly host?: string | undefined
  /**
   * Makes the Node server, such as one with TLS: `(settings) => Https.createServer({ ...settings, key, cert })`. `settings`
   * has the bounds below that are to be told when a server is made.
   */
  readonly createServer?: ((settings: Http.ServerOptions) => Bounds.Server) | undefined
  /** How long the headers of a request may take: 30 seconds by default; then 408. */
  readonly headersTimeout?: Duration.Input | undefined
  /** How long a whole request may take to arrive, its body too: 5 minutes by default; then 408. */
  readonly requestTimeout?: Duration.Input | undefined
  /** How long a connection may be idle between two requests: 30 seconds by default. */
  readonly keepAliveTimeout?: Duration.Input | undefined
  /** How many headers a request may have: 200 by default; then 431. */
  readonly maxHeaders?: number | undefined
  /** How many bytes the headers of a request may have: 16 KiB by default; then 431. */
  readonly maxHeaderBytes?: number | undefined
  /** How many connections there may be: 20,000 by default; more are closed at once. */
  readonly maxConnections?: number | undefined
  /** How long a client may take nothing of an answer that waits for it: 5 minutes by default; then its connection is cut. */
  readonly deadReader?: Duration.Input | undefined
  /** What requests in flight get to end when the server does, before they are interrupted: 10 seconds by default. */
  readonly drainTimeout?: Duration.Input | undefined
}

/**
 * {@link ServerOptions}, and how requests find their way.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<R, HE, HR> extends ServerOptions, RouteOptions<R, HE, HR> {}

/**
 * How requests find their way.
 *
 * @category models
 * @since 0.1.0
 */
export interface RouteOptions<R, HE, HR> extends Pick<ServerOptions, "maxHeaders" | "deadReader" | "drainTimeout"> {
  /** Runs around every request, such as `HttpMiddleware.logger`. */
  readonly middleware?: Middleware<R, HE, HR> | undefined
  /** How the router reads paths. */
  readonly routerConfig?: Partial<FindMyWay.RouterConfig> | undefined
}

/**
 * What runs around every request.
 *
 * @category models
 * @since 0.1.0
 */
export interface Middleware<R, HE, HR> {
  (
    effect: Effect.Effect<
      HttpServerResponse,
      HttpRouter.Request.Only<"Error", R> | HttpRouter.Request.Only<"GlobalError", R> | HttpServerError,
      HttpRouter.GlobalProvided | HandlerServices<R>
    >
  ): Effect.Effect<HttpServerResponse, HE, HR>
}

/**
 * What the handlers of routes need that is there for every request.
 *
 * @category models
 * @since 0.1.0
 */
export type HandlerServices<R> = HttpRouter.Request.Only<"Requires", R> | HttpRouter.Request.Only<"GlobalRequires", R>

// Written as the layers in `seatOf` take services off: TypeScript compares such types by their shape.
/**
 * What routes need beside a router.
 *
 * @category models
 * @since 0.1.0
 */
export type Needs<R, HR> = Exclude<
  Exclude<
    Exclude<HttpRouter.Request.Without<R> | Exclude<HR, HttpRouter.GlobalProvided>, HttpRouter.HttpRouter>,
    HttpServer.HttpServer
  >,
  never
>

const defaults = { host: "127.0.0.1", port: 0, maxHeaders: 200, drainTimeout: "10 seconds" } as const

const loopback = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[?::1\]?)$/i
const isLoopback = (host: string): boolean => loopback.test(host)

const boundsOf = (options: ServerOptions): Bounds.Bounds => {
  const requestTimeout = Bounds.millisOf(options.requestTimeout ?? "5 minutes")
  return {
    // Headers are a part of their request.
    headersTimeout: Math.min(Bounds.millisOf(options.headersTimeout ?? "30 seconds"), requestTimeout),
    requestTimeout,
    keepAliveTimeout: Bounds.millisOf(options.keepAliveTimeout ?? "30 seconds"),
    maxHeaders: options.maxHeaders ?? defaults.maxHeaders,
    maxHeaderBytes: options.maxHeaderBytes ?? 16_384,
    maxConnections: options.maxConnections ?? 20_000
  }
}

/** The host as Node takes it: an address of IPv6 without its brackets. */
const hostOf = ({ host = defaults.host }: ServerOptions): string => host.replace(/^\[(.*)\]$/, "$1")

/** The address that routes see while nobody listens yet; what is none is told when it is listened at. */
const asked = (options: ServerOptions): NetAddress.SocketAddress =>
  Result.getOrElse(
    NetAddress.inetAddressFromIpString(hostOf(options), options.port ?? defaults.port),
    () => NetAddress.inetAddressUnsafe(NetAddress.ipv4Loopback, defaults.port)
  )

const drainOf = (options: Pick<ServerOptions, "drainTimeout">): Duration.Duration =>
  Duration.fromInputUnsafe(options.drainTimeout ?? defaults.drainTimeout)

const limitsOf = (options: Pick<ServerOptions, "maxHeaders" | "deadReader">): Limits => ({
  maxHeaders: options.maxHeaders ?? defaults.maxHeaders,
  deadReader: Bounds.millisOf(options.deadReader ?? "5 minutes")
})

/** Fails where an endpoint that is for this machine alone would be reached from others. */
const guarded = (host: string, seen: ReadonlyArray<Guard.Options>): Effect.Effect<void, Exposed> =>
  isLoopback(host) || seen.every((options) => !Guard.isLocal(options))
    ? Effect.void
    : Effect.fail(new Exposed({ host }))

/**
 * Builds routes for one server alone: where another server is below this one, the context has what was built for that one,
 * and with its router the routes of either would be found at both.
 */
const alone = <A, E, R>(serving: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.fromBuild((memoMap, scope) => Layer.buildWithMemoMap(serving, memoMap, scope))

/** Routes, and the seat that has their handler once they are built. */
const seatOf = <A, E, R, HE, HR>(
  routes: Layer.Layer<A, E, R>,
  options: RouteOptions<R, HE, HR>,
  address: NetAddress.SocketAddress
) => {
  const seat = new Seat()
  const seen: Array<Guard.Options> = []
  const served = HttpRouter.serve(routes, {
    disableLogger: true,
    disableListenLog: true,
    ...options.routerConfig === undefined ? undefined : { routerConfig: options.routerConfig },
    ...options.middleware === undefined ? undefined : { middleware: options.middleware }
  }).pipe(
    Layer.provide(
      Layer.succeed(HttpServer.HttpServer)(seat.server(address, limitsOf(options)))
    ),
    Layer.provide(Layer.succeed(Guard.CurrentWatch)((guard) => void seen.push(guard)))
  )
  return { seat, seen, serving: alone(served) }
}

/** Listens for what the seat has, until the scope closes. */
const opened = Effect.fnUntraced(function*(seat: Seat, options: ServerOptions) {
  const bounds = boundsOf(options)
  const { createServer = Http.createServer } = options
  const server = createServer(Bounds.settingsOf(bounds))
  const connections = new Connections(server)
  Bounds.bind(server, bounds)
  Server.connect(server, connections, seat)
  seat.close = yield* Effect.cached(Server.close(server, connections, seat, drainOf(options)))
  yield* Effect.addFinalizer(() => seat.close)
  return yield* Server.listen(server, hostOf(options), options.port ?? defaults.port)
})

/**
 * Listens for routes: those of `McpServer.layerHttp`, several of them, your own. The layers of the routes are built first;
 * where they fail no port is taken. Gives the address as an `HttpServer`, for `HttpServer.logAddress` and the like.
 *
 * When its scope closes nothing new is let in, requests in flight get `drainTimeout`, then they are interrupted. Wrap it in
 * `McpServer.drainFirst` to have the endpoints end their streams first.
 *
 * Fails with `CannotListen` where the address is taken or not there, and with `Exposed` where an endpoint without
 * `allowedHosts` would be reached from other machines.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <A, E, R, HE, HR = HandlerServices<R>>(
  routes: Layer.Layer<A, E, R>,
  options: Options<R, HE, HR> = {}
): Layer.Layer<
  A | HttpServer.HttpServer,
  HttpRouter.Request.Without<E> | CannotListen | Exposed,
  Needs<R, HR>
> =>
  Layer.suspend(() => {
    const { seat, seen, serving } = seatOf(routes, options, asked(options))
    const listening = Effect.gen(function*() {
      yield* guarded(options.host ?? defaults.host, seen)
      return seat.server(yield* opened(seat, options), limitsOf(options))
    })
    return Layer.provideMerge(Layer.effect(HttpServer.HttpServer)(listening), serving)
  })

/**
 * {@link layer} with options from configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = <A, E, R, HE, HR = HandlerServices<R>>(
  routes: Layer.Layer<A, E, R>,
  options: Config.Wrap<Options<R, HE, HR>>
) => Layer.unwrap(Effect.map(Config.unwrap(options), (options) => layer(routes, options)))

/**
 * The server alone, in the place of `NodeHttpServer.layerServer`: for `HttpRouter.serve`, `HttpServer.serve` and whatever
 * else takes an `HttpServer`. Requests that come before anything is served get a 503.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerServer = (options: ServerOptions = {}): Layer.Layer<HttpServer.HttpServer, CannotListen> =>
  Layer.effect(HttpServer.HttpServer)(Effect.gen(function*() {
    const seat = new Seat()
    return seat.server(yield* opened(seat, options), limitsOf(options))
  }))

/**
 * What takes the requests of a Node server, as `http.createServer`, `server.on("request", …)` and Express take them.
 *
 * `next` is called where there is no route, such as by Express. What parses bodies has to come after it. What bounds a
 * server has, how it is bound and how it ends, is up to whoever made it. When the scope closes requests in flight get
 * `drainTimeout`, and whatever comes afterwards a 503.
 *
 * @category models
 * @since 0.1.0
 */
export type Listener = (request: Http.IncomingMessage, response: Http.ServerResponse, next?: () => void) => void

/**
 * A {@link Listener} for a server of your own.
 *
 * **Example** (In an existing server)
 *
 * ```ts
 * import { NodeListener } from "@mcpfx/node"
 * import { Effect } from "effect"
 * import { HttpRouter, HttpServerResponse } from "effect/http"
 * import { createServer } from "node:http"
 *
 * const Routes = HttpRouter.add("GET", "/health", HttpServerResponse.text("ok"))
 * const Program = Effect.gen(function*() {
 *   const listener = yield* NodeListener.make(Routes)
 *   return createServer((request, response) => listener(request, response, () => response.writeHead(404).end()))
 * })
 * Effect.isEffect(Program) // => true
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <A, E, R, HE, HR = HandlerServices<R>>(
  routes: Layer.Layer<A, E, R>,
  options: RouteOptions<R, HE, HR> = {}
): Effect.Effect<Listener, HttpRouter.Request.Without<E>, Needs<R, HR> | Scope.Scope> =>
  Effect.suspend(() => {
    const { seat, serving } = seatOf(routes, options, asked({}))
    seat.close = Effect.suspend(() =>
      seat.handler === undefined ? Effect.void : Server.finish(seat.handler, drainOf(options))
    )
    return Effect.as(Layer.build(serving), (request, response, next) => seat.take(request, response, false, next))
  })
