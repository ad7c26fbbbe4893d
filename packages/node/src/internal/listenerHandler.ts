/** From the requests of a Node server to an Effect application, and what is known of those that are under way. */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as HttpEffect from "effect/http/HttpEffect"
import type { HttpMiddleware } from "effect/http/HttpMiddleware"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import type { IncomingMessage, ServerResponse } from "node:http"
import { refuse } from "./listenerBody.ts"
import { Exchange, ListenerRequest, type Owner } from "./listenerRequest.ts"
import { writeResponse } from "./listenerResponse.ts"

export type App = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  unknown,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

export interface Limits {
  /** Headers that a request may have. */
  readonly maxHeaders: number
  /** Milliseconds that a client may take nothing of an answer that waits for it. */
  readonly deadReader: number
}

export interface HandlerOptions extends Limits {
  readonly app: App
  readonly middleware: HttpMiddleware | undefined
  /** What requests run with. */
  readonly context: Context.Context<never>
}

type Handled = Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
type Request = HttpServerRequest.HttpServerRequest

const isRouteNotFound = (error: unknown): boolean =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

const exchangeOf = (request: Request): Exchange | undefined =>
  request instanceof ListenerRequest ? request.exchange : undefined

/** Leaves requests without a route to somebody else. */
const passing = (app: App): App =>
  Effect.catchIf(app, isRouteNotFound, (error) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const exchange = exchangeOf(request)
      if (exchange === undefined) return Effect.fail(error)
      exchange.passed = true
      return Effect.succeed(HttpServerResponse.empty({ status: 404 }))
    }))

const write = (request: Request, response: HttpServerResponse.HttpServerResponse): Effect.Effect<unknown> => {
  const exchange = exchangeOf(request)
  return exchange === undefined || exchange.passed ? Effect.void : writeResponse(exchange, response)
}

/** What a request failed of, where that is the program's fault: no refusal, no missing route, nobody who left. */
const faultOf = (exit: Exit.Exit<unknown, unknown>): Cause.Cause<unknown> | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  let status = 500
  const reasons: Array<Cause.Reason<unknown>> = []
  for (const reason of exit.cause.reasons) {
    // What the client was told is there beside the reasons.
    if (Cause.isDieReason(reason) && HttpServerResponse.isHttpServerResponse(reason.defect)) {
      status = reason.defect.status
    } else if (!Cause.isInterruptReason(reason)) reasons.push(reason)
  }
  return status < 500 || reasons.length === 0 ? undefined : Cause.fromReasons(reasons)
}

export class Handler implements Owner {
  closing = false
  readonly deadReader: number
  private readonly options: HandlerOptions
  private readonly handled: Handled
  private readonly handledOrPassed: Handled
  private readonly running = new Set<Fiber.Fiber<unknown, unknown>>()
  /** Requests that have not waited for anything yet: what they do first may end the server that has them. */
  private beginning = 0
  /** Done when nothing is under way, where somebody waits for that. */
  private idle: Deferred.Deferred<void> | undefined = undefined
  private over = false

  constructor(options: HandlerOptions) {
    this.options = options
    this.deadReader = options.deadReader
    this.handled = HttpEffect.toHandled(options.app, write, options.middleware)
    this.handledOrPassed = HttpEffect.toHandled(passing(options.app), write, options.middleware)
  }

  /** `next` is called where there is no route. */
  handle(request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean, next?: () => void): void {
    const exchange = new Exchange(this, request, response, awaitsContinue)
    if (request.rawHeaders.length > 2 * this.options.maxHeaders) return refuse(exchange, 431)
    // What may be somebody else's is not to be read.
    if (next !== undefined) this.run(exchange, this.handledOrPassed, next)
    else exchange.ahead(() => this.run(exchange, this.handled, undefined))
  }

  private run(exchange: Exchange, handled: Handled, next: (() => void) | undefined): void {
    // It may have ended while the body came.
    if (this.over) return refuse(exchange, 503)
    const request = new ListenerRequest(exchange)
    const context = Context.add(this.options.context, HttpServerRequest.HttpServerRequest, request)
    this.beginning += 1
    const fiber = Effect.runForkWith(context)(handled)
    this.beginning -= 1
    const exit = fiber.pollUnsafe()
    if (exit === undefined) return this.follow(exchange, fiber, next)
    this.settled(exchange, exit, next)
    this.becomeIdle()
  }

  private settled(exchange: Exchange, exit: Exit.Exit<unknown, unknown>, next: (() => void) | undefined): void {
    const fault = faultOf(exit)
    if (fault !== undefined) {
      const { method, url = "" } = exchange.request
      const log = Effect.logError(`A request failed: ${method} ${url.replace(/[?#].*$/, "")}`, fault)
      Effect.runForkWith(this.options.context)(log)
    }
    if (exchange.passed) return next?.()
    const { response } = exchange
    // What breaks the fiber itself is answered by nobody.
    if (Exit.isSuccess(exit) || response.writableEnded || response.destroyed) return
    if (response.headersSent) response.destroy()
    else refuse(exchange, 500)
  }

  /** Keeps a request that is not over yet. */
  private follow(exchange: Exchange, fiber: Fiber.Fiber<unknown, unknown>, next: (() => void) | undefined): void {
    const { response } = exchange
    const left = () => {
      if (!response.writableEnded) fiber.interruptUnsafe(undefined, HttpServerError.ClientAbort.annotation)
    }
    this.running.add(fiber)
    response.on("close", left)
    fiber.addObserver((exit) => {
      this.running.delete(fiber)
      this.becomeIdle()
      if (exchange.passed) response.off("close", left)
      this.settled(exchange, exit, next)
    })
    // It may have left while its body was read.
    if (response.destroyed) left()
  }

  private get isIdle(): boolean {
    return this.running.size === 0 && this.beginning === 0
  }

  /** Tells whoever waits for it that nothing is under way, where that is so. */
  private becomeIdle(): void {
    const { idle } = this
    if (idle === undefined || !this.isIdle) return
    this.idle = undefined
    Deferred.doneUnsafe(idle, Exit.void)
  }

  /** Ends when nothing is under way any more; connections end with their answers from here on. */
  get drained(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.closing = true
      return this.isIdle ? Effect.void : Deferred.await(this.idle ??= Deferred.makeUnsafe<void>())
    })
  }

  /** Interrupts what is under way, and answers nothing any more. */
  get end(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.over = true
      for (const fiber of Array.from(this.running)) fiber.interruptUnsafe()
      return this.drained
    })
  }
}
