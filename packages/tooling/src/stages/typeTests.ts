import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import { execBin } from "../exec.ts"
import { filesUnder, packageNames } from "../sourceFiles.ts"
import { type Outcome, type Stage } from "./stage.ts"

/** The runner needs the compiler as a JavaScript library, which TypeScript 7 is not. */
const compilerModule = (): string =>
  pathToFileURL(createRequire(import.meta.url).resolve("typescript-6/lib/typescript.js")).href

const count = (output: string, word: string): number => {
  const line = /^Tests:.*$/m.exec(output)?.[0] ?? ""
  return Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0)
}

const outcome = (code: number, output: string): Outcome => {
  const failed = count(output, "failed")
  return { passed: count(output, "passed"), failed: code !== 0 && failed === 0 ? 1 : failed, output }
}

/** The type tests of every package, each counted. */
export const typeTests: Stage = {
  name: "type-tests",
  run: async ({ root }) => {
    const files = packageNames(root).flatMap((pkg) =>
      filesUnder(root, `packages/${pkg}/typetest`, (name) => name.endsWith(".tst.ts"))
    )
    if (files.length === 0) return { passed: 0, failed: 0, output: "", leftOut: ["type tests: there are none"] }
    const args = ["--root", root, "--config", "packages/tooling/tstyche.json"]
    const env = {
      TSTYCHE_TYPESCRIPT_MODULE: compilerModule(),
      TSTYCHE_NO_COLOR: "true",
      TSTYCHE_NO_INTERACTIVE: "true"
    }
    const { code, output } = await execBin(root, "tstyche", args, { env })
    return outcome(code, output)
  }
}
