/** What was measured, as JSON: every sample of every round, and what it was measured on. */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import type { Contender } from "./contenders.ts"
import type { Effort, Measured } from "./effort.ts"
import { budgetText, figuresOf, type Row } from "./row.ts"
import { cpuModel } from "./system.ts"
import { isMet } from "./table.ts"

/** What the measuring was done on. */
export interface Machine {
  readonly node: string
  readonly cpu: string
  readonly cores: number
  /** The commit of the tree, with `+` where the tree is not the commit. */
  readonly commit: string
  /** The versions of what else takes part. */
  readonly versions: Readonly<Record<string, string>>
}

const git = (root: string, ...args: ReadonlyArray<string>): string => {
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8" })
  return status === 0 ? stdout.trim() : ""
}

const commitOf = (root: string): string => {
  const commit = git(root, "rev-parse", "HEAD")
  if (commit === "") return "unknown"
  return git(root, "status", "--porcelain", "--untracked-files=no") === "" ? commit : `${commit}+`
}

/** The exact versions among these dependencies. */
export const versionsIn = (manifest: string): Readonly<Record<string, string>> => {
  const { dependencies }: { readonly dependencies: Readonly<Record<string, string>> } = JSON.parse(manifest)
  return Object.fromEntries(Object.entries(dependencies).filter(([, version]) => /^\d/.test(version)))
}

/** Looks at the machine, and at the tree in that folder. */
export const machine = (root: string): Machine => ({
  node: process.version,
  cpu: cpuModel(),
  cores: availableParallelism(),
  commit: commitOf(root),
  versions: versionsIn(readFileSync(join(root, "packages/bench/package.json"), "utf8"))
})

export interface Done {
  readonly row: Row
  readonly measured: Measured<Contender>
}

const rowOf = ({ measured, row }: Done) => {
  const figures = figuresOf(measured)
  return {
    id: row.id,
    title: row.title,
    unit: row.unit,
    against: row.against,
    budget: budgetText(row),
    met: isMet(row, measured) ?? null,
    contenders: Object.fromEntries(
      Array.from(measured.samples, ([contender, samples]) => [
        contender,
        {
          ...figures.get(contender),
          samples,
          ...(measured.bases === undefined ? undefined : { bases: measured.bases.get(contender) })
        }
      ])
    ),
    absent: Object.fromEntries([...row.absent, ...measured.failures])
  }
}

/** The text of the file. */
export const resultsOf = (
  on: Machine,
  how: { readonly quick: boolean; readonly effort: Effort; readonly at: Date },
  all: ReadonlyArray<Done>
): string =>
  `${
    JSON.stringify(
      { at: how.at.toISOString(), ...on, quick: how.quick, effort: how.effort, rows: all.map(rowOf) },
      undefined,
      2
    )
  }\n`
