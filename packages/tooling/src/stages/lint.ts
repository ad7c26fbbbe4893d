import { execBin } from "../exec.ts"
import { single, type Stage } from "./stage.ts"

/** The linter over the whole tree. */
export const lint: Stage = {
  name: "lint",
  run: async ({ root }) => {
    const { code, output } = await execBin(root, "oxlint", ["--deny-warnings", "--format=unix"])
    return single(code === 0, output)
  }
}
