/** How client and server settle on an era and a revision. */
import * as Capabilities from "@mcpfx/schema/Capabilities"
import type * as Implementation from "@mcpfx/schema/Implementation"
import type * as Lifecycle from "@mcpfx/schema/Lifecycle"
import * as Meta from "@mcpfx/schema/Meta"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import type { PeerFailure } from "@mcpfx/session/Peer"
import type * as Session from "@mcpfx/session/Session"
import { RequestTimeout } from "@mcpfx/session/SessionError"
import type { Way } from "@mcpfx/transport/ClientTransport"
import * as Patience from "@mcpfx/transport/Patience"
import type * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { Live } from "../Connection.ts"
import { fail, fromPeer, type McpClientError, NoCommonRevision } from "../McpClientError.ts"
import * as Negotiation from "../Negotiation.ts"
import * as Opening from "./opening.ts"

export interface Options extends Opening.Options {
  readonly revisions: Arr.NonEmptyReadonlyArray<Revision>
  readonly info: Implementation.Implementation
  readonly declared: Capabilities.Client
  readonly declaredOn: ((declared: Capabilities.Client, revision: Revision) => Capabilities.Client) | undefined
  /** How long to wait for the answer to the probe. */
  readonly probeTimeout: Duration.Duration
  readonly connectTimeout: Duration.Duration
  readonly eras: Negotiation.EraCache
  /** What deadlines have with people who are asked to log in. */
  readonly patience: Patience.Patience | undefined
}

type Agreed = Omit<Live, "generation" | "scope">
type Agreeing = Effect.Effect<Agreed, McpClientError, Scope.Scope>

/** What is said on a revision. */
const declaredFor = ({ declared, declaredOn }: Options, revision: Revision): Capabilities.Client =>
  Capabilities.clientFor(declaredOn === undefined ? declared : declaredOn(declared, revision), revision.version)

/** Opens a link and agrees: the way that is known from before, or that the options leave, or that the probe shows. */
export const agree = (options: Options): Agreeing => {
  const { eras, revisions, transport } = options
  const legacy = revisions.find(({ era }) => era === "legacy")
  if (transport.fallback === undefined || legacy === undefined || eras.get(transport.target) !== "sse") {
    return begin(options, legacy)
  }
  return Effect.catch(overFallback(options, transport.fallback, legacy, (error) => error), (error) => {
    if (!Negotiation.disprovesSse(error)) return Effect.fail(error)
    eras.forget(transport.target)
    return begin(options, legacy)
  })
}

const begin = (options: Options, legacy: Revision | undefined): Agreeing => {
  const { eras, revisions, transport } = options
  const modern = revisions.find(({ era }) => era === "modern")
  return Effect.flatMap(Opening.open(options), (opened) => {
    if (modern === undefined || transport.era === "legacy") return initialize(options, opened, legacy)
    if (legacy === undefined || eras.get(transport.target) !== "legacy") {
      return probe(options, opened, modern, legacy)
    }
    return Effect.catch(initialize(options, opened, legacy), (error) => {
      if (!Negotiation.disproves(error)) return Effect.fail(error)
      eras.forget(transport.target)
      return Effect.flatMap(usable(options, opened), (again) => probe(options, again, modern, legacy))
    })
  })
}

/** Agrees over the other transport of a server; `unopened` judges why that could not be opened. */
const overFallback = (
  options: Options,
  fallback: Way,
  legacy: Revision,
  unopened: (error: McpClientError) => McpClientError
): Agreeing => {
  const other = { ...options, transport: fallback }
  return Effect.mapError(Opening.open(other), unopened).pipe(
    Effect.flatMap((opened) => initialize(other, opened, legacy)),
    Effect.tap(() => Effect.sync(() => options.eras.set(options.transport.target, "sse")))
  )
}

/** The link itself while it lasts, or a fresh one: some servers end on what they do not know. */
const usable = (options: Options, opened: Opening.Opened) =>
  opened.gone() ? Opening.open(options) : Effect.succeed(opened)

/** Asks a server whether it is a modern one, and goes by its answer. */
const probe = Effect.fnUntraced(function*(
  options: Options,
  opened: Opening.Opened,
  modern: Revision,
  legacy: Revision | undefined,
  isSecond = false
): Effect.fn.Return<Agreed, McpClientError, Scope.Scope> {
  let asked = modern
  for (let tries = 0; tries < 3; tries++) {
    const { outcome, session } = yield* discover(options, opened, asked)
    const verdict = Negotiation.judge(options.transport.kind, options.revisions, outcome)
    switch (verdict._tag) {
      case "Retry":
        asked = verdict.revision
        continue
      case "Modern":
        if (verdict.revision.version === asked.version) {
          return yield* settle(options, opened, session, asked, verdict.discovered)
        }
        asked = verdict.revision
        continue
      case "NoCommon":
        return yield* noCommon(options, verdict.offered)
      case "Inconclusive":
        return yield* fromPeer(verdict.failure, Methods.Discover.name)
      case "Legacy": {
        yield* session.close("closed")
        if (legacy === undefined) return yield* noCommon(options, [])
        const agreed = fallBack(options, opened, legacy)
        if (verdict.certain || isSecond) return yield* agreed
        // It was silent, and may only have been slow to start: its answer now counts more.
        return yield* Effect.catch(agreed, (error) =>
          error.reason._tag === "Refused"
            ? Effect.flatMap(usable(options, opened), (again) => probe(options, again, modern, legacy, true))
            : Effect.fail(error))
      }
    }
  }
  return yield* noCommon(options, [asked.version])
})

