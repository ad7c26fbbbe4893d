/**
 * Changes on the server as one stream, on every revision.
 *
 * 2026-07-28 has one `subscriptions/listen` request per stream, told apart by the id on each notification (STD-13). Older
 * revisions push list changes to everybody and updates of a resource to who sent `resources/subscribe`; streams that want
 * the same resource share one subscription. Either is renewed when the connection is (SUB-09).
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Connection } from "./Connection.ts"
import * as Listening from "./internal/listening.ts"
import { isPassing } from "./internal/passing.ts"
import { fail, type McpClientError, NotOffered, TimedOut } from "./McpClientError.ts"
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
  /**
   * Notifications that are not the protocol's own, by the member of the filter that asks for them: all of them, or the
   * topics that matter. They come as what they are, by `client.notifications`; revisions with sessions send them unasked.
   */
  readonly announcements?: Readonly<Record<string, true | ReadonlyArray<string>>> | undefined
}

/**
 * A subscription that the server has agreed to.
 *
 * @category models
 * @since 0.1.0
 */
export interface Subscription {
  /**
   * The changes since the server agreed, for one reader. After the connection was lost and renewed all that is honoured
   * counts as changed, since nobody heard of changes meanwhile. Fails when the connection is lost for good. A change that
   * waits to be taken stands for all like it, so that a reader who lists at each change lists a few times in a storm and sees
   * the last state; of those that wait, the ones beyond 1,024 push out the oldest.
   */
  readonly changes: Stream.Stream<Change, McpClientError>
  /** What the server tells of, which may be less than was asked for (SUB-04). It can differ after each renewal. */
  readonly honoured: () => Interest
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Subscriptions {
  /**
   * Subscribes and waits until the server has agreed; the subscription ends with the scope. A server that announces nothing
   * of what was asked for is `NotOffered`.
   */
  readonly subscribe: (interest: Interest) => Effect.Effect<Subscription, McpClientError, Scope.Scope>
}

/** How often in a row it is tried to listen again. */
const maxRetries = 10

/** The wait before the n-th of those: doubling from 200 ms to 30 s, with jitter. */
const delay = (failures: number) =>
  Effect.map(Random.next, (random) => Math.min(200 * 2 ** (failures - 1), 30_000) * (0.8 + 0.4 * random))

/** A listen stream that the server ended in order is asked for again after about this long, in milliseconds. */
const pause = Effect.map(Random.next, (random) => 800 + 400 * random)

const backlog = 1024

/**
 * Subscriptions over `connection`; the server has `timeout` to agree.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  connection: Connection,
  notifications: Notifications,
  timeout: Duration.Duration
): Subscriptions => {
  const listening = Listening.make(connection, notifications)

  /** Listens, and listens again, until that is hopeless. */
  const keepListening = Effect.fnUntraced(function*(interest: Interest, events: Listening.Events) {
    let isEstablished = false
    let failures = 0
    const agreed: Listening.Events["agreed"] = (honoured) => {
      failures = 0
      isEstablished = true
      events.agreed(honoured)
    }
    while (true) {
      const outcome = yield* Effect.result(listening.listen(interest, { ...events, agreed }))
      if (Result.isSuccess(outcome)) {
        yield* Effect.sleep(yield* pause)
        continue
      }
      const error = outcome.failure
      const isHopeless = !isEstablished || !connection.renews || connection.isClosed() || !isPassing(error.reason)
      if (isHopeless || ++failures > maxRetries) return yield* error
      yield* Effect.sleep(yield* delay(failures))
    }
  })

  const subscribe: Subscriptions["subscribe"] = Effect.fnUntraced(function*(interest) {
    const scope = yield* Effect.flatMap(Effect.scope, Scope.fork)
    const waiting = new Waiting()
    const queue = yield* Queue.sliding<void, McpClientError | Cause.Done>(1)
    const agreed = yield* Deferred.make<void, McpClientError>()
    let honoured: Interest | undefined
    const offer = (change: Change): void => {
      waiting.add(change)
      Queue.offerUnsafe(queue, undefined)
    }
    const listen = keepListening(interest, {
      changed: offer,
      agreed: (now) => {
        if (honoured !== undefined) everything(now).forEach(offer)
        honoured = now
        Deferred.doneUnsafe(agreed, Listening.isNothing(now) ? nothing : Exit.void)
      }
    })
    const fiber = yield* Effect.forkIn(
      Effect.onError(listen, (cause) =>
        Effect.sync(() => {
          if (Cause.hasInterruptsOnly(cause)) return Queue.endUnsafe(queue)
          Deferred.doneUnsafe(agreed, Exit.failCause(cause))
          return Queue.failCauseUnsafe(queue, cause)
        })),
      scope
    )
    yield* Deferred.await(agreed).pipe(
      Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(silent(timeout)) }),
      Effect.onExit((exit) => Exit.isSuccess(exit) ? Effect.void : Fiber.interrupt(fiber))
    )
    const changes = Stream.flatMap(Stream.fromQueue(queue), () => Stream.fromIterable(waiting.take()))
    return { changes, honoured: () => honoured ?? {} }
  })

  return { subscribe }
}

const nothing = Exit.fail(fail(new NotOffered({ what: "changes of what was asked for" }), Listening.method))

const silent = (timeout: Duration.Duration): McpClientError =>
  fail(new TimedOut({ millis: Duration.toMillis(timeout) }), Listening.method)

/** The changes that nobody has taken yet, each once, in the order in which they first came. */
class Waiting {
  private readonly changes = new Map<string, Change>()

  add(change: Change): void {
    const key = change.kind === "resource" ? `resource ${change.uri}` : change.kind
    if (this.changes.has(key)) return
    this.changes.set(key, change)
    if (this.changes.size <= backlog) return
    for (const oldest of this.changes.keys()) {
      this.changes.delete(oldest)
      return
    }
  }

  take(): ReadonlyArray<Change> {
    const taken = [...this.changes.values()]
    this.changes.clear()
    return taken
  }
}

const everything = (interest: Interest): ReadonlyArray<Change> => [
  ...Listening.kinds.filter((kind) => interest[kind] === true).map((kind) => ({ kind })),
  ...(interest.uris ?? []).map((uri): Change => ({ kind: "resource", uri }))
]
