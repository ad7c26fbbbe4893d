/** How changes come in: one request that lasts on 2026-07-28, pushes and subscriptions before. */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Meta from "@mcpfx/schema/Meta"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type * as Subscription from "@mcpfx/schema/Subscription"
import type { PeerFailure } from "@mcpfx/session/Peer"
import { SessionClosed } from "@mcpfx/session/SessionError"
import { SessionLimits } from "@mcpfx/session/SessionLimits"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as RcMap from "effect/RcMap"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Connection, Live } from "../Connection.ts"
import type { McpClientError } from "../McpClientError.ts"
import type { Notifications } from "../Notifications.ts"
import { isPart } from "../ResponseCache.ts"
import type { Change, Interest } from "../Subscriptions.ts"
import * as Heartbeat from "./heartbeat.ts"

export interface Events {
  readonly changed: (change: Change) => void
  /** The server tells of this from now on. */
  readonly agreed: (honoured: Interest) => void
}

export interface Listening {
  /** Listens until the server or the connection ends it. */
  readonly listen: (interest: Interest, events: Events) => Effect.Effect<void, McpClientError>
}

interface Carrier {
  readonly _meta?: JsonRpc.JsonObject
}

export const method = Methods.SubscriptionsListen.name
/** How often a server over HTTP is asked whether it still knows the session that is listened on. */
const heartbeat = "30 seconds"
export const kinds = ["tools", "prompts", "resources"] as const
export type Kind = (typeof kinds)[number]

/** The notifications that say that a list has changed. */
export const announcements: Readonly<Record<Kind, Method.NotificationMethod<string, Carrier>>> = {
  tools: Methods.ToolsListChanged,
  prompts: Methods.PromptsListChanged,
  resources: Methods.ResourcesListChanged
}

const wantsUris = ({ uris }: Interest): boolean => uris !== undefined && uris.length > 0

const hasAnnouncements = ({ announcements }: Interest): boolean =>
  announcements !== undefined && Object.keys(announcements).length > 0

export const isNothing = (interest: Interest): boolean =>
  !wantsUris(interest) && !hasAnnouncements(interest) && !kinds.some((kind) => interest[kind] === true)

/** Passes on the changes of an interest that `accept` lets through, while the scope is open. */
const feed = (
  notifications: Notifications,
  interest: Interest,
  changed: Events["changed"],
  accept: (params: Carrier) => boolean
): Effect.Effect<void, never, Scope.Scope> => {
  const lists = kinds.filter((kind) => interest[kind] === true).map((kind) =>
    notifications.listen(announcements[kind], (params) => {
      if (accept(params)) changed({ kind })
    })
  )
  const resources = notifications.listen(Methods.ResourcesUpdated, (params) => {
    if (accept(params)) changed({ kind: "resource", uri: params.uri })
  })
  return Effect.all(wantsUris(interest) ? [...lists, resources] : lists, { discard: true })
}

export const make = (connection: Connection, notifications: Notifications): Listening => {
  const watched = makeWatched()

  const legacy = Effect.fnUntraced(function*(live: Live, interest: Interest, events: Events) {
    const honoured = offered(live, interest)
    if (isNothing(honoured)) return events.agreed(honoured)
    const uris = honoured.uris ?? []
    yield* feed(notifications, honoured, (change) => {
      if (change.kind !== "resource" || uris.some((uri) => isPart(uri, change.uri))) events.changed(change)
    }, () => true)
    const resources = yield* watched(live)
    yield* Effect.forEach(new Set(uris), (uri) => RcMap.get(resources, uri), { discard: true })
    // Nothing says that a server has forgotten a session for as long as nothing is sent on it.
    if (connection.transport === "http") yield* Heartbeat.start(live, heartbeat)
    events.agreed(honoured)
    const reason = yield* live.session.closed
    return yield* new SessionClosed({ reason })
  })

  const modern = Effect.fnUntraced(function*(live: Live, interest: Interest, events: Events) {
    if (isNothing(offered(live, interest))) return events.agreed({})
    let id: JsonRpc.RequestId | undefined
    const mine = (params: Carrier) => id !== undefined && Meta.subscriptionId(params) === id
    yield* feed(notifications, interest, events.changed, mine)
    yield* notifications.listen(Methods.SubscriptionsAcknowledged, (params) => {
      if (mine(params)) events.agreed(interestOf(params.notifications))
    })
    yield* live.session.peer.request(Methods.SubscriptionsListen, { notifications: filterOf(interest) }, {
      timeout: Duration.infinity,
      maxTimeout: Duration.infinity,
      onSent: (sent) => {
        id = sent
      }
    })
  })

  return {
    listen: (interest, events) =>
      connection.use(
        method,
        (live): Effect.Effect<void, PeerFailure> =>
          Effect.scoped(
            live.revision.era === "modern" ? modern(live, interest, events) : legacy(live, interest, events)
          )
      )
  }
}

