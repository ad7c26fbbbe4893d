/**
 * What the server tells on its own, as typed streams.
 *
 * Every listener has its own bounded queue and decodes for itself: a slow one loses its oldest notifications and delays
 * nobody, and what nobody listens to is never decoded.
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Method from "@mcpfx/schema/Method"
import type { Revision } from "@mcpfx/schema/Revision"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** How many notifications a stream holds for a reader that is behind. */
const backlog = 1024

type Raw = (params: JsonRpc.JsonObject | undefined, revision: Revision) => void

/**
 * @category models
 * @since 0.1.0
 */
export interface Notifications {
  /** Hands a notification to whoever listens to its method. */
  readonly publish: (notification: JsonRpc.Notification, revision: Revision) => void
  /** Calls `listener` with each notification of a method while the scope is open; malformed ones are left out. */
  readonly listen: <Name extends string, Params>(
    method: Method.NotificationMethod<Name, Params>,
    listener: (params: Params) => void
  ) => Effect.Effect<void, never, Scope.Scope>
  /** The notifications of one method, from now on. */
  readonly stream: <Name extends string, Params>(
    method: Method.NotificationMethod<Name, Params>
  ) => Stream.Stream<Params>
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (): Notifications => {
  const listeners = new Map<string, Set<Raw>>()

  const add = (method: string, raw: Raw): () => void => {
    const set = listeners.get(method) ?? new Set()
    listeners.set(method, set.add(raw))
    return () => {
      set.delete(raw)
      if (set.size === 0 && listeners.get(method) === set) listeners.delete(method)
    }
  }

  const listen: Notifications["listen"] = (method, listener) =>
    Effect.asVoid(Effect.acquireRelease(
      Effect.sync(() =>
        add(method.name, (params, revision) => {
          const decoded = revision.notification(method)?.decodeParams(params)
          if (decoded !== undefined && Result.isSuccess(decoded)) listener(decoded.success)
        })
      ),
      (remove) => Effect.sync(remove)
    ))

  return {
    publish: ({ method, params }, revision) => {
      // A listener may leave, or bring another, while it is called.
      for (const raw of Array.from(listeners.get(method) ?? [])) raw(params, revision)
    },
    listen,
    stream: <Name extends string, Params>(method: Method.NotificationMethod<Name, Params>) =>
      Stream.unwrap(Effect.gen(function*() {
        const queue = yield* Effect.acquireRelease(Queue.sliding<Params>(backlog), Queue.shutdown)
        yield* listen(method, (params) => Queue.offerUnsafe(queue, params))
        return Stream.fromQueue(queue)
      }))
  }
}
