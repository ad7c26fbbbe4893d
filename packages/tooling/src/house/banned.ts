import { lineAt, scan } from "../scan.ts"
import type { SourceFile } from "../sourceFiles.ts"
import { isLibrary, placeOf } from "./layout.ts"
import { type Problem, problem } from "./problem.ts"

/** A use of a banned word that is right where it is. */
export interface Allowed {
  readonly path: string
  readonly word: string
  readonly reason: string
}

interface Word {
  readonly word: string
  readonly pattern: RegExp
  readonly instead: string
}

const word = (name: string, pattern: RegExp, instead: string): Word => ({ word: name, pattern, instead })

/** Words of code that library sources leave to Effect. A name after a dot, such as `Effect.try {`, is another word. */
const words: ReadonlyArray<Word> = [
  word("async", /(?<![.\w$])async[\s(]/g, "Effect.gen, or Effect.tryPromise at the edge"),
  word("await", /(?<![.\w$])await[\s(]/g, "yield*"),
  word("try", /(?<![.\w$])try\s*\{/g, "Result.try or Effect.try"),
  word("Date.now", /(?<![\w$])Date\s*\.\s*now\b|\bnew Date\(\s*\)/g, "Clock"),
  word("setTimeout", /(?<![\w$])set(?:Timeout|Interval|Immediate)\b/g, "Effect.sleep, timeout or Schedule"),
  word("console", /(?<![\w$])console\s*\./g, "Effect.log"),
  word("process", /(?<![.\w$])process\s*\.|\bglobalThis\s*\.\s*process\b/g, "a service of effect"),
  word("any", /(?<![\w$])as any\b|:\s*any\b|<any>|\bany\[\]/g, "unknown and a guard"),
  word("forkDetach", /(?<![\w$])forkDetach\b/g, "forkScoped, forkIn or a FiberMap: every fiber has an owner")
]

const comments: ReadonlyArray<Word> = [
  word("@ts-ignore", /@ts-(?:ignore|nocheck)\b/g, "a type that fits")
]

interface Found {
  readonly line: number
  readonly word: Word
}

const find = (file: SourceFile): Array<Found> => {
  const scanned = scan(file.text)
  const inCode = words.flatMap((entry) =>
    [...scanned.code.matchAll(entry.pattern)].map(({ index }) => ({ line: lineAt(file.text, index), word: entry }))
  )
  const inComments = comments.flatMap((entry) =>
    scanned.comments
      .filter(({ value }) => value.search(entry.pattern) !== -1)
      .map(({ start }) => ({ line: lineAt(file.text, start), word: entry }))
  )
  return [...inCode, ...inComments]
}

const listed = (allowed: ReadonlyArray<Allowed>, path: string, name: string): boolean =>
  allowed.some((entry) => entry.path === path && entry.word === name)

const stale = (allowed: ReadonlyArray<Allowed>, used: ReadonlySet<string>): Array<Problem> =>
  allowed.flatMap(({ path, reason, word: name }) => {
    if (reason.trim() === "") return [problem(path, 0, `the exception for "${name}" gives no reason`)]
    return used.has(`${path} ${name}`) ? [] : [problem(path, 0, `the exception for "${name}" is no longer used`)]
  })

/** Banned words in the sources of published packages, less the listed exceptions; an exception nobody uses is a problem too. */
export const banned = (files: ReadonlyArray<SourceFile>, allowed: ReadonlyArray<Allowed>): Array<Problem> => {
  const used = new Set<string>()
  const problems = files.flatMap((file) => {
    const place = placeOf(file.path)
    if (place === undefined || !isLibrary(place)) return []
    return find(file).flatMap(({ line, word: { instead, word: name } }) => {
      used.add(`${file.path} ${name}`)
      return listed(allowed, file.path, name)
        ? []
        : [problem(file.path, line, `"${name}" is banned here: use ${instead}`)]
    })
  })
  return [...problems, ...stale(allowed, used)]
}
