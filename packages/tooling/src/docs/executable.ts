import { scan } from "../scan.ts"
import type { Snippet } from "./snippets.ts"

const mark = /^(.*\S)\s*\/\/ => (.+)$/
const declaration = /^\s*(?:export\s+)?(?:const|let)\s+([\w$]+)\b/

/** True when the snippet says what some of its lines evaluate to. */
export const hasResults = (snippet: Snippet): boolean =>
  scan(snippet.code).comments.some(({ value }) => value.startsWith("// => "))

const checked = (line: string, place: string): string => {
  const match = mark.exec(line)
  if (match?.[1] === undefined || match[2] === undefined) return line
  const [, code, expected] = match
  const name = declaration.exec(code)?.[1]
  const where = JSON.stringify(place)
  return name === undefined
    ? `;expectEqual((${code.trim()}), (${expected}), ${where})`
    : `${code};expectEqual(${name}, (${expected}), ${where})`
}

/**
 * Turns `expression // => value` and `const x = expression // => value`, each on one line, into checks. Line numbers
 * stay as they are.
 */
export const executable = (snippet: Snippet, expectEqual: string): string =>
  `import { expectEqual } from ${JSON.stringify(expectEqual)};`
  + snippet.code
    .split("\n")
    .map((line, at) => checked(line, `${snippet.path}:${snippet.line + 1 + at}`))
    .join("\n")
