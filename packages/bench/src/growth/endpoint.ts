/**
 * A server without a transport: messages are handed to its endpoint as text and their answers taken as text, so that what
 * is measured is all that a message costs between two sockets, and nothing of the sockets.
 */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as ChangeBus from "@mcpfx/server/ChangeBus"
import * as McpServer from "@mcpfx/server/McpServer"
import { type Admission, Endpoint } from "@mcpfx/transport/Endpoint"
import type { Facts, Outlet } from "@mcpfx/transport/Exchange"
import type { Link } from "@mcpfx/transport/Link"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Messages from "../messages.ts"
import { info } from "../tools.ts"

export interface Server {
  readonly endpoint: Endpoint["Service"]
  readonly bus: ChangeBus.ChangeBus["Service"]
  readonly stop: () => Promise<void>
}

/** Changes of one list or resource are told at once: what gathers them would hide what each costs. */
const limits = { sessions: 20_000, listenStreams: 20_000, coalesce: Duration.millis(1) }

export const serve = async <A, E>(registrations: Layer.Layer<A, E, McpServer.Provided>): Promise<Server> => {
  const scope = Scope.makeUnsafe()
  const bus = Effect.runSync(ChangeBus.make)
  const layer = McpServer.layer(registrations, { ...info, limits }).pipe(
    Layer.provide(Layer.succeed(ChangeBus.ChangeBus, bus))
  )
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  return {
    endpoint: Context.get(context, Endpoint),
    bus,
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** What is known of a message of HTTP; those of a session name it. */
export const factsOf = (sessionId?: string): Facts => ({
  transport: "http",
  connection: undefined,
  sessionId,
  protocolVersion: undefined,
  headers: undefined,
  principal: Option.none()
})

/** An outlet that keeps the length of what is written to it. */
export class Sink implements Outlet {
  answered = 0
  pushed = 0
  last = ""
  readonly answer = (message: JsonRpc.Outgoing): void => {
    this.last = JsonRpc.stringify(message)
    this.answered++
  }
  readonly end = (): void => {}
  readonly push = (message: JsonRpc.Outgoing): Effect.Effect<void> =>
    Effect.sync(() => {
      this.last = JsonRpc.stringify(message)
      this.pushed++
    })
}

const parse = (text: string): JsonRpc.Message => Result.getOrThrow(JsonRpc.parse(JSON.parse(text)))

/** Hands a message in, to a server that admits it without waiting for anything. */
export const hand = ({ endpoint }: Server, text: string, facts: Facts, outlet: Outlet): Admission => {
  const exit = Effect.runSyncExit(endpoint.handle({ message: parse(text), facts, outlet }))
  if (Exit.isFailure(exit)) throw new Error(`refused: ${text.slice(0, 200)} ${String(exit.cause)}`)
  return exit.value
}

/** Opens a session, and gives its id. */
export const openSession = (server: Server): string => {
  const sink = new Sink()
  const { sessionId } = hand(server, Messages.initialize, factsOf(), sink)
  if (sessionId === undefined || sink.answered !== 1) throw new Error(`no session: ${sink.last}`)
  hand(server, Messages.initialized, factsOf(sessionId), sink)
  return sessionId
}

let links = 0

/** Opens the stream of a session, as GET does; gives how many messages have come over it. */
export const openStream = async ({ endpoint }: Server, sessionId: string): Promise<() => number> => {
  let sent = 0
  const link: Link = {
    id: `growth-${++links}`,
    send: (message) =>
      Effect.sync(() => {
        JsonRpc.stringify(message)
        sent++
      }),
    closed: Effect.never,
    agreed: () => Effect.void
  }
  await Effect.runPromise(Scope.provide(endpoint.attach(factsOf(sessionId), link), Scope.makeUnsafe()))
  return () => sent
}

/** Answers `text`, once, and throws unless the answer has this in it. */
export const verify = (server: Server, text: string, facts: Facts, expected: string): void => {
  const sink = new Sink()
  hand(server, text, facts, sink)
  if (!sink.last.includes(expected)) throw new Error(`not answered with ${expected}: ${sink.last.slice(0, 500)}`)
}
