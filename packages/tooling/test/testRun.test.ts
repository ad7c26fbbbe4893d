import { assert, describe, it } from "@effect/vitest"
import { chooseStages } from "../src/testArguments.ts"
import { summarise, type VitestReport } from "../src/vitestReport.ts"

const file = (statuses: ReadonlyArray<string>, status = "passed") => ({
  name: "a.test.ts",
  status,
  message: "",
  assertionResults: statuses.map((each) => ({ fullName: "a b", title: "b", status: each }))
})
const report = (...files: ReadonlyArray<ReturnType<typeof file>>): VitestReport => ({ testResults: files })

describe("counting tests", () => {
  it("adds up the files", () => {
    const { failed, passed } = summarise(report(file(["passed", "passed"]), file(["passed", "failed"], "failed")), 1)
    assert.deepStrictEqual({ passed, failed }, { passed: 3, failed: 1 })
  })

  it("counts a file that fails as a whole", () => {
    const { failed, output } = summarise(report(file([], "failed")), 1)
    assert.strictEqual(failed, 1)
    assert.include(output, "a.test.ts failed as a whole")
  })

  it("counts a runner that fails although no test did", () => {
    assert.strictEqual(summarise(report(file(["passed"])), 1).failed, 1)
  })

  it("tells of skipped tests", () => {
    const { leftOut, passed } = summarise(report(file(["passed", "skipped", "todo"])), 0)
    assert.strictEqual(passed, 1)
    assert.deepStrictEqual(leftOut, ["2 tests: skipped in their files"])
  })
})

describe("choosing stages", () => {
  const stages = [{ name: "types" }, { name: "lint" }, { name: "tests" }]

  it("runs all without a choice, and passes the rest on", () => {
    assert.deepStrictEqual(chooseStages(stages, ["a.test.ts"]), { chosen: stages, args: ["a.test.ts"] })
  })

  it("runs the chosen ones in their own order", () => {
    assert.deepStrictEqual(chooseStages(stages, ["--only", "tests,types", "a.test.ts"]), {
      chosen: [{ name: "types" }, { name: "tests" }],
      args: ["a.test.ts"]
    })
  })

  it("refuses a stage that does not exist, and an empty choice", () => {
    assert.throws(() => chooseStages(stages, ["--only", "tests,speed"]), "speed")
    assert.throws(() => chooseStages(stages, ["--only"]), "--only takes")
  })
})
