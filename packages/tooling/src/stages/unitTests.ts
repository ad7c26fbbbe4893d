import { existsSync } from "node:fs"
import { join } from "node:path"
import { execBin } from "../exec.ts"
import { readReport, summarise } from "../vitestReport.ts"
import type { Stage } from "./stage.ts"

/** Every test of every package, each counted. Their output is shown as it comes. */
export const unitTests: Stage = {
  name: "tests",
  run: async ({ args, root, scratch }) => {
    const report = join(scratch, "vitest.json")
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`]
    const { code } = await execBin(root, "vitest", ["run", "--config", "vitest.workspace.ts", ...reporters, ...args], {
      inherit: true,
      env: { MCPFX_LEFT_OUT: join(scratch, "left-out.txt"), MCPFX_MATRIX_DIR: join(scratch, "matrix") }
    })
    if (!existsSync(report)) return { passed: 0, failed: 1, output: "The test runner wrote no report.\n" }
    return summarise(readReport(report), code)
  }
}
