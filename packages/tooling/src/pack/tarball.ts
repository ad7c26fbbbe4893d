import * as Schema from "effect/Schema"
import { mkdirSync } from "node:fs"
import { pnpm } from "../pnpm.ts"

/** A package as it would be published. */
export const Tarball = Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  /** Where the file is. */
  filename: Schema.String,
  /** Bytes of the file. */
  size: Schema.Int,
  files: Schema.Array(Schema.Struct({ path: Schema.String }))
})
export interface Tarball extends Schema.Schema.Type<typeof Tarball> {}

const decode = Schema.decodeUnknownSync(Schema.Union([Tarball, Schema.Array(Tarball)]))

/** Packs the packages in these folders; throws with the output of the package manager when it fails. */
export const pack = async (
  root: string,
  folders: ReadonlyArray<string>,
  destination: string
): Promise<ReadonlyArray<Tarball>> => {
  mkdirSync(destination, { recursive: true })
  const filters = folders.flatMap((pkg) => ["--filter", `./packages/${pkg}`])
  const { code, output } = await pnpm([...filters, "pack", "--json", "--pack-destination", destination], { cwd: root })
  if (code !== 0) throw new Error(`packing failed:\n${output}`)
  const packed = decode(JSON.parse(output.slice(output.search(/^[[{]/m))))
  return "name" in packed ? [packed] : packed
}

const moduleFile = /^lib\/(?!(?:.*\/)?internal\/)(.+)\.js$/

/** What users can import from a package, such as `@mcpfx/schema/JsonRpc`, and its barrel. */
export const publicModules = (tarball: Pick<Tarball, "name" | "files">): Array<string> =>
  tarball.files.flatMap(({ path }) => {
    const name = moduleFile.exec(path)?.[1]
    if (name === undefined) return []
    return [name === "index" ? tarball.name : `${tarball.name}/${name}`]
  }).toSorted()
