/** One check of one value: what it may cost, where it is, and what it has found wrong. */
import { isJsonObject } from "@mcpfx/schema/JsonRpc"
import type { Issue } from "@mcpfx/schema/SchemaMismatch"

/** From the innermost key out, so that going deeper costs the same at every depth. */
export interface Path {
  readonly key: string | number
  readonly outer: Path | undefined
}

/** Members and items that some keyword has looked at, for those that look at the rest. */
export interface Seen {
  readonly members: Set<string>
  readonly items: Set<number>
}

export interface Run {
  readonly root: unknown
  readonly stepsPerNode: number
  steps: number
  limit: number
  isExtended: boolean
  /** Where faults go; `undefined` when only the verdict is wanted, which then comes at the first fault. */
  issues: Array<Issue> | undefined
}

/** Thrown where the limit is passed, and caught where the run was started. */
export class OutOfSteps {
  readonly _tag = "OutOfSteps"
}

const countNodes = (root: unknown): number => {
  const open: Array<unknown> = [root]
  let count = 0
  while (open.length > 0) {
    const one = open.pop()
    count++
    if (Array.isArray(one)) { for (const item of one) open.push(item) }
    else if (isJsonObject(one)) { for (const key of Object.keys(one)) open.push(one[key]) }
  }
  return count
}

/** The value is only measured when the fixed part of the limit is used up. */
const extend = (run: Run): void => {
  if (!run.isExtended) {
    run.isExtended = true
    run.limit += countNodes(run.root) * run.stepsPerNode
  }
  if (run.steps > run.limit) throw new OutOfSteps()
}

export const spend = (run: Run, steps: number): void => {
  run.steps += steps
  if (run.steps > run.limit) extend(run)
}

/** Deeper by one key, where anyone wants to know. */
export const deeper = (run: Run, outer: Path | undefined, key: string | number): Path | undefined =>
  run.issues === undefined ? undefined : { key, outer }

const toArray = (path: Path | undefined): ReadonlyArray<string | number> => {
  const keys: Array<string | number> = []
  for (let one = path; one !== undefined; one = one.outer) keys.push(one.key)
  return keys.reverse()
}

/** More than this is not read by anyone. */
const maxIssues = 50

export const fault = (run: Run, path: Path | undefined, message: string): false => {
  if (run.issues !== undefined && run.issues.length < maxIssues) run.issues.push({ path: toArray(path), message })
  return false
}

export const quietly = (run: Run, check: () => boolean): boolean => {
  const { issues } = run
  run.issues = undefined
  const verdict = check()
  run.issues = issues
  return verdict
}

/** Runs a check with a list of faults of its own. */
export const aside = (run: Run, check: () => boolean): ReadonlyArray<Issue> => {
  const { issues } = run
  const own: Array<Issue> = []
  run.issues = own
  check()
  run.issues = issues
  return own
}

export const newSeen = (): Seen => ({ members: new Set(), items: new Set() })

export const merge = (from: Seen, into: Seen): void => {
  for (const name of from.members) into.members.add(name)
  for (const index of from.items) into.items.add(index)
}
