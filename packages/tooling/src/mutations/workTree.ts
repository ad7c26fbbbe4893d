import { copyFileSync, cpSync, mkdirSync } from "node:fs"
import { basename, join } from "node:path"
import { linkInstalled } from "../linkInstalled.ts"
import { packageNames } from "../sourceFiles.ts"

const files = ["package.json", "pnpm-workspace.yaml", "tsconfig.base.json", "tsconfig.json", "vitest.workspace.ts"]

/** Folders of a package that a test run does not read. */
const skipped = new Set(["node_modules", "dist", "lib", "tmp"])

/** Makes a copy of the sources and tests in which they can be changed and run. */
export const copyTree = (root: string, copy: string): void => {
  mkdirSync(join(copy, "packages"), { recursive: true })
  for (const name of files) copyFileSync(join(root, name), join(copy, name))
  linkInstalled(join(root, "node_modules"), join(copy, "node_modules"), copy)
  for (const pkg of packageNames(root)) {
    const from = join(root, "packages", pkg)
    const to = join(copy, "packages", pkg)
    cpSync(from, to, { recursive: true, filter: (path) => !skipped.has(basename(path)) })
    linkInstalled(join(from, "node_modules"), join(to, "node_modules"), copy)
  }
}
