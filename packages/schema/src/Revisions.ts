/**
 * The revisions there are, and which one two sides settle on.
 *
 * @since 0.1.0
 */
import type { Revision } from "./Revision.ts"
import { v2024_11_05 } from "./revision/v2024_11_05.ts"
import { v2025_03_26 } from "./revision/v2025_03_26.ts"
import { v2025_06_18 } from "./revision/v2025_06_18.ts"
import { v2025_11_25 } from "./revision/v2025_11_25.ts"
import { v2026_07_28, withTasks as tasks } from "./revision/v2026_07_28.ts"

/**
 * Every revision, oldest first.
 *
 * @category revisions
 * @since 0.1.0
 */
export const all: ReadonlyArray<Revision> = [v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28]

/**
 * @category revisions
 * @since 0.1.0
 */
export const newest: Revision = v2026_07_28

/**
 * The newest revision that starts with a handshake.
 *
 * @category revisions
 * @since 0.1.0
 */
export const newestLegacy: Revision = v2025_11_25

/**
 * What HTTP requests without a version header are taken for (HTTP-44).
 *
 * @category revisions
 * @since 0.1.0
 */
export const assumed: Revision = v2025_03_26

const table: ReadonlyMap<string, Revision> = new Map(all.map((revision) => [revision.version, revision]))

/**
 * The revision of that name; `draft` is none.
 *
 * @category getters
 * @since 0.1.0
 */
export const byVersion = (version: string): Revision | undefined => table.get(version)

/**
 * @category guards
 * @since 0.1.0
 */
export const isModern = (revision: Revision): boolean => revision.era === "modern"

/**
 * The names of revisions, newest first, as `supported` and `supportedVersions` list them.
 *
 * @category getters
 * @since 0.1.0
 */
export const versions = (revisions: ReadonlyArray<Revision>): ReadonlyArray<string> =>
  [...revisions].sort((a, b) => b.ordinal - a.ordinal).map((revision) => revision.version)

/**
 * What a server answers to `initialize`: the revision asked for when it is a legacy one that is supported, else the newest
 * legacy one that is (LIF-03). Modern revisions are never agreed on this way. `undefined` when no legacy revision is
 * supported.
 *
 * **Example** (Negotiating)
 *
 * ```ts
 * import { Revisions } from "@mcpfx/schema"
 *
 * Revisions.negotiate("2025-03-26", Revisions.all)?.version // => "2025-03-26"
 * Revisions.negotiate("2026-07-28", Revisions.all)?.version // => "2025-11-25"
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const negotiate = (requested: string, supported: ReadonlyArray<Revision>): Revision | undefined => {
  const legacy = supported.filter((revision) => revision.era === "legacy")
  return legacy.find((revision) => revision.version === requested) ?? newestOf(legacy)
}

/**
 * The newest of some revisions.
 *
 * @category getters
 * @since 0.1.0
 */
export const newestOf = (revisions: ReadonlyArray<Revision>): Revision | undefined =>
  revisions.reduce<Revision | undefined>(
    (best, revision) => best === undefined || revision.ordinal > best.ordinal ? revision : best,
    undefined
  )

/**
 * The newest modern revision that both sides name, for a client that was told what a server supports (VER-02).
 *
 * @category getters
 * @since 0.1.0
 */
export const mutualModern = (
  supported: ReadonlyArray<Revision>,
  theirs: ReadonlyArray<string>
): Revision | undefined =>
  newestOf(supported.filter((revision) => revision.era === "modern" && theirs.includes(revision.version)))

/**
 * The revision with the methods of the tasks extension, for sides that have opted in to it; revisions that do not have the
 * extension are given back as they are (TKX-15).
 *
 * @category combinators
 * @since 0.1.0
 */
export const withTasks = (revision: Revision): Revision => revision === v2026_07_28 ? tasks : revision
