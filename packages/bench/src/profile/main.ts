/**
 * `npm run profile`: what one message costs, step by step, in nanoseconds and bytes.
 *
 * - `--only stdio,checks` looks at what has an id that starts with one of these: the paths (`stdio`, `http`, `list`, `read`,
 *   `sleep`, `ask`, `client` …), `checks`, `schemas` and the servers by the word of the system (`os-stdio`, `os-http`)
 * - `--quick` takes fewer and shorter batches
 * - `--json FILE` also writes the numbers there
 * - `--write` puts the tables into `docs/performance.md`; needs all of them
 */
import * as Effect from "effect/Effect"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { cpus } from "node:os"
import { dirname, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { asked, flagsOf, idsOf, Refused } from "../flags.ts"
import { efforts } from "./measure.ts"
import { climb, ladders, osEfforts, type Used } from "./os/ladder.ts"
import { checks, pathIds, reports } from "./run.ts"
import * as SchemaModes from "./schemaModes.ts"
import { checkedText, ladderText, modesText, placed, reportText, summaryText } from "./text.ts"

const values = asked(() => {
  const values = flagsOf({
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    json: { type: "string" },
    write: { type: "boolean", default: false }
  })
  if (values.write && values.only !== undefined) throw new Refused("--write needs all of it: leave --only out")
  return values
})

/** Where `--json` has the numbers written: there is a folder for it before anything is measured. */
const file = values.json === undefined ? undefined : resolve(values.json)
if (file !== undefined) mkdirSync(dirname(file), { recursive: true })

/** The ids that `--only` asks for. */
const chosen = async (only: string): Promise<ReadonlyArray<string>> => {
  const known = [...await Effect.runPromise(pathIds), "checks", "schemas", ...ladders.map(({ id }) => id)]
  return asked(() => idsOf("only", only, known))
}

const only = values.only === undefined ? undefined : await chosen(values.only)
const wanted = (id: string): boolean => only?.includes(id) ?? true
const effort = efforts[values.quick ? "quick" : "full"]
const osEffort = osEfforts[values.quick ? "quick" : "full"]
const guide = fileURLToPath(new URL("../../../../docs/performance.md", import.meta.url))

/** The paths that the guide shows step by step. */
const shown = new Set(["stdio", "stdio-modern", "http", "http-modern"])

const say = (text: string): string => {
  console.log(`${text}\n`)
  return text
}

const found = await Effect.runPromise(Effect.scoped(reports(effort, wanted, (report) => say(reportText(report)))))
const checked = wanted("checks") ? await Effect.runPromise(checks(effort)) : []
const paid = checked.map((one) => say(checkedText(one)))
const modes = wanted("schemas") ? await SchemaModes.compare(effort) : []
const schemas = modes.length === 0 ? "" : say(modesText(modes, SchemaModes.canCompile()))
const used: Record<string, ReadonlyArray<Used>> = {}
const climbed: Array<string> = []
for (const { id, rungs, title } of ladders) {
  if (!wanted(id)) continue
  const usage = await climb(rungs, osEffort)
  climbed.push(say(ladderText(title, usage)))
  used[id] = usage
}

if (file !== undefined) {
  writeFileSync(
    file,
    `${JSON.stringify({ paths: found, checks: checked, schemas: modes, os: used }, undefined, 2)}\n`
  )
}
if (values.write) {
  const machine = `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores.`
  const steps = found.filter(({ id }) => shown.has(id)).map(reportText)
  const parts: ReadonlyArray<readonly [string, string]> = [
    ["steps", [machine, ...steps, summaryText(found)].join("\n\n")],
    ["checks", paid.join("\n\n")],
    ["schemas", schemas],
    ["system", climbed.join("\n\n")]
  ]
  let text = readFileSync(guide, "utf8")
  for (const [name, part] of parts) {
    const next = placed(text, name, part)
    if (next === undefined) throw new Error(`docs/performance.md has no place for ${name}`)
    text = next
  }
  writeFileSync(guide, text)
}
process.exit(0)
