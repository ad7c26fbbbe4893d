/** One file for each secret, in a folder that is its owner's alone: replaced whole or not at all. */
import { TokenStoreError } from "@mcpfx/auth/TokenStore"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as UserDirectories from "effect/persistence/UserDirectories"
import type { PlatformError } from "effect/PlatformError"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createHash, randomBytes } from "node:crypto"
import { join } from "node:path"
import * as system from "node:process"

const Entry = Schema.fromJsonString(
  Schema.Struct({
    version: Schema.Literal(1),
    /** For people who look: the name of the file is a digest of it. */
    key: Schema.String,
    value: Schema.String
  })
)

const decode = Schema.decodeUnknownOption(Entry)
const encode = Schema.encodeSync(Entry)

type Operation = TokenStoreError["operation"]
type Done<A> = Effect.Effect<A, TokenStoreError>

/** Windows has no modes: there a file has the rights of the folder, which in a user's profile are that user's. */
const hasModes = system.platform !== "win32"
const others = 0o077
const directoryMode = 0o700
const fileMode = 0o600

/** Age in milliseconds of what a crash left half done. */
const abandoned = 3_600_000
const unfinished = /\.(?:tmp|new)$/

/** What the system said; it names the path and never what was to be written. */
const why = (error: PlatformError): string => {
  const { cause } = error.reason
  return cause instanceof Error ? cause.message : error.message
}

const failed = (operation: Operation, path: string, what: string) => (cause: PlatformError): TokenStoreError =>
  new TokenStoreError({ operation, detail: `${path} could not be ${what}: ${why(cause)}`, cause })

const refuse = (operation: Operation, detail: string) => Effect.fail(new TokenStoreError({ operation, detail }))

const isMissing = (error: PlatformError): boolean => error.reason._tag === "NotFound"

/**
 * The folder that the program gives, else one in that where the user's applications have their settings. An empty one would
 * be the folder that the program happens to run in.
 */
export const folderOf = (given: string | undefined, application: string, name: string): Done<string> => {
  if (given === undefined) return applicationFolder(application, name)
  return given.trim() === ""
    ? refuse("write", "the directory for credentials is empty: leave it out for the default one")
    : Effect.succeed(given)
}

const applicationFolder = (application: string, name: string): Done<string> =>
  UserDirectories.make().config(application).pipe(
    Effect.map((settings) => join(settings, name)),
    Effect.mapError(() => new TokenStoreError({ operation: "write", detail: "there is no home folder to use" }))
  )

export class CredentialFiles {
  private readonly files: FileSystem.FileSystem
  readonly directory: string

  constructor(files: FileSystem.FileSystem, directory: string) {
    this.files = files
    this.directory = directory
  }

  /** The path for a key, whatever characters it has and however long it is. */
  pathOf(key: string, extension: string): string {
    return join(this.directory, `${createHash("sha256").update(key).digest("hex")}${extension}`)
  }

  /** Makes the folder, and makes it its owner's alone. */
  get prepare(): Done<void> {
    const { directory, files } = this
    return Effect.gen({ self: this }, function*() {
      yield* files.makeDirectory(directory, { recursive: true, mode: directoryMode })
      const info = yield* files.stat(directory)
      if (info.type !== "Directory") return yield* refuse("write", `${directory} is no folder`)
      if (!hasModes) return
      const owner = Option.getOrUndefined(info.uid)
      if (owner !== undefined && owner !== system.getuid?.()) {
        return yield* refuse("write", `${directory} belongs to another user`)
      }
      if ((info.mode & others) !== 0) yield* files.chmod(directory, directoryMode)
    }).pipe(
      Effect.catchTag("PlatformError", (error) => Effect.fail(failed("write", directory, "made")(error))),
      Effect.andThen(this.sweep)
    )
  }

  /** Removes what a crash left half done; what cannot be removed does no harm. */
  private get sweep(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function*() {
      const now = yield* Clock.currentTimeMillis
      for (const name of yield* this.files.readDirectory(this.directory)) {
        if (!unfinished.test(name)) continue
        const path = join(this.directory, name)
        const { mtime } = yield* this.files.stat(path)
        if (Option.isSome(mtime) && now - mtime.value.getTime() > abandoned) yield* this.files.remove(path)
      }
    }).pipe(Effect.ignore)
  }

  /** The text of the file; links are not followed, and rights that others have are taken from them. */
  private text(path: string): Effect.Effect<Option.Option<string>, TokenStoreError | PlatformError> {
    return Effect.gen({ self: this }, function*() {
      const info = yield* this.files.lstat(path)
      if (info.type !== "File") return yield* refuse("read", `${path} is no regular file`)
      if (hasModes && (info.mode & others) !== 0) yield* this.files.chmod(path, fileMode)
      return Option.some(yield* this.files.readFileString(path))
    }).pipe(
      Effect.catchTag("PlatformError", (error) => isMissing(error) ? Effect.succeedNone : Effect.fail(error))
    )
  }

  get(key: string): Done<Option.Option<Redacted.Redacted<string>>> {
    const path = this.pathOf(key, ".json")
    return this.text(path).pipe(
      Effect.catchTag("PlatformError", (error) => Effect.fail(failed("read", path, "read")(error))),
      Effect.flatMap((text) => {
        if (Option.isNone(text)) return Effect.succeedNone
        const entry = decode(text.value)
        return Option.isSome(entry) && entry.value.key === key
          ? Effect.succeedSome(Redacted.make(entry.value.value))
          : refuse("read", `${path} does not hold credentials as they are written here; it is left as it is`)
      })
    )
  }

  /** What is there and cannot be read makes room, and is not lost. */
  private setAside(key: string, path: string): Done<void> {
    return Effect.catch(Effect.asVoid(this.get(key)), () =>
      this.files.rename(path, this.pathOf(key, ".corrupt")).pipe(
        Effect.mapError(failed("write", path, "set aside"))
      ))
  }

  /** To disk, not only to the system: a name is on disk when its folder is. */
  private write(path: string, text: string): Effect.Effect<void, PlatformError> {
    const temporary = `${path}.${randomBytes(8).toString("hex")}.tmp`
    const { directory, files } = this
    return Effect.gen(function*() {
      // Exclusive: a link of that name is not followed.
      const file = yield* files.open(temporary, { flag: "wx", mode: fileMode })
      yield* file.writeAll(new TextEncoder().encode(text))
      yield* file.sync
    }).pipe(
      Effect.scoped,
      Effect.andThen(files.rename(temporary, path)),
      Effect.onError(() => Effect.ignore(files.remove(temporary, { force: true }))),
      // Not every system can do this for a folder.
      Effect.tap(Effect.ignore(Effect.scoped(Effect.flatMap(files.open(directory), (folder) => folder.sync))))
    )
  }

  set(key: string, value: Redacted.Redacted<string>): Done<void> {
    const path = this.pathOf(key, ".json")
    const text = encode({ version: 1, key, value: Redacted.value(value) })
    return this.setAside(key, path).pipe(
      Effect.andThen(Effect.mapError(this.write(path, text), failed("write", path, "written"))),
      Effect.uninterruptible
    )
  }

  remove(key: string): Done<void> {
    return Effect.forEach([".json", ".corrupt"], (extension) => {
      const path = this.pathOf(key, extension)
      return Effect.mapError(this.files.remove(path, { force: true }), failed("remove", path, "removed"))
    }, { discard: true })
  }
}
