/** What has to be started for a command: itself, but for Windows, where names and batch files need care. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as CommandLine from "effect/process/CommandLine"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { SpawnFailed } from "../TransportError.ts"
import * as Windows from "./windowsCommand.ts"

/** `shell` runs `program` as a line of the shell of the system; it may hold what was redacted in the arguments. */
export interface Launch {
  readonly program: string
  readonly args: ReadonlyArray<CommandLine.Word>
  readonly shell: boolean
}

export interface Command {
  readonly program: string
  readonly args: ReadonlyArray<CommandLine.Word>
  /** What the child gets. */
  readonly env: Readonly<Record<string, unknown>>
  readonly cwd: string | undefined
}

/** Where programs are looked for. */
export interface Disk {
  readonly files: FileSystem.FileSystem
  readonly path: Path.Path
}

/** The disk of a system whose paths have backslashes; others find programs by themselves. */
export const windowsDisk: Effect.Effect<Option.Option<Disk>> = Effect.gen(function*() {
  const path = yield* Effect.serviceOption(Path.Path)
  const files = yield* Effect.serviceOption(FileSystem.FileSystem)
  return Option.filter(Option.all({ path, files }), (disk) => disk.path.sep === "\\")
})

const isFile = ({ files }: Disk, file: string): Effect.Effect<boolean> =>
  Effect.match(files.stat(file), { onFailure: () => false, onSuccess: ({ type }) => type === "File" })

const locate = Effect.fnUntraced(function*({ cwd, env, program }: Command, disk: Disk) {
  for (const place of Windows.places(program, env)) {
    const file = cwd === undefined || disk.path.isAbsolute(place) ? place : disk.path.join(cwd, place)
    if (yield* isFile(disk, file)) return file
  }
  const searched = Windows.variable(env, "PATH") ?? ""
  const cause = `no program of this name was found, with PATH=${searched.slice(0, 2_000)}`
  return yield* new SpawnFailed({ command: program, cause })
})

/** Fails where the program is not found, or cannot be given its arguments. */
export const launch = (command: Command, disk: Option.Option<Disk>): Effect.Effect<Launch, SpawnFailed> => {
  const { args, program } = command
  if (Option.isNone(disk)) return Effect.succeed({ program, args, shell: false })
  return Effect.flatMap(locate(command, disk.value), (file): Effect.Effect<Launch, SpawnFailed> => {
    if (!Windows.isBatch(file)) return Effect.succeed({ program: file, args, shell: false })
    const words = args.map((word) => Redacted.isRedacted(word) ? Redacted.value(word) : word)
    return Result.match(Windows.batchLine(file, words), {
      onFailure: (cause) => Effect.fail(new SpawnFailed({ command: program, cause })),
      onSuccess: (line) => Effect.succeed({ program: line, args: [], shell: true })
    })
  })
}