/** What a server says it announces (LIF-09). */
const offered = ({ capabilities }: Live, interest: Interest): Interest => ({
  tools: interest.tools === true && capabilities.tools?.listChanged === true,
  prompts: interest.prompts === true && capabilities.prompts?.listChanged === true,
  resources: interest.resources === true && capabilities.resources?.listChanged === true,
  uris: capabilities.resources?.subscribe === true ? interest.uris : [],
  announcements: interest.announcements
})

/** The resources that a session is subscribed to, each once, however many streams want it. */
const makeWatched = () => {
  const known = new WeakMap<Live, RcMap.RcMap<string, void, PeerFailure>>()
  return (live: Live): Effect.Effect<RcMap.RcMap<string, void, PeerFailure>> =>
    Effect.suspend(() => {
      const there = known.get(live)
      if (there !== undefined) return Effect.succeed(there)
      // In order, so that giving a resource up and wanting it again do not overtake each other.
      const one = Semaphore.makeUnsafe(1)
      const { peer } = live.session
      const make = Effect.flatMap(SessionLimits, ({ cancelGrace: timeout }) =>
        RcMap.make({
          lookup: (uri: string) =>
            Effect.acquireRelease(
              one.withPermit(Effect.asVoid(peer.request(Methods.ResourcesSubscribe, { uri }))),
              () => one.withPermit(Effect.ignore(peer.request(Methods.ResourcesUnsubscribe, { uri }, { timeout }))),
              { interruptible: true }
            )
        }))
      return make.pipe(
        Scope.provide(live.scope),
        Effect.tap((made) => Effect.sync(() => known.set(live, made)))
      )
    })
}

const filterOf = (interest: Interest): Subscription.Filter => ({
  ...interest.announcements,
  ...(interest.tools === true ? { toolsListChanged: true } : undefined),
  ...(interest.prompts === true ? { promptsListChanged: true } : undefined),
  ...(interest.resources === true ? { resourcesListChanged: true } : undefined),
  ...(wantsUris(interest) && interest.uris !== undefined ? { resourceSubscriptions: interest.uris } : undefined)
})

const interestOf = (filter: Subscription.Filter): Interest => ({
  tools: filter.toolsListChanged === true,
  prompts: filter.promptsListChanged === true,
  resources: filter.resourcesListChanged === true,
  uris: filter.resourceSubscriptions ?? [],
  ...announcementsOf(filter)
})

const own: ReadonlySet<string> = new Set(
  ["toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions"]
)

const isTopics = (u: unknown): u is ReadonlyArray<string> =>
  Array.isArray(u) && u.every((topic) => typeof topic === "string")

const announcementsOf = (filter: object): Pick<Interest, "announcements"> => {
  const honoured: Record<string, true | ReadonlyArray<string>> = {}
  for (const [member, value] of Object.entries(filter)) {
    if (!own.has(member) && (value === true || isTopics(value))) honoured[member] = value
  }
  return Object.keys(honoured).length === 0 ? {} : { announcements: honoured }
}
