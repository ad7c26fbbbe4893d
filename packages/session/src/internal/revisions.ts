/** Which revision to speak where none is agreed yet. */
import type { Revision } from "@mcpfx/schema/Revision"
import type { NonEmptyReadonlyArray } from "effect/Array"
import type { Established } from "../Session.ts"
import type { SessionRecord } from "../SessionStore.ts"

const newest = (revisions: ReadonlyArray<Revision>): Revision | undefined =>
  revisions.reduce<Revision | undefined>((a, b) => a === undefined || b.ordinal > a.ordinal ? b : a, undefined)

const legacy = (revisions: ReadonlyArray<Revision>): ReadonlyArray<Revision> =>
  revisions.filter((revision) => revision.era === "legacy")

/** The newest stateful one; the newest of all where there is none. */
export const newestLegacy = (revisions: NonEmptyReadonlyArray<Revision>): Revision =>
  newest(legacy(revisions)) ?? newest(revisions) ?? revisions[0]

/**
 * The answer to a client that asks for `requested`: that one if it is served, else the newest that is (LIF-03). Never one
 * that has no handshake.
 */
export const negotiate = (revisions: ReadonlyArray<Revision>, requested: unknown): Revision | undefined => {
  const served = legacy(revisions)
  return served.find((revision) => revision.version === requested) ?? newest(served)
}

/** The newest that has this method: how a conversation is opened. */
export const opening = (revisions: ReadonlyArray<Revision>, method: string): Revision | undefined =>
  newest(revisions.filter((revision) => revision.requests.has(method) || revision.notifications.has(method)))

/** Where a stored session stood, if its revision is still spoken here. */
export const revived = (
  revisions: ReadonlyArray<Revision>,
  record: SessionRecord | undefined
): Established | undefined => {
  const revision = revisions.find((revision) => revision.version === record?.version)
  return revision === undefined || record === undefined ? undefined : { ...record, revision }
}
