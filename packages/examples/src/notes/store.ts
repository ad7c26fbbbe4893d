/** Notes as files of one folder. */
import { Context, Effect, FileSystem, Layer, Path, type PlatformError } from "effect"
import { NoteMissing } from "./contract.ts"

type Failure = NoteMissing | PlatformError.PlatformError

const ending = ".md"

export class NoteStore extends Context.Service<NoteStore, {
  readonly names: Effect.Effect<ReadonlyArray<string>, PlatformError.PlatformError>
  readonly read: (name: string) => Effect.Effect<string, Failure>
  /** Succeeds with whether the note is a new one. */
  readonly write: (name: string, text: string) => Effect.Effect<boolean, PlatformError.PlatformError>
  readonly remove: (name: string) => Effect.Effect<void, Failure>
}>()("notes/NoteStore") {
  /** Keeps notes in `folder`, which is made if it is not there. */
  static readonly layer = (
    folder: string
  ): Layer.Layer<NoteStore, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> =>
    Layer.effect(
      this,
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        yield* files.makeDirectory(folder, { recursive: true })
        const fileOf = (name: string) => path.join(folder, `${name}${ending}`)

        const existing = Effect.fnUntraced(function*(name: string) {
          const file = fileOf(name)
          return (yield* files.exists(file)) ? file : yield* new NoteMissing({ name })
        })

        return {
          names: Effect.map(files.readDirectory(folder), (entries) =>
            entries.filter((entry) =>
              entry.endsWith(ending)
            ).map((entry) => entry.slice(0, -ending.length)).sort()),
          read: (name) => Effect.flatMap(existing(name), (file) => files.readFileString(file)),
          write: Effect.fnUntraced(function*(name, text) {
            const file = fileOf(name)
            const isNew = !(yield* files.exists(file))
            yield* files.writeFileString(file, text)
            return isNew
          }),
          remove: (name) => Effect.flatMap(existing(name), (file) => files.remove(file))
        }
      })
    )
}
