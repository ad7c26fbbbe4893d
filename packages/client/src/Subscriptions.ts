/**
 * Changes on the server as one stream, on every revision.
 *
 * 2026-07-28 has one `subscriptions/listen` request per stream, told apart by the id on each notification (STD-13). Older
 * revisions push list changes to everybody and updates of a resource to who sent `resources/subscribe`; streams that want
 * the same resource share one subscription. Either is renewed when the connection is (SUB-09).
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Meta from "@mcpfx/schema/Meta"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type * as Subscription from "@mcpfx/schema/Subscription"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Connection, Live } from "./Connection.ts"
import type { McpClientError } from "./McpClientError.ts"
import type { Notifications } from "./Notifications.ts"

/**
 * A list that changed, or one resource whose contents did. The URI may be that of a part of what was asked for (SUB-11).
 *
 * @category models
 * @since 0.1.0
 */
export type Change =
  | { readonly kind: "tools" | "prompts" | "resources" }
  | { readonly kind: "resource"; readonly uri: string }

/**
 * What to hear of.
 *
 * @category models
 * @since 0.1.0
 */
export interface Interest {
  readonly tools?: boolean | undefined
  readonly prompts?: boolean | undefined
  readonly resources?: boolean | undefined
  /** Resources whose contents matter. */
  readonly uris?: ReadonlyArray<string> | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Subscriptions {
  /**
   * Subscribes, waits until the server has agreed, and gives the changes from then on, until the scope closes. A lost
   * connection is renewed; the stream fails when that is hopeless. Of the changes that the reader has not taken, those
   * beyond 1,024 push out the oldest.
   */
  readonly subscribe: (
    interest: Interest
  ) => Effect.Effect<Stream.Stream<Change, McpClientError>, McpClientError, Scope.Scope>
}

/** Waits between attempts to listen again: doubling from 200 ms to 30 s, with jitter, ten times in a row at most. */
const renewal = Schedule.exponential("200 millis").pipe(
  Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, Duration.seconds(30)))),
  Schedule.jittered,
  Schedule.upTo({ times: 10 })
)

const isRenewable = ({ reason }: McpClientError): boolean =>
  reason._tag === "ConnectionLost" || reason._tag === "TimedOut" ||
  (reason._tag === "HttpRefused" && (reason.status === undefined || reason.status >= 500))

const backlog = 1024

interface Carrier {
  readonly _meta?: JsonRpc.JsonObject
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (connection: Connection, notifications: Notifications): Subscriptions => {
  const shared = new Map<string, number>()

  /** Feeds `offer` with the changes that `accept` lets through. */
  const feed = (
    interest: Interest,
    offer: (change: Change) => void,
    accept: (params: Carrier) => boolean
  ): Effect.Effect<void, never, Scope.Scope> => {
    const list = (
      wanted: boolean | undefined,
      method: Method.NotificationMethod<string, Carrier>,
      kind: "tools" | "prompts" | "resources"
    ) => wanted === true ? notifications.listen(method, (params) => accept(params) && offer({ kind })) : Effect.void
    return Effect.all([
      list(interest.tools, Methods.ToolsListChanged, "tools"),
      list(interest.prompts, Methods.PromptsListChanged, "prompts"),
      list(interest.resources, Methods.ResourcesListChanged, "resources"),
      interest.uris === undefined || interest.uris.length === 0
        ? Effect.void
        : notifications.listen(Methods.ResourcesUpdated, (params) =>
          accept(params) && offer({
            kind: "resource",
            uri: params.uri
          }))
    ], { discard: true })
  }

  const legacy = (live: Live, interest: Interest, offer: (change: Change) => void, ready: () => void) =>
    Effect.gen(function*() {
      const uris = new Set(interest.uris)
      yield* feed(interest, (change) => {
        if (change.kind !== "resource" || covers(uris, change.uri)) offer(change)
      }, () => true)
      for (const uri of uris) {
        yield* Effect.acquireRelease(
          Effect.suspend(() => {
            const users = shared.get(uri) ?? 0
            shared.set(uri, users + 1)
            return users === 0
              ? Effect.asVoid(live.session.peer.request(Methods.ResourcesSubscribe, { uri }))
              : Effect.void
          }),
          () =>
            Effect.suspend(() => {
              const users = shared.get(uri) ?? 1
              if (users > 1) {
                shared.set(uri, users - 1)
                return Effect.void
              }
              shared.delete(uri)
              return Effect.ignore(
                live.session.peer.request(Methods.ResourcesUnsubscribe, { uri }, { timeout: "5 seconds" })
              )
            })
        )
      }
      ready()
      yield* live.session.closed
    })

  const modern = (live: Live, interest: Interest, offer: (change: Change) => void, ready: () => void) =>
    Effect.gen(function*() {
      let id: JsonRpc.RequestId | undefined
      const mine = (params: Carrier) => id !== undefined && Meta.subscriptionId(params) === id
      yield* feed(interest, offer, mine)
      yield* notifications.listen(Methods.SubscriptionsAcknowledged, (params) => {
        if (mine(params)) ready()
      })
      yield* live.session.peer.request(Methods.SubscriptionsListen, { notifications: filterOf(interest) }, {
        timeout: Duration.infinity,
        maxTimeout: Duration.infinity,
        onSent: (sent) => {
          id = sent
        }
      })
    })

  const subscribe: Subscriptions["subscribe"] = Effect.fnUntraced(function*(interest) {
    const queue = yield* Effect.acquireRelease(Queue.sliding<Change, McpClientError>(backlog), Queue.shutdown)
    const agreed = yield* Deferred.make<void, McpClientError>()
    let established = false
    const ready = () => {
      established = true
      Deferred.doneUnsafe(agreed, Exit.void)
    }
    const offer = (change: Change) => void Queue.offerUnsafe(queue, change)
    const era = (live: Live) => live.revision.era === "modern" ? modern : legacy
    const attempt = connection.use(
      Methods.SubscriptionsListen.name,
      (live) => Effect.scoped(era(live)(live, interest, offer, ready))
    )
    yield* attempt.pipe(
      Effect.retry({ schedule: renewal, while: (error) => established && isRenewable(error) }),
      Effect.repeat(Schedule.jittered(Schedule.spaced("1 second"))),
      Effect.catch((error) => Effect.andThen(Deferred.fail(agreed, error), Queue.fail(queue, error))),
      Effect.forkScoped
    )
    yield* Deferred.await(agreed)
    return Stream.fromQueue(queue)
  })

  return { subscribe }
}

const covers = (uris: ReadonlySet<string>, uri: string): boolean => {
  if (uris.has(uri)) return true
  for (const wanted of uris) {
    if (uri.startsWith(wanted.endsWith("/") ? wanted : `${wanted}/`)) return true
  }
  return false
}

const filterOf = (interest: Interest): Subscription.Filter => ({
  ...(interest.tools === true ? { toolsListChanged: true } : undefined),
  ...(interest.prompts === true ? { promptsListChanged: true } : undefined),
  ...(interest.resources === true ? { resourcesListChanged: true } : undefined),
  ...(interest.uris === undefined || interest.uris.length === 0 ? undefined : { resourceSubscriptions: interest.uris })
})
