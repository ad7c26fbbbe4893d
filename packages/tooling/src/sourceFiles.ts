import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** A text file of the repository; its path starts at the root and has forward slashes on every system. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

const skipped = new Set(["node_modules", "dist", "tmp", "golden"])
const folders = ["src", "test", "typetest", "bin"]

const walk = (root: string, folder: string, keep: (name: string) => boolean): Array<SourceFile> =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`
      if (entry.isDirectory()) return skipped.has(entry.name) ? [] : walk(root, path, keep)
      return entry.isFile() && keep(entry.name) ? [{ path, text: readFileSync(join(root, path), "utf8") }] : []
    })

/** Every file below a folder whose name passes; none where the folder does not exist. */
export const filesUnder = (root: string, folder: string, keep: (name: string) => boolean): Array<SourceFile> => {
  try {
    return walk(root, folder, keep)
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return []
    throw error
  }
}

/** The names of the folders in `packages/`, sorted. */
export const packageNames = (root: string): Array<string> =>
  readdirSync(join(root, "packages"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted()

/** Every source and test file of every package. */
export const sourceFiles = (root: string): Array<SourceFile> =>
  packageNames(root).flatMap((name) =>
    folders.flatMap((folder) =>
      filesUnder(root, `packages/${name}/${folder}`, (file) => /\.(?:ts|mts|mjs|js)$/.test(file))
    )
  )
