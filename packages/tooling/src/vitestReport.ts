import * as Schema from "effect/Schema"
import { readJson } from "./readJson.ts"
import type { Outcome } from "./stages/stage.ts"
import type { Title } from "./trace/titles.ts"

/** The parts of the test runner's JSON report that are read here. */
export const VitestReport = Schema.Struct({
  testResults: Schema.Array(Schema.Struct({
    name: Schema.String,
    status: Schema.String,
    message: Schema.optional(Schema.String),
    assertionResults: Schema.Array(Schema.Struct({
      fullName: Schema.String,
      title: Schema.String,
      status: Schema.String
    }))
  }))
})
export interface VitestReport extends Schema.Schema.Type<typeof VitestReport> {}

/** Reads a report from its file. */
export const readReport = (path: string): VitestReport => readJson(path, VitestReport)

const withStatus = (report: VitestReport, status: string): number =>
  report.testResults.reduce(
    (sum, file) => sum + file.assertionResults.filter((test) => test.status === status).length,
    0
  )

/** Files that failed as a whole: an import that throws, a hook outside of any test. */
const brokenFiles = (report: VitestReport): Array<string> =>
  report.testResults
    .filter((file) => file.status === "failed" && file.assertionResults.every((test) => test.status !== "failed"))
    .map((file) => `${file.name} failed as a whole: ${file.message ?? ""}\n`)

/** Counts the tests of a report. A runner that failed although no test did counts as one failure. */
export const summarise = (report: VitestReport, code: number): Outcome => {
  const passed = withStatus(report, "passed")
  const broken = brokenFiles(report)
  const failed = withStatus(report, "failed") + broken.length
  const total = report.testResults.reduce((sum, file) => sum + file.assertionResults.length, 0)
  const skipped = total - passed - withStatus(report, "failed")
  return {
    passed,
    failed: code !== 0 && failed === 0 ? 1 : failed,
    output: broken.join("") + (code !== 0 && failed === 0 ? `The test runner ended with code ${code}.\n` : ""),
    leftOut: skipped === 0 ? [] : [`${skipped} tests: skipped in their files`]
  }
}

/** The full titles of the tests that passed. */
export const passedTitles = (report: VitestReport): Array<Title> =>
  report.testResults.flatMap((file) =>
    file.assertionResults
      .filter((test) => test.status === "passed")
      .map((test) => ({ title: test.fullName, place: file.name.replaceAll("\\", "/") }))
  )
