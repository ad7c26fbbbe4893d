import { imports, privatePackages } from "./layout.ts"
import { type Problem, problem } from "./problem.ts"

/** The parts of a package.json that the checks read. */
export interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** What the sources of a package may import from outside it. */
export const declaredBy = (manifest: Manifest): ReadonlySet<string> =>
  new Set([...Object.keys(manifest.dependencies ?? {}), ...Object.keys(manifest.peerDependencies ?? {})])

const ownDependencies = (pkg: string, manifest: Manifest): Array<string> =>
  Object.keys(manifest.dependencies ?? {})
    .flatMap((name) => (name.startsWith("@mcpfx/") ? [name.slice("@mcpfx/".length)] : []))
    .filter((name) => imports.get(pkg)?.has(name) !== true)
    .map((name) => `${pkg} may not depend on ${name}`)

const judge = (pkg: string, manifest: Manifest): Array<string> => {
  if (privatePackages.has(pkg)) return manifest.private === true ? [] : ["must be private"]
  if (!imports.has(pkg)) return ["is a package that the layout does not know"]
  return [
    ...(manifest.dependencies !== undefined && "effect" in manifest.dependencies
      ? ["effect must be a peer dependency: two copies of it break each other's services"]
      : []),
    ...(manifest.peerDependencies !== undefined && "effect" in manifest.peerDependencies
      ? []
      : ["effect is missing from the peer dependencies"]),
    ...ownDependencies(pkg, manifest)
  ]
}

/** Whether each package declares what its level allows. */
export const manifests = (packages: ReadonlyMap<string, Manifest>): Array<Problem> =>
  [...packages].flatMap(([pkg, manifest]) =>
    judge(pkg, manifest).map((message) => problem(`packages/${pkg}/package.json`, 0, message))
  )
