/** HTTP on the revisions with sessions: who may go on with which one, and what is served without any. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import * as Revisions from "@mcpfx/schema/Revisions"
import type { Session } from "@mcpfx/session/Session"
import type { SessionNotFound, SessionStoreUnavailable } from "@mcpfx/session/SessionError"
import { type Admission, Rejected } from "@mcpfx/transport/Endpoint"
import type { Exchange, Facts } from "@mcpfx/transport/Exchange"
import type { Link } from "@mcpfx/transport/Link"
import * as McpHeaders from "@mcpfx/transport/McpHeaders"
import * as Principal from "@mcpfx/transport/Principal"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Discover from "../Discover.ts"
import { rejected } from "./admission.ts"
import { Callers } from "./callers.ts"
import { isExit } from "./exit.ts"
import { fallback, type Gateway, lacking, modernOnly, noSession, shuttingDown } from "./gateway.ts"
import type { HttpDoor } from "./http.ts"
import { sessionNotFound } from "./sessionNotFound.ts"
import type { Client } from "./single.ts"

type Admitted = Effect.Effect<Admission, Rejected>

const admitted: Exit.Exit<Admission> = Exit.succeed({})
const notAllowed = { allow: "POST" }

export class HttpSessions implements HttpDoor {
  private readonly gateway: Gateway
  readonly callers: Callers

  constructor(gateway: Gateway) {
    this.gateway = gateway
    this.callers = new Callers(gateway.requestsInFlight)
  }

  get stateless(): boolean {
    return this.gateway.settings.sessions === "stateless"
  }

  /** One message of a session, the one that opens it, or, without sessions, one that stands alone. */
  handle(exchange: Exchange): Admitted {
    const { facts, message } = exchange
    const { settings } = this.gateway
    const opens = JsonRpc.isRequest(message) && message.method === Methods.Initialize.name
    if (settings.newestLegacy === undefined) {
      return JsonRpc.isRequest(message)
        ? Exit.fail(modernOnly(settings, message.method, message.params?.["protocolVersion"]))
        : admitted
    }
    if (this.stateless) return JsonRpc.isRequest(message) ? this.single(exchange, message) : admitted
    if (facts.sessionId === undefined) return opens ? this.open(exchange) : Exit.fail(this.missing)
    return this.withSession(facts, (session) => this.accept(session, exchange))
  }

  /** A request of 2026-07-28, which stands alone. */
  modern(exchange: Exchange, request: JsonRpc.Request, client: Client): Exit.Exit<Admission, Rejected> {
    const inFlight = this.callers.of(exchange.facts)
    return this.gateway.modern.start({ exchange, request, client, inFlight, key: exchange })
  }

  private accept(session: Session, exchange: Exchange): Exit.Exit<Admission, Rejected> {
    const { facts, message } = exchange
    const refusal = JsonRpc.isRequest(message) ? lacking(this.gateway, session, facts, message) : undefined
    return refusal === undefined ? session.accept(exchange) : Exit.fail(refusal)
  }

  private open(exchange: Exchange): Admitted {
    const { isDraining, sessions, settings } = this.gateway
    const revision = fallback(settings)
    if (isDraining()) return Exit.fail(shuttingDown(revision))
    return Effect.matchEffect(sessions.open({ principalKey: Principal.key(exchange.facts.principal) }), {
      onFailure: (error) => Effect.fail(noSession(error, revision)),
      onSuccess: (session) => {
        const outcome = session.accept(exchange)
        if (Exit.isFailure(outcome)) return Effect.andThen(session.close("failed"), outcome)
        return outcome
      }
    })
  }

  private get missing(): Rejected {
    return rejected(
      new McpError.InvalidRequest({ detail: `Header ${McpHeaders.names.sessionId} is missing` }),
      fallback(this.gateway.settings)
    )
  }

  /** Goes on with the session the facts name, if it is the caller's and speaks the version the header says (HTTP-45). */
  withSession<A, R>(
    facts: Facts,
    use: (session: Session) => Effect.Effect<A, Rejected, R>
  ): Effect.Effect<A, Rejected, R> {
    if (facts.sessionId === undefined) return Exit.fail(this.missing)
    const found = this.gateway.sessions.get(facts.sessionId, Principal.key(facts.principal))
    if (isExit(found) && Exit.isSuccess(found)) return this.checked(facts, found.value, use)
    return Effect.matchEffect(found, {
      onFailure: (error) => Effect.fail(this.lost(error)),
      onSuccess: (session) => this.checked(facts, session, use)
    })
  }

  private checked<A, R>(
    facts: Facts,
    session: Session,
    use: (session: Session) => Effect.Effect<A, Rejected, R>
  ): Effect.Effect<A, Rejected, R> {
    const revision = session.agreed()?.revision
    const header = facts.protocolVersion
    if (revision === undefined || header === undefined || header === revision.version) return use(session)
    const detail = `Header ${McpHeaders.names.protocolVersion} does not name the version of the session`
    return Exit.fail(rejected(new McpError.InvalidRequest({ detail }), revision))
  }

  private lost(error: SessionNotFound | SessionStoreUnavailable): Rejected {
    return error._tag === "SessionNotFound"
      ? new Rejected(sessionNotFound, 404)
      : noSession(error, fallback(this.gateway.settings))
  }

  // Without sessions.

  /** The version a message without a session is served at (HTTP-44). */
  private versionOf(facts: Facts): Revision {
    const { settings } = this.gateway
    const header = facts.protocolVersion ?? Revisions.assumed.version
    const named = settings.byVersion.get(header)
    return named?.era === "legacy" ? named : fallback(settings)
  }

  private single(exchange: Exchange, request: JsonRpc.Request): Exit.Exit<Admission, Rejected> {
    const client = this.statelessClient(request, exchange.facts)
    return Result.isFailure(client) ? Exit.fail(client.failure) : this.modern(exchange, request, client.success)
  }

  private statelessClient(request: JsonRpc.Request, facts: Facts): Result.Result<Client, Rejected> {
    if (request.method !== Methods.Initialize.name) {
      return Result.succeed({ revision: this.versionOf(facts), facts, clientCapabilities: {} })
    }
    const { settings } = this.gateway
    const asked = request.params?.["protocolVersion"]
    const revision = Discover.negotiate(settings, typeof asked === "string" ? asked : "") ?? fallback(settings)
    const params = revision.request(Methods.Initialize)?.decodeParams(request.params ?? {})
    if (params !== undefined && Result.isFailure(params)) {
      return Result.fail(rejected(new McpError.InvalidParams({ detail: params.failure.message() }), revision))
    }
    return Result.succeed({
      revision,
      facts,
      clientCapabilities: params?.success.capabilities ?? {},
      clientInfo: params?.success.clientInfo
    })
  }

  // Streams, ends and batches.

  private get noSessions(): Rejected | undefined {
    const { settings } = this.gateway
    return this.stateless || settings.newestLegacy === undefined
      ? rejected(
        new McpError.InvalidRequest({ detail: "There are no sessions here" }),
        fallback(settings),
        405,
        notAllowed
      )
      : undefined
  }

  attach(facts: Facts, link: Link): Effect.Effect<void, Rejected, Scope.Scope> {
    const refusal = this.noSessions
    if (refusal !== undefined) return Exit.fail(refusal)
    if (this.gateway.isDraining()) return Exit.fail(shuttingDown(fallback(this.gateway.settings)))
    return this.withSession(facts, (session) => session.attach(link))
  }

  /** Whether the caller may go on with a session, asked for its streams. */
  verify(facts: Facts): Effect.Effect<void, Rejected> {
    const refusal = this.noSessions
    if (refusal !== undefined) return Exit.fail(refusal)
    return this.withSession(facts, () => Effect.void)
  }

  terminate(facts: Facts): Effect.Effect<void, Rejected> {
    const refusal = this.noSessions
    if (refusal !== undefined) return Exit.fail(refusal)
    return this.withSession(facts, (session) =>
      Effect.mapError(
        this.gateway.sessions.terminate(session.id, session.principalKey),
        (error) => this.lost(error)
      ))
  }

  /** The revision a batch comes in at. */
  batchRevision(facts: Facts): Effect.Effect<Revision | undefined, Rejected> {
    if (this.stateless) return Effect.succeed(this.versionOf(facts))
    return this.withSession(facts, (session) => Effect.succeed(session.agreed()?.revision))
  }
}
