/** Listeners on free ports, and what is asked of an answer. */
import { Context, Effect, Layer, Logger } from "effect"
import { type HttpRouter, HttpServer } from "effect/http"
import { NodeListener } from "../../src/index.ts"

/** The port of a server, for as long as the scope lives. */
export const portOf = <A, E, R>(serving: Layer.Layer<A | HttpServer.HttpServer, E, R>) =>
  Effect.map(Layer.build(serving), (context) => {
    const { address } = Context.get(context, HttpServer.HttpServer)
    return "port" in address ? address.port : 0
  })

/** Routes behind the listener. */
export const serve = <A, E>(
  routes: Layer.Layer<A, E, HttpRouter.HttpRouter>,
  options: NodeListener.ServerOptions = {}
) => portOf(NodeListener.layer(routes, options))

export const bodyOf = (answer: string): string => answer.slice(answer.indexOf("\r\n\r\n") + 4)
export const statusOf = (answer: string): number => Number(answer.slice(9, 12))

/** Runs it without the log lines of what is meant to fail. */
export const quietly = Effect.provide(Logger.layer([]))
