import type { Entry } from "./catalogue.ts"
import { idsIn, type Title } from "./titles.ts"

/** One id and the tests that name it. */
export interface Traced {
  readonly entry: Entry
  readonly titles: ReadonlyArray<Title>
}

export interface Trace {
  readonly traced: ReadonlyArray<Traced>
  /** Ids in titles that neither list has. */
  readonly unknown: ReadonlyArray<Title>
}

/** Joins the ids with the titles that name them. A bare id that only field cases have means the field case. */
export const trace = (entries: ReadonlyArray<Entry>, titles: ReadonlyArray<Title>): Trace => {
  const known = new Set(entries.map(({ key }) => key))
  const byKey = new Map<string, Array<Title>>()
  const unknown: Array<Title> = []
  for (const title of titles) {
    for (const id of idsIn(title.title)) {
      const key = [id, `field ${id}`].find((candidate) => known.has(candidate))
      if (key === undefined) unknown.push({ title: id, place: title.place })
      else byKey.set(key, [...(byKey.get(key) ?? []), title])
    }
  }
  return { traced: entries.map((entry) => ({ entry, titles: byKey.get(entry.key) ?? [] })), unknown }
}

/** Ids in scope that no test names. */
export const unnamed = ({ traced }: Trace): Array<Entry> =>
  traced.filter(({ entry, titles }) => entry.excluded === undefined && titles.length === 0).map(({ entry }) => entry)

/** One line on how far each list is named. */
export const summary = ({ traced }: Trace): string =>
  (["requirement", "field case"] as const)
    .map((kind) => {
      const inScope = traced.filter(({ entry }) => entry.kind === kind && entry.excluded === undefined)
      const named = inScope.filter(({ titles }) => titles.length > 0)
      const excluded = traced.filter(({ entry }) => entry.kind === kind).length - inScope.length
      return `${named.length} of ${inScope.length} ${kind}s named (${excluded} out of scope)`
    })
    .join(", ")
