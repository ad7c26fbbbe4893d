import { copyFileSync, readFileSync, rmSync } from "node:fs"
import { isAbsolute, join } from "node:path"
import { type Plugin, rolldown } from "rolldown"
import type { PublicModule } from "./publicModules.ts"
import { pureCalls } from "./pureCalls.ts"

/** Where a package has what is published of its code. */
export const output = "lib"

const entry = "entry:"

/** What users import has names and no code: the code of one module may be wanted by files that must not see others of it. */
const entries = (folder: string): Plugin => ({
  name: "entries",
  resolveId: (id) => (id.startsWith(entry) ? id : undefined),
  load: (id) =>
    id.startsWith(entry)
      ? `export * from ${JSON.stringify(join(folder, "dist", `${id.slice(entry.length)}.js`))}\n`
      : undefined
})

/** Modules as the compiler wrote them, with its maps, so that the new ones lead to the sources. */
const compiled: Plugin = {
  name: "compiled",
  load: (id) =>
    id.startsWith(entry) ? undefined : {
      code: readFileSync(id, "utf8"),
      map: readFileSync(`${id}.map`, "utf8"),
      // As the manifests say: nothing is imported for what it does.
      moduleSideEffects: false
    }
}

/** Has bundlers leave out what a program does not use of a module. */
const annotated: Plugin = {
  name: "annotated",
  transform: (code, id, { magicString }) => {
    if (id.startsWith(entry) || magicString === undefined) return undefined
    for (const at of pureCalls(code)) magicString.appendLeft(at, "/* @__PURE__ */ ")
    return { code: magicString }
  }
}

/**
 * Writes the compiled modules of a package to few files: one for each group, and one for each public module that gives it
 * its names. Nothing is left out, renamed for its importers or evaluated twice; comments that tools read stay, the others
 * are in the declarations and the sources. The barrel stays as it is compiled: names of modules, and nothing else.
 */
export const joinPackage = async (
  root: string,
  pkg: string,
  modules: ReadonlyArray<PublicModule>,
  groupOf: (source: string) => string | undefined
): Promise<void> => {
  const folder = join(root, "packages", pkg)
  const dir = join(folder, output)
  rmSync(dir, { recursive: true, force: true })
  const bundle = await rolldown({
    cwd: folder,
    input: Object.fromEntries(modules.map(({ name }) => [name, `${entry}${name}`])),
    external: (id) => !id.startsWith(".") && !isAbsolute(id) && !id.startsWith(entry),
    plugins: [entries(folder), compiled, annotated],
    experimental: { nativeMagicString: true },
    platform: "neutral",
    preserveEntrySignatures: "allow-extension",
    treeshake: false,
    tsconfig: false
  })
  const source = (id: string) => {
    const path = id.slice(root.length + 1).replaceAll("\\", "/")
    return groupOf(path.replace("/dist/", "/src/").replace(/\.js$/, ".ts"))
  }
  await bundle.write({
    dir,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "internal/[name].js",
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ debugName: "what is loaded together", name: (id) => source(id) ?? null }]
    },
    // Files have no circles among them, so what a file imports is evaluated before it without further ado.
    strictExecutionOrder: false,
    minify: false,
    minifyInternalExports: false,
    comments: { annotation: true, jsdoc: false, legal: true },
    sourcemap: true,
    sourcemapExcludeSources: true
  })
  await bundle.close()
  for (const file of ["index.js", "index.js.map"]) copyFileSync(join(folder, "dist", file), join(dir, file))
}
