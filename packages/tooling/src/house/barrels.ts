import type { SourceFile } from "../sourceFiles.ts"
import { isLibrary, placeOf } from "./layout.ts"
import { type Problem, problem } from "./problem.ts"

const publicModule = /^[A-Z]\w*\.ts$/

/** The text of a package's `index.ts`: one namespace for each public module, for examples, docs and tests. */
export const barrel = (modules: ReadonlyArray<string>): string =>
  modules
    .filter((name) => publicModule.test(name))
    .toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)) // as the formatter sorts them
    .map((name) => `export * as ${name.slice(0, -".ts".length)} from "./${name}"\n`)
    .join("")

/** What the `index.ts` of every published package should hold, by its path. */
export const wantedBarrels = (files: ReadonlyArray<SourceFile>): ReadonlyMap<string, string> => {
  const modules = new Map<string, Array<string>>()
  for (const { path } of files) {
    const place = placeOf(path)
    if (place === undefined || !isLibrary(place)) continue
    modules.set(place.pkg, [...(modules.get(place.pkg) ?? []), place.rest])
  }
  return new Map([...modules].map(([pkg, names]) => [`packages/${pkg}/src/index.ts`, barrel(names)]))
}

/** Barrels that are missing or do not list exactly the public modules. */
export const barrels = (files: ReadonlyArray<SourceFile>): Array<Problem> => {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  return [...wantedBarrels(files)]
    .filter(([path, wanted]) => texts.get(path) !== wanted)
    .map(([path]) => problem(path, 0, "does not list exactly the public modules: `npm run barrels` writes it"))
}
