import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { HttpFailure, type TransportError } from "../TransportError.ts"
import { type Reader, refused, type StreamEnd } from "./clientReply.ts"
import * as media from "./media.ts"
import { discard } from "./responseBody.ts"

type Response = HttpClientResponse.HttpClientResponse

export interface Reconnect {
  /** Connections that may follow one another without anything new on them. */
  readonly maxRetries: number
  /** The wait before the first of them, which doubles each time; a server's own wish goes first. */
  readonly minDelay: Duration.Duration
  readonly maxDelay: Duration.Duration
}

export interface StreamSource {
  /** Sends a GET, from an event on where one is given. */
  readonly open: (lastEventId: string | undefined) => Effect.Effect<Response, HttpFailure>
  readonly reader: Reader
  readonly reconnect: Reconnect
  readonly owner: Scope.Scope
}

export const isSuccess = (response: Response): boolean => response.status >= 200 && response.status < 300

const isStream = (response: Response): boolean =>
  isSuccess(response) && media.isEventStream(response.headers["content-type"])

/** Statuses that may be another one a little later; every other one says that there is no stream. */
const isPassing = (status: number): boolean => status === 408 || status === 409 || status === 429 || status >= 500

/** The wait before retry number `attempt`, from 1. */
const delay = (reconnect: Reconnect, attempt: number, retry: number | undefined): Duration.Duration =>
  retry === undefined
    ? Duration.min(Duration.times(reconnect.minDelay, 2 ** (attempt - 1)), reconnect.maxDelay)
    : Duration.millis(retry)

/**
 * Keeps the stream of a session open for what answers nothing. Ends, quietly, when the server has none (HTTP-20) or keeps
 * closing it with nothing on it.
 */
export const standalone: (source: StreamSource) => Effect.Effect<void> = Effect.fnUntraced(function*(source) {
  const { open, owner, reader, reconnect } = source
  let failures = 0
  let lastEventId: string | undefined = undefined
  let retry: number | undefined = undefined
  while (true) {
    const opened: Result.Result<Response, HttpFailure> = yield* Effect.result(open(lastEventId))
    if (Result.isSuccess(opened)) {
      const response: Response = opened.success
      if (isStream(response)) {
        const began = yield* Clock.currentTimeMillis
        const end: Result.Result<StreamEnd, TransportError> = yield* Effect.result(
          reader.events(response, undefined, lastEventId)
        )
        if (Result.isSuccess(end)) {
          const lived = (yield* Clock.currentTimeMillis) - began
          const fresh = end.success.spoke || end.success.lastEventId !== lastEventId
          if (fresh || lived >= Duration.toMillis(reconnect.maxDelay)) failures = 0
          lastEventId = end.success.lastEventId
          retry = end.success.retry ?? retry
        }
      } else {
        yield* discard(response, owner)
        if (!isPassing(response.status)) return
      }
    }
    if (failures >= reconnect.maxRetries) return
    failures++
    yield* Effect.sleep(delay(reconnect, failures, retry))
  }
})

/**
 * Goes on with a stream that ended before the answer to `id`, from its last event (HTTP-30, HTTP-33). A stream without
 * ids is lost, and the request with it.
 */
export const resume: (
  source: StreamSource,
  id: JsonRpc.RequestId,
  from: StreamEnd
) => Effect.Effect<void, TransportError> = Effect.fnUntraced(function*(source, id, from) {
  const { open, owner, reader, reconnect } = source
  let end = from
  let failures = 0
  while (end.lastEventId !== undefined && failures < reconnect.maxRetries) {
    failures++
    yield* Effect.sleep(delay(reconnect, failures, end.retry))
    const opened = yield* Effect.result(open(end.lastEventId))
    if (Result.isFailure(opened)) continue
    const response = opened.success
    if (!isStream(response)) {
      yield* discard(response, owner)
      if (isPassing(response.status)) continue
      return yield* Effect.fail(refused(response, "The stream cannot be resumed"))
    }
    const next = yield* reader.events(response, id, end.lastEventId)
    if (next.answered) return
    if (next.spoke || next.lastEventId !== end.lastEventId) failures = 0
    end = { ...next, retry: next.retry ?? end.retry }
  }
  return yield* Effect.fail(
    end.broken ?? new HttpFailure({ status: 200, detail: "The stream ended without the answer" })
  )
})
