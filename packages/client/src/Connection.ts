/**
 * Owns the way to the server: connects, agrees on a revision, and connects anew when the connection is lost.
 *
 * One connection is made at a time; callers that come meanwhile wait for the same one. A request whose session the server
 * has forgotten is sent once more on a new session (HTTP-40); any other lost request is the caller's, since it may have
 * had its effect.
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import * as Codes from "@mcpfx/schema/Codes"
import type * as Implementation from "@mcpfx/schema/Implementation"
import * as Meta from "@mcpfx/schema/Meta"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import * as Revisions from "@mcpfx/schema/Revisions"
import type * as Handler from "@mcpfx/session/Handler"
import type { PeerFailure } from "@mcpfx/session/Peer"
import * as Session from "@mcpfx/session/Session"
import type { ClientTransport } from "@mcpfx/transport/ClientTransport"
import { type Endpoint, Rejected } from "@mcpfx/transport/Endpoint"
import type { Link } from "@mcpfx/transport/Link"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { ClientOptions } from "./ClientOptions.ts"
import {
  ConnectionLost,
  fail,
  fromPeer,
  mapPeer,
  type McpClientError,
  NoCommonRevision,
  TimedOut
} from "./McpClientError.ts"
import * as Negotiation from "./Negotiation.ts"

/**
 * What the server said about itself.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServerFacts {
  readonly revision: Revision
  /** How the server calls itself: for display, never for decisions (META-10). */
  readonly info: Implementation.Implementation | undefined
  readonly capabilities: Capabilities.Server
  readonly instructions: string | undefined
}

/**
 * A connection that is open.
 *
 * @category models
 * @since 0.1.0
 */
