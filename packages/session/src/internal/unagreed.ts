/** Which revision to speak where none is agreed yet. */
import type { Revision } from "@mcpfx/schema/Revision"
import * as Revisions from "@mcpfx/schema/Revisions"
import type { Established } from "../Session.ts"
import type { SessionRecord } from "../SessionStore.ts"

/** How errors are written before anything is agreed: by the newest stateful revision. */
export const revision = (revisions: ReadonlyArray<Revision>): Revision =>
  Revisions.newestOf(revisions.filter((revision) => revision.era === "legacy")) ?? Revisions.newestLegacy

/** The newest that has this method: how a conversation is opened. */
export const opening = (revisions: ReadonlyArray<Revision>, method: string): Revision | undefined =>
  Revisions.newestOf(
    revisions.filter((revision) => revision.requests.has(method) || revision.notifications.has(method))
  )

/** Where a stored session stood, if its revision is still spoken here. */
export const revived = (
  revisions: ReadonlyArray<Revision>,
  record: SessionRecord | undefined
): Established | undefined => {
  const revision = revisions.find((revision) => revision.version === record?.version)
  return revision === undefined || record === undefined ? undefined : { ...record, revision }
}
