/** A Node server: how it begins to listen and how it ends. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as NetAddress from "effect/net/NetAddress"
import { hasProperty } from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Http from "node:http"
import * as Net from "node:net"
import { CannotListen } from "../ListenerError.ts"
import type { Server } from "./listenerBounds.ts"
import type { Connections } from "./listenerConnections.ts"
import type { Handler } from "./listenerHandler.ts"
import type { Seat } from "./listenerSeat.ts"

const reasons = new Map<string, CannotListen["reason"]>([
  ["EADDRINUSE", "taken"],
  ["EACCES", "forbidden"],
  ["EPERM", "forbidden"],
  ["EADDRNOTAVAIL", "absent"],
  ["ENOTFOUND", "absent"]
])

const codeOf = (error: unknown): string => {
  if (hasProperty(error, "code") && typeof error.code === "string") return error.code
  return error instanceof Error ? error.name : "unknown"
}

/** Listens, and says where. */
export const listen = (
  server: Server,
  host: string,
  port: number
): Effect.Effect<NetAddress.SocketAddress, CannotListen> =>
  Effect.callback((resume) => {
    const onError = (error: unknown): void => {
      const code = codeOf(error)
      const address = `${host.includes(":") ? `[${host}]` : host}:${port}`
      resume(Effect.fail(new CannotListen({ reason: reasons.get(code) ?? "failed", code, address })))
    }
    // It stays: a connection that could not be taken later on is no reason to end the process.
    server.on("error", onError)
    // Node throws on what can be no port or name.
    const begun = Result.try(() =>
      server.listen({ host, port }, () => {
        const bound = server.address()
        resume(
          typeof bound === "object" && bound !== null
            ? Effect.orDie(Effect.fromResult(NetAddress.inetAddressFromIpString(bound.address, bound.port)))
            : Effect.failCause(Cause.die(bound))
        )
      })
    )
    if (Result.isFailure(begun)) onError(begun.failure)
  })

/** What interrupted requests get to clean up. */
const lastWords = "2 seconds"

/** Waits for the requests in flight, and interrupts those that take longer. */
export const finish = (handler: Handler, drain: Duration.Duration): Effect.Effect<void> =>
  Effect.andThen(
    Effect.timeoutOption(handler.drained, drain),
    Effect.asVoid(Effect.timeoutOption(handler.end, lastWords))
  )

/**
 * Ends a server: it takes no more connections, requests in flight are waited for, and interrupted where they take longer.
 * Connections are closed as soon as there is no request on them, and at last anyhow.
 */
export const close = (
  server: Server,
  connections: Connections,
  seat: Seat,
  drain: Duration.Duration
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const done = Deferred.makeUnsafe<void>()
    // What HTTP adds to it would cut answers that are not read yet.
    Net.Server.prototype.close.call(server, () => Deferred.doneUnsafe(done, Exit.void))
    connections.end()
    const closed = Deferred.await(done)
    const { handler } = seat
    const rest = handler === undefined ? closed : Effect.andThen(handler.drained, closed)
    return Effect.gen(function*() {
      yield* Effect.timeoutOption(rest, drain)
      if (handler !== undefined) yield* Effect.timeoutOption(handler.end, lastWords)
      connections.destroy()
      // It has checks of its own, which end here.
      server.close(() => {})
    })
  })

/** Hands the requests of a server to whoever has the seat. */
export const connect = (server: Server, connections: Connections, seat: Seat): void => {
  const take = (awaitsContinue: boolean) => (request: Http.IncomingMessage, response: Http.ServerResponse): void => {
    connections.asked(request.socket, response)
    seat.take(request, response, awaitsContinue)
  }
  server.on("request", take(false))
  server.on("checkContinue", take(true))
}
