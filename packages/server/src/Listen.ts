/**
 * How clients hear of changes: `subscriptions/listen` streams on 2026-07-28, pushes to sessions before. Both follow one
 * `ChangeBus`, and both gather changes that come close together: the first goes out at once, the last is never lost.
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import * as CustomMethod from "@mcpfx/schema/CustomMethod"
import { isJsonObject, type JsonObject } from "@mcpfx/schema/JsonRpc"
import type * as Lifecycle from "@mcpfx/schema/Lifecycle"
import * as McpError from "@mcpfx/schema/McpError"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type * as Subscription from "@mcpfx/schema/Subscription"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as Principal from "@mcpfx/transport/Principal"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import { type Announcement, type Change, ChangeBus } from "./ChangeBus.ts"
import type { Offer } from "./Discover.ts"
import type { AnnouncementEntry } from "./Entry.ts"
import { scopeRefusal } from "./internal/admission.ts"
import * as Coalesce from "./internal/coalesce.ts"
import { find, isVisible } from "./internal/entries.ts"
import * as Forward from "./internal/forward.ts"
import { covering } from "./internal/uriSet.ts"
import { Registry } from "./Registry.ts"
import { ServerLimits } from "./ServerLimits.ts"

type Request = RequestContext["Service"]

/**
 * One who hears of changes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Audience {
  /** Whether changes of this list are to be told. */
  readonly hears: (kind: "tools" | "prompts" | "resources") => boolean
  /** The resources whose changes are to be told, and for whom they are looked up. */
  readonly uris: () => ReadonlySet<string>
  readonly caller: () => Request | undefined
  /** Whether it wants to hear of what is not the protocol's own. */
  readonly wants: (entry: AnnouncementEntry, announcement: Announcement) => boolean
  /** Tells one change; may wait for its stream. `false` where there is none: the change is kept for the next stream. */
  readonly tell: (change: Change) => Effect.Effect<boolean>
}

/**
 * Tells an audience what was kept for it, now that there is a stream; to be called when one is opened.
 *
 * @category models
 * @since 0.1.0
 */
export type Resume = () => void

/**
 * What a listen stream tells besides changes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Also {
  /** What of it is granted, for the acknowledgement. */
  readonly filter: Subscription.Filter
  /** Tells it while the scope is open, once the acknowledgement is out; `meta` goes into each notification. */
  readonly follow: (meta: Lifecycle.NoticeParams) => Effect.Effect<void, never, Scope.Scope>
}

/**
 * The streams of one endpoint.
 *
 * @category services
 * @since 0.1.0
 */
export class Listen extends Context.Service<Listen, {
  /** Tells `audience` of changes while the scope is open. */
  readonly follow: (audience: Audience) => Effect.Effect<Resume, never, Scope.Scope>
  /** Serves `subscriptions/listen`: the acknowledgement, then changes, and the result once {@link end} was run (SUB-07). */
  readonly listen: (
    params: Subscription.ListenParams,
    context: Request,
    offer: Offer,
    also?: Also
  ) => Effect.Effect<Subscription.ListenResult, McpError.McpError, Scope.Scope>
  /** Ends all listen streams, and those that are asked for from now on at once. */
  readonly end: Effect.Effect<void>
  /** How many listen streams are open. */
  readonly open: () => number
}>()("@mcpfx/server/Listen") {}

/** How a list's change is announced. */
const announcements: Readonly<
  Record<"tools" | "prompts" | "resources", Method.NotificationMethod<string, Lifecycle.NoticeParams>>
> = {
  tools: Methods.ToolsListChanged,
  prompts: Methods.PromptsListChanged,
  resources: Methods.ResourcesListChanged
}

/** Sends a notification. */
type Notify<A> = <Name extends string, Params>(
  method: Method.NotificationMethod<Name, Params>,
  params: Params
) => Effect.Effect<A>

/**
 * Writes a change as the notification it is; `meta` goes into each.
 *
 * @category constructors
 * @since 0.1.0
 */
