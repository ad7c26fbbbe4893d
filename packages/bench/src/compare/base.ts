/** The commit that changes are compared with: named in `packages/bench/base`, which is moved on purpose. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { must, run } from "./command.ts"

/** A commit that can be compared with, or why there is none. */
export type Base =
  | { readonly _tag: "Commit"; readonly hash: string }
  | { readonly _tag: "Absent"; readonly reason: string }

const absent = (reason: string): Base => ({ _tag: "Absent", reason })

export const baseFile = "packages/bench/base"

/** What the file says; throws where that is no commit. */
const named = (root: string): string | undefined => {
  const file = join(root, baseFile)
  if (!existsSync(file)) return undefined
  const hash = readFileSync(file, "utf8").trim()
  if (!/^[0-9a-f]{40}$/.test(hash)) throw new Error(`${baseFile} has to hold the hash of a commit, and nothing else`)
  return hash
}

/**
 * Looks for the commit in the repository, without asking anybody else for it. A clone that is not deep enough may not have
 * it, nor does a tree that came without its history.
 */
export const findBase = async (root: string, asked?: string): Promise<Base> => {
  const name = asked ?? named(root)
  if (name === undefined) return absent(`${baseFile} is not there`)
  const { code, output } = await run("git", ["rev-parse", "--verify", "--quiet", `${name}^{commit}`], root)
  if (code === 0) return { _tag: "Commit", hash: output }
  const { code: outside } = await run("git", ["rev-parse", "--git-dir"], root)
  return absent(outside === 0 ? `this clone does not have the commit ${name}` : "there is no history here")
}

/** Writes the tree of a commit to a folder that is empty, installs what its lockfile asks for, and compiles it. */
export const buildBase = async (root: string, hash: string, folder: string): Promise<void> => {
  const archive = `${folder}.tar`
  await must("git", ["archive", "--format=tar", `--output=${archive}`, hash], root)
  await must("tar", ["-xf", archive, "-C", folder], root)
  for (const script of ["setup", "build"]) {
    await must(process.execPath, [join(folder, "packages/tooling/bin/run.mjs"), script], folder)
  }
}
