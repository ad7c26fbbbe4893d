/** The strict lists of expected failures: a failure that is not listed fails the run, and so does an entry that passes. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../root.ts"
import { namesUnder, older, type Task } from "./suite.ts"

const folder = join(root, "packages/tooling/conformance")

/** One file per wire, since an entry names a scenario without its revision; one for all of the older suite. */
const fileOf = ({ revision, suite }: Task): string =>
  join(folder, `expected-failures.${suite === older ? older.version : revision ?? "default"}.yaml`)

/** Whether a task is expected to fail. */
export const isExpected = (task: Task): boolean => listed(task).has(task.scenario)

const known = new Map<string, ReadonlySet<string>>()

const listed = (task: Task): ReadonlySet<string> => {
  const key = `${fileOf(task)} ${task.leg}`
  const names = known.get(key) ?? new Set(namesUnder(readFileSync(fileOf(task), "utf8"), task.leg))
  known.set(key, names)
  return names
}

/** How a task ended, set against what was expected of it. */
export type Verdict = "passed" | "expected failure" | "failed" | "stale entry"

/** Only the first two are well. */
export const judge = (task: Task, passed: boolean): Verdict => {
  if (isExpected(task)) return passed ? "stale entry" : "expected failure"
  return passed ? "passed" : "failed"
}

/** Whether a verdict is as it should be. */
export const isWell = (verdict: Verdict): boolean => verdict === "passed" || verdict === "expected failure"