export const teller = <A>(notify: Notify<A>, meta: Lifecycle.NoticeParams = {}) => (change: Change): Effect.Effect<A> =>
  change.kind === "announcement"
    ? notify(CustomMethod.raw(change.method), withMeta(change.params, meta))
    : change.kind === "resource"
    ? notify(Methods.ResourcesUpdated, { uri: change.uri, ...meta })
    : notify(announcements[change.kind], meta)

const withMeta = (params: JsonObject, { _meta: meta }: Lifecycle.NoticeParams): JsonObject => {
  const own = params["_meta"]
  return meta === undefined ? params : { ...params, _meta: { ...(isJsonObject(own) ? own : undefined), ...meta } }
}

/** What of a wish is granted: types that are not offered are left out (SUB-02). */
const honour = (
  wish: Subscription.Filter,
  offer: Offer,
  most: number,
  capabilities: Capabilities.Client
): Subscription.Filter => ({
  ...(wish.toolsListChanged === true && offer.announces.tools && { toolsListChanged: true }),
  ...(wish.promptsListChanged === true && offer.announces.prompts && { promptsListChanged: true }),
  ...(wish.resourcesListChanged === true && offer.announces.resources && { resourcesListChanged: true }),
  ...(wish.resourceSubscriptions !== undefined && offer.subscribe && {
    resourceSubscriptions: wish.resourceSubscriptions.slice(0, most)
  }),
  ...(offer.announcements.length > 0 && announced(wish, offer.announcements, most, capabilities))
})

/** What of a wish is about notifications that are not the protocol's own: the topics that are named, or all there is. */
const announced = (
  wish: object,
  entries: ReadonlyArray<AnnouncementEntry>,
  most: number,
  capabilities: Capabilities.Client
): JsonObject => {
  const members: Array<readonly [string, unknown]> = []
  for (const { extension, filter, hasTopics } of entries) {
    const asked = isJsonObject(wish) && Object.hasOwn(wish, filter) ? wish[filter] : undefined
    if (asked === undefined || (extension !== undefined && !extension.spokenBy(capabilities))) continue
    if (!hasTopics) {
      if (asked === true) members.push([filter, true])
    } else if (Array.isArray(asked)) {
      members.push([filter, asked.filter((topic) => typeof topic === "string").slice(0, most)])
    }
  }
  return Object.fromEntries(members)
}

/** Over a connection the end of a stream is said; over HTTP it is seen. */
const farewell = ({ facts, id, notify }: Request): Effect.Effect<void> =>
  facts.transport === "http" || id === undefined
    ? Effect.void
    : notify(Methods.Cancelled, { requestId: id, reason: "The server is shutting down" })

const told = Effect.succeed(true)

const audienceOf = (filter: Subscription.Filter, context: Request, tell: Audience["tell"]): Audience => {
  const uris = new Set(filter.resourceSubscriptions)
  const principal = Principal.key(context.facts.principal)
  const topics = new Map(
    Object.entries(filter).map(([member, value]) => [member, Array.isArray(value) ? new Set<unknown>(value) : value])
  )
  return {
    wants: (entry, announcement) => {
      const asked = topics.get(entry.filter)
      return (announcement.principal === undefined || announcement.principal === principal) &&
        (asked instanceof Set ? asked.has(announcement.topic) : asked === true)
    },
    hears: (kind) => filter[`${kind}ListChanged`] === true,
    uris: () => uris,
    caller: () => context,
    tell
  }
}

/** The streams that are open, each caller's counted (SUB-06 of field practice). */
class Streams {
  open = 0
  private readonly byCaller = new Map<string, number>()
  private readonly most: number

  constructor(most: number) {
    this.most = most
  }

