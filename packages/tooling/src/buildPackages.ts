import { compile } from "./compile.ts"
import type { Ended } from "./exec.ts"
import { joinPackages } from "./join/joinPackages.ts"
import { removeStaleOutputs } from "./pack/staleOutputs.ts"
import { publishedPackages } from "./publishedPackages.ts"

/** Makes of every published package what is published of it: declarations in `dist`, code in `lib`. */
export const buildPackages = async (root: string): Promise<Ended> => {
  for (const pkg of publishedPackages(root)) removeStaleOutputs(root, pkg)
  const compiled = await compile(root)
  if (compiled.code === 0) await joinPackages(root)
  return compiled
}
