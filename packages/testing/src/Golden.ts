/**
 * Transcripts of the wire: recorded once, kept as text, and compared message by message.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { ClientTransport } from "@mcpfx/transport/ClientTransport"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/**
 * One message and who sent it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Entry {
  readonly from: "client" | "server"
  readonly message: unknown
}

/**
 * The messages of a conversation, in the order in which the client sent and got them.
 *
 * @category models
 * @since 0.1.0
 */
export type Transcript = ReadonlyArray<Entry>

/**
 * Two transcripts are not the same.
 *
 * @category errors
 * @since 0.1.0
 */
export class Different extends Schema.TaggedError<Different>("@mcpfx/testing/Different")("Different", {
  /** Counts the messages from 1. */
  at: Schema.Int,
  /** Absent where the recorded transcript has ended. */
  expected: Schema.optionalKey(Schema.String),
  /** Absent where the new transcript has ended. */
  actual: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return `message ${this.at}\n  expected ${this.expected ?? "no more"}\n  actual   ${this.actual ?? "no more"}`
  }
}

/**
 * Changes what differs from run to run, such as ids and times, into something that does not.
 *
 * @category models
 * @since 0.1.0
 */
export type Mask = (entry: Entry) => Entry

const sorted = (value: unknown): unknown =>
  JsonRpc.isJsonObject(value)
    ? Object.fromEntries(
      Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map((
        [key, member]
      ) => [key, sorted(member)])
    )
    : Array.isArray(value)
    ? value.map(sorted)
    : value

const line = ({ from, message }: Entry): string => `${from === "client" ? ">" : "<"} ${JSON.stringify(sorted(message))}`

/**
 * A transcript as text: a message a line, `>` before those of the client and `<` before those of the server, keys in order.
 *
 * **Example** (One line)
 *
 * ```ts
 * import { Golden } from "@mcpfx/testing"
 *
 * Golden.stringify([{ from: "client", message: { method: "ping", id: 1 } }]) // => '> {"id":1,"method":"ping"}\n'
 * ```
 *
 * @category encoding
 * @since 0.1.0
 */
export const stringify = (transcript: Transcript, mask: Mask = (entry) => entry): string =>
  transcript.map((entry) => `${line(mask(entry))}\n`).join("")

/**
 * Reads a transcript back; lines that are none are left out, so that a file may have comments.
 *
 * @category decoding
 * @since 0.1.0
 */
export const parse = (text: string): Transcript =>
  text.split("\n").flatMap((each): Transcript => {
    const from = each.startsWith("> ") ? "client" : each.startsWith("< ") ? "server" : undefined
    const message = Result.try((): unknown => JSON.parse(each.slice(2)))
    return from === undefined || Result.isFailure(message) ? [] : [{ from, message: message.success }]
  })

/**
 * Whether two transcripts are the same but for the order of keys; the first difference if not.
 *
 * @category comparing
 * @since 0.1.0
 */
export const compare = (expected: Transcript, actual: Transcript): Result.Result<void, Different> => {
  const length = Math.max(expected.length, actual.length)
  for (let index = 0; index < length; index++) {
    const [wanted, got] = [expected[index], actual[index]].map((entry) => entry && line(entry))
    if (wanted === got) continue
    return Result.fail(
      new Different({
        at: index + 1,
        ...(wanted === undefined ? undefined : { expected: wanted }),
        ...(got === undefined ? undefined : { actual: got })
      })
    )
  }
  return Result.succeed(undefined)
}

/**
 * A transport that writes down what goes over it.
 *
 * @category recording
 * @since 0.1.0
 */
export interface Recorder {
  readonly transport: ClientTransport["Service"]
  /** Everything so far, over all connections. */
  readonly transcript: () => Transcript
}

/**
 * Records a transport.
 *
 * @category recording
 * @since 0.1.0
 */
export const record = (inner: ClientTransport["Service"]): Recorder => {
  const entries: Array<Entry> = []
  const note = (from: Entry["from"], message: JsonRpc.Outgoing): void => {
    entries.push({ from, message: JSON.parse(JsonRpc.stringify(message)) })
  }
  return {
    transcript: () => [...entries],
    transport: {
      ...inner,
      connect: (client) =>
        Effect.map(
          inner.connect({
            ...client,
            handle: (exchange) => {
              note("server", exchange.message)
              return client.handle(exchange)
            }
          }),
          (link) => ({
            ...link,
            send: (message, options) =>
              Effect.suspend(() => {
                note("client", message)
                return link.send(message, options)
              })
          })
        )
    }
  }
}

/**
 * @category models
 * @since 0.1.0
 */
export interface CheckOptions {
  readonly mask?: Mask | undefined
  /** Writes the file anew instead of comparing with it. */
  readonly update?: boolean | undefined
}

/**
 * Compares a transcript with the file it was kept in. A file that is not there yet is written.
 *
 * @category comparing
 * @since 0.1.0
 */
export const check = Effect.fnUntraced(function*(
  path: string,
  transcript: Transcript,
  options: CheckOptions = {}
): Effect.fn.Return<void, Different | PlatformError, FileSystem.FileSystem | Path.Path> {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const text = stringify(transcript, options.mask)
  const kept = options.update === true ? Option.none() : yield* optional(files.readFileString(path))
  if (Option.isNone(kept)) {
    yield* files.makeDirectory(paths.dirname(path), { recursive: true })
    return yield* files.writeFileString(path, text)
  }
  yield* Effect.fromResult(compare(parse(kept.value), parse(text)))
})

/** Nothing where there is no such file. */
const optional = <A>(self: Effect.Effect<A, PlatformError>): Effect.Effect<Option.Option<A>, PlatformError> =>
  Effect.catch(
    Effect.asSome(self),
    (error) => error.reason._tag === "NotFound" ? Effect.succeedNone : Effect.fail(error)
  )
