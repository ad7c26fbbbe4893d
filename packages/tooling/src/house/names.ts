import type { SourceFile } from "../sourceFiles.ts"
import { isLibrary, placeOf } from "./layout.ts"
import { type Problem, problem } from "./problem.ts"

const vague = /^(?:utils?|commons?|helpers?|types?|misc)$/i

/** Public modules whose name is not one of a concept: the barrel, an executable, a command of it, a protocol revision. */
const otherNames = /^(?:index\.ts|bin\.ts|commands\/[a-z][a-zA-Z-]*\.ts|revision\/v\d{4}_\d{2}_\d{2}\.ts)$/

const publicName = /^[A-Z][A-Za-z0-9]*\.ts$/
const internalName = /^internal\/(?:[a-z][A-Za-z0-9]*\/)*[a-z][A-Za-z0-9]*\.ts$/

const segments = (path: string): Array<string> => path.split("/").map((part) => part.replace(/\..*$/, ""))

/** Files with names that say nothing, and public modules that are not named like a concept. */
export const names = (files: ReadonlyArray<SourceFile>): Array<Problem> =>
  files.flatMap(({ path }) => {
    const place = placeOf(path)
    if (place === undefined) return []
    const bad = segments(place.rest).find((part) => vague.test(part))
    if (bad !== undefined) return [problem(path, 0, `"${bad}" says nothing: name the file after its one idea`)]
    if (!isLibrary(place)) return []
    const known = publicName.test(place.rest) || internalName.test(place.rest) || otherNames.test(place.rest)
    return known
      ? []
      : [problem(path, 0, "a public module is PascalCase in src/, an internal one camelCase in src/internal/")]
  })
