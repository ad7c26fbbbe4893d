/** Every row of the benchmark does its work with the floor and with mcpfx, a few times, and reads the answers. */
import { afterAll, beforeAll, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { compile, type Contender } from "../src/contenders.ts"
import type { Row } from "../src/row.ts"
import { rows } from "../src/rows/all.ts"

const name = "MCPFX_BENCH_PROGRAMS"
const contenders: ReadonlyArray<Contender> = ["floor", "mcpfx"]
/** Milliseconds; several start programs at the same time. */
const patience = 60_000

let folder = ""
let before: string | undefined

beforeAll(async () => {
  const place = join(import.meta.dirname, "../dist")
  mkdirSync(place, { recursive: true })
  folder = mkdtempSync(join(place, "smoke-"))
  before = process.env[name]
  process.env[name] = folder
  await compile(contenders)
}, patience)

afterAll(() => {
  if (before === undefined) delete process.env[name]
  else process.env[name] = before
  rmSync(folder, { recursive: true, force: true })
})

const checkRow = (row: Row, contender: Contender): Promise<void> => row.verify(contender)

describe.concurrent("the row", () => {
  for (const row of rows) {
    for (const contender of contenders) {
      it(`${row.id} works with ${contender}`, () => checkRow(row, contender), patience)
    }
  }
})