export interface Live extends ServerFacts {
  readonly session: Session.Session
  readonly link: Link
  /** Whether it has ended. */
  readonly over: () => boolean
  /** Counts the connections of this client, from 1. */
  readonly generation: number
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Connection {
  readonly target: string
  readonly transport: "memory" | "stdio" | "http"
  /** The open connection, made if there is none. */
  readonly live: Effect.Effect<Live, McpClientError>
  /** Runs one request; on a session that the server forgot, once more on a new one. */
  readonly use: <A>(
    method: string,
    run: (live: Live) => Effect.Effect<A, PeerFailure>
  ) => Effect.Effect<A, McpClientError>
}

const attempts = Schedule.exponential("100 millis").pipe(Schedule.jittered, Schedule.upTo({ times: 5 }))

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  transport: ClientTransport["Service"],
  handler: Handler.Handler["Service"],
  declared: Capabilities.Client,
  options: ClientOptions
) {
  const scope = yield* Effect.scope
  const eras = yield* Negotiation.CurrentEraCache
  const connecting = Semaphore.makeUnsafe(1)
  const ours = Negotiation.revisionsOf(Revisions.all, options)
  if (ours === undefined) return yield* Effect.die(new Error("ClientOptions.revisions is empty"))
  const info = options.info ?? { name: "mcpfx-client", version: "0.1.0" }
  const reconnect = options.reconnect ?? transport.kind === "http"
  const connectTimeout = options.connectTimeout ?? "30 seconds"
  const probeTimeout = transport.kind === "http" ? connectTimeout : options.probeTimeout ?? "5 seconds"
  let generation = 0
  let current: { readonly live: Live; readonly scope: Scope.Closeable } | undefined

  const openLink = Effect.fnUntraced(function*() {
    let session: Session.Session | undefined
    let ended = false
    const link = yield* Effect.mapError(transport.connect(endpointOf(() => session)), (error) => fromPeer(error))
    /** A session on this link; it takes the place of the one before. */
    const begin = Effect.fnUntraced(function*(established?: Session.Established) {
      ended = false
      const made: Session.Session = yield* Session.make({
        id: `${transport.target}#${generation}`,
        role: "client",
        handler,
        link,
        revisions: ours,
        established,
        onClosed: () => {
          ended ||= session === made
        }
      })
      session = made
      return made
    })
    return { link, begin, over: () => ended }
  })

  const envelope = (revision: Revision): Session.Established => ({
    revision,
    clientInfo: info,
    clientCapabilities: declared,
    envelope: Meta.encodeEnvelope({
      protocolVersion: revision.version,
      clientCapabilities: declared,
      clientInfo: info
    })
  })

  type Opened = Effect.Success<ReturnType<typeof openLink>>

  const discover = Effect.fnUntraced(function*(opened: Opened, asked: Revision) {
    const session = yield* opened.begin(envelope(asked))
    yield* opened.link.agreed({ version: asked.version, era: asked.era })
    const outcome = yield* Effect.result(session.peer.request(Methods.Discover, {}, { timeout: probeTimeout }))
    return { session, verdict: Negotiation.judge(transport.kind, ours, asked, outcome) }
  })

  const initialize = Effect.fnUntraced(function*(opened: Opened) {
    const offered = ours.find((revision) => revision.era === "legacy")
    if (offered === undefined) return yield* Effect.fail(noCommon([]))
    const session = yield* opened.begin()
    const result = yield* session.peer.request(Methods.Initialize, {
      protocolVersion: offered.version,
      capabilities: declared,
      clientInfo: info
    }, { timeout: connectTimeout }).pipe(mapPeer(Methods.Initialize.name))
    const revision = ours.find(({ era, version }) => era === "legacy" && version === result.protocolVersion)
    if (revision === undefined) return yield* Effect.fail(noCommon([result.protocolVersion]))
    session.establish({ revision, clientInfo: info, clientCapabilities: declared })
    yield* opened.link.agreed({ version: revision.version, era: "legacy" })
    yield* session.peer.notify(Methods.Initialized, {}).pipe(mapPeer(Methods.Initialized.name))
    eras.set(transport.target, "legacy")
    return {
      session,
      link: opened.link,
      over: opened.over,
      revision,
      info: result.serverInfo,
      capabilities: result.capabilities,
      instructions: result.instructions,
      generation
    }
  })
  const noCommon = (offered: ReadonlyArray<string>) =>
    fail(new NoCommonRevision({ offered, supported: ours.map(({ version }) => version) }))

  /** Probes for a modern server; falls back on what was asked for or judged. */
  const agree = Effect.fnUntraced(function*() {
    const cached = eras.get(transport.target)
    const modern = ours.find(({ era, version }) => era === "modern" && (cached === undefined || cached === version)) ??
      ours.find(({ era }) => era === "modern")
    const hasLegacy = ours.some(({ era }) => era === "legacy")
    let opened = yield* openLink()
    if (modern === undefined || (cached === "legacy" && hasLegacy)) return yield* initialize(opened)
    let asked = modern
    for (let tries = 0; tries < 3; tries++) {
      const { session, verdict } = yield* discover(opened, asked)
      switch (verdict._tag) {
        case "Modern": {
          if (verdict.revision.version !== asked.version) {
            asked = verdict.revision
            continue
          }
          eras.set(transport.target, verdict.revision.version)
          return {
            session,
            link: opened.link,
            over: opened.over,
            revision: verdict.revision,
            info: Meta.serverInfo(verdict.discovered),
            capabilities: verdict.discovered.capabilities,
            instructions: verdict.discovered.instructions,
            generation
          }
        }
        case "Retry":
          asked = verdict.revision
          continue
        case "NoCommon":
          return yield* Effect.fail(noCommon(verdict.offered))
        case "Inconclusive":
          return yield* Effect.fail(fromPeer(verdict.failure, Methods.Discover.name))
        case "Legacy": {
          if (!hasLegacy) return yield* Effect.fail(noCommon([]))
          // A server that ends on what it does not know is started again before the handshake.
          yield* session.close("closed")
          if (transport.kind !== "http" && (yield* hasClosed(opened.link))) opened = yield* openLink()
          return yield* initialize(opened)
        }
      }
    }
    return yield* Effect.fail(noCommon([asked.version]))
  })

  const open = Effect.suspend(() => {
    generation++
    const own = Scope.forkUnsafe(scope)
    return agree().pipe(
      Scope.provide(own),
      Effect.timeoutOrElse({
        duration: connectTimeout,
        orElse: () => Effect.fail(fail(new TimedOut({ millis: Duration.toMillis(connectTimeout) })))
      }),
      Effect.onExit((exit) => Exit.isFailure(exit) ? Scope.close(own, exit) : Effect.void),
      Effect.map((live: Live) => (current = { live, scope: own }).live)
    )
  })

  const drop = (live: Live) =>
    Effect.suspend(() => {
      if (current?.live !== live) return Effect.void
      const { scope: own } = current
      current = undefined
      return Scope.close(own, Exit.void)
    })

  const again = reconnect
    ? Effect.retry(open, { schedule: attempts, while: ({ reason }) => reason._tag === "ConnectionLost" })
    : open

  const live: Effect.Effect<Live, McpClientError> = Effect.suspend(() => {
    const known = current
    if (known !== undefined && !known.live.over()) return Effect.succeed(known.live)
    return connecting.withPermit(Effect.suspend(() => {
      const there = current
      if (there !== undefined) {
        if (!there.live.over()) return Effect.succeed(there.live)
        if (!reconnect) return Effect.fail(fail(new ConnectionLost({ detail: "the connection has ended" })))
        return Effect.andThen(drop(there.live), again)
      }
      return generation === 0 ? open : again
    }))
  })

  const use: Connection["use"] = (method, run) =>
    Effect.flatMap(live, (first) =>
      Effect.catch(run(first), (failure) =>
        isStale(failure)
          ? Effect.suspend(() => {
            eras.forget(transport.target)
            return Effect.andThen(drop(first), Effect.flatMap(live, (second) => mapPeer(method)(run(second))))
          })
          : Effect.fail(fromPeer(failure, method))))

  return { target: transport.target, transport: transport.kind, live, use } satisfies Connection
})

const hasClosed = (link: Link): Effect.Effect<boolean> =>
  Effect.map(Effect.timeoutOption(link.closed, "50 millis"), (closed) => closed._tag === "Some")

/** The server forgot the session, or no longer speaks the revision: both are mended by a new connection. */
const isStale = (failure: PeerFailure): boolean =>
  failure._tag === "SessionLost" || (failure._tag === "PeerError" && failure.code === Codes.unsupportedVersion)

/** What the transport hands its messages to, while sessions come and go. */
const endpointOf = (session: () => Session.Session | undefined): Endpoint["Service"] => {
  const none = Effect.fail(new Rejected({ code: Codes.invalidRequest, message: "Not a server" }, 405))
  return {
    handle: (exchange) => session()?.accept(exchange) ?? Effect.succeed({}),
    admitBatch: () => Effect.void,
    attach: () => none,
    terminate: () => none
  }
}
