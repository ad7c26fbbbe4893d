import { build } from "esbuild"

/** What each module of the published packages imports of them; `packages/schema/src/Tool.ts` is a module. */
export type Graph = ReadonlyMap<string, ReadonlyArray<string>>

/** The graph of these modules and of all that they import, as a run time loads them: whatever is imported, used or not. */
export const graphOf = async (root: string, modules: ReadonlyArray<string>): Promise<Graph> => {
  const { metafile } = await build({
    absWorkingDir: root,
    stdin: {
      contents: modules.map((path) => `import "./${path}"\n`).join(""),
      resolveDir: root
    },
    bundle: true,
    format: "esm",
    platform: "node",
    treeShaking: false,
    ignoreAnnotations: true,
    plugins: [{
      name: "packages of others",
      setup: ({ onResolve }) =>
        onResolve({ filter: /^[^./]/ }, ({ path }) => path.startsWith("@mcpfx/") ? undefined : { path, external: true })
    }],
    write: false,
    metafile: true,
    logLevel: "silent"
  })
  return new Map(
    Object.entries(metafile.inputs).map(([path, { imports }]) => [
      path,
      imports.filter(({ external }) => external !== true).map((each) => each.path)
    ])
  )
}

/** These modules and all that they import, and so on. */
export const reached = (graph: Graph, modules: ReadonlyArray<string>): ReadonlySet<string> => {
  const found = new Set(modules)
  // A set that grows while it is walked comes to its end when nothing new is found.
  for (const module of found) for (const next of graph.get(module) ?? []) found.add(next)
  return found
}
