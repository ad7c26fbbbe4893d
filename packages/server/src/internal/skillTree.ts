/** Skills as trees: found in a directory of the file system, and shown as directories of resources. */
import type * as Resource from "@mcpfx/schema/Resource"
import * as Skills from "@mcpfx/schema/Skills"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import { InvalidSkill } from "../ServerError.ts"
import type { Served, ServedFile } from "../ServerSkills.ts"
import { byName } from "./shelf.ts"

/** Directories within each other that are looked into. */
const maxDepth = 32

/** A directory with a `SKILL.md`, and all files at and below it by their paths. */
export interface Found {
  readonly path: string
  readonly files: ReadonlyMap<string, Uint8Array>
}

interface Walked {
  /** Files by their paths below the root, `/` between the parts: where each really is, and its size. */
  readonly files: Map<string, { readonly real: string; readonly size: number }>
  /** Directories that hold a `SKILL.md`. */
  readonly roots: Array<string>
}

const join = (directory: string, name: string): string => directory === "" ? name : `${directory}/${name}`

/** Everything at and below a directory, without what is hidden and what links lead to outside of it. */
const walk = Effect.fnUntraced(function*(
  root: string,
  most: number
): Effect.fn.Return<Walked, InvalidSkill | PlatformError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const top = yield* fs.realPath(root)
  const found: Walked = { files: new Map(), roots: [] }
  const seen = new Set<string>()
  const visit = (directory: string, depth: number): Effect.Effect<void, InvalidSkill | PlatformError> =>
    Effect.gen(function*() {
      const real = yield* fs.realPath(path.join(top, directory))
      if (depth > maxDepth || seen.has(real)) return
      seen.add(real)
      for (const name of (yield* fs.readDirectory(real)).sort(byName)) {
        if (name.startsWith(".")) continue
        const below = join(directory, name)
        const target = yield* Effect.option(fs.realPath(path.join(real, name)))
        if (target._tag === "None" || !(target.value === top || target.value.startsWith(top + path.sep))) continue
        const { size, type } = yield* fs.stat(target.value)
        if (type === "Directory") yield* visit(below, depth + 1)
        if (type !== "File") continue
        found.files.set(below, { real: target.value, size: Number(size) })
        if (name === Skills.manifest) found.roots.push(directory)
        if (found.files.size > most) {
          return yield* new InvalidSkill({ path: root, reason: `there are more than ${most} files` })
        }
      }
    })
  yield* visit("", 0)
  return found
})

/** The skills in a directory; each file is read once. */
export const read = Effect.fnUntraced(function*(
  root: string,
  maxBytes: number,
  maxSkills: number
): Effect.fn.Return<ReadonlyArray<Found>, InvalidSkill | PlatformError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { files, roots } = yield* walk(root, maxSkills * Skills.limits.resources)
  if (roots.length > maxSkills) {
    return yield* new InvalidSkill({ path: root, reason: `there are more than ${maxSkills} skills` })
  }
  const top = yield* fs.realPath(root)
  const contents = new Map<string, Uint8Array>()
  let bytes = 0
  const contentOf = Effect.fnUntraced(function*(file: string, { real, size }: { real: string; size: number }) {
    const known = contents.get(file)
    if (known !== undefined) return known
    const tooMany = new InvalidSkill({ path: root, reason: `there are more than ${maxBytes} bytes` })
    if (bytes + size > maxBytes) return yield* tooMany
    const content = yield* fs.readFile(real)
    // It may have grown since.
    bytes += content.length
    if (bytes > maxBytes) return yield* tooMany
    contents.set(file, content)
    return content
  })
  return yield* Effect.forEach(roots, (directory) =>
    Effect.gen(function*() {
      const own = new Map<string, Uint8Array>()
      const prefix = directory === "" ? "" : `${directory}/`
      for (const [file, facts] of files) {
        if (file.startsWith(prefix)) own.set(file.slice(prefix.length), yield* contentOf(file, facts))
      }
      return { path: directory === "" ? path.basename(top) : directory, files: own }
    }))
})

/** What stands in each directory above the files, by the directory's URI, sorted by URI. */
export const directories = (
  served: ReadonlyArray<Served>,
  describe: (skill: Served, file: ServedFile) => Resource.Descriptor
): ReadonlyMap<string, ReadonlyArray<Resource.Descriptor>> => {
  const found = new Map<string, Map<string, Resource.Descriptor>>()
  const add = (child: Resource.Descriptor): void => {
    const { uri } = child
    const end = uri.lastIndexOf("/")
    const parent = uri.slice(0, end)
    // The scheme is no directory.
    if (parent.endsWith("/") || !parent.includes("://")) return
    const children = found.get(parent)
    if (children?.has(uri) === true) return
    if (children === undefined) found.set(parent, new Map([[uri, child]]))
    else children.set(uri, child)
    add({
      uri: parent,
      name: decodeURIComponent(parent.slice(parent.lastIndexOf("/") + 1)),
      mimeType: Skills.directoryType
    })
  }
  for (const skill of [...served].sort((a, b) => b.entry.uri.length - a.entry.uri.length)) {
    for (const file of skill.files) add(describe(skill, file))
  }
  return new Map(
    Array.from(found, ([uri, children]) => [uri, [...children.values()].sort((a, b) => byName(a.uri, b.uri))] as const)
  )
}
