/** A connection that goes wrong by a plan. */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { ClientTransport } from "@mcpfx/transport/ClientTransport"
import type { Endpoint } from "@mcpfx/transport/Endpoint"
import { type Exchange, noOutlet } from "@mcpfx/transport/Exchange"
import type { Link } from "@mcpfx/transport/Link"
import { TransportClosed, type TransportError } from "@mcpfx/transport/TransportError"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Decide, Fault, Plan } from "../FaultyTransport.ts"

type Pass = (message: JsonRpc.Message, isCopy: boolean) => Effect.Effect<void, TransportError>

interface Held {
  readonly pass: Effect.Effect<void, TransportError>
  left: number
}

/** One direction of a connection. */
class Direction {
  private readonly decide: Decide
  private readonly cut: Effect.Effect<void>
  private index = 0
  private held: Array<Held> = []

  constructor(decide: Decide | undefined, cut: Effect.Effect<void>) {
    this.decide = decide ?? (() => ({ _tag: "Deliver" }))
    this.cut = cut
  }

  /** Does to a message what the plan says; `pass` is how it would arrive. */
  take(message: JsonRpc.Message, pass: Pass): Effect.Effect<void, TransportError> {
    return Effect.suspend(() => {
      const fault = this.decide(message, this.index++)
      const due = this.due()
      return Effect.andThen(this.act(fault, message, pass), Effect.forEach(due, ({ pass }) => pass, { discard: true }))
    })
  }

  private act(fault: Fault, message: JsonRpc.Message, pass: Pass): Effect.Effect<void, TransportError> {
    switch (fault._tag) {
      case "Deliver":
        return pass(message, false)
      case "Drop":
        return Effect.void
      case "Delay":
        return Effect.delay(pass(message, false), fault.duration)
      case "Duplicate":
        return Effect.andThen(pass(message, false), pass(message, true))
      case "Hold":
        this.held.push({ pass: pass(message, false), left: fault.messages })
        return Effect.void
      case "Replace":
        return pass(fault.message, false)
      case "Cut":
        return this.cut
    }
  }

  /** What was held until now. */
  private due(): ReadonlyArray<Held> {
    for (const each of this.held) each.left--
    const due = this.held.filter(({ left }) => left <= 0)
    this.held = this.held.filter(({ left }) => left > 0)
    return due
  }
}

export const wire = Effect.fnUntraced(function*(
  inner: ClientTransport["Service"],
  plan: Plan,
  client: Endpoint["Service"]
): Effect.fn.Return<Link, TransportError, Scope.Scope> {
  const outer = yield* Effect.scope
  const connection = yield* Scope.fork(outer)
  const cutting = yield* Deferred.make<TransportError>()
  let isCut = false
  const lost = new TransportClosed({ reason: "The connection was cut" })
  // In a fiber of its own, since the one that cuts may end with the connection.
  const cut = Effect.suspend(() => {
    if (isCut) return Effect.void
    isCut = true
    Deferred.doneUnsafe(cutting, Exit.succeed(lost))
    return Effect.asVoid(Effect.forkIn(Scope.close(connection, Exit.void), outer))
  })
  const toClient = new Direction(plan.toClient, cut)
  const toServer = new Direction(plan.toServer, cut)

  const receive = (exchange: Exchange): Effect.Effect<void> => {
    const pass: Pass = (message, isCopy) =>
      Effect.suspend(() =>
        isCut
          ? Effect.void
          : Effect.ignore(client.handle({ ...exchange, message, outlet: isCopy ? noOutlet : exchange.outlet }))
      )
    return Effect.ignore(toClient.take(exchange.message, pass))
  }
  const link = yield* Scope.provide(
    inner.connect({
      ...client,
      // Accepting never waits, whatever becomes of the message.
      handle: (exchange) => Effect.as(Effect.forkIn(receive(exchange), connection, { startImmediately: true }), {})
    }),
    connection
  )
  const send: Link["send"] = (message, options) =>
    Effect.suspend(() => {
      if (isCut) return Effect.fail(lost)
      if (!("jsonrpc" in message)) return link.send(message, options)
      const pass: Pass = (message) => Effect.suspend(() => isCut ? Effect.fail(lost) : link.send(message, options))
      return toServer.take(message, pass)
    })
  return { ...link, send, closed: Effect.raceFirst(Deferred.await(cutting), link.closed) }
})
