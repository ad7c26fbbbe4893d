import * as Schema from "effect/Schema"
import { copyFileSync, mkdirSync, readFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { fileURLToPath } from "node:url"
import { type Ended, exec } from "../exec.ts"
import { type Graph, graphOf, reached } from "../join/graph.ts"
import { publicModules as publicSources } from "../join/publicModules.ts"
import { starts } from "../join/starts.ts"
import { readJson } from "../readJson.ts"
import type { Check } from "./check.ts"
import type { Project } from "./project.ts"
import type { Tarball } from "./tarball.ts"

/** The sources whose code is in each file of published code: `packages/schema/lib/Tool.js` to `packages/schema/src/Tool.ts`. */
export type Origins = ReadonlyMap<string, ReadonlyArray<string>>

const SourceMap = Schema.Struct({ sources: Schema.Array(Schema.String) })

const folderOf = (name: string): string => name.replace("@mcpfx/", "packages/")

/** What the published maps say. */
export const originsOf = ({ folder }: Project, tarballs: ReadonlyArray<Tarball>): Origins =>
  new Map(
    tarballs.flatMap(({ files, name }) =>
      files.filter(({ path }) => path.endsWith(".js.map")).map(({ path }): readonly [string, ReadonlyArray<string>] => {
        const { sources } = readJson(join(folder, "node_modules", name, path), SourceMap)
        const file = posix.join(folderOf(name), path.replace(/\.map$/, ""))
        return [file, sources.map((source) => posix.join(posix.dirname(file), source))]
      })
    )
  )

/** Modules that are in more than one file, and so would be evaluated for each, with states of their own. */
export const twice = (origins: Origins): Array<string> => {
  const first = new Map<string, string>()
  return Array.from(origins).flatMap(([file, sources]) =>
    sources.flatMap((source) => {
      const before = first.get(source)
      if (before === undefined) first.set(source, file)
      return before === undefined ? [] : [`${source} is in ${before} and in ${file}`]
    })
  )
}

/** Whether a file has no code, and is there to give others their names. */
export const isFacade = (text: string): boolean =>
  /^(?:(?:import \{[^}]*\} from "[^"]+"|export \{[^}]*\});\s*)*$/.test(text)

/** Files with code and without a map: nobody knows what is in them. */
const unmapped = ({ folder }: Project, tarballs: ReadonlyArray<Tarball>): Array<string> =>
  tarballs.flatMap(({ files, name }) => {
    const paths = new Set(files.map(({ path }) => path))
    return [...paths]
      .filter((path) => path.endsWith(".js") && !paths.has(`${path}.map`))
      .filter((path) => !isFacade(readFileSync(join(folder, "node_modules", name, path), "utf8")))
      .map((path) => `${name} holds code in ${path}, which has no map`)
  })

/** Whether a module, as the compiler wrote it, has code: more than comments and names of other modules. */
export const hasCode = (compiled: string): boolean => {
  const text = compiled.replaceAll(/\/\*[\s\S]*?\*\/|^\/\/.*$/gm, "").trim()
  return !/^(?:export (?:\{\}|\* from "[^"]+");\s*)*$/.test(text)
}

/** Modules with code that is in no file. */
const missing = (root: string, graph: Graph, origins: Origins): Array<string> => {
  const there = new Set([...origins.values()].flat())
  return [...graph.keys()]
    .filter((module) => module.startsWith("packages/") && !there.has(module))
    .filter((module) =>
      hasCode(readFileSync(join(root, module.replace("/src/", "/dist/").replace(/\.ts$/, ".js")), "utf8"))
    )
    .map((module) => `${module} is in no file`)
}

/** Sources that maps lead to and that are not published. */
export const astray = (origins: Origins, published: ReadonlySet<string>): Array<string> =>
  Array.from(origins).flatMap(([file, sources]) =>
    sources.filter((source) => !published.has(source)).map((source) => `${file} leads to ${source}, which is not there`)
  )

const loadedFile = /\/@mcpfx\/([^/]+)\/(lib\/.+\.js)$/

/** Modules that were loaded, by the files, and that the program does not import. */
export const unasked = (files: ReadonlyArray<string>, origins: Origins, asked: ReadonlySet<string>): Array<string> =>
  files.flatMap((url) => {
    const [, pkg, path] = loadedFile.exec(url) ?? []
    return (origins.get(`packages/${pkg}/${path}`) ?? []).filter((source) => !asked.has(source))
  })

const programs = join(dirname(fileURLToPath(import.meta.url)), "programs")

const lines = (found: ReadonlyArray<string>): string => found.map((line) => `${line}\n`).join("")

const run = (folder: string, program: string, modules: ReadonlyArray<string>): Promise<Ended> =>
  exec(process.execPath, [join(folder, program), ...modules], { env: { NODE_NO_WARNINGS: "1" }, timeout: 60_000 })

/** What the sources export, line by line, and not what is published, or the other way round. */
export const differences = (sources: string, published: string): Array<string> => {
  const [own, theirs] = [sources.split("\n"), published.split("\n")]
  const [inSources, inPublished] = [new Set(own), new Set(theirs)]
  return [
    ...own.filter((line) => !inPublished.has(line)).map((line) => `only in the sources: ${line}`),
    ...theirs.filter((line) => !inSources.has(line)).map((line) => `only in what is published: ${line}`)
  ]
}

const sameExports = async (folder: string, modules: ReadonlyArray<string>): Promise<Check> => {
  const sources = await run(programs, "exported.ts", modules)
  const published = await run(folder, "exported.ts", modules)
  const different = differences(sources.output, published.output)
  return {
    name: `${modules.length} modules export what their sources do, ${sources.output.split("\n").length - 1} names`,
    ok: sources.code === 0 && published.code === 0 && different.length === 0,
    output: lines(different)
  }
}

const loadsWhatItDid = async (
  folder: string,
  [name, modules]: readonly [string, ReadonlyArray<string>],
  graph: Graph,
  origins: Origins
): Promise<Check> => {
  const names = modules.map((path) => path.replace(/^packages\/([^/]+)\/src\/(.+)\.ts$/, "@mcpfx/$1/$2"))
  const { code, output } = await run(folder, "evaluated.ts", names)
  const files = output.split("\n").filter((url) => loadedFile.test(url))
  const found = unasked(files, origins, reached(graph, modules))
  return {
    name: `${name}: a program that imports ${names.length} modules loads ${files.length} files, and no module more`,
    ok: code === 0 && files.length > 0 && found.length === 0,
    output: code === 0 ? lines(found) : output
  }
}

/** Whether joining the modules has changed nothing but the number of files. */
export const checkJoined = async (
  root: string,
  project: Project,
  tarballs: ReadonlyArray<Tarball>
): Promise<ReadonlyArray<Check>> => {
  const folder = join(project.folder, "programs")
  mkdirSync(folder)
  for (const name of ["evaluated.ts", "exported.ts"]) copyFileSync(join(programs, name), join(folder, name))
  const origins = originsOf(project, tarballs)
  const published = new Set(
    tarballs.flatMap(({ files, name }) => files.map(({ path }) => posix.join(folderOf(name), path)))
  )
  const lost = [...astray(origins, published), ...unmapped(project, tarballs)]
  const graph = await graphOf(root, publicSources(root).map(({ source }) => source))
  const copies = [...twice(origins), ...missing(root, graph, origins)]
  return [
    { name: `${origins.size} files of code hold each module once`, ok: copies.length === 0, output: lines(copies) },
    {
      name: "all code has a map, which leads to sources that are published",
      ok: lost.length === 0,
      output: lines(lost)
    },
    await sameExports(folder, project.modules),
    ...await Promise.all(Array.from(starts, (start) => loadsWhatItDid(folder, start, graph, origins)))
  ]
}
