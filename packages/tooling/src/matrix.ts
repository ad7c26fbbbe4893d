/**
 * Lets a shared suite tell how it went on one revision and transport; `npm test` prints all of them as a table.
 *
 * A suite that is run once per revision and transport calls `track` inside the `describe` (or `layer`) of each run:
 *
 * ```ts
 * import * as Matrix from "@mcpfx/tooling/matrix"
 *
 * for (const revision of revisions) {
 *   layer(serverOverMemory(revision))(`server, ${revision}, memory`, (it) => {
 *     Matrix.track({ suite: "server", revision, transport: "memory" })
 *     it.effect("[TOL-01] lists its tools", () => …)
 *   })
 * }
 * ```
 *
 * A suite that counts for itself, or runs outside the test runner, calls `record` once at its end. Cells that nobody
 * records are printed as missing. Where the environment names no folder nothing is written.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, afterEach } from "vitest"

/** One square of the table. */
export interface Cell {
  /** The suite, such as `server`, `client` or `asking`. */
  readonly suite: string
  /** The protocol revision, such as `2025-11-25`. */
  readonly revision: string
  /** `memory`, `stdio` or `http`. */
  readonly transport: string
}

/** How many tests of a suite passed and failed in one square. Several rows for one square add up. */
export interface Row extends Cell {
  readonly passed: number
  readonly failed: number
}

let written = 0

/** Writes one row into the folder that `MCPFX_MATRIX_DIR` names, in a file of its own. */
export const record = (row: Row): void => {
  const folder = process.env["MCPFX_MATRIX_DIR"]
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  const name = [row.suite, row.revision, row.transport, process.pid, written++].join(".").replace(/[^\w.-]/g, "_")
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(row))
}

/** Counts the tests of the enclosing `describe` and records them when it ends. Skipped tests count as neither. */
export const track = (cell: Cell): void => {
  let passed = 0
  let failed = 0
  afterEach(({ task }) => {
    if (task.result?.state === "pass") passed++
    if (task.result?.state === "fail") failed++
  })
  afterAll(() => record({ ...cell, passed, failed }))
}
