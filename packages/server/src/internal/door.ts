/** Where the eras part, message by message. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import * as Meta from "@mcpfx/schema/Meta"
import type { Revision } from "@mcpfx/schema/Revision"
import * as Lifecycle from "@mcpfx/session/Lifecycle"
import type { Admission, Endpoint, Rejected } from "@mcpfx/transport/Endpoint"
import type { Exchange, Facts } from "@mcpfx/transport/Exchange"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { rejected } from "./admission.ts"
import { Connections, lacksEnvelope } from "./connections.ts"
import { fallback, type Gateway, modernOf, shuttingDown } from "./gateway.ts"
import type { Http, HttpDoor } from "./http.ts"
import type { Client } from "./single.ts"

const noClaim = Result.succeed(undefined)

/** What a request says about its sender; a transport that has looked already says so. */
const claimOf = (
  request: JsonRpc.Request,
  facts: Facts
): Result.Result<Meta.Envelope | undefined, Meta.EnvelopeFault> => {
  const { classified } = facts
  if (classified === undefined) return Meta.modernEnvelope(request.params)
  return classified._tag === "Modern" ? Result.succeed(classified.envelope) : noClaim
}

export class Door {
  private readonly gateway: Gateway
  readonly connections: Connections
  readonly http: HttpDoor

  constructor(gateway: Gateway, http: Http, scope: Scope.Scope) {
    this.gateway = gateway
    this.connections = new Connections(gateway, scope)
    this.http = http.door(gateway)
  }

  readonly handle = (exchange: Exchange): Effect.Effect<Admission, Rejected> => {
    const { facts, message } = exchange
    if (JsonRpc.isRequest(message)) {
      const claim = claimOf(message, facts)
      if (Result.isFailure(claim)) {
        return Exit.fail(
          rejected(
            new McpError.InvalidEnvelope({ key: claim.failure.key, reason: claim.failure.reason }),
            modernOf(this.gateway.settings)
          )
        )
      }
      if (claim.success !== undefined) return this.modern(exchange, message, claim.success)
      const lacking = lacksEnvelope(this.gateway, message)
      if (lacking !== undefined && !this.inSession(facts)) return Exit.fail(lacking)
    } else if (facts.classified?._tag === "Modern") {
      // Over HTTP a modern client says nothing but requests: what it sends else is taken and left alone (HTTP-67).
      return Exit.succeed({})
    }
    return facts.connection === undefined
      ? this.http.handle(exchange)
      : this.connections.legacy(facts.connection, exchange)
  }

  /** A session answers for itself: what its revision does not have is not found there (RPC-24). */
  private inSession(facts: Facts): boolean {
    return facts.connection === undefined
      ? facts.sessionId !== undefined
      : this.connections.session(facts.connection)?.agreed() !== undefined
  }

  private modern(
    exchange: Exchange,
    request: JsonRpc.Request,
    envelope: Meta.Envelope
  ): Exit.Exit<Admission, Rejected> {
    const { settings } = this.gateway
    const revision = settings.byVersion.get(envelope.protocolVersion)
    if (revision?.era !== "modern") {
      return Exit.fail(rejected(
        new McpError.UnsupportedVersion({ supported: settings.supported, requested: envelope.protocolVersion }),
        modernOf(settings)
      ))
    }
    if (this.gateway.isDraining()) return Exit.fail(shuttingDown(revision))
    const { facts } = exchange
    const client: Client = {
      revision: this.gateway.dispatcher.speaking(revision, envelope.clientCapabilities),
      facts,
      clientCapabilities: envelope.clientCapabilities,
      clientInfo: envelope.clientInfo,
      logLevel: settings.declared.logging === false ? undefined : envelope.logLevel
    }
    return facts.connection === undefined
      ? this.http.modern(exchange, request, client)
      : this.connections.modern(facts.connection, exchange, request, client)
  }

  readonly admitBatch: Endpoint["Service"]["admitBatch"] = (messages, facts) => {
    const admit = (revision: Revision | undefined): Effect.Effect<void, Rejected> => {
      const modern = messages.some((message) =>
        JsonRpc.isRequest(message) && Result.getOrElse(Meta.modernEnvelope(message.params), () => true) !== undefined
      )
      const refusal = modern
        ? "a batch holds no requests of a revision without batches"
        : Lifecycle.batchRefusal(revision, messages, this.gateway.batchLength)
      return refusal === undefined ? Exit.void : Exit.fail(rejected(
        new McpError.InvalidRequest({ detail: refusal }),
        revision ?? fallback(this.gateway.settings)
      ))
    }
    const { connection } = facts
    return connection === undefined
      ? Effect.flatMap(this.http.batchRevision(facts), admit)
      : admit(this.connections.session(connection)?.agreed()?.revision)
  }

  /** What transports have of it. */
  get endpoint(): Endpoint["Service"] {
    const { admitBatch, handle, http } = this
    return {
      handle,
      admitBatch,
      attach: (facts, link) => http.attach(facts, link),
      verify: (facts) => http.verify(facts),
      terminate: (facts) => http.terminate(facts)
    }
  }
}
