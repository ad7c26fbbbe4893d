/**
 * Reaches a server that runs as a child process, over its standard streams.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as ChildProcess from "effect/process/ChildProcess"
import { type ChildProcessHandle, ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as CommandLine from "effect/process/CommandLine"
import * as PubSub from "effect/PubSub"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ClientTransport } from "./ClientTransport.ts"
import type { Endpoint } from "./Endpoint.ts"
import { LineReader } from "./Framing.ts"
import * as Environment from "./internal/environment.ts"
import { type Disk, launch, windowsDisk } from "./internal/launch.ts"
import { peek } from "./internal/peek.ts"
import * as Refusals from "./internal/refusals.ts"
import { Tail } from "./internal/stderr.ts"
import * as Wire from "./internal/wire.ts"
import * as Limits from "./Limits.ts"
import type { Link } from "./Link.ts"
import { MessageTooLarge, SpawnFailed, TransportClosed } from "./TransportError.ts"

/**
 * Something on the server's standard output that is no message.
 *
 * @category models
 * @since 0.1.0
 */
export interface Junk {
  /** Why it was skipped. */
  readonly reason: string
  /** How it starts, 256 characters at most. */
  readonly text: string
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The program and its arguments; no shell is involved. `Redacted` arguments stay out of errors.
   *
   * On Windows the program is looked for as `npx.cmd` and the like too, by `PATHEXT` on the `PATH`, where the context has a
   * `FileSystem` and a `Path`, as `NodeServices.layer` brings them. Batch files are run by `cmd.exe`, with arguments that it
   * cannot take for anything else (FRM-16 of field practice).
   */
  readonly command: ReadonlyArray<CommandLine.Word>
  /** Variables of the child beside the inherited ones. */
  readonly env?: Readonly<Record<string, string | Redacted.Redacted<string>>> | undefined
  /**
   * Whether the child inherits the whole environment. By default it gets `PATH`, `HOME`, `USER`, `LOGNAME`, `SHELL`,
   * `TERM`, `LANG`, and on Windows what corresponds to them: other variables may be secrets.
   */
  readonly inheritEnv?: boolean | undefined
  /** The working directory of the child; that of this process by default. */
  readonly cwd?: string | undefined
  /**
   * Called, synchronously, with what the child writes to its standard error. It is drained in any case (FRM-12 of field
   * practice).
   */
  readonly onStderr?: ((text: string) => void) | undefined
  /**
   * Called, synchronously, for each line that is skipped (FRM-03 of field practice). The first 20 are logged at debug level by
   * default.
   */
  readonly onJunk?: ((junk: Junk) => void) | undefined
}

/**
 * The link to a child process.
 *
 * @category models
 * @since 0.1.0
 */
export interface StdioLink extends Link {
  readonly pid: number
  /** What the child writes to its standard error from now on, and a little of what it wrote before. Slow readers miss text. */
  readonly stderr: Stream.Stream<string>
}

const junkShown = 256
const junkLogged = 20
const bytesOf = new TextEncoder()

const spawn = Effect.fnUntraced(function*(options: Options, limits: Limits.Limits, disk: Option.Option<Disk>) {
  const spawner = yield* ChildProcessSpawner
  const [program, ...args] = options.command
  if (typeof program !== "string" || program === "") {
    return yield* new SpawnFailed({ command: "", cause: "the command names no program" })
  }
  const env = { ...(yield* Environment.allowed), ...options.env }
  const start = yield* launch({ program, args, env, cwd: options.cwd }, disk)
  const command = ChildProcess.make(start.program, start.args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: options.inheritEnv === true ? options.env ?? {} : env,
    extendEnv: options.inheritEnv === true,
    shell: start.shell,
    windowsHide: true,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    // For what is left of the process group when the scope closes; the orderly way comes first.
    killSignal: "SIGTERM",
    forceKillAfter: limits.childGrace
  })
  return yield* Effect.mapError(spawner.spawn(command), (cause) =>
    // The line of a shell may hold what is redacted in the arguments.
    new SpawnFailed({ command: program, cause: start.shell ? "the shell could not be started" : cause }))
})

/** Skips junk, and fails the exchange whose answer is too large: everything else goes on. */
const makeReader = (wire: Wire.Wire, maxBytes: number, onJunk: (junk: Junk) => void): LineReader =>
  new LineReader({
    maxBytes,
    onLine: (line) => wire.inbound.accept(line),
    onTooLong: (bytes, head) => {
      const { id, response } = peek(head)
      if (id === undefined) {
        onJunk({ reason: `${bytes} bytes are more than the limit of ${maxBytes}`, text: head.slice(0, junkShown) })
      } else if (response) {
        wire.inbound.unread(id, new MessageTooLarge({ bytes, limit: maxBytes }))
      } else {
        wire.writeLine(JsonRpc.stringify(JsonRpc.failure(id, Refusals.messageTooLarge(bytes, maxBytes))))
      }
    },
    onInvalid: (bytes) => onJunk({ reason: `${bytes} bytes are not UTF-8`, text: "" })
  })

const junkHandler = (options: Options): Effect.Effect<(junk: Junk) => void> =>
  options.onJunk !== undefined ? Effect.succeed(options.onJunk) : Effect.contextWith((context) => {
    let left = junkLogged
    return Effect.succeed((junk: Junk) => {
      if (left-- > 0) Effect.runForkWith(context)(Effect.logDebug("A line of the server is no message", junk))
    })
  })

