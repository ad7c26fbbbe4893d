/**
 * `npm run bench:growth`: how costs grow with the number of tools, sessions, listeners and middlewares, and with the size of
 * messages. Each size takes its turn in five interleaved rounds and the least counts; the smallest size is measured twice,
 * and how far the two are apart is the noise floor.
 *
 * What grows inside of the server is measured there, at its endpoint: messages go in as text and answers come out as text,
 * all sizes in one process. A socket costs ten times as much as the call behind it and would hide what a table that is
 * searched from end to end costs; and two processes differ by more than what is looked for. Only what has no meaning without
 * a transport is measured through one: large messages, and what a server with thousands of sessions does as a whole.
 *
 * Tools and sessions are called one of many, which shows whether the others cost it anything. Calling each in turn also shows
 * how slow the memory of the machine is, and is not judged but over HTTP.
 *
 * - `--rows tools,change` measures the series whose ids start with one of these
 * - `--strict` ends with code 1 when one grows otherwise than it may
 * - `--no-build` measures what was built before
 */
import { build } from "esbuild"
import { spawn } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { common, compile } from "../contenders.ts"
import { asked, chosenOf, flagsOf } from "../flags.ts"
import { buildAsPublished } from "../packages.ts"
import { format } from "../table.ts"
import type { Seen } from "./judge.ts"
import { brokenLine, header, lineOf } from "./lines.ts"
import { measure, type Series } from "./series.ts"
import { httpSessionSeries } from "./series/httpSessions.ts"
import { inner } from "./series/inner.ts"
import { messageSeries } from "./series/messages.ts"

const { chosen, values } = asked(() => {
  const values = flagsOf({
    rows: { type: "string" },
    strict: { type: "boolean", default: false },
    "no-build": { type: "boolean", default: false }
  })
  return { values, chosen: chosenOf("rows", values.rows, [...inner, ...httpSessionSeries, ...messageSeries]) }
})

const folder = dirname(fileURLToPath(import.meta.url))
const program = join(folder, "../../dist/growth.js")

const buildAll = async (): Promise<void> => {
  if (!values["no-build"]) await buildAsPublished()
  await compile()
  await build({
    ...common,
    entryPoints: [join(folder, "inner.ts")],
    outfile: program
  })
}

const isSeen = (u: unknown): u is Seen => typeof u === "object" && u !== null && "points" in u && "noise" in u

/** Measures a series in a process that has done nothing else. */
const measureInside = (id: string): Promise<Seen> =>
  new Promise((resolve, reject) => {
    const args = ["--conditions=mcpfx-dist", "--max-semi-space-size=64", program, id]
    const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] })
    child.once("message", (message) => isSeen(message) ? resolve(message) : reject(new Error("not what was asked")))
    child.once("exit", (code) => reject(new Error(`${id} ended with ${code}`)))
  })

const measured = async (series: Series): Promise<ReturnType<typeof lineOf>> => {
  const started = performance.now()
  const seen = inner.includes(series) ? measureInside(series.id) : measure(series)
  const line = await seen.then((seen) => lineOf(series, seen), (error: unknown) => brokenLine(series, error))
  const seconds = ((performance.now() - started) / 1000).toFixed(0)
  console.error(`${series.id}: ${line.cells.slice(1).join(" | ")} (${seconds} s)`)
  return line
}

await buildAll()
const lines: Array<ReturnType<typeof lineOf>> = []
for (const series of chosen) lines.push(await measured(series))
console.log(format([header, ...lines.map(({ cells }) => cells)]))
const missed = lines.filter(({ met }) => !met).length
console.log(`${lines.length - missed} met, ${missed} missed`)
process.exitCode = values.strict && missed > 0 ? 1 : 0
