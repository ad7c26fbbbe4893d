/**
 * `npm run mutations`: breaks the implementation in a copy, one line at a time, and expects the tests that name the broken
 * requirement to fail. `--sample <n>` tries so many of them, `--seed <text>` says which; `--only <ids>` those
 * with one of these ids, or in files that start so;
 * `--coverage` tries none. The last line is the sum; a mutation that nobody notices counts as failed.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { onSignal } from "../exec.ts"
import { root } from "../root.ts"
import { coverage } from "./coverage.ts"
import { type Mutation, title } from "./mutation.ts"
import { mutations } from "./mutations.ts"
import { sample } from "./sample.ts"
import { judgeTests, tryMutation, type Verdict } from "./tryMutation.ts"
import { copyTree } from "./workTree.ts"

const { values } = parseArgs({
  options: {
    sample: { type: "string" },
    seed: { type: "string", default: "mcpfx" },
    only: { type: "string" },
    coverage: { type: "boolean" }
  }
})

const say = (line: string): void => void process.stdout.write(`${line}\n`)

const choose = (): ReadonlyArray<Mutation> => {
  const only = values.only?.split(",")
  const wanted = only === undefined
    ? mutations
    : mutations.filter(({ file, ids }) => only.some((one) => ids.includes(one) || file.startsWith(one)))
  return values.sample === undefined ? wanted : sample(wanted, Number(values.sample), values.seed)
}

const grouped = (chosen: ReadonlyArray<Mutation>): Array<ReadonlyArray<Mutation>> => {
  const groups = new Map<string, Array<Mutation>>()
  for (const mutation of chosen) {
    const key = mutation.tests.join()
    groups.set(key, [...(groups.get(key) ?? []), mutation])
  }
  return [...groups.values()]
}

let passed = 0
let failed = 0

const report = (mutation: Mutation, verdict: Verdict): void => {
  if (verdict._tag === "Noticed") passed++
  else failed++
  say(`${verdict._tag.toLowerCase().padEnd(9)} ${title(mutation)}`)
  if (verdict._tag === "Survived") say(`          no test of ${verdict.ids.join(", ")} failed`)
  if (verdict._tag === "Useless") say(`          ${verdict.reason}`)
}

/** Tries the groups that are left, one after the other, in a copy of its own. */
const work = async (tree: string, groups: Array<ReadonlyArray<Mutation>>): Promise<void> => {
  copyTree(root, tree)
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
    const reason = await judgeTests(tree, group)
    for (const mutation of group) {
      report(mutation, reason === undefined ? await tryMutation(tree, mutation) : { _tag: "Useless", reason })
    }
  }
}

const tell = (): void => {
  const { covered, open, unknown } = coverage(root, mutations)
  say(
    `${covered.length} of ${
      covered.length + open.length
    } requirements that MUST hold and that tests name have a mutation`
  )
  if (open.length > 0) say(`without one: ${open.join(", ")}`)
  for (const id of unknown) {
    failed++
    say(`no requirement is called ${id}`)
  }
}

const scratch = mkdtempSync(join(tmpdir(), "mcpfx-mutations-"))
onSignal(() => rmSync(scratch, { recursive: true, force: true }))
try {
  if (values.coverage !== true) {
    const groups = grouped(choose())
    const lanes = Array.from({ length: Math.min(availableParallelism(), groups.length) }, (_, at) => at)
    if (values.sample !== undefined) say(`${values.sample} of ${mutations.length} mutations, seed ${values.seed}`)
    await Promise.all(lanes.map((lane) => work(join(scratch, String(lane)), groups)))
  }
  tell()
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
say(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