/** Reads standard error to its end, come what may: a full pipe would stop the child. */
const drainStderr = Effect.fnUntraced(function*(handle: ChildProcessHandle, options: Options, tail: Tail) {
  const heard = yield* PubSub.sliding<string>({ capacity: 64, replay: 16 })
  const decoder = new TextDecoder()
  const fiber = yield* Effect.forkScoped(Effect.exit(Stream.runForEachArray(handle.stderr, (chunks) => {
    let text = ""
    for (const chunk of chunks) {
      tail.push(chunk)
      text += decoder.decode(chunk, { stream: true })
    }
    options.onStderr?.(text)
    return PubSub.publish(heard, text)
  })))
  return { fiber, stderr: Stream.fromPubSub(heard) }
})

const signalName = /'(SIG[A-Z0-9]+)'/

const explain = (exit: Option.Option<Exit.Exit<number, unknown>>, stderr: string): TransportClosed => {
  const tail = stderr === "" ? {} : { stderr }
  if (Option.isNone(exit)) return new TransportClosed({ reason: "The server closed its standard streams", ...tail })
  if (Exit.isSuccess(exit.value)) {
    const exitCode = exit.value.value
    return new TransportClosed({ reason: `The server exited with code ${exitCode}`, exitCode, ...tail })
  }
  const signal = signalName.exec(String(exit.value.cause))?.[1]
  return new TransportClosed({ reason: `The server was ended by ${signal ?? "a signal"}`, ...tail })
}

/**
 * Starts the server and connects to it: succeeds once the process runs. The process and all it started end with the scope,
 * orderly: standard input is closed; after `Limits.childGrace` comes TERM, after as long again KILL, to its whole group
 * (STD-08, FRM-11 of field practice).
 *
 * `closed` completes when the process has ended, or has closed its standard streams, with its exit code and the end of its
 * standard error; from then on `send` fails with the same error (FRM-08 of field practice).
 *
 * @category connecting
 * @since 0.1.0
 */
export const connect = (
  endpoint: Endpoint["Service"],
  options: Options
): Effect.Effect<StdioLink, SpawnFailed, ChildProcessSpawner | Scope.Scope> =>
  Effect.flatMap(windowsDisk, (disk) => connectFrom(endpoint, options, disk))

const connectFrom = Effect.fnUntraced(
  function*(endpoint: Endpoint["Service"], options: Options, disk: Option.Option<Disk>) {
    const limits = yield* Limits.Limits
    const onJunk = yield* junkHandler(options)
    const handle = yield* spawn(options, limits, disk)
    const tail = new Tail(limits.stderrTail)
    const wire = yield* Wire.make({
      transport: "stdio",
      endpoint,
      limits,
      maxOut: limits.stdioMessageOut,
      unreadable: (text, reason) => onJunk({ reason, text: text.slice(0, junkShown) })
    })
    const outbox = wire.outbox
    const reader = makeReader(wire, limits.clientMessageIn, onJunk)
    const ended = Effect.exit(handle.exitCode)

    const { fiber: errors, stderr } = yield* drainStderr(handle, options, tail)
    const reading = yield* Effect.forkScoped(Effect.exit(Effect.andThen(
      Stream.runForEachArray(handle.stdout, (chunks) => {
        outbox.cork()
        for (const chunk of chunks) reader.push(chunk)
        outbox.uncork()
        return wire.unsettled ? wire.settle : Effect.void
      }),
      Effect.suspend(() => {
        reader.end()
        return wire.settle
      })
    )))
    const writing = yield* Effect.forkScoped(
      Effect.exit(Stream.run(Stream.map(outbox.stream, (text) => bytesOf.encode(text)), handle.stdin))
    )
    yield* Effect.forkScoped(outbox.watch)
    yield* Effect.forkScoped(Effect.gen(function*() {
      yield* Effect.raceAllFirst([ended, Fiber.await(reading), Fiber.await(writing)])
      const exit = yield* Effect.timeoutOption(ended, limits.childGrace)
      // What the process wrote before its end still counts.
      yield* Effect.timeoutOption(Effect.all([Fiber.await(reading), Fiber.await(errors)]), limits.childGrace)
      wire.close(explain(exit, tail.text()))
    }))
    yield* Effect.addFinalizer(() =>
      Effect.gen(function*() {
        outbox.end()
        const exit = yield* Effect.timeoutOption(ended, limits.childGrace)
        if (Option.isNone(exit)) {
          yield* Effect.ignore(handle.kill({ killSignal: "SIGTERM", forceKillAfter: limits.childGrace }))
        }
        wire.close(new TransportClosed({ reason: "The client closed the connection" }))
      })
    )
    const link: StdioLink = { ...wire.link, pid: handle.pid, stderr }
    return link
  }
)

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Effect.Effect<ClientTransport["Service"], never, ChildProcessSpawner> =>
  Effect.gen(function*() {
    const spawner = yield* ChildProcessSpawner
    const disk = yield* windowsDisk
    return {
      kind: "stdio",
      target: CommandLine.display(options.command),
      connect: (endpoint) => Effect.provideService(connectFrom(endpoint, options, disk), ChildProcessSpawner, spawner)
    }
  })

/**
 * The transport to one server, started anew for each connection.
 *
 * **Example** (A server written in Node)
 *
 * ```ts
 * import * as NodeServices from "@effect/platform-node/NodeServices"
 * import { StdioClient } from "@mcpfx/transport"
 * import { Layer } from "effect"
 *
 * const transport = StdioClient.layer({ command: ["node", "server.js"], env: { API_URL: "http://localhost:4000" } })
 * export const live = Layer.provide(transport, NodeServices.layer)
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<ClientTransport, never, ChildProcessSpawner> =>
  Layer.effect(ClientTransport, make(options))
