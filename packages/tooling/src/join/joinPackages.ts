import { publishedPackages } from "../publishedPackages.ts"
import { graphOf } from "./graph.ts"
import { groupsOf } from "./groups.ts"
import { joinPackage } from "./joinPackage.ts"
import { publicModules } from "./publicModules.ts"
import { starts } from "./starts.ts"

/** Joins what the compiler has written of every published package, for programs that have to start soon. */
export const joinPackages = async (root: string): Promise<void> => {
  const modules = publicModules(root)
  const sources = modules.map(({ source }) => source)
  const groups = groupsOf(await graphOf(root, sources), starts, sources)
  await Promise.all(
    publishedPackages(root).map((pkg) =>
      joinPackage(root, pkg, modules.filter((module) => module.pkg === pkg), (source) => groups.get(source))
    )
  )
}
