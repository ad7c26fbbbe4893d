import { type Graph, reached } from "./graph.ts"

/** For each module those that load it, joined to one word. */
const loaders = (graph: Graph, programs: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const [name, modules] of programs) {
    for (const module of reached(graph, modules)) {
      const before = found.get(module)
      found.set(module, before === undefined ? name : `${before}-${name}`)
    }
  }
  return found
}

/** A word for each group: the first of its modules, without what all modules of a package have in their paths. */
const named = (keys: ReadonlyMap<string, string>): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  return new Map(
    Array.from(keys, ([module, key]) => {
      const name = names.get(key) ?? module.replace(/^packages\/[^/]+\/src\/(?:internal\/)?|\.ts$/g, "")
      names.set(key, name)
      return [module, name]
    })
  )
}

/**
 * Which modules are written to one file, by the name of that file. Those that the same programs load go together; what
 * none of the programs loads goes with what the same public modules load. So a file imports no file but those that are
 * loaded wherever it is, which leaves no circle among files, and nobody evaluates more than before.
 */
export const groupsOf = (
  graph: Graph,
  programs: ReadonlyMap<string, ReadonlyArray<string>>,
  publicModules: ReadonlyArray<string>
): ReadonlyMap<string, string> => {
  const known = loaders(graph, programs)
  const alone = loaders(
    graph,
    new Map(publicModules.flatMap((module) => known.has(module) ? [] : [[module, [module]]]))
  )
  const others = new Map([...alone].filter(([module]) => !known.has(module)))
  return new Map([...known, ...named(others)])
}
