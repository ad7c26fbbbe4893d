/** What stands in front of every HTTP endpoint: who may come at all, preflights, CORS and the user's own middleware. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import * as Guard from "../Guard.ts"
import * as Refusals from "./refusals.ts"
import { failureResponse } from "./respond.ts"

export type Request = HttpServerRequest.HttpServerRequest
export type Response = Effect.Effect<HttpServerResponse.HttpServerResponse, never, Scope.Scope>
export type App = Effect.Effect<HttpServerResponse.HttpServerResponse, never, Request | Scope.Scope>

export interface FrontOptions {
  readonly guard: Guard.Guard
  /** The methods that are served. */
  readonly allow: string
  /** Runs around everything behind the guard. */
  readonly middleware: ((app: App) => App) | undefined
}

/** Web requests have no `Host` header on some platforms, but their URL has the host. */
const hostOf = (request: Request): string | undefined =>
  request.headers["host"] ?? /^[a-z]+:\/\/([^/?#]*)/i.exec(request.originalUrl)?.[1]

const options = { Host: "allowedHosts", Origin: "allowedOrigins" } as const
const shown = 200

/** For the log of the one who runs the server: which header, what it held, and which option lets it in. */
const explain = ({ header, reason }: Guard.Refusal, value: string | undefined): string => {
  const held = value === undefined ? "" : ` ${JSON.stringify(value.slice(0, shown).replace(/[^\x20-\x7e]/g, "?"))}`
  const hint = reason === "not allowed" ? `: the option ${options[header]} does not name it` : ""
  return `A request was refused, its header ${header}${held} is ${reason}${hint}`
}

const preflight = (
  request: Request,
  allow: string,
  origin: string | undefined
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.empty({
    status: 204,
    headers: origin === undefined ? { allow } : { allow, ...Guard.preflightHeaders(origin, request.headers) }
  })

const withCors = (app: App, origin: string): App =>
  Effect.map(app, HttpServerResponse.setHeaders(Guard.corsHeaders(origin)))

/** The refusal of any other method than those of `allow`. */
export const notAllowed = (allow: string): HttpServerResponse.HttpServerResponse =>
  failureResponse(405, undefined, Refusals.invalidRequest("this HTTP method is not allowed"), { allow })

/** What is served, behind its front. */
export const behind = (
  { allow, guard, middleware }: FrontOptions,
  serve: (request: Request, fiber: Fiber.Fiber<unknown, unknown>) => Response
): App => {
  const behindGuard: App = Effect.withFiber((fiber) =>
    serve(Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest), fiber)
  )
  const wrapped = middleware?.(behindGuard)
  // A warning once: anybody can send such requests, and nobody may fill the log with them.
  const warned = new Set<Guard.Refusal["header"]>()
  const tell = (refusal: Guard.Refusal, value: string | undefined): Effect.Effect<void> => {
    if (warned.has(refusal.header)) return Effect.logDebug(explain(refusal, value))
    warned.add(refusal.header)
    return Effect.logWarning(explain(refusal, value))
  }
  // Servers run their handlers uninterruptibly; a client that leaves is to be noticed here.
  return Effect.interruptible(Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const origin = request.headers["origin"]
    const host = hostOf(request)
    const refusal = guard.check(host, origin)
    if (refusal !== undefined) {
      const response = failureResponse(403, undefined, Refusals.invalidRequest(Guard.describe(refusal)))
      return Effect.as(tell(refusal, refusal.header === "Host" ? host : origin), response)
    }
    if (request.method === "OPTIONS") return Effect.succeed(preflight(request, allow, origin))
    const served = wrapped ?? serve(request, fiber)
    return origin === undefined ? served : withCors(served, origin)
  }))
}

/** Adds an endpoint to a router, with and without a slash at its end, for all methods. */
export const addPath = Effect.fnUntraced(function*(router: HttpRouter.HttpRouter, path: `/${string}`, app: App) {
  yield* router.add("*", path, app)
  // By default the router itself takes both spellings for one, and refuses the second.
  const { ignoreTrailingSlash } = yield* HttpRouter.RouterConfig
  if (ignoreTrailingSlash !== false || path === "/") return
  yield* router.add("*", path.endsWith("/") ? `/${path.slice(1, -1)}` : `${path}/`, app)
})
