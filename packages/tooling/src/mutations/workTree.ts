import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from "node:fs"
import { basename, join } from "node:path"
import { packageNames } from "../sourceFiles.ts"

const files = ["package.json", "pnpm-workspace.yaml", "tsconfig.base.json", "tsconfig.json", "vitest.workspace.ts"]

/** Folders of a package that a test run does not read. */
const skipped = new Set(["node_modules", "dist", "lib", "tmp"])

/** Links what is installed; packages of the repository are found in the copy. */
const linkInstalled = (from: string, to: string, copy: string): void => {
  if (!existsSync(from)) return
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    if (name.startsWith(".")) continue
    if (name === "@mcpfx") {
      mkdirSync(join(to, name), { recursive: true })
      for (const pkg of readdirSync(join(from, name))) symlinkSync(join(copy, "packages", pkg), join(to, name, pkg))
    } else if (name.startsWith("@")) linkInstalled(join(from, name), join(to, name), copy)
    else symlinkSync(realpathSync(join(from, name)), join(to, name))
  }
}

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
