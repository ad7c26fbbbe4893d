import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { filesUnder } from "../sourceFiles.ts"

const output = /\.(?:js|js\.map|d\.ts|d\.ts\.map)$/

/** Deletes what was compiled from sources that are gone: the compiler leaves it, and it would be published. */
export const removeStaleOutputs = (root: string, pkg: string): Array<string> => {
  const dist = `packages/${pkg}/dist`
  const stale = filesUnder(root, dist, (name) => output.test(name))
    .map(({ path }) => path)
    .filter((path) => !existsSync(join(root, path.replace(dist, `packages/${pkg}/src`).replace(output, ".ts"))))
  for (const path of stale) rmSync(join(root, path))
  return stale
}
