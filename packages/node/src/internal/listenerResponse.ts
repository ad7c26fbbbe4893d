/** An Effect response on a Node one. */
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Cookies from "effect/http/Cookies"
import type * as HttpBody from "effect/http/HttpBody"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { STATUS_CODES } from "node:http"
import { Readable } from "node:stream"
import { discardRest, isTooMuch, mayHaveBody } from "./listenerBody.ts"
import { cut, drained, end, large } from "./listenerReader.ts"
import type { Exchange } from "./listenerRequest.ts"

/** The response that stands for the one that was written, where that is another one. */
type Written = Effect.Effect<HttpServerResponse.HttpServerResponse | void>

type Head = Record<string, string | Array<string>>

/** The response cannot be written; a defect of the program that made it. */
class UnwritableResponse extends Error {
  override readonly name = "UnwritableResponse"
}

const headOf = (response: HttpServerResponse.HttpServerResponse): Head => {
  const { cookies, headers, status } = response
  const without = (status === 204 || status === 205) && headers["content-length"] !== undefined
  if (!without && Cookies.isEmpty(cookies)) return headers
  const head: Head = { ...headers }
  if (without) delete head["content-length"]
  if (!Cookies.isEmpty(cookies)) {
    const own = head["set-cookie"]
    head["set-cookie"] = [...Cookies.toSetCookieHeaders(cookies), ...typeof own === "string" ? [own] : own ?? []]
  }
  return head
}

/** Throws where a body has another length than its head says. */
const checkLength = (head: Head, length: number): void => {
  const said = head["content-length"]
  if (said !== undefined && Number(said) !== length) {
    throw new UnwritableResponse(`${length} bytes, not ${String(said)}`)
  }
}

/** Writes the first line and the headers; throws where Node takes none of that. */
const writeHead = (
  exchange: Exchange,
  response: HttpServerResponse.HttpServerResponse,
  head: Head,
  streams: boolean
): void => {
  const { request, response: out } = exchange
  const { status, statusText } = response
  if (!(status >= 200 && status <= 599)) throw new UnwritableResponse(`no status of a response: ${status}`)
  let closes = exchange.owner.closing
  if (!request.complete && mayHaveBody(exchange)) {
    const givenUp = exchange.awaitsContinue || (!streams && isTooMuch(exchange))
    discardRest(exchange, givenUp)
    closes ||= givenUp
  }
  const all = closes ? { ...head, connection: "close" } : head
  if (statusText === undefined) out.writeHead(status, all)
  else out.writeHead(status, statusText, all)
}

/** A text of so many characters leaves in one piece with the head; longer ones are too large to be copied once more. */
const mostJoined = 131_072

/** Writes a body that is there; a text with as many bytes as characters is all ASCII, which has the shortest way out. */
const writeBody = (exchange: Exchange, { body, contentLength, text }: HttpBody.Uint8Array): void => {
  if (text === undefined || text.length > mostJoined) end(exchange, body)
  else end(exchange, text, text.length === contentLength ? "latin1" : "utf8")
}

/**
 * The response as its scope keeps it once it is written. Engines put objects as frequent as scopes among those that they
 * look through rarely; with bodies in them, the bodies would pile up until then.
 */
const written = (response: HttpServerResponse.HttpServerResponse, { contentLength }: HttpBody.Uint8Array): Written =>
  contentLength < large ? Effect.void : Effect.succeed(HttpServerResponse.empty(response))

const isText = (body: unknown): body is string | Uint8Array => typeof body === "string" || body instanceof Uint8Array

const fromWebStream = (body: ReadableStream<Uint8Array>): Stream.Stream<Uint8Array, unknown> =>
  Stream.fromReadableStream({ evaluate: () => body, onError: (cause: unknown) => cause })

/** The stream of a body that is neither text nor bytes. */
const rawStream = (body: unknown): Stream.Stream<Uint8Array, unknown> | undefined => {
  if (body instanceof Readable) {
    return NodeStream.fromReadable<Uint8Array, unknown>({ evaluate: () => body, onError: (cause) => cause })
  }
  if (body instanceof ReadableStream) return fromWebStream(body)
  if (body instanceof Blob) return fromWebStream(body.stream())
  if (body instanceof Response) return body.body === null ? Stream.empty : fromWebStream(body.body)
  return undefined
}

/** Writes what there is, and waits where there is no room for more. */
const writeChunks = (exchange: Exchange, chunks: ReadonlyArray<Uint8Array>): Effect.Effect<void> => {
  const { response: out } = exchange
  if (out.destroyed) return Effect.interrupt
  let room = true
  for (const chunk of chunks) room = out.write(chunk)
  return room ? Effect.void : drained(exchange)
}

