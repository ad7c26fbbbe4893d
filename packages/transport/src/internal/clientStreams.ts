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
import { SeenEvents } from "./seenEvents.ts"

type Response = HttpClientResponse.HttpClientResponse

export interface Reconnect {
  /** Connections that may follow one another without anything new on them. */
  readonly maxRetries: number
  /** The wait before the first of them, which doubles each time; a server's own wish goes first. */
  readonly minDelay: Duration.Duration
  readonly maxDelay: Duration.Duration
  /** How long a request is asked after without any message on its stream. */
  readonly pollFor: Duration.Duration
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

/** The least a server that brought nothing new may ask for again and again, and the most. */
const leastWait = 100
const longestWait = 24 * 60 * 60 * 1000

/** The wait after so many connections in a row, the last one not counted, that brought nothing new. */
const delay = (reconnect: Reconnect, idle: number, retry: number | undefined): Duration.Duration =>
  retry === undefined
    ? Duration.min(Duration.times(reconnect.minDelay, 2 ** idle), reconnect.maxDelay)
    : Duration.millis(Math.min(Math.max(retry, idle === 0 ? 0 : leastWait), longestWait))

/** What a connection brought. */
const outcome = (end: StreamEnd, lastEventId: string | undefined, retry: number | undefined) => ({
  fresh: end.spoke || end.lastEventId !== lastEventId,
  // A server that says when to come back wants to be asked again and again (HTTP-30).
  polled: end.broken === undefined && retry !== undefined
})

/**
 * Keeps the stream of a session open for what answers nothing. Ends, quietly, when the server has none (HTTP-20) or keeps
 * closing it with nothing on it and without a wish to be asked again. `true` where it could be had after somebody has acted,
 * as by a login.
 */
export const standalone: (source: StreamSource) => Effect.Effect<boolean> = Effect.fnUntraced(function*(source) {
  const { open, owner, reader, reconnect } = source
  const seen = new SeenEvents()
  let failures = 0
  let idle = 0
  let lastEventId: string | undefined = undefined
  let retry: number | undefined = undefined
  while (true) {
    const opened: Result.Result<Response, HttpFailure> = yield* Effect.result(open(lastEventId))
    if (Result.isFailure(opened) && opened.failure.final === true) return true
    if (Result.isSuccess(opened)) {
      const response: Response = opened.success
      if (isStream(response)) {
        const began = yield* Clock.currentTimeMillis
        const end: Result.Result<StreamEnd, TransportError> = yield* Effect.result(
          reader.events(response, undefined, lastEventId, seen)
        )
        if (Result.isSuccess(end)) {
          const lived = (yield* Clock.currentTimeMillis) - began
          retry = end.success.retry ?? retry
          const { fresh, polled } = outcome(end.success, lastEventId, retry)
          if (fresh || lived >= Duration.toMillis(reconnect.maxDelay)) idle = failures = 0
          else if (polled && reconnect.maxRetries > 0) failures--
          lastEventId = end.success.lastEventId
        }
      } else {
        yield* discard(response, owner)
        if (!isPassing(response.status)) {
          if (lastEventId === undefined) return false
          // The server no longer has the events after that one: from now on, then.
          lastEventId = undefined
          continue
        }
      }
    }
    if (failures >= reconnect.maxRetries) return false
    failures++
    yield* Effect.sleep(delay(reconnect, idle++, retry))
  }
})

/**
 * Goes on with a stream that ended before the answer to `id`, from its last event (HTTP-30, HTTP-33). A stream without
 * ids is lost, and the request with it: it may have been carried out, so it is not sent again.
 */
export const resume: (
  source: StreamSource,
  id: JsonRpc.RequestId,
  from: StreamEnd,
  seen: SeenEvents
) => Effect.Effect<void, TransportError> = Effect.fnUntraced(function*(source, id, from, seen) {
  const { open, owner, reader, reconnect } = source
  const now = Clock.currentTimeMillis
  let end = from
  let failures = 0
  let idle = 0
  let quietSince = yield* now
  while (end.lastEventId !== undefined && failures < reconnect.maxRetries) {
    if ((yield* now) - quietSince >= Duration.toMillis(reconnect.pollFor)) break
    failures++
    yield* Effect.sleep(delay(reconnect, idle++, end.retry))
    const opened = yield* Effect.result(open(end.lastEventId))
    if (Result.isFailure(opened)) {
      if (opened.failure.final === true) return yield* Effect.fail(opened.failure)
      continue
    }
    const response = opened.success
    if (!isStream(response)) {
      yield* discard(response, owner)
      if (isPassing(response.status)) continue
      return yield* Effect.fail(refused(response, "The stream cannot be resumed"))
    }
    const next = yield* reader.events(response, id, end.lastEventId, seen)
    if (next.answered) return
    const retry = next.retry ?? end.retry
    const { fresh, polled } = outcome(next, end.lastEventId, retry)
    if (fresh) idle = failures = 0
    else if (polled) failures--
    if (next.spoke) quietSince = yield* now
    end = { ...next, retry }
  }
  return yield* Effect.fail(
    end.broken ?? new HttpFailure({ status: 200, detail: "The stream ended without the answer" })
  )
})
