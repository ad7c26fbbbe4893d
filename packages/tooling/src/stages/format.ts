import { execBin } from "../exec.ts"
import { single, type Stage } from "./stage.ts"

/** Whether every file is as the formatter would write it. */
export const format: Stage = {
  name: "format",
  run: async ({ root }) => {
    const { code, output } = await execBin(root, "dprint", ["check", "--list-different"])
    return single(code === 0, `${output}\`npm run format\` rewrites them.\n`)
  }
}
