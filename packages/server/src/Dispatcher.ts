/**
 * From a method to its result: a table for each revision, over one registry.
 *
 * Params are decoded once, by the revision's codec; what is registered runs on the neutral model; its result is encoded by
 * the codec again. Answers that are the same for everybody are written once and kept as text.
 *
 * @since 0.1.0
 */
import * as McpError from "@mcpfx/schema/McpError"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import type { Handler } from "@mcpfx/session/Handler"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { ChangeBus } from "./ChangeBus.ts"
import * as Discover from "./Discover.ts"
import { entering } from "./internal/enter.ts"
import * as Entries from "./internal/entryRoutes.ts"
import { Lane } from "./internal/lane.ts"
import { addLists } from "./internal/listRoutes.ts"
import type { Settings } from "./internal/settings.ts"
import { Single } from "./internal/single.ts"
import * as Listen from "./Listen.ts"
import { Registry } from "./Registry.ts"

type Request = RequestContext["Service"]

/**
 * A {@link Handler} that also knows what it would answer to.
 *
 * @category services
 * @since 0.1.0
 */
export class Dispatcher extends Context.Service<
  Dispatcher,
  Handler["Service"] & {
    /** Whether the method exists and is offered on the revision of the context (RPC-24). */
    readonly has: (method: string, context: Request) => boolean
    /** What is offered now; `pushes` says whether there is a stream to announce things on. */
    readonly offer: (revision: Revision, pushes: boolean) => Discover.Offer
    readonly listen: Listen.Listen["Service"]
    /** For whom the resources that a session watches are looked up. */
    readonly callers: Map<string, Request>
  }
>()("@mcpfx/server/Dispatcher") {}

/**
 * Whether there is a stream to announce things on: stateless HTTP has none on the revisions with sessions.
 *
 * @category getters
 * @since 0.1.0
 */
export const pushesTo = (settings: Settings, revision: Revision, context: Request): boolean =>
  revision.era === "modern" || settings.sessions === "stateful" || context.facts.transport !== "http"

const addBasics = (lane: Lane): void => {
  lane.add(Methods.Ping, (wire) => () => Effect.succeed(wire.encode({})))
  lane.add(Methods.Initialize, (wire) => (request) => {
    const params = wire.decode(request)
    if (Result.isFailure(params)) return Effect.fail(params.failure)
    return Effect.succeed(wire.encode(Discover.initializeResult(lane.settings, lane.revision, lane.offer())))
  })
  lane.add(Methods.Discover, (wire) => (request) => {
    const params = wire.decode(request)
    if (Result.isFailure(params)) return Effect.fail(params.failure)
    return Effect.succeed(
      lane.keep("discover", () => wire.encode(Discover.discoverResult(lane.settings, lane.offer())))
    )
  })
  // The level itself is the session's to keep: it reads the request before it is answered (LOG-02).
  lane.add(Methods.LoggingSetLevel, (wire) => (request) => {
    const params = wire.decode(request)
    return Result.isFailure(params) ? Effect.fail(params.failure) : Effect.succeed(wire.encode({}))
  })
}

/** What is watched is the session's to keep, once it is answered; here only who asked is noted (RES-03). */
const addWatching = (lane: Lane, callers: Map<string, Request>): void => {
  lane.add(Methods.ResourcesSubscribe, (wire) => (request, context) => {
    const params = wire.decode(request)
    if (Result.isFailure(params)) return Effect.fail(params.failure)
    if (context.sessionId !== undefined) callers.set(context.sessionId, new Single(request, context))
    return Effect.succeed(wire.encode({}))
  })
  lane.add(Methods.ResourcesUnsubscribe, (wire) => (request) => {
    const params = wire.decode(request)
    return Result.isFailure(params) ? Effect.fail(params.failure) : Effect.succeed(wire.encode({}))
  })
}

const addListen = (lane: Lane, listen: Listen.Listen["Service"]): void =>
  lane.add(Methods.SubscriptionsListen, (wire) => (request, context) => {
    const params = wire.decode(request)
    if (Result.isFailure(params)) return Effect.fail(params.failure)
    return entering(Effect.map(listen.listen(params.success, context, lane.offer()), wire.encode), context)
  })

const ungated: Entries.Gate = (effect) => effect

const gateOf = (settings: Settings): Entries.Gate => {
  const { concurrency } = settings.limits
  if (!Number.isFinite(concurrency)) return ungated
  const semaphore = Semaphore.makeUnsafe(concurrency)
  return (effect) => semaphore.withPermits(1)(effect)
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  settings: Settings
): Effect.Effect<Dispatcher["Service"], never, Registry | ChangeBus | Scope.Scope> =>
  Effect.gen(function*() {
    const registry = yield* Registry
    const listen = yield* Listen.make
    const callers = new Map<string, Request>()
    const gate = gateOf(settings)

    const laneOf = (revision: Revision, pushes: boolean): Lane => {
      const lane = new Lane(revision, settings, registry, pushes)
      addBasics(lane)
      addLists(lane)
      Entries.addTools(lane, gate)
      Entries.addPrompts(lane, gate)
      Entries.addResources(lane, gate)
      Entries.addCompletions(lane, gate)
      addWatching(lane, callers)
      addListen(lane, listen)
      return lane
    }
    const lanes = new Map(settings.revisions.map((revision) => [revision, laneOf(revision, true)]))
    const silent = new Map(
      settings.revisions.filter((revision) => revision.era === "legacy")
        .map((revision) => [revision, laneOf(revision, false)])
    )
    const pick = (revision: Revision, pushes: boolean): Lane | undefined =>
      pushes ? lanes.get(revision) : silent.get(revision)
    const lane = (context: Request): Lane | undefined =>
      pick(context.revision, pushesTo(settings, context.revision, context))

    return {
      request: (request, context) => {
        const route = lane(context)?.route(request.method)
        return route === undefined
          ? Effect.fail(new McpError.MethodNotFound({ method: request.method }))
          : route(request, context)
      },
      notification: () => Effect.void,
      has: (method, context) => lane(context)?.route(method) !== undefined,
      offer: (revision, pushes) =>
        pick(revision, pushes)?.offer() ?? Discover.offer(settings, registry.snapshot(), pushes),
      listen,
      callers
    }
  })
