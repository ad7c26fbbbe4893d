/**
 * `npm run bench:start`: what the start of a small server is made of. The floor, a bare program of Effect and mcpfx, each as
 * it is installed and as it is bundled, without what Node remembers of its code and with it, start in interleaved rounds.
 * Each figure is the least of all rounds and, behind it, the middle one. What a bare program of Effect takes is what no
 * server on Effect gets below.
 *
 * - `--rounds 15` takes that many rounds
 * - `--no-build` measures the packages as they were built last
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { out } from "../contenders.ts"
import { within } from "../deadline.ts"
import { asked, countOf, flagsOf } from "../flags.ts"
import { buildAsPublished } from "../packages.ts"
import { ratios, summarize } from "../statistics.ts"
import { format } from "../table.ts"
import { fillCache, oneStart, type Start } from "./oneStart.ts"
import { makePrograms, type Program } from "./programs.ts"

const { rounds, values } = asked(() => {
  const values = flagsOf({ rounds: { type: "string", default: "9" }, "no-build": { type: "boolean", default: false } })
  return { values, rounds: countOf("rounds", values.rounds) }
})

if (!values["no-build"]) await buildAsPublished()

interface Subject extends Program {
  readonly cache: string | undefined
  readonly starts: Array<Start>
}

const subjectsIn = async (cache: string): Promise<ReadonlyArray<Subject>> => {
  const programs = await makePrograms()
  for (const { file } of programs) await within("a start", fillCache(file, cache))
  return [undefined, cache].flatMap((each) => programs.map((program) => ({ ...program, cache: each, starts: [] })))
}

const measure = async (subjects: ReadonlyArray<Subject>): Promise<void> => {
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < subjects.length; i++) {
      const subject = subjects[(i + round) % subjects.length]
      subject?.starts.push(await within("a start", oneStart(subject.file, subject.cache)))
    }
  }
}

const cell = (starts: ReadonlyArray<Start>, of: keyof Start): string => {
  const numbers = starts.map((start) => start[of])
  return `${Math.min(...numbers).toFixed(0)} (${summarize(numbers).median.toFixed(0)})`
}

/** How many times the floor of the same way in the same round, by processor time. */
const timesFloor = (subject: Subject, subjects: ReadonlyArray<Subject>): string => {
  const floor = subjects.find(({ cache, name, way }) =>
    name === "floor" && way === subject.way && cache === subject.cache
  )
  const cpu = ({ starts }: Subject) => starts.map((start) => start.cpu)
  return floor === undefined ? "" : `${summarize(ratios(cpu(subject), cpu(floor))).median.toFixed(2)}×`
}

mkdirSync(out(), { recursive: true })
const folder = mkdtempSync(join(out(), "starts-"))
try {
  const subjects = await subjectsIn(folder)
  await measure(subjects)
  console.log(format([
    ["start of a minimal stdio server", "ms", "ms CPU", "floor", "MiB"],
    ...subjects.map((subject) => [
      `${subject.name}, ${subject.way}${subject.cache === undefined ? "" : ", compile cache"}`,
      cell(subject.starts, "wall"),
      cell(subject.starts, "cpu"),
      timesFloor(subject, subjects),
      cell(subject.starts, "memory")
    ])
  ]))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
