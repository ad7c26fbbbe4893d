import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpServerError from "effect/http/HttpServerError"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Stream from "effect/Stream"
import * as WholeBody from "../WholeBody.ts"
import { BodyFailure, type BodySettings, Gather } from "./gather.ts"

const fail = (reason: BodyFailure["reason"]): Effect.Effect<never, BodyFailure> => Effect.fail(new BodyFailure(reason))

/** Bodies up to this size are left to the time limits of the HTTP server, which has them anyhow. */
const small = 65_536

/** The part of an event-emitting byte source (a Node request) that is used here. */
interface Source {
  readonly on: (event: string, listener: (chunk: Uint8Array) => void) => unknown
  readonly off: (event: string, listener: (chunk: Uint8Array) => void) => unknown
}

/** Whether nobody has begun to read the source: only then its events tell the whole body. */
const isUntouched = (source: object): source is Source =>
  "on" in source && typeof source.on === "function" && "off" in source && typeof source.off === "function" &&
  "readableFlowing" in source && source.readableFlowing === null &&
  "readableEncoding" in source && source.readableEncoding === null &&
  "readableEnded" in source && source.readableEnded === false &&
  "destroyed" in source && source.destroyed === false

const ignore = (): void => {}

/**
 * Node tells of a broken body after whoever read it has left, as when a connection breaks on which another answer was under
 * way: without anybody there it ends the process.
 */
const hold = (source: object): void => {
  if ("on" in source && typeof source.on === "function" && "readableFlowing" in source) source.on("error", ignore)
}

const fromSource = <A>(source: Source, gather: Gather<A>): Effect.Effect<A, BodyFailure> =>
  Effect.callback((resume) => {
    const refused = gather.start()
    if (refused !== undefined) return resume(Effect.fail(refused))
    const settle = (result: Effect.Effect<A, BodyFailure>): void => {
      stop()
      resume(result)
    }
    const onData = (chunk: Uint8Array): void => {
      const failure = gather.add(chunk)
      if (failure !== undefined) settle(Effect.fail(failure))
    }
    const onEnd = (): void => settle(Effect.succeed(gather.value))
    const onBroken = (): void => settle(fail("Broken"))
    const stop = (): void => {
      source.off("data", onData)
      source.off("end", onEnd)
      source.off("error", onBroken)
      source.off("close", onBroken)
      gather.release()
    }
    source.on("data", onData)
    source.on("end", onEnd)
    source.on("error", onBroken)
    source.on("close", onBroken)
    return Effect.sync(stop)
  })

const failureOf = (error: HttpServerError.HttpServerError | BodyFailure): BodyFailure => {
  if (error instanceof BodyFailure) return error
  const tooLarge = error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
  return new BodyFailure(tooLarge ? "TooLarge" : "Broken")
}

/** A web request whose body nobody has begun to read. */
const isUnusedWeb = (source: object): boolean => "bodyUsed" in source && source.bodyUsed === false

const counted = <A>(gather: Gather<A>, read: Effect.Effect<A, HttpServerError.HttpServerError | BodyFailure>) =>
  Effect.suspend(() => {
    const refused = gather.start()
    return refused === undefined ? read : Effect.fail(refused)
  }).pipe(
    Effect.mapError(failureOf),
    Effect.ensuring(Effect.sync(() => gather.release()))
  )

/** Chunk by chunk, for a body of unknown length. */
const fromStream = <A>(
  request: HttpServerRequest.HttpServerRequest,
  gather: Gather<A>
): Effect.Effect<A, BodyFailure> =>
  counted(
    gather,
    Effect.map(
      Stream.runForEach(request.stream, (chunk) => {
        const failure = gather.add(chunk)
        return failure === undefined ? Effect.void : Effect.fail(failure)
      }),
      () => gather.value
    )
  )

/** As the platform has it, which may have read it for somebody else before. */
const fromPlatform = <A>(
  request: HttpServerRequest.HttpServerRequest,
  settings: BodySettings,
  gather: Gather<A>
): Effect.Effect<A, BodyFailure> =>
  counted(
    gather,
    Effect.map(
      Effect.provideService(
        request.arrayBuffer,
        HttpIncomingMessage.MaxBodySize,
        ByteSize.bytes(settings.maxBytes)
      ),
      (buffer) => gather.use(new Uint8Array(buffer))
    )
  )

const digits = /^[0-9]{1,15}$/

/** Reads a body of `length` announced bytes. */
const gatherFrom = <A>(
  request: HttpServerRequest.HttpServerRequest,
  settings: BodySettings,
  use: (bytes: Uint8Array) => A,
  length: number | undefined
): Effect.Effect<A, BodyFailure> => {
  const { headers, source } = request
  hold(source)
  // A client that asks before it sends has to be told to go on, which the platform does when it is asked for the body.
  const direct = headers["expect"] === undefined && headers["upgrade"] === undefined
  if (direct && isUntouched(source)) return fromSource(source, new Gather(settings, length ?? 0, use))
  return length === undefined && isUnusedWeb(source)
    ? fromStream(request, new Gather(settings, 0, use))
    : fromPlatform(request, settings, new Gather(settings, length ?? settings.maxBytes, use))
}

const read = <A>(
  request: HttpServerRequest.HttpServerRequest,
  settings: BodySettings,
  use: (bytes: Uint8Array) => A
): Effect.Effect<A, BodyFailure> => {
  const header = request.headers["content-length"]
  const length = header !== undefined && digits.test(header) ? Number(header) : undefined
  if (length !== undefined && length > settings.maxBytes) return fail("TooLarge")
  const whole = WholeBody.bytesOf(request)
  if (whole !== undefined) return whole.length > settings.maxBytes ? fail("TooLarge") : Effect.succeed(use(whole))
  const bytes = gatherFrom(request, settings, use, length)
  return length !== undefined && length <= small
    ? bytes
    : Effect.timeoutOrElse(bytes, { duration: settings.timeout, orElse: () => fail("Timeout") })
}

/**
 * Reads a body once, within its bounds, and gives what `use` makes of its bytes, so that nobody else has them.
 *
 * One that the platform has read is taken as it is: nothing is held for it here. A source of the platform that nobody has
 * touched is read by its own events, which is half the price of the platform's
 * `arrayBuffer`; everything else goes through the platform.
 */
export const readBody = <A>(
  request: HttpServerRequest.HttpServerRequest,
  fiber: Fiber.Fiber<unknown, unknown>,
  settings: BodySettings,
  use: (bytes: Uint8Array) => A
): Effect.Effect<A, BodyFailure> => {
  const platform = fiber.getRef(HttpIncomingMessage.MaxBodySize)
  return platform === undefined || Number(platform) >= settings.maxBytes
    ? read(request, settings, use)
    : read(request, { ...settings, maxBytes: Number(platform) }, use)
}
