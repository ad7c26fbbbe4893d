/** How long it takes to be there, and how much has to be loaded for it. */
import { bundle, bundledFile, type Contender, minimalFile } from "../contenders.ts"
import { type Effort, type Measured, numbers, partOf } from "../effort.ts"
import { allBut, atMost, atMostWhere, type Budgets, needsStdio, once, type Row } from "../row.ts"
import { oneStart } from "../starts/oneStart.ts"

const inCpu = process.argv.includes("--cpu")
const unit = inCpu ? "ms CPU" : "ms"

const takingPart = allBut(needsStdio)

/**
 * From the start of the process to the answer to `initialize`, in the time that passes; `--cpu` counts processor time, which
 * other programs disturb less.
 */
const timeToAnswer = async (file: string): Promise<number> => {
  const { cpu, wall } = await oneStart(file)
  return inCpu ? cpu : wall
}

const row = (
  id: string,
  title: string,
  budgets: Budgets,
  fileOf: (contender: Contender) => Promise<string>
): Row => {
  const measure = async (effort: Effort): Promise<Measured<Contender>> => {
    const contenders = partOf(takingPart.contenders, effort)
    const files = new Map<Contender, string>()
    for (const contender of contenders) files.set(contender, await fileOf(contender))
    return numbers(contenders, effort.starts, (contender) => timeToAnswer(files.get(contender) ?? ""))
  }
  return { id, title, unit, ...takingPart, against: "floor", budgets, measure, verify: once(measure) }
}

const measureSize = (effort: Effort): Promise<Measured<Contender>> =>
  numbers(partOf(takingPart.contenders, effort), 1, async (contender) => (await bundle(contender)).gzipped / 1024)

export const startRows: ReadonlyArray<Row> = [
  row(
    "cold-installed",
    "cold start to the answer to initialize, installed",
    atMostWhere(200, 49),
    async (contender) => minimalFile(contender)
  ),
  row("cold-bundled", "cold start to the answer to initialize, bundled", atMostWhere(100, 36), async (contender) => {
    await bundle(contender)
    return bundledFile(contender)
  }),
  {
    id: "size",
    title: "bundled minimal stdio server, gzipped",
    unit: "KiB",
    ...takingPart,
    against: "nothing",
    budgets: atMost(90),
    measure: measureSize,
    verify: once(measureSize)
  }
]
