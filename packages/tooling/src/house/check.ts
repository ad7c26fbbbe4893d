import * as Schema from "effect/Schema"
import { join } from "node:path"
import { readJson } from "../readJson.ts"
import { packageNames, sourceFiles } from "../sourceFiles.ts"
import { arrows } from "./arrows.ts"
import { banned } from "./banned.ts"
import { barrels } from "./barrels.ts"
import { declaredBy, type Manifest, manifests } from "./manifests.ts"
import { names } from "./names.ts"
import type { Problem } from "./problem.ts"
import { sizes } from "./sizes.ts"

const Names = Schema.Record(Schema.String, Schema.String)
const ManifestFile = Schema.Struct({
  name: Schema.String,
  private: Schema.optionalKey(Schema.Boolean),
  dependencies: Schema.optionalKey(Names),
  peerDependencies: Schema.optionalKey(Names)
})
const AllowedFile = Schema.Array(Schema.Struct({ path: Schema.String, word: Schema.String, reason: Schema.String }))

const readManifests = (root: string): Map<string, Manifest> =>
  new Map(packageNames(root).map((pkg) => [pkg, readJson(join(root, "packages", pkg, "package.json"), ManifestFile)]))

/** The house checks by name, each with what it found in the tree at `root`. */
export const checkHouse = (root: string): ReadonlyMap<string, ReadonlyArray<Problem>> => {
  const files = sourceFiles(root)
  const packages = readManifests(root)
  const declared = new Map([...packages].map(([pkg, manifest]) => [pkg, declaredBy(manifest)]))
  const allowed = readJson(join(root, "packages/tooling/data/banned-allowed.json"), AllowedFile)
  return new Map([
    ["arrows", [...manifests(packages), ...arrows(files, declared)]],
    ["sizes", sizes(files)],
    ["banned", banned(files, allowed)],
    ["names", names(files)],
    ["barrels", barrels(files)]
  ])
}
