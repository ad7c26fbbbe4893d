/**
 * Connections (memory, stdio): each may carry requests of both eras at once. Those of 2026-07-28 stand alone; a session is
 * opened by the first message that wants one.
 */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Methods from "@mcpfx/schema/Methods"
import * as InFlight from "@mcpfx/session/InFlight"
import type { Session } from "@mcpfx/session/Session"
import type { Admission, Rejected } from "@mcpfx/transport/Endpoint"
import type { Exchange } from "@mcpfx/transport/Exchange"
import type { Link } from "@mcpfx/transport/Link"
import * as Principal from "@mcpfx/transport/Principal"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { rejected } from "./admission.ts"
import { closeTable } from "./closeTable.ts"
import { isExit } from "./exit.ts"
import { fallback, type Gateway, lacking, modernOf, modernOnly, noSession, noVersion, shuttingDown } from "./gateway.ts"
import { runNow } from "./runNow.ts"
import type { Client } from "./single.ts"

type Admitted = Effect.Effect<Admission, Rejected>

interface Connection {
  readonly link: Link
  readonly inFlight: InFlight.InFlight
  session: Session | undefined
}

const admitted: Exit.Exit<Admission> = Exit.succeed({})

export class Connections {
  private readonly gateway: Gateway
  private readonly scope: Scope.Scope
  private readonly open = new Map<Link, Connection>()

  constructor(gateway: Gateway, scope: Scope.Scope) {
    this.gateway = gateway
    this.scope = scope
  }

  /** Requests of 2026-07-28 that run. */
  get inFlight(): number {
    let total = 0
    for (const connection of this.open.values()) total += connection.inFlight.size
    return total
  }

  /** Serves a request that says who sends it. */
  modern(link: Link, exchange: Exchange, request: JsonRpc.Request, client: Client): Exit.Exit<Admission, Rejected> {
    const { inFlight } = this.of(link)
    return this.gateway.modern.start({ exchange, request, client, inFlight, key: request.id })
  }

  /** Everything else: requests without an envelope, notifications, responses. */
  legacy(link: Link, exchange: Exchange): Admitted {
    const { message } = exchange
    const connection = this.of(link)
    if (!JsonRpc.isRequest(message)) {
      const session = connection.session
      if ("method" in message && message.method === Methods.Cancelled.name) {
        const id = message.params?.["requestId"]
        if (JsonRpc.isRequestId(id) && connection.inFlight.interrupt(id)) return admitted
      }
      // Before there is a session there is nothing that a notification or a response could be about.
      return session === undefined ? admitted : session.accept(exchange)
    }
    const { session } = connection
    if (session !== undefined) return this.accept(connection, session, message, exchange)
    const { settings } = this.gateway
    if (settings.newestLegacy === undefined) {
      return Exit.fail(modernOnly(settings, message.method, message.params?.["protocolVersion"]))
    }
    if (this.gateway.isDraining()) return Exit.fail(shuttingDown(settings.newestLegacy))
    return this.begin(connection, exchange, message)
  }

  private begin(connection: Connection, exchange: Exchange, message: JsonRpc.Request): Admitted {
    const { context, sessions, settings } = this.gateway
    const opening = runNow(
      context,
      sessions.open({ principalKey: Principal.key(exchange.facts.principal), link: connection.link })
    )
    const opened = (session: Session): Admitted => {
      connection.session = session
      return this.accept(connection, session, message, exchange)
    }
    if (isExit(opening) && Exit.isSuccess(opening)) return opened(opening.value)
    return Effect.matchEffect(opening, {
      onFailure: (error) => Effect.fail(noSession(error, fallback(settings))),
      onSuccess: opened
    })
  }

  private accept(connection: Connection, session: Session, message: JsonRpc.Request, exchange: Exchange): Admitted {
    const refusal = lacking(this.gateway, session, exchange.facts, message)
    if (refusal !== undefined) return Exit.fail(refusal)
    const opens = message.method === Methods.Initialize.name
    const agreedBefore = !opens || session.agreed() !== undefined
    const outcome = session.accept(exchange)
    if (Exit.isFailure(outcome) && !this.gateway.isOpen(session)) {
      // It broke, and the connection did not: the client may begin anew.
      connection.session = undefined
      return opens ? this.begin(connection, exchange, message) : outcome
    }
    if (agreedBefore) return outcome
    const revision = session.agreed()?.revision
    if (revision !== undefined) {
      const told = Effect.runForkWith(this.gateway.context)(
        connection.link.agreed({ version: revision.version, era: revision.era })
      )
      Fiber.runIn(told, this.scope)
    }
    return outcome
  }

  /** The session of a connection, for a batch. */
  session(link: Link): Session | undefined {
    return this.open.get(link)?.session
  }

  readonly drain = (deadline: Duration.Input): Effect.Effect<void> =>
    Effect.suspend(() =>
      Effect.forEach(Array.from(this.open.values()), (connection) => connection.inFlight.drain(deadline), {
        concurrency: "unbounded",
        discard: true
      })
    )

  /** Interrupts everything at once. */
  readonly close: Effect.Effect<void> = Effect.suspend(() =>
    Effect.forEach(Array.from(this.open.values()), (connection) => closeTable(connection.inFlight), {
      concurrency: "unbounded",
      discard: true
    })
  )

  private of(link: Link): Connection {
    const known = this.open.get(link)
    if (known !== undefined) return known
    const inFlight = InFlight.makeUnsafe({ limit: this.gateway.requestsInFlight })
    const connection: Connection = { link, inFlight, session: undefined }
    this.open.set(link, connection)
    const gone = Effect.flatMap(link.closed, () =>
      Effect.suspend(() => {
        this.open.delete(link)
        return closeTable(inFlight)
      }))
    const fiber = Effect.runForkWith(this.gateway.context)(gone)
    Fiber.runIn(fiber, this.scope)
    return connection
  }
}

/** A request that could only be one of 2026-07-28 and does not say so is told what it lacks (META-09). */
export const lacksEnvelope = (gateway: Gateway, request: JsonRpc.Request): Rejected | undefined => {
  const { settings } = gateway
  if (settings.newestModern === undefined || !isModern(request.method)) return undefined
  return rejected(noVersion(), modernOf(settings))
}

const isModern = (method: string): boolean =>
  method === Methods.Discover.name || method === Methods.SubscriptionsListen.name
