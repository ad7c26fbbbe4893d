/** One lock file: made whole or not at all, and removed by those only who may. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Owner from "./lockOwner.ts"

type Files = FileSystem.FileSystem
type Done<A> = Effect.Effect<A, PlatformError>

/** A lock file as it was found. */
export interface Seen {
  /** Names this taking of the lock, whoever holds it. */
  readonly token: string
  /** Absent where the file cannot be read as one: half written by a system that crashed, or not ours. */
  readonly owner: Owner.Owner | undefined
  /** Changes with each sign of life. */
  readonly sign: string
}

const unless = <A>(tag: PlatformError["reason"]["_tag"], otherwise: A) => <B>(effect: Done<B>): Done<A | B> =>
  Effect.catch(effect, (error) => error.reason._tag === tag ? Effect.succeed(otherwise) : Effect.fail(error))

export const read = (files: Files, path: string): Done<Seen | undefined> =>
  Effect.gen(function*() {
    const info = yield* files.stat(path)
    const owner = Option.getOrUndefined(Owner.decode(yield* files.readFileString(path)))
    const mtime = Option.match(info.mtime, { onNone: () => 0, onSome: (date) => date.getTime() })
    const inode = Option.getOrElse(info.ino, () => 0)
    return { owner, token: owner?.token ?? `unknown-${inode}`, sign: `${owner?.token}/${inode}/${mtime}` }
  }).pipe(unless("NotFound", undefined))

const remove = (files: Files, path: string): Done<void> => files.remove(path, { force: true })

/** Whether the file is there now and says this owner: false where another one is. It is never there half written. */
export const create = (files: Files, path: string, owner: Owner.Owner): Done<boolean> => {
  const text = Owner.encode(owner)
  const temporary = `${path}.${owner.token}.new`
  const write = (path: string) => files.writeFileString(path, text, { flag: "wx", mode: 0o600 })
  return write(temporary).pipe(
    Effect.andThen(Effect.as(files.link(temporary, path), true)),
    // Some file systems have no links; there the file is empty for a moment.
    Effect.catch((error) =>
      error.reason._tag === "AlreadyExists"
        ? Effect.succeed(false)
        : Effect.as(write(path), true).pipe(unless("AlreadyExists", false))
    ),
    Effect.ensuring(Effect.ignore(remove(files, temporary)))
  )
}

/** How many that died while they removed a lock are cleaned up after at once. */
const depth = 3

/**
 * Removes the lock file if it is still this taking of it.
 *
 * To look and then to remove are two steps, between which the file must not become another: so whoever removes it, its
 * owner as well, makes a file named after the token first, which only one can. One who died meanwhile leaves that file,
 * which is removed in the same way.
 */
export const removeIf = (
  files: Files,
  path: string,
  token: string,
  self: Omit<Owner.Owner, "token">,
  isStale: (path: string, seen: Seen) => Effect.Effect<boolean>,
  left: number = depth
): Done<void> => {
  const guard = `${path}.${token}`
  return Effect.flatMap(create(files, guard, Owner.claim(self)), (mine) => {
    if (mine) {
      return read(files, path).pipe(
        Effect.flatMap((seen) => seen?.token === token ? remove(files, path) : Effect.void),
        Effect.ensuring(Effect.ignore(remove(files, guard)))
      )
    }
    return Effect.flatMap(read(files, guard), (seen) =>
      seen === undefined || left === 0 ? Effect.void : Effect.flatMap(
        isStale(guard, seen),
        (stale) => stale ? removeIf(files, guard, seen.token, self, isStale, left - 1) : Effect.void
      ))
  })
}
