/**
 * Telling a server where it may work: the client's roots.
 *
 * The list is a layer beneath the client's: fixed, asked for each time, or live. Changes of a live list are told to servers of
 * revisions that have a word for it (ROO-02).
 *
 * @since 0.1.0
 */
import * as Methods from "@mcpfx/schema/Methods"
import type { Root } from "@mcpfx/schema/Roots"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type { AskServices } from "./AskContext.ts"
import * as ClientHandlers from "./ClientHandlers.ts"
import { capture } from "./internal/answering.ts"
import { UnfitAnswer } from "./McpClientError.ts"

/**
 * Whether this is the address of a root: a `file:` URI (ROO-01).
 *
 * @category predicates
 * @since 0.1.0
 */
export const isRootUri = (uri: string): boolean => {
  const parsed = Result.getOrUndefined(Result.try(() => new URL(uri)))
  return parsed?.protocol === "file:" && uri.startsWith("file://")
}

const checked = (roots: ReadonlyArray<Root>): Effect.Effect<{ readonly roots: ReadonlyArray<Root> }> => {
  const problems = roots.flatMap(({ uri }, index) => isRootUri(uri) ? [] : [`roots.${index}.uri: is no file: URI`])
  return problems.length === 0
    ? Effect.succeed({ roots })
    : Effect.die(new UnfitAnswer({ method: Methods.RootsList.name, problems }))
}

/**
 * A fixed list, or one that is worked out whenever a server asks. Roots whose URIs are no `file:` ones are a defect
 * (`UnfitAnswer`): of the layer where the list is fixed, else the server hears -32603.
 *
 * **Example** (One directory)
 *
 * ```ts
 * import { ClientRoots } from "@mcpfx/client"
 * import { Layer } from "effect"
 *
 * const Roots = ClientRoots.layer([{ uri: "file:///home/ada/work", name: "work" }])
 * Layer.isLayer(Roots) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <R = never>(
  roots: ReadonlyArray<Root> | Effect.Effect<ReadonlyArray<Root>, never, R>
): Layer.Layer<never, never, Exclude<R, AskServices>> =>
  Layer.effect(
    ClientHandlers.CurrentRoots,
    Effect.gen(function*() {
      const run = yield* capture
      if (!Effect.isEffect(roots)) yield* checked(roots)
      const list = Effect.isEffect(roots) ? roots : Effect.succeed(roots)
      return {
        capability: { roots: {} },
        answer: (_, facts) => Effect.flatMap(run(list, facts), checked)
      }
    })
  )

/**
 * A list that is kept in a reference: setting it tells the server.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerRef = (roots: SubscriptionRef.SubscriptionRef<ReadonlyArray<Root>>): Layer.Layer<never> =>
  Layer.succeed(ClientHandlers.CurrentRoots, {
    capability: { roots: { listChanged: true } },
    answer: () => Effect.flatMap(SubscriptionRef.get(roots), checked),
    // The first element is what stands already.
    changes: Stream.drop(SubscriptionRef.changes(roots), 1)
  })

/**
 * A list that follows a stream: each element is the whole list. A server that asks before the first has come waits for it;
 * after the end the last one stands.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStream = <R = never>(
  stream: Stream.Stream<ReadonlyArray<Root>, never, R>
): Layer.Layer<never, never, R> =>
  Layer.effect(
    ClientHandlers.CurrentRoots,
    Effect.gen(function*() {
      const first = yield* Deferred.make<ReadonlyArray<Root>>()
      const changed = yield* PubSub.sliding<void>(1)
      let latest: ReadonlyArray<Root> = []
      yield* stream.pipe(
        Stream.runForEach((roots) =>
          Effect.suspend(() => {
            latest = roots
            return Deferred.doneUnsafe(first, Effect.succeed(roots)) ? Effect.void : PubSub.publish(changed, undefined)
          })
        ),
        // A stream without elements is an empty list.
        Effect.ensuring(Deferred.succeed(first, [])),
        Effect.forkScoped
      )
      return {
        capability: { roots: { listChanged: true } },
        answer: () => Effect.andThen(Deferred.await(first), Effect.suspend(() => checked(latest))),
        changes: Stream.fromPubSub(changed)
      }
    })
  )
