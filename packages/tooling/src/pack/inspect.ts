import * as Schema from "effect/Schema"
import type { Tarball } from "./tarball.ts"

const Names = Schema.Record(Schema.String, Schema.String)

/** The parts of a published package.json that are judged. */
export const PackedManifest = Schema.Struct({
  exports: Schema.Record(Schema.String, Schema.Unknown),
  dependencies: Schema.optionalKey(Names),
  peerDependencies: Schema.optionalKey(Names),
  license: Schema.optionalKey(Schema.String)
})
export interface PackedManifest extends Schema.Schema.Type<typeof PackedManifest> {}

const isExpected = (path: string): boolean =>
  ["package.json", "LICENSE", "README.md", "CHANGELOG.md"].includes(path)
  || /^src\/.+\.(?:ts|json)$/.test(path)
  || /^dist\/.+\.d\.ts(?:\.map)?$/.test(path)
  || /^lib\/.+\.js(?:\.map)?$/.test(path)

const targets = (value: unknown): Array<string> => {
  if (typeof value === "string") return [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(targets) : []
}

const inManifest = (manifest: PackedManifest): Array<string> => [
  ...Object.entries(manifest.exports)
    .filter(([key]) => key !== "./package.json")
    .flatMap(([key, value]) => targets(value).map((target) => ({ key, target })))
    .filter(({ target }) => !/^\.\/(?:dist\/.+\.d\.ts|lib\/.+\.js)$/.test(target))
    .map(({ key, target }) => `exports "${key}" as ${target}, which is neither a declaration nor code`),
  ...Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies })
    .filter(([, range]) => /^(?:workspace|catalog|link|file):/.test(range))
    .map(([name, range]) => `asks for ${name} as ${range}, which only this repository understands`),
  ...(manifest.license === "MIT" ? [] : ["does not name its license"])
]

/** The public modules among these files, without what is before and after their names. */
const modules = (paths: ReadonlySet<string>, file: RegExp): ReadonlySet<string> =>
  new Set([...paths].flatMap((path) => file.exec(path)?.[1] ?? []))

/** What is wrong with a package as packed: its manifest, files that do not belong, files that are missing. */
export const inspect = (tarball: Tarball, manifest: PackedManifest): Array<string> => {
  const paths = new Set(tarball.files.map(({ path }) => path))
  const code = modules(paths, /^lib\/(?!(?:.*\/)?internal\/)(.+)\.js$/)
  const declarations = modules(paths, /^dist\/(?!(?:.*\/)?internal\/)(.+)\.d\.ts$/)
  return [
    ...inManifest(manifest),
    ...[...paths].filter((path) => !isExpected(path)).map((path) => `holds ${path}, which nobody needs`),
    ...(paths.has("LICENSE") ? [] : ["holds no LICENSE"]),
    ...(code.size > 0 ? [] : ["holds no code"]),
    ...[...code].filter((name) => !declarations.has(name)).map((name) => `lacks dist/${name}.d.ts`),
    ...[...declarations].filter((name) => !code.has(name)).map((name) => `lacks lib/${name}.js`)
  ].map((message) => `${tarball.name} ${message}`)
}
