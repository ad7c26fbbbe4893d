import * as Schema from "effect/Schema"
import { join } from "node:path"
import { readJson } from "../readJson.ts"

/**
 * A requirement of the protocol. Its versions are letters: A 2024-11-05, B 2025-03-26, C 2025-06-18, D 2025-11-25,
 * E 2026-07-28. `who` has to follow it: C client, S server, B both, H host, AS authorization server, X intermediary.
 */
const Requirement = Schema.Struct({
  id: Schema.String,
  level: Schema.String,
  who: Schema.String,
  versions: Schema.String,
  text: Schema.String
})

/** A fault that users of other software met. */
const FieldCase = Schema.Struct({ id: Schema.String, title: Schema.String, kind: Schema.String })

/** Ids that need no test for now. An id may end in `*`; those of field cases are written `field FRM-01`. */
const Exclusion = Schema.Struct({ ids: Schema.Array(Schema.String), reason: Schema.NonEmptyString })
export interface Exclusion extends Schema.Schema.Type<typeof Exclusion> {}

/** Something a test can name. */
export interface Entry {
  /** The id of a requirement, or `field ` and the id of a field case: some ids are in both lists. */
  readonly key: string
  readonly kind: "requirement" | "field case"
  /** Its level and versions, or its kind. */
  readonly label: string
  readonly text: string
  /** Why it is out of scope, when it is. */
  readonly excluded: string | undefined
}

const matches = (pattern: string, key: string): boolean =>
  pattern.endsWith("*") ? key.startsWith(pattern.slice(0, -1)) : key === pattern

/** Marks what is excluded; throws when a pattern matches nothing. */
export const exclude = (entries: ReadonlyArray<Entry>, exclusions: ReadonlyArray<Exclusion>): Array<Entry> => {
  for (const pattern of exclusions.flatMap(({ ids }) => ids)) {
    if (!entries.some(({ key }) => matches(pattern, key))) throw new Error(`the scope names ${pattern}, which is no id`)
  }
  return entries.map((entry) => ({
    ...entry,
    excluded: exclusions.find(({ ids }) => ids.some((pattern) => matches(pattern, entry.key)))?.reason
  }))
}

/** Reads both lists, with the scope in the file `scope`. */
export const readCatalogue = (root: string, scope = join(root, "packages/tooling/data/scope.json")): Array<Entry> => {
  const data = join(root, "packages/tooling/data")
  const requirements = readJson(join(data, "requirements.json"), Schema.Array(Requirement)).map((row): Entry => ({
    key: row.id,
    kind: "requirement",
    label: `${row.level}, ${row.who}, ${row.versions}`,
    text: row.text,
    excluded: undefined
  }))
  const fieldCases = readJson(join(data, "field-cases.json"), Schema.Array(FieldCase)).map((row): Entry => ({
    key: `field ${row.id}`,
    kind: "field case",
    label: row.kind,
    text: row.title,
    excluded: undefined
  }))
  return exclude([...requirements, ...fieldCases], readJson(scope, Schema.Array(Exclusion)))
}
