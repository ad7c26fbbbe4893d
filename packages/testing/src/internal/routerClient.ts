/** The client of a router without a port. */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpEffect from "effect/http/HttpEffect"
import type * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import { clientOf } from "../TestHttp.ts"
import { cutHeader } from "./authorization/front.ts"

/** What is served where a router has nothing. */
export const orNotFound = (
  router: HttpRouter.HttpRouter
): Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Scope.Scope
> => Effect.catch(router.asHttpEffect(), () => Effect.succeed(HttpServerResponse.empty({ status: 404 })))

/** Requests run with the references of the caller of this, its clock for one. */
export const clientOfRouter = (router: HttpRouter.HttpRouter): Effect.Effect<HttpClient.HttpClient> =>
  Effect.map(Effect.context<never>(), (context) => {
    const handler = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(context)(
      orNotFound(router)
    )
    return clientOf((request) =>
      handler(request).then((response) =>
        response.headers.has(cutHeader) ? Promise.reject(new Error("the connection was cut")) : response
      )
    )
  })