  /** Counts one in until the scope closes. */
  enter(key: string): Effect.Effect<void, McpError.McpError, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.suspend(() => {
        const before = this.byCaller.get(key) ?? 0
        if (before >= this.most) return Effect.fail(new McpError.TooManyRequests({ limit: "listenStreams" }))
        this.byCaller.set(key, before + 1)
        this.open++
        return Effect.void
      }),
      () =>
        Effect.sync(() => {
          this.open--
          const rest = (this.byCaller.get(key) ?? 1) - 1
          if (rest > 0) this.byCaller.set(key, rest)
          else this.byCaller.delete(key)
        })
    )
  }
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make: Effect.Effect<Listen["Service"], never, ChangeBus | Registry | Scope.Scope> = Effect.gen(
  function*() {
    const bus = yield* ChangeBus
    const registry = yield* Registry
    const limits = yield* ServerLimits
    // Not the context of whoever asks: what is announced has nothing to do with them.
    const run = Effect.runForkWith(yield* Effect.context<never>())
    const ended = Latch.makeUnsafe(false)
    const streams = new Streams(limits.listenStreams)

    /** Who may not see or read a resource does not hear of it either. */
    const concerns = (audience: Audience, change: Change): boolean => {
      if (change.kind === "announcement") {
        const entry = registry.snapshot().announcement(change.method)
        if (entry === undefined || !audience.wants(entry, change)) return false
        if (entry.visible === undefined && entry.scopes.length === 0) return true
        const caller = audience.caller()
        return caller !== undefined && isVisible(entry, caller) && scopeRefusal(entry, caller) === undefined
      }
      if (change.kind !== "resource") return audience.hears(change.kind)
      if (covering(audience.uris(), change.uri) === undefined) return false
      const caller = audience.caller()
      const snapshot = registry.snapshot()
      const known = snapshot.resource(change.uri) ??
        snapshot.templates.find((each) => each.match(change.uri) !== undefined)
      if (known === undefined || (known.visible === undefined && known.scopes.length === 0)) return true
      const found = caller === undefined ? undefined : find(snapshot, change.uri, caller)
      return caller !== undefined && found !== undefined && scopeRefusal(found.entry, caller) === undefined
    }

    const follow = (audience: Audience) =>
      Effect.flatMap(Effect.scope, (scope) => {
        const gather = () =>
          Coalesce.make({
            window: limits.coalesce,
            capacity: limits.watched,
            collapse: (change) =>
              change.kind === "resource"
                ? { kind: "resource", uri: covering(audience.uris(), change.uri) ?? change.uri }
                : change,
            send: (change) => concerns(audience, change) ? audience.tell(change) : told,
            run: (pump) => void Fiber.runIn(run(pump), scope)
          })
        const forward = () =>
          Forward.make({
            capacity: limits.watched,
            send: (announcement) => concerns(audience, announcement) ? audience.tell(announcement) : told,
            run: (pump) => void Fiber.runIn(run(pump), scope)
          })
        // Most never hear of anything: what gathers changes is made for the first one.
        let gatherer: Coalesce.Gatherer | undefined
        let forwarder: Forward.Forwarder | undefined
        return Effect.as(
          bus.subscribe((change) => {
            if (!concerns(audience, change)) return
            if (change.kind === "announcement") (forwarder ??= forward()).offer(change)
            else (gatherer ??= gather()).offer(change)
          }),
          () => {
            gatherer?.resume()
            forwarder?.resume()
          }
        )
      })

    const listen = Effect.fnUntraced(
      function*(params: Subscription.ListenParams, context: Request, offer: Offer, also?: Also) {
        yield* streams.enter(Principal.key(context.facts.principal))
        const meta = { _meta: { [MetaKey.subscriptionId]: context.id } }
        const honoured = {
          ...honour(params.notifications, offer, limits.watched, context.clientCapabilities),
          ...also?.filter
        }
        const acknowledged = Latch.makeUnsafe(false)
        const tell = teller(context.notify, meta)
        // What changes before the acknowledgement is out waits behind it.
        const later: Audience["tell"] = (change) => Effect.as(Effect.andThen(acknowledged.await, tell(change)), true)
        yield* follow(audienceOf(honoured, context, later))
        yield* context.notify(Methods.SubscriptionsAcknowledged, { notifications: honoured, ...meta })
        yield* acknowledged.open
        if (also !== undefined) yield* also.follow(meta)
        yield* ended.await
        yield* farewell(context)
        return meta
      }
    )

    return { follow, listen, end: Effect.asVoid(ended.open), open: () => streams.open }
  }
)
