/**
 * `npm run trace`: which tests name which requirement or field case in their title, and which none does. It writes no
 * file. `--strict` exits with 1 when an id in scope is not named, `--scope <file>` takes another scope, `--summary`
 * prints the last line only. An id that is in no list always exits with 1.
 */
import { parseArgs } from "node:util"
import { root } from "../root.ts"
import { table } from "./table.ts"
import { summary, unnamed } from "./trace.ts"
import { traceOf } from "./traceOf.ts"

const { values } = parseArgs({
  options: { strict: { type: "boolean" }, scope: { type: "string" }, summary: { type: "boolean" } }
})

const traced = traceOf(root, values.scope)
if (values.summary !== true) process.stdout.write(`${table(traced).join("\n")}\n\n`)
process.stdout.write(`${summary(traced)}\n`)
if (traced.unknown.length > 0 || (values.strict === true && unnamed(traced).length > 0)) process.exitCode = 1
