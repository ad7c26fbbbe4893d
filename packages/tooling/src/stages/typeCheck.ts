import { compile } from "../compile.ts"
import { execBin } from "../exec.ts"
import { single, type Stage } from "./stage.ts"

/** Compiles the sources of every package, then checks all tests and private packages against them. */
export const typeCheck: Stage = {
  name: "types",
  run: async ({ root }) => {
    const sources = await compile(root)
    const rest = await execBin(root, "typescript", ["-p", "tsconfig.json"])
    return single(sources.code === 0 && rest.code === 0, sources.output + rest.output)
  }
}
