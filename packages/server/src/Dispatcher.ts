/**
 * From a method to its result: a table for each revision, over one registry.
 *
 * Params are decoded once, by the revision's codec; what is registered runs on the neutral model; its result is encoded by
 * the codec again. Answers that are the same for everybody are written once and kept as text.
 *
 * @since 0.1.0
 */
import * as Capabilities from "@mcpfx/schema/Capabilities"
import * as McpError from "@mcpfx/schema/McpError"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import * as Revisions from "@mcpfx/schema/Revisions"
import * as Task from "@mcpfx/schema/Task"
import type { Handler } from "@mcpfx/session/Handler"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as Context from "effect/Context"
import type { SecureRandom } from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { ChangeBus } from "./ChangeBus.ts"
import * as Discover from "./Discover.ts"
import { entering } from "./internal/enter.ts"
import * as Entries from "./internal/entryRoutes.ts"
import { Lane, pushesTo } from "./internal/lane.ts"
import { addLists } from "./internal/listRoutes.ts"
import * as MethodRoutes from "./internal/methodRoutes.ts"
import { TaskPart, type Tasks } from "./internal/parts.ts"
import type { Settings } from "./internal/settings.ts"
import { Single } from "./internal/single.ts"
import * as TaskDialect from "./internal/taskDialect.ts"
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
    /** Why it has not: also because the client did not announce an extension (TKX-02). */
    readonly absent: (method: string, context: Request) => McpError.McpError
    /** The revision as it is spoken with a client of these capabilities (EXT-06). */
    readonly speaking: (revision: Revision, capabilities: Capabilities.Client) => Revision
    /** `undefined` where none are run. */
    readonly tasks: Tasks | undefined
    /** What is offered now; `pushes` says whether there is a stream to announce things on. */
    readonly offer: (revision: Revision, pushes: boolean) => Discover.Offer
    readonly listen: Listen.Listen["Service"]
    /** For whom the resources that a session watches are looked up. */
    readonly callers: Map<string, Request>
  }
>()("@mcpfx/server/Dispatcher") {}

const addBasics = (lane: Lane): void => {
  lane.add(Methods.Ping, (wire) => () => Effect.succeed(wire.encode({})))
  lane.add(Methods.Initialize, (wire) => (request, context) => {
    const params = wire.decode(request)
    if (Result.isFailure(params)) return Effect.fail(params.failure)
    const result = Discover.initializeResult(lane.settings, lane.revision, lane.offer(), TaskDialect.hasList(context))
    return Effect.succeed(wire.encode(result))
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

/** Errors are made where they are met: the first one of a program costs its start a millisecond. */
const undeclaredTasks = () =>
  new McpError.MissingClientCapability({ required: Capabilities.requiredExtension(Task.extensionId) })

const addListen = (lane: Lane, listen: Listen.Listen["Service"], tasks: Tasks | undefined): void => {
  const dialect = TaskDialect.dialectOf(lane.revision)
  lane.add(Methods.SubscriptionsListen, (wire) => (request, context) => {
    const params = wire.decode(request)
    if (Result.isFailure(params)) return Effect.fail(params.failure)
    const offer = lane.offer()
    const { taskIds } = params.success.notifications
    if (offer.tasks && dialect === undefined && TaskDialect.names(request)) {
      return Effect.fail(undeclaredTasks())
    }
    const listened = tasks !== undefined && offer.tasks && taskIds !== undefined
      ? Effect.flatMap(
        tasks.also(lane, taskIds, context),
        (also) => listen.listen(params.success, context, offer, also)
      )
      : listen.listen(params.success, context, offer)
    return entering(Effect.map(listened, wire.encode), context)
  })
}

/** A revision, and what the extension of tasks makes of it. */
const variants = (revision: Revision): ReadonlyArray<Revision> => {
  const extended = Revisions.withTasks(revision)
  return extended === revision ? [revision] : [revision, extended]
}

const gateOf = (settings: Settings): Entries.Gate => {
  const { concurrency } = settings.limits
  if (!Number.isFinite(concurrency)) return Entries.ungated
  const semaphore = Semaphore.makeUnsafe(concurrency)
  return (effect) => semaphore.withPermits(1)(effect)
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  settings: Settings
): Effect.Effect<Dispatcher["Service"], never, Registry | ChangeBus | SecureRandom | Scope.Scope> =>
  Effect.gen(function*() {
    const registry = yield* Registry
    const listen = yield* Listen.make
    const makeTasks = yield* TaskPart
    const tasks = makeTasks === undefined ? undefined : yield* makeTasks(settings)
    const callers = new Map<string, Request>()
    const gate = gateOf(settings)

    const laneOf = (revision: Revision, pushes: boolean): Lane => {
      const lane = new Lane(revision, settings, registry, pushes)
      addBasics(lane)
      addLists(lane)
      Entries.addTools(lane, gate, tasks)
      Entries.addPrompts(lane, gate)
      Entries.addResources(lane, gate)
      Entries.addCompletions(lane, gate)
      addWatching(lane, callers)
      addListen(lane, listen, tasks)
      tasks?.addRoutes(lane)
      MethodRoutes.addMethods(lane, gate)
      return lane
    }
    // A lane is made for the first message of its revision: most programs are greeted on one alone.
    const laid = (revisions: ReadonlyArray<Revision>, pushes: boolean) => {
      const lanes = new Map<Revision, Lane>()
      return (revision: Revision): Lane | undefined => {
        const known = lanes.get(revision)
        if (known !== undefined || !revisions.includes(revision)) return known
        const made = laneOf(revision, pushes)
        lanes.set(revision, made)
        return made
      }
    }
    const loud = laid(settings.revisions.flatMap(variants), true)
    const silent = laid(settings.revisions.filter((revision) => revision.era === "legacy"), false)
    const pick = (revision: Revision, pushes: boolean): Lane | undefined => pushes ? loud(revision) : silent(revision)
    const lane = (context: Request): Lane | undefined => pick(context.revision, pushesTo(settings, context))

    return {
      request: (request, context) => {
        const route = lane(context)?.route(request.method)
        return route === undefined
          ? Effect.fail(new McpError.MethodNotFound({ method: request.method }))
          : route(request, context)
      },
      notification: (notification, context) => MethodRoutes.heard(registry.snapshot(), notification, context),
      has: (method, context) => lane(context)?.route(method) !== undefined,
      absent: (method, context) => {
        const extended = loud(Revisions.withTasks(context.revision))
        return extended === undefined || extended.revision === context.revision || extended.route(method) === undefined
          ? new McpError.MethodNotFound({ method })
          : undeclaredTasks()
      },
      speaking: (revision, capabilities) =>
        Capabilities.hasExtension(capabilities, Task.extensionId) ? Revisions.withTasks(revision) : revision,
      tasks,
      offer: (revision, pushes) =>
        pick(revision, pushes)?.offer() ?? Discover.offer(settings, registry.snapshot(), pushes, revision),
      listen,
      callers
    }
  })
