/** A Node server: its bounds, how it begins to listen and how it ends. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as NetAddress from "effect/net/NetAddress"
import type * as Http from "node:http"
import type * as Https from "node:https"
import { CannotListen } from "../ListenerError.ts"
import type { Handler } from "./listenerHandler.ts"
import type { Seat } from "./listenerSeat.ts"

export type Server = Http.Server | Https.Server

export interface Bounds {
  readonly headersTimeout: number
  readonly requestTimeout: number
  readonly keepAliveTimeout: number
  readonly maxHeaders: number
  readonly maxHeaderBytes: number
  readonly maxConnections: number
}

/** The bounds that only the making of a server takes. */
export const settingsOf = (bounds: Bounds): Http.ServerOptions => ({
  headersTimeout: bounds.headersTimeout,
  requestTimeout: bounds.requestTimeout,
  keepAliveTimeout: bounds.keepAliveTimeout,
  maxHeaderSize: bounds.maxHeaderBytes,
  // How long a connection may be late is how often it is looked at.
  connectionsCheckingInterval: Math.max(Math.min(bounds.headersTimeout, bounds.requestTimeout, 30_000) / 2, 250)
})

/** Sets what any server takes, whoever made it. */
export const bind = (server: Server, bounds: Bounds): void => {
  server.headersTimeout = bounds.headersTimeout
  server.requestTimeout = bounds.requestTimeout
  server.keepAliveTimeout = bounds.keepAliveTimeout
  server.maxConnections = bounds.maxConnections
  // One more is kept than may be, so that too many are seen.
  server.maxHeadersCount = bounds.maxHeaders + 1
}

const reasons = new Map<string, CannotListen["reason"]>([
  ["EADDRINUSE", "taken"],
  ["EACCES", "forbidden"],
  ["EPERM", "forbidden"],
  ["EADDRNOTAVAIL", "absent"],
  ["ENOTFOUND", "absent"]
])

const codeOf = (error: Error): string => "code" in error && typeof error.code === "string" ? error.code : error.name

/** Listens, and says where. */
export const listen = (
  server: Server,
  host: string,
  port: number
): Effect.Effect<NetAddress.SocketAddress, CannotListen> =>
  Effect.callback((resume) => {
    const onError = (error: Error): void => {
      const code = codeOf(error)
      const address = `${host.includes(":") ? `[${host}]` : host}:${port}`
      resume(Effect.fail(new CannotListen({ reason: reasons.get(code) ?? "failed", code, address })))
    }
    server.once("error", onError)
    server.listen({ host, port }, () => {
      server.off("error", onError)
      const bound = server.address()
      resume(
        typeof bound === "object" && bound !== null
          ? Effect.orDie(Effect.fromResult(NetAddress.inetAddressFromIpString(bound.address, bound.port)))
          : Effect.failCause(Cause.die(bound))
      )
    })
  })

/** What interrupted requests get to clean up. */
const lastWords = "2 seconds"

/** Waits for the requests in flight, and interrupts those that take longer. */
export const finish = (handler: Handler, drain: Duration.Duration): Effect.Effect<void> =>
  Effect.interruptible(Effect.andThen(
    Effect.timeoutOption(handler.drained, drain),
    Effect.asVoid(Effect.timeoutOption(handler.end, lastWords))
  ))

/**
 * Ends a server: it takes no more connections, requests in flight are waited for, and interrupted where they take longer.
 * Connections are closed as soon as they are idle, and at last anyhow.
 */
export const close = (server: Server, seat: Seat, drain: Duration.Duration): Effect.Effect<void> =>
  Effect.suspend(() => {
    const done = Deferred.makeUnsafe<void>()
    // Closes the connections that are idle now; those that become so later are told by the handler.
    server.close(() => Deferred.doneUnsafe(done, Exit.void))
    const closed = Deferred.await(done)
    const { handler } = seat
    if (handler !== undefined) handler.onIdle = () => server.closeIdleConnections()
    const rest = handler === undefined ? closed : Effect.andThen(handler.drained, closed)
    return Effect.interruptible(Effect.gen(function*() {
      yield* Effect.timeoutOption(rest, drain)
      if (handler !== undefined) yield* Effect.timeoutOption(handler.end, lastWords)
      server.closeAllConnections()
    }))
  })

/** Hands the requests of a server to whoever has the seat. */
export const connect = (server: Server, seat: Seat): void => {
  server.on(
    "request",
    (request: Http.IncomingMessage, response: Http.ServerResponse) => seat.take(request, response, false)
  )
  server.on(
    "checkContinue",
    (request: Http.IncomingMessage, response: Http.ServerResponse) => seat.take(request, response, true)
  )
}
