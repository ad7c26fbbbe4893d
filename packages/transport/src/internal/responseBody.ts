import type * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Headers from "effect/http/Headers"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

type Response = HttpClientResponse.HttpClientResponse
type Chunks = Arr.NonEmptyReadonlyArray<Uint8Array>

/** What is read of a body that nobody wants, so that its connection can be used again. */
const drainBytes = 65_536
const drainTime = "1 second"

/** The body of one response, chunk by chunk. */
export interface Body {
  /** `undefined` at the end. */
  readonly next: Effect.Effect<Chunks | undefined, HttpClientError.HttpClientError>
  /** Lets go of what is left. */
  readonly cancel: Effect.Effect<void>
  /** Reads a little of what is left, then lets go. */
  readonly drain: Effect.Effect<void>
}

const isEmpty = (error: HttpClientError.HttpClientError): boolean => error.reason._tag === "EmptyBodyError"

/**
 * Opens the body. Letting go happens in the owner's scope and is not waited for: a platform may take for ever to cancel.
 */
const open = (response: Response, owner: Scope.Scope): Effect.Effect<Body> =>
  Effect.suspend(() => {
    const scope = Scope.makeUnsafe()
    return Effect.map(Scope.provide(Stream.toPull(response.stream), scope), (pull): Body => {
      const next = Pull.catchDone(pull, () => Effect.undefined).pipe(
        Effect.catchIf(isEmpty, () => Effect.undefined)
      )
      const close = Scope.close(scope, Exit.void)
      const drain = Effect.gen(function*() {
        let bytes = 0
        while (bytes <= drainBytes) {
          const chunks = yield* next
          if (chunks === undefined) return
          for (const chunk of chunks) bytes += chunk.length
        }
      }).pipe(Effect.timeoutOption(drainTime), Effect.ignore, Effect.ensuring(close))
      const later = (effect: Effect.Effect<void>) =>
        Effect.asVoid(Effect.forkIn(effect, owner, { startImmediately: true }))
      return { next, cancel: later(close), drain: later(drain) }
    })
  })

/**
 * Uses the body. Afterwards what is left is drained where the use says that it has all it wants, else cancelled.
 */
export const withBody = <A, E>(
  response: Response,
  owner: Scope.Scope,
  use: (body: Body) => Effect.Effect<{ readonly value: A; readonly satisfied: boolean }, E>
): Effect.Effect<A, E> =>
  Effect.map(
    Effect.acquireUseRelease(
      open(response, owner),
      use,
      (body, exit) => Exit.isSuccess(exit) && exit.value.satisfied ? body.drain : body.cancel
    ),
    ({ value }) => value
  )

/** Reads and forgets the body, within bounds. */
export const discard = (response: Response, owner: Scope.Scope): Effect.Effect<void> =>
  response.status === 204 || response.headers["content-length"] === "0"
    ? Effect.void
    : withBody(response, owner, () => Effect.succeed({ value: undefined, satisfied: true }))

/** Whether the announced length is what will be held: no coding expands it. */
const announcedLength = (headers: Headers.Headers): number | undefined => {
  const length = headers["content-length"]
  return length === undefined || headers["content-encoding"] !== undefined ? undefined : Number(length)
}

export interface Text {
  readonly text: string
  readonly complete: boolean
}

const noText: Effect.Effect<Text> = Effect.succeed({ text: "", complete: true })

/** The text of the body and whether it is all of it; what goes past `maxBytes` is not read. */
export const readText = (
  response: Response,
  headers: Headers.Headers,
  owner: Scope.Scope,
  maxBytes: number
): Effect.Effect<Text, HttpClientError.HttpClientError> => {
  const length = announcedLength(headers)
  if (length !== undefined && length <= maxBytes) {
    return Effect.matchEffect(response.text, {
      onFailure: (error) => isEmpty(error) ? noText : Effect.fail(error),
      onSuccess: (text) => Effect.succeed({ text, complete: true })
    })
  }
  return withBody<Text, HttpClientError.HttpClientError>(response, owner, (body) =>
    Effect.gen(function*() {
      const decoder = new TextDecoder()
      let text = ""
      let bytes = 0
      for (let chunks = yield* body.next; chunks !== undefined; chunks = yield* body.next) {
        for (const chunk of chunks) {
          bytes += chunk.length
          if (bytes > maxBytes) {
            const kept = chunk.subarray(0, Math.max(0, chunk.length - (bytes - maxBytes)))
            return { value: { text: text + decoder.decode(kept), complete: false }, satisfied: false }
          }
          text += decoder.decode(chunk, { stream: true })
        }
      }
      return { value: { text: text + decoder.decode(), complete: true }, satisfied: true }
    }))
}
