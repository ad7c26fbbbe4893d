import type { SourceFile } from "../sourceFiles.ts"
import { type Problem, problem, warning } from "./problem.ts"

/** Lines past which a file is told of, and past which it fails. The length of functions is checked by the linter. */
export const limits = { soft: 350, hard: 600 }

const banner = /^\s*\/\/ ?[-=*#─]{4,}/

const countLines = (text: string): number => text.split("\n").length - (text.endsWith("\n") ? 1 : 0)

/** Files that hold more than one idea: too long, or divided by banners. */
export const sizes = (files: ReadonlyArray<SourceFile>): Array<Problem> =>
  files.flatMap(({ path, text }) => {
    const lines = countLines(text)
    const banners = text
      .split("\n")
      .flatMap((
        line,
        at
      ) => (banner.test(line) ? [problem(path, at + 1, "a section banner means: split the file")] : []))
    if (lines > limits.hard) return [problem(path, 0, `${lines} lines, at most ${limits.hard}`), ...banners]
    return lines > limits.soft ? [warning(path, 0, `${lines} lines, better below ${limits.soft}`), ...banners] : banners
  })
