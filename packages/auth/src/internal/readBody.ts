import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** How long is waited for a platform to let go of a body that is not wanted; some never say that they have. */
const patience = "1 second"

/** Closes in a fiber of its own, which is kept until it is done, and waits for it a little. */
const close = (scope: Scope.Closeable, closing: Set<Fiber.Fiber<void>>): Effect.Effect<void> =>
  Effect.contextWith((context: Context.Context<never>) => {
    const fiber = Effect.runForkWith(context)(Scope.close(scope, Exit.void))
    closing.add(fiber)
    fiber.addObserver(() => void closing.delete(fiber))
    return Effect.ignore(Effect.timeoutOption(Fiber.await(fiber), patience))
  })

const isEmpty = (error: HttpClientError.HttpClientError): boolean => error.reason._tag === "EmptyBodyError"

/** The length that is announced, where no coding makes it another one. */
const announced = (response: HttpClientResponse.HttpClientResponse): number => {
  const length = Number(response.headers["content-length"])
  return response.headers["content-encoding"] === undefined && Number.isSafeInteger(length) ? length : 0
}

/**
 * The text of a body; `undefined` where it is longer than `maxBytes`, counted as it comes out of its coding, so that a
 * small body that unpacks to a large one is found out before it is large. What is past the limit is not read.
 */
export const readBody = (
  response: HttpClientResponse.HttpClientResponse,
  maxBytes: number,
  closing: Set<Fiber.Fiber<void>>
): Effect.Effect<string | undefined, HttpClientError.HttpClientError> =>
  Effect.acquireUseRelease(
    Scope.make(),
    (scope) =>
      Effect.gen(function*() {
        // Opened in any case, so that it is cancelled.
        const pull = yield* Scope.provide(Stream.toPull(response.stream), scope)
        if (announced(response) > maxBytes) return undefined
        const next = Pull.catchDone(pull, () => Effect.undefined).pipe(
          Effect.catchIf(isEmpty, () => Effect.undefined)
        )
        const decoder = new TextDecoder()
        let text = ""
        let bytes = 0
        for (let chunks = yield* next; chunks !== undefined; chunks = yield* next) {
          for (const chunk of chunks) {
            bytes += chunk.length
            if (bytes > maxBytes) return undefined
            text += decoder.decode(chunk, { stream: true })
          }
        }
        return text + decoder.decode()
      }),
    (scope) => close(scope, closing)
  )
