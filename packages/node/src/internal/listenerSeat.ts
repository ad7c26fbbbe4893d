/** Where a server and what it serves meet: either may be there first. */
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import type * as NetAddress from "effect/net/NetAddress"
import type { IncomingMessage, ServerResponse } from "node:http"
import { refuse } from "./listenerBody.ts"
import { Handler, type Limits } from "./listenerHandler.ts"
import { Exchange } from "./listenerRequest.ts"

/** Whoever takes requests while there is no handler. */
const nobody = { closing: true, deadReader: 0 }

export class Seat {
  handler: Handler | undefined = undefined
  /** Ends whatever hands requests on, after those in flight. */
  close: Effect.Effect<void> = Effect.void

  /** An `HttpServer` at that address whose requests come here. */
  server(address: NetAddress.SocketAddress, limits: Limits): HttpServer.HttpServer["Service"] {
    return HttpServer.make({
      address,
      serve: (app, middleware) =>
        Effect.flatMap(Effect.context<never>(), (context) => {
          this.handler = new Handler({ ...limits, app, middleware, context })
          // What is served goes before the services that it uses do.
          return Effect.addFinalizer(() => this.close)
        })
    })
  }

  take(request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean, next?: () => void): void {
    if (this.handler !== undefined) return this.handler.handle(request, response, awaitsContinue, next)
    refuse(new Exchange(nobody, request, response, awaitsContinue), 503, { "retry-after": "1" })
  }
}
