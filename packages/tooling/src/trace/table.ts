import type { Trace, Traced } from "./trace.ts"
import { unnamed } from "./trace.ts"

const short = (text: string): string => (text.length > 90 ? `${text.slice(0, 89)}…` : text)

const row = ({ entry, titles }: Traced): Array<string> => {
  if (titles.length > 0) {
    return [
      `${entry.key}  ${short(entry.text)}`,
      ...titles.map(({ place, title }) => `    ${place}  ${short(title)}`)
    ]
  }
  return entry.excluded === undefined ? [] : [`${entry.key}  out of scope: ${entry.excluded}`]
}

/** The whole table: what is named by which tests, what is out of scope, and last what is neither. */
export const table = (self: Trace): Array<string> => {
  const open = unnamed(self)
  return [
    ...self.traced.flatMap(row),
    ...(open.length === 0 ? [] : ["", `not named by any test: ${open.length}`]),
    ...open.map((entry) => `${entry.key}  (${entry.label})  ${short(entry.text)}`),
    ...self.unknown.map(({ place, title }) => `${place} names ${title}, which is no id`)
  ]
}
