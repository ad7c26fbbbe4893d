import { isBuiltin } from "node:module"
import { posix } from "node:path"
import type { SourceFile } from "../sourceFiles.ts"
import { imports, isLibrary, lookInside, nodePackages, type Place, placeOf } from "./layout.ts"
import { moduleImports } from "./moduleImports.ts"
import { type Problem, problem } from "./problem.ts"

/** What a package declares in its package.json, by package name without scope. */
export type Declared = ReadonlyMap<string, ReadonlySet<string>>

const packageOf = (specifier: string): string =>
  specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/")

const isModulePath = (path: string): boolean => /(?:^|\/)[A-Z][^/]*$/.test(path)

const isBarrel = (specifier: string): boolean => /(?:^|\/)index(?:\.ts)?$/.test(specifier)

const relative = (place: Place, path: string, specifier: string): string | undefined => {
  if (isLibrary(place) && isBarrel(specifier)) return "imports a barrel: name the module"
  const home = `packages/${place.pkg}/${place.folder === "src" ? "src/" : ""}`
  if (!posix.join(posix.dirname(path), specifier).startsWith(home)) return `relative import leaves ${home}`
  if (!/\.(?:ts|mts|mjs|js|json)$/.test(specifier)) return "relative import has no extension"
  return undefined
}

const own = (place: Place, specifier: string): string | undefined => {
  const [, pkg = "", first = ""] = specifier.split("/")
  if (specifier.split("/").includes("internal")) return "reaches into another package's internal folder"
  if (place.folder === "src" && pkg === place.pkg) return "imports its own package by name: use a relative path"
  if (!isLibrary(place)) return undefined
  if (first === "" || isBarrel(specifier)) return "imports a package, not a module of it"
  return imports.get(place.pkg)?.has(pkg) === true ? undefined : `${place.pkg} may not import ${pkg}`
}

const foreign = (place: Place, specifier: string, declared: Declared): string | undefined => {
  if (!isLibrary(place)) return undefined
  if (isBuiltin(specifier)) {
    return nodePackages.has(place.pkg) ? undefined : "only the packages node and cli may import what Node brings"
  }
  const name = packageOf(specifier)
  if (name === "effect" && !isModulePath(specifier)) return "imports a barrel of effect: name the module"
  return declared.get(place.pkg)?.has(name) === true
    ? undefined
    : `${name} is neither a dependency nor a peer dependency of ${place.pkg}`
}

const judge = (place: Place, path: string, specifier: string, declared: Declared): string | undefined => {
  if (lookInside.has(path)) return undefined
  if (specifier.startsWith(".")) return relative(place, path, specifier)
  if (specifier.startsWith("@mcpfx/")) return own(place, specifier)
  return foreign(place, specifier, declared)
}

/** Which imports go where they may not: against the levels, past a package's front door, or to what is not declared. */
export const arrows = (files: ReadonlyArray<SourceFile>, declared: Declared): Array<Problem> =>
  files.flatMap((file) => {
    const place = placeOf(file.path)
    if (place === undefined) return []
    return moduleImports(file).flatMap(({ line, specifier }) => {
      const message = judge(place, file.path, specifier, declared)
      return message === undefined ? [] : [problem(file.path, line, `"${specifier}": ${message}`)]
    })
  })
