/** One wrong line of the implementation that tests have to notice. */
export interface Mutation {
  /** The requirements it breaks: for each, a test that names it has to fail. */
  readonly ids: ReadonlyArray<string>
  /** The source to change, below `packages/`. */
  readonly file: string
  /** A text that the file holds exactly once. */
  readonly find: string
  readonly replace: string
  /** The test files that notice it, below `packages/`, all of one package. */
  readonly tests: ReadonlyArray<string>
}

/** The text with the mutation in it; `undefined` when the place is not there, or not there exactly once. */
export const mutate = (text: string, { find, replace }: Mutation): string | undefined => {
  const at = text.indexOf(find)
  if (at === -1 || text.includes(find, at + 1)) return undefined
  return text.slice(0, at) + replace + text.slice(at + find.length)
}

/** One line that tells mutations apart. */
export const title = ({ file, find, ids }: Mutation): string => {
  const line = find.trim().split("\n")[0] ?? ""
  return `${ids.join(", ")}  ${file}  ${line.length > 70 ? `${line.slice(0, 69)}…` : line}`
}
