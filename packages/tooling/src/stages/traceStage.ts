import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fieldCases, fieldCasesPath } from "../trace/fieldCases.ts"
import type { Trace } from "../trace/trace.ts"
import { unnamed } from "../trace/trace.ts"
import { traceOf } from "../trace/traceOf.ts"
import type { Outcome, Stage } from "./stage.ts"

/** What is wrong with the trace of a tree, check by check. */
export const faultsOf = (traced: Trace, document: string | undefined): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map([
    ["named", unnamed(traced).map(({ key, text }) => `no test names ${key}: ${text}`)],
    ["known", traced.unknown.map(({ place, title }) => `${place} names ${title}, which is no id`)],
    [
      "document",
      document === fieldCases(traced) ? [] : [`${fieldCasesPath} is stale: \`npm run field-cases\` writes it`]
    ]
  ])

/** Whether every id in scope is named by a test, and the document says so. */
export const traceStage: Stage = {
  name: "trace",
  run: ({ root }): Promise<Outcome> => {
    const path = join(root, fieldCasesPath)
    const document = existsSync(path) ? readFileSync(path, "utf8") : undefined
    const found = [...faultsOf(traceOf(root), document).values()]
    const failed = found.filter((faults) => faults.length > 0).length
    return Promise.resolve({
      passed: found.length - failed,
      failed,
      output: found.flat().map((fault) => `${fault}\n`).join("")
    })
  }
}
