/**
 * `npm run bench:compare`: what a change costs. Builds the commit that `packages/bench/base` names and this tree side by
 * side, measures both with the same driver, and fails where this tree is much slower twice in a row.
 *
 * - `--base COMMIT` compares with another commit
 * - `--rows stdio,http` compares the work whose ids start with one of these
 * - `--rounds 5` takes that many interleaved rounds
 *
 * The last line is the sum. Where the commit cannot be had, that is said and counted as skipped.
 */
import { root } from "@mcpfx/tooling/root"
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { compile } from "../contenders.ts"
import { asked, chosenOf, countOf, flagsOf } from "../flags.ts"
import { buildAsPublished } from "../packages.ts"
import { format } from "../table.ts"
import { buildBase, findBase } from "./base.ts"
import { endAll } from "./command.ts"
import { examine, header, type Line, lineOf } from "./compare.ts"
import { copyBuilt, makeBase, makeHead, type Side } from "./sides.ts"
import { runnerOf, type Work, works } from "./works.ts"

const { chosen, rounds, values } = asked(() => {
  const values = flagsOf({
    base: { type: "string" },
    rows: { type: "string" },
    rounds: { type: "string", default: "5" }
  })
  return { values, chosen: chosenOf("rows", values.rows, works), rounds: countOf("rounds", values.rounds) }
})

/** A place on the same disk, so that what is installed can be linked rather than copied. */
const place = (): string => {
  const shared = statSync(tmpdir()).dev === statSync(root).dev
  const parent = shared ? tmpdir() : join(root, "..")
  return mkdtempSync(join(parent, "mcpfx-compare-"))
}

/** One line; a build that does not do the work has failed at it. */
const compared = async (work: Work, base: Side, head: Side): Promise<Line> => {
  const started = performance.now()
  const pair = { base: () => runnerOf(work, base), head: () => runnerOf(work, head) }
  const line = await examine(pair, { rounds, turns: work.turns }).then(
    (seen) => lineOf(work.title, work.unit, seen),
    (error: unknown): Line => ({ cells: [work.title, work.unit, "", "", "", "", String(error)], failed: true })
  )
  const seconds = ((performance.now() - started) / 1000).toFixed(0)
  console.error(`${work.id}: ${line.cells.slice(2).join(" | ")} (${seconds} s)`)
  return line
}

const measureAll = async (hash: string, folder: string): Promise<void> => {
  const folders = { base: join(folder, "base"), head: join(folder, "head") }
  for (const each of Object.values(folders)) mkdirSync(each)
  await buildBase(root, hash, folders.base)
  await buildAsPublished()
  copyBuilt(root, folders.head)
  // The probe that servers are started with.
  await compile()
  const [base, head] = [await makeBase(folders.base), await makeHead(folders.head)]
  console.error(`compared with ${hash}`)
  const lines: Array<Line> = []
  for (const work of chosen) lines.push(await compared(work, base, head))
  console.log(format([header, ...lines.map(({ cells }) => cells)]))
  const failed = lines.filter((line) => line.failed).length
  console.log(`${lines.length - failed} passed, ${failed} failed`)
  process.exitCode = failed === 0 && lines.length > 0 ? 0 : 1
}

const main = async (): Promise<void> => {
  const base = await findBase(root, values.base)
  if (base._tag === "Absent") {
    console.log(`skipped: nothing to compare with, ${base.reason}`)
    console.log("0 passed, 0 failed, 1 skipped")
    return
  }
  const folder = place()
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      endAll()
      remove()
      process.exit(1)
    })
  }
  try {
    await measureAll(base.hash, folder)
  } finally {
    remove()
  }
}

await main()
