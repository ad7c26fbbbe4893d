import { checkHouse } from "../house/check.ts"
import { format, type Problem } from "../house/problem.ts"
import type { Outcome, Stage } from "./stage.ts"

const isError = (problem: Problem): boolean => problem.level === "error"

/** The house checks; each counts as one. */
export const house: Stage = {
  name: "house",
  run: ({ root }): Promise<Outcome> => {
    const found = checkHouse(root)
    const failed = [...found.values()].filter((problems) => problems.some(isError)).length
    const lines = [...found].flatMap(([check, problems]) => problems.map((entry) => `${check}: ${format(entry)}\n`))
    return Promise.resolve({
      passed: found.size - failed,
      failed,
      output: lines.join(""),
      show: lines.length > 0
    })
  }
}