/** A stream has come to its end, or has failed: then the connection is cut. */
const poured = (exchange: Exchange, scope: Scope.Closeable, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  const isDone = Pull.isDoneCause(cause)
  return Scope.close(scope, isDone ? Exit.void : Exit.failCause(cause)).pipe(
    // Node throws where the length is another one than was announced.
    Effect.andThen(isDone ? Effect.sync(() => end(exchange)) : Effect.orDie(Effect.failCause(cause))),
    Effect.onExit((exit) =>
      Effect.sync(() => {
        if (exit._tag === "Failure") cut(exchange.response)
      })
    )
  )
}

/**
 * Writes as the client reads. Most streams are idle for most of their life, so it is pulled here: by `Stream.runForEachArray`,
 * with its failures as defects, a fiber that waits would keep a KiB more.
 */
const pour = (exchange: Exchange, stream: Stream.Stream<Uint8Array, unknown>): Effect.Effect<void> =>
  Effect.suspend(() => {
    const scope = Scope.makeUnsafe()
    const written = Effect.suspend(() =>
      Effect.flatMap(
        Channel.toPullScoped(Stream.toChannel(stream), scope),
        (pull) =>
          Effect.forever(Effect.flatMap(pull, (chunks) => writeChunks(exchange, chunks)), { disableYield: true })
      )
    )
    return Effect.catchCause(Effect.interruptible(written), (cause) => poured(exchange, scope, cause))
  })

/** Lets go of what a body holds that nobody is going to read. */
const abandon = ({ body }: HttpServerResponse.HttpServerResponse): Effect.Effect<void> => {
  const raw = body._tag === "Raw" ? body.body : undefined
  if (raw instanceof Readable) return Effect.sync(() => raw.destroy())
  const stream = raw instanceof Response ? raw.body : raw
  return stream instanceof ReadableStream ? Effect.ignore(Effect.tryPromise(() => stream.cancel())) : Effect.void
}

const unwritable = (
  { owner, response: out }: Exchange,
  response: HttpServerResponse.HttpServerResponse,
  defect: unknown
): Effect.Effect<never> => {
  if (out.headersSent) out.destroy()
  else {
    // What could not be written is not to stay in the first line.
    out.writeHead(500, STATUS_CODES[500], {
      "content-length": "0",
      ...owner.closing ? { connection: "close" } : undefined
    }).end()
  }
  return Effect.andThen(abandon(response), Effect.failCause(Cause.die(defect)))
}

const streamed = (
  exchange: Exchange,
  response: HttpServerResponse.HttpServerResponse,
  head: Head,
  stream: Stream.Stream<Uint8Array, unknown>
): Effect.Effect<void> => {
  // More than was announced would be taken for the next answer on the connection, less would be waited for.
  exchange.response.strictContentLength = true
  writeHead(exchange, response, head, true)
  return pour(exchange, stream)
}

const write = (exchange: Exchange, response: HttpServerResponse.HttpServerResponse): Written => {
  const { request, response: out } = exchange
  const { body } = response
  const head = headOf(response)
  if (request.method === "HEAD" || HttpServerResponse.omitsBody(response)) {
    writeHead(exchange, response, head, false)
    out.end()
    return abandon(response)
  }
  switch (body._tag) {
    case "Uint8Array":
      checkLength(head, body.contentLength)
      writeHead(exchange, response, head, false)
      writeBody(exchange, body)
      return written(response, body)
    case "Empty":
      checkLength(head, 0)
      writeHead(
        exchange,
        response,
        head["content-length"] === undefined ? { ...head, "content-length": "0" } : head,
        false
      )
      out.end()
      return Effect.void
    case "Stream":
      return streamed(exchange, response, head, body.stream)
    case "FormData": {
      const form = new Response(body.formData)
      const type = form.headers.get("content-type")
      const stream = rawStream(form) ?? Stream.empty
      return streamed(exchange, response, type === null ? head : { ...head, "content-type": type }, stream)
    }
    case "Raw": {
      const raw = body.body
      if (isText(raw)) {
        checkLength(head, Buffer.byteLength(raw))
        writeHead(exchange, response, head, false)
        end(exchange, raw)
        return Effect.void
      }
      const stream = rawStream(raw)
      if (stream === undefined) throw new UnwritableResponse("a raw body that is no text, bytes or stream")
      return streamed(exchange, response, head, stream)
    }
  }
}

/** Writes a response, once: whatever is written already stays as it is. */
export const writeResponse = (
  exchange: Exchange,
  response: HttpServerResponse.HttpServerResponse
): Written => {
  const { response: out } = exchange
  // Nothing reaches a client that has left.
  if (out.headersSent || out.destroyed) return abandon(response)
  // Node throws on headers that it does not take.
  const done = Result.try(() => write(exchange, response))
  return Result.isSuccess(done) ? done.success : unwritable(exchange, response, done.failure)
}