/**
 * Sends the probe. One that is not answered is let go of without a word: a server of the other era would not know what to
 * make of a cancellation before its handshake.
 */
const discover = Effect.fnUntraced(function*(options: Options, opened: Opening.Opened, asked: Revision) {
  const { info, patience, probeTimeout } = options
  const clientCapabilities = declaredFor(options, asked)
  const session = yield* opened.begin({
    revision: asked,
    clientInfo: info,
    clientCapabilities,
    envelope: Meta.encodeEnvelope({ protocolVersion: asked.version, clientCapabilities, clientInfo: info })
  })
  const forever = { timeout: Duration.infinity, maxTimeout: Duration.infinity }
  const asking = yield* Effect.forkScoped(session.peer.request(Methods.Discover, {}, forever), {
    startImmediately: true
  })
  const exit = yield* Patience.timeoutOrElse(Effect.asSome(Fiber.await(asking)), {
    patience,
    duration: probeTimeout,
    orElse: () => Effect.succeedNone
  })
  if (Option.isSome(exit)) return { session, outcome: yield* Effect.result(exit.value) }
  yield* session.close("closed")
  const silence = new RequestTimeout({ method: Methods.Discover.name, millis: Duration.toMillis(probeTimeout) })
  const outcome: Result.Result<Lifecycle.DiscoverResult, PeerFailure> = Result.fail(silence)
  return { session, outcome }
})

const settle = Effect.fnUntraced(function*(
  options: Options,
  opened: Opening.Opened,
  session: Session.Session,
  revision: Revision,
  discovered: Lifecycle.DiscoverResult
) {
  yield* opened.link.agreed({ version: revision.version, era: "modern" })
  options.eras.set(options.transport.target, revision.version)
  return agreedOn(opened, session, revision, Meta.serverInfo(discovered), discovered)
})

/** What is known of a server once it has agreed. */
const agreedOn = (
  { link, lost, over }: Opening.Opened,
  session: Session.Session,
  revision: Revision,
  info: Agreed["info"],
  { capabilities, instructions }: Pick<Lifecycle.DiscoverResult, "capabilities" | "instructions">
): Agreed => ({ session, link, over, lost, revision, info, capabilities, instructions })

/** `initialize` on a link that was probed; the server may have ended on the probe. */
const fallBack = (options: Options, opened: Opening.Opened, legacy: Revision): Agreeing =>
  opened.gone()
    ? Effect.flatMap(Opening.open(options), (fresh) => initialize(options, fresh, legacy))
    : Effect.catch(initialize(options, opened, legacy), (error) =>
      error.reason._tag === "ConnectionLost" && opened.gone()
        ? Effect.flatMap(Opening.open(options), (fresh) => initialize(options, fresh, legacy))
        : Effect.fail(error))

/**
 * The handshake of a stateful revision. A server that refuses the version and names others is asked once more, with the
 * newest of those (LIF-13).
 */
const initialize = Effect.fnUntraced(function*(
  options: Options,
  opened: Opening.Opened,
  offered: Revision | undefined
): Effect.fn.Return<Agreed, McpClientError, Scope.Scope> {
  const { connectTimeout, eras, info, revisions, transport } = options
  if (offered === undefined) return yield* noCommon(options, [])
  const session = yield* opened.begin()
  let elsewhere: Way | undefined
  const ask = (revision: Revision) =>
    session.peer.request(Methods.Initialize, {
      protocolVersion: revision.version,
      capabilities: declaredFor(options, revision),
      clientInfo: info
    }, { timeout: connectTimeout })
  const handshake = Effect.gen(function*() {
    const result = yield* ask(offered).pipe(
      Effect.catch((failure) => {
        const other = Negotiation.counterOffer(revisions, offered, failure)
        return other === undefined ? Effect.fail(failure) : ask(other)
      }),
      Effect.mapError((failure) => {
        if (Negotiation.lacksTransport(failure)) elsewhere = transport.fallback
        return fromPeer(failure, Methods.Initialize.name)
      })
    )
    const revision = revisions.find(({ era, version }) => era === "legacy" && version === result.protocolVersion)
    if (revision === undefined) return yield* noCommon(options, [result.protocolVersion])
    const clientCapabilities = declaredFor(options, revision)
    session.establish({ revision, clientInfo: info, clientCapabilities })
    yield* opened.link.agreed({ version: revision.version, era: "legacy" })
    yield* Effect.mapError(
      session.peer.notify(Methods.Initialized, {}),
      (failure) => fromPeer(failure, Methods.Initialized.name)
    )
    return { result, revision }
  })
  const outcome = yield* Effect.result(Effect.onExit(
    handshake,
    (exit) => Exit.isFailure(exit) ? session.close("failed") : Effect.void
  ))
  if (Result.isFailure(outcome)) {
    const refused = outcome.failure
    if (elsewhere === undefined) return yield* refused
    // Where nothing else was there either, what the server said first stands.
    const unopened = (error: McpClientError) => Negotiation.showsSse(error) ? error : refused
    return yield* overFallback(options, elsewhere, offered, unopened)
  }
  const { result, revision } = outcome.success
  eras.set(transport.target, "legacy")
  return agreedOn(opened, session, revision, result.serverInfo, result)
})

const noCommon = ({ revisions }: Options, offered: ReadonlyArray<string>) =>
  fail(new NoCommonRevision({ offered, supported: revisions.map(({ version }) => version) }))
