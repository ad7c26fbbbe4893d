/**
 * How clients hear of changes: `subscriptions/listen` streams on 2026-07-28, pushes to sessions before. Both follow one
 * `ChangeBus`, and both gather changes that come close together: the first goes out at once, the last is never lost.
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import { isJsonObject, type JsonObject } from "@mcpfx/schema/JsonRpc"
import type * as Lifecycle from "@mcpfx/schema/Lifecycle"
import type * as McpError from "@mcpfx/schema/McpError"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import * as Methods from "@mcpfx/schema/Methods"
import type * as Subscription from "@mcpfx/schema/Subscription"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Scope from "effect/Scope"
import { type Announcement, type Change, ChangeBus } from "./ChangeBus.ts"
import type { Offer } from "./Discover.ts"
import type { AnnouncementEntry } from "./Entry.ts"
import { Followers } from "./internal/followers.ts"
import { ListenStream, Streams } from "./internal/listenStream.ts"
import * as Notices from "./internal/notices.ts"
import { Registry } from "./Registry.ts"
import { ServerLimits } from "./ServerLimits.ts"

type Request = RequestContext["Service"]

/**
 * What somebody may want to hear of, besides the resources that it watches.
 *
 * @category models
 * @since 0.1.0
 */
export interface Interests {
  readonly tools: boolean
  readonly prompts: boolean
  readonly resources: boolean
  /** What is not the protocol's own. */
  readonly announcements: boolean
}

/**
 * One who hears of changes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Audience {
  /** What it may ever want to hear of: it is not asked about anything else. Looked at once. */
  readonly interests: Interests
  /** Whether changes of this list are to be told. */
  readonly hears: (kind: "tools" | "prompts" | "resources") => boolean
  /**
   * The resources whose changes are to be told, and for whom they are looked up. Whoever joins tells its `Membership` what
   * is added and taken away later.
   */
  readonly uris: () => ReadonlySet<string>
  readonly caller: () => Request | undefined
  /** Whether it wants to hear of what is not the protocol's own. */
  readonly wants: (entry: AnnouncementEntry, announcement: Announcement) => boolean
  /** Tells one change; may wait for its stream. `false` where there is none: the change is kept for the next stream. */
  readonly tell: (change: Change) => Effect.Effect<boolean>
}

/**
 * A place among those who hear of changes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Membership {
  /** Tells what was kept, now that there is a stream; to be called when one is opened. */
  readonly resume: () => void
  /** A resource is among those of the audience now, or is not any more. */
  readonly watch: (uri: string, watched: boolean) => void
  /** Hears of no more changes. */
  readonly leave: () => void
}

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
  /** Tells `audience` of changes until it leaves; what is told runs in the scope. */
  readonly join: (audience: Audience, scope: Scope.Scope) => Membership
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

/**
 * Writes a change as the notification it is; `meta` goes into each.
 *
 * @category constructors
 * @since 0.1.0
 */
export const teller: <A>(
  notify: Notices.Notify<A>,
  meta?: Lifecycle.NoticeParams
) => (change: Change) => Effect.Effect<A> = Notices.teller

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

const keep = (scope: Scope.Scope, stream: ListenStream): Effect.Effect<void> =>
  Scope.addFinalizerExit(scope, () => {
    stream.leave()
    return Effect.void
  })

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

    const followers = new Followers({ registry, limits, run })
    yield* bus.subscribe((change) => followers.hear(change))

    const join = (audience: Audience, scope: Scope.Scope): Membership => followers.join(audience, scope)

    const begin = Effect.fnUntraced(
      function*(params: Subscription.ListenParams, context: Request, offer: Offer, also?: Also) {
        const meta = { _meta: { [MetaKey.subscriptionId]: context.id } }
        const honoured = {
          ...honour(params.notifications, offer, limits.watched, context.clientCapabilities),
          ...also?.filter
        }
        const stream = new ListenStream(streams, honoured, context, meta)
        const scope = yield* Effect.scope
        yield* keep(scope, stream)
        yield* stream.enter()
        stream.heed(join(stream, scope))
        yield* context.notify(Methods.SubscriptionsAcknowledged, { notifications: honoured, ...meta })
        yield* stream.acknowledge()
        if (also !== undefined) yield* also.follow(meta)
        return meta
      }
    )

    // What waits is as little as can be: the beginning is over by then, and all that it knew of is let go.
    const listen: Listen["Service"]["listen"] = (params, context, offer, also) =>
      Effect.flatMap(
        begin(params, context, offer, also),
        (meta) => Effect.as(Effect.andThen(ended.await, Effect.suspend(() => farewell(context))), meta)
      )

    return { join, listen, end: Effect.asVoid(ended.open), open: () => streams.open }
  }
)
