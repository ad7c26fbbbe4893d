/** Which packages there are and which may import which. */

/** For each published package the packages its sources may import: only ever lower levels, never its own. */
export const imports: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    schema: [],
    transport: ["schema"],
    session: ["schema", "transport"],
    auth: ["schema", "transport"],
    server: ["schema", "transport", "session"],
    client: ["schema", "transport", "session"],
    cluster: ["schema", "transport", "session", "server"],
    host: ["schema", "transport", "session", "server", "client", "auth"],
    testing: ["schema", "transport", "session", "auth", "server", "client"],
    node: ["schema", "transport", "session", "auth", "server"],
    cli: ["schema", "transport", "session", "auth", "server", "client", "host", "testing", "node"]
  }).map(([name, lower]) => [name, new Set(lower)])
)

/** Packages that are never published: the house rules for library code do not bind them. */
export const privatePackages: ReadonlySet<string> = new Set(["bench", "examples", "tooling"])

/** The files that may reach into what other packages keep to themselves: the profile looks at their pieces one by one. */
export const lookInside: ReadonlySet<string> = new Set(["packages/bench/src/profile/internals.ts"])

/** Published packages that may use what only Node has. */
export const nodePackages: ReadonlySet<string> = new Set(["node", "cli"])

/** Where a file stands: its package, and the folder in it (`src`, `test`, …). */
export interface Place {
  readonly pkg: string
  readonly folder: string
  /** The path below that folder. */
  readonly rest: string
}

/** The place of a path such as `packages/schema/src/internal/x.ts`. */
export const placeOf = (path: string): Place | undefined => {
  const match = /^packages\/([^/]+)\/([^/]+)\/(.+)$/.exec(path)
  return match?.[1] === undefined || match[2] === undefined || match[3] === undefined
    ? undefined
    : { pkg: match[1], folder: match[2], rest: match[3] }
}

/** True for the sources of a published package. */
export const isLibrary = (place: Place): boolean => place.folder === "src" && !privatePackages.has(place.pkg)
