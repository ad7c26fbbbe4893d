/** `npm run pack:check`: whether the packages work once they are published, outside this repository. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onSignal } from "../exec.ts"
import { root } from "../root.ts"
import { type Check, checkPacked } from "./check.ts"

let passed = 0
let failed = 0
const leftOut: Array<string> = []

const report = ({ name, ok, output }: Check): void => {
  if (ok) passed++
  else failed++
  process.stdout.write(`${ok ? "" : output}${ok ? "ok    " : "FAILED"} ${name}\n`)
}

const scratch = mkdtempSync(join(tmpdir(), "mcpfx-pack-"))
onSignal(() => rmSync(scratch, { recursive: true, force: true }))
try {
  await checkPacked(root, scratch, { report, leftOut: (line) => void leftOut.push(line) })
} catch (error) {
  report({ name: "packing", ok: false, output: `${error instanceof Error ? error.message : String(error)}\n` })
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
for (const line of leftOut) process.stdout.write(`left out: ${line}\n`)
process.stdout.write(`${passed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1
