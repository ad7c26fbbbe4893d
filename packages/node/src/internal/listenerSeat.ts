/** Where a server and what it serves meet: either may be there first. */
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import type * as NetAddress from "effect/net/NetAddress"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Handler } from "./listenerHandler.ts"

export class Seat {
  handler: Handler | undefined = undefined
  /** Ends whatever hands requests on, after those in flight. */
  close: Effect.Effect<void> = Effect.void

  /** An `HttpServer` at that address whose requests come here. */
  server(address: NetAddress.SocketAddress, maxHeaders: number): HttpServer.HttpServer["Service"] {
    return HttpServer.make({
      address,
      serve: (app, middleware) =>
        Effect.flatMap(Effect.context<never>(), (context) => {
          this.handler = new Handler({ app, middleware, context, maxHeaders })
          // What is served goes before the services that it uses do.
          return Effect.addFinalizer(() => this.close)
        })
    })
  }

  take(request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean, next?: () => void): void {
    if (this.handler !== undefined) return this.handler.handle(request, response, awaitsContinue, next)
    response.writeHead(503, { "content-length": "0", "retry-after": "1", connection: "close" }).end()
  }
}
