/**
 * Writes `src/index.ts` of every published package: one namespace per public module, for examples, docs and tests.
 * With `--check` it writes nothing and fails when one is out of date.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { publishedPackages } from "./publishedPackages.ts"
import { root } from "./root.ts"

/** The text of a barrel for the modules in a folder; `revision/` holds the revisions as public modules of their own. */
export const barrel = (modules: ReadonlyArray<string>): string =>
  modules
    .filter((name) => /^[A-Z]\w*\.ts$/.test(name))
    .sort()
    .map((name) => `export * as ${name.slice(0, -".ts".length)} from "./${name}"\n`)
    .join("")

/** The packages whose barrel differs from what it should be, with what it should be. */
export const stale = (): ReadonlyMap<string, string> =>
  new Map(
    publishedPackages(root).flatMap((name): Array<[string, string]> => {
      const folder = join(root, "packages", name, "src")
      const file = join(folder, "index.ts")
      const wanted = barrel(readdirSync(folder))
      return existsSync(file) && readFileSync(file, "utf8") === wanted ? [] : [[file, wanted]]
    })
  )

if (process.argv[1] === import.meta.filename) {
  const files = stale()
  if (process.argv.includes("--check")) {
    for (const file of files.keys()) console.log(`out of date: ${file}`)
    process.exitCode = files.size === 0 ? 0 : 1
  } else {
    for (const [file, text] of files) writeFileSync(file, text)
  }
}
