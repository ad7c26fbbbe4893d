import { existsSync } from "node:fs"
import { join } from "node:path"
import { filesUnder, packageNames } from "./sourceFiles.ts"

const hasSources = (root: string, pkg: string): boolean =>
  filesUnder(root, `packages/${pkg}/src`, (name) => name.endsWith(".ts")).length > 0

/** The folder names of the packages that are compiled and published: those with a tsconfig of their own and sources. */
export const publishedPackages = (root: string): Array<string> =>
  packageNames(root).filter(
    (pkg) => existsSync(join(root, "packages", pkg, "tsconfig.json")) && hasSources(root, pkg)
  )
