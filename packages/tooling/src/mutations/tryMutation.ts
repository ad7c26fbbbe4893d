import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { execBin } from "../exec.ts"
import { idsIn } from "../trace/titles.ts"
import { readReport } from "../vitestReport.ts"
import { mutate, type Mutation } from "./mutation.ts"

/** What became of a mutation. */
export type Verdict =
  /** A test of each id failed. */
  | { readonly _tag: "Noticed" }
  /** No test of these ids failed. */
  | { readonly _tag: "Survived"; readonly ids: ReadonlyArray<string> }
  /** The entry says nothing: its place is gone, its tests are red or not there without it, or it breaks the whole file. */
  | { readonly _tag: "Useless"; readonly reason: string }

/** The tests that name an id, by how they ended. */
export interface Tests {
  readonly passed: ReadonlySet<string>
  readonly failed: ReadonlySet<string>
  /** Why the run as a whole says nothing, if it does not. */
  readonly broken: string | undefined
}

/** Milliseconds after which a test run counts as hanging. */
const patience = 120_000

const packageOf = (file: string): string => file.split("/")[0] ?? ""

/** Runs the tests of these files that name one of the ids. */
export const runTests = async (
  tree: string,
  tests: ReadonlyArray<string>,
  ids: ReadonlyArray<string>
): Promise<Tests> => {
  const report = join(tree, "report.json")
  rmSync(report, { force: true })
  const [pkg = ""] = new Set(tests.map(packageOf))
  const files = tests.map((file) => file.slice(pkg.length + 1))
  const { code, output } = await execBin(
    tree,
    "vitest",
    [
      "run",
      "--config=vitest.workspace.ts",
      `--project=${pkg}`,
      `--testNamePattern=\\b(?:${ids.join("|")})\\b`,
      "--reporter=json",
      `--outputFile.json=${report}`,
      "--maxWorkers=1",
      "--testTimeout=10000",
      "--hookTimeout=10000",
      ...files
    ],
    { timeout: patience }
  )
  if (!existsSync(report)) {
    // A run that never ends is one that noticed.
    const all = new Set(ids)
    return code === 0 || !output.includes("killed after")
      ? { passed: new Set(), failed: new Set(), broken: output }
      : { passed: new Set(), failed: all, broken: undefined }
  }
  const { testResults } = readReport(report)
  const whole = testResults.find((file) => file.status === "failed" && file.assertionResults.length === 0)
  const named = (status: string): Set<string> =>
    new Set(
      testResults.flatMap((file) =>
        file.assertionResults.filter((test) => test.status === status).flatMap((test) => idsIn(test.fullName))
      )
    )
  return { passed: named("passed"), failed: named("failed"), broken: whole?.message }
}

/** Applies the mutation to the copy, runs its tests, and takes it back. */
export const tryMutation = async (tree: string, mutation: Mutation): Promise<Verdict> => {
  const path = join(tree, "packages", mutation.file)
  if (!existsSync(path)) return { _tag: "Useless", reason: `${mutation.file} is not there` }
  const text = readFileSync(path, "utf8")
  const changed = mutate(text, mutation)
  if (changed === undefined) return { _tag: "Useless", reason: "its text is not in the file exactly once" }
  writeFileSync(path, changed)
  try {
    const { broken, failed } = await runTests(tree, mutation.tests, mutation.ids)
    if (broken !== undefined) return { _tag: "Useless", reason: `the tests did not run: ${broken.slice(0, 500)}` }
    const quiet = mutation.ids.filter((id) => !failed.has(id))
    return quiet.length === 0 ? { _tag: "Noticed" } : { _tag: "Survived", ids: quiet }
  } finally {
    writeFileSync(path, text)
  }
}

/** Why the tests of a mutation could not notice anything: they have to pass without it. */
export const judgeTests = async (tree: string, mutations: ReadonlyArray<Mutation>): Promise<string | undefined> => {
  const first = mutations[0]
  if (first === undefined) return undefined
  const ids = [...new Set(mutations.flatMap((mutation) => mutation.ids))]
  const { broken, failed, passed } = await runTests(tree, first.tests, ids)
  if (broken !== undefined) return `the tests do not run: ${broken.slice(0, 500)}`
  const red = ids.filter((id) => failed.has(id))
  if (red.length > 0) return `tests of ${red.join(", ")} fail without any mutation`
  const absent = ids.filter((id) => !passed.has(id))
  return absent.length > 0 ? `no test names ${absent.join(", ")}` : undefined
}
