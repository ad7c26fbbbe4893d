import { idsIn } from "../trace/titles.ts"
import { traceOf } from "../trace/traceOf.ts"
import type { Mutation } from "./mutation.ts"

/** How far the requirements that MUST hold are covered. */
export interface Coverage {
  /** Those in scope that a test names and a mutation breaks. */
  readonly covered: ReadonlyArray<string>
  /** Those in scope that a test names and no mutation breaks. */
  readonly open: ReadonlyArray<string>
  /** Ids of mutations that are no requirement. */
  readonly unknown: ReadonlyArray<string>
}

export const coverage = (root: string, mutations: ReadonlyArray<Mutation>): Coverage => {
  const rows = traceOf(root).traced.filter(({ entry }) => entry.kind === "requirement")
  const broken = new Set(mutations.flatMap(({ ids }) => ids))
  const binding = rows
    .filter(({ entry, titles }) => /^MUST\b/.test(entry.label) && entry.excluded === undefined && titles.length > 0)
    .map(({ entry }) => entry.key)
  const known = new Set(rows.map(({ entry }) => entry.key))
  return {
    covered: binding.filter((id) => broken.has(id)),
    open: binding.filter((id) => !broken.has(id)),
    unknown: [...broken].filter((id) => !known.has(id) || idsIn(`[${id}]`).length === 0)
  }
}
