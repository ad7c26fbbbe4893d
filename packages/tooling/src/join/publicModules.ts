import { publishedPackages } from "../publishedPackages.ts"
import { filesUnder } from "../sourceFiles.ts"

/** A module that users can import, but no barrel. */
export interface PublicModule {
  /** The folder of its package: `schema`. */
  readonly pkg: string
  /** Below the package: `Tool`, `revision/v2025_11_25`. */
  readonly name: string
  /** In the repository. */
  readonly source: string
}

const publicSource = /^packages\/([^/]+)\/src\/(?!(?:.*\/)?internal\/|index\.ts$)(.+)\.ts$/

/** Those of every published package. */
export const publicModules = (root: string): ReadonlyArray<PublicModule> =>
  publishedPackages(root).flatMap((folder) =>
    filesUnder(root, `packages/${folder}/src`, (file) => file.endsWith(".ts")).flatMap(({ path }) => {
      const [, pkg, name] = publicSource.exec(path) ?? []
      return pkg === undefined || name === undefined ? [] : [{ pkg, name, source: path }]
    })
  )
