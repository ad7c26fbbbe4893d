import * as Schema from "effect/Schema"
import { join } from "node:path"
import { buildPackages } from "../buildPackages.ts"
import { execBin } from "../exec.ts"
import { publishedPackages } from "../publishedPackages.ts"
import { readJson } from "../readJson.ts"
import { checkBundle } from "./bundle.ts"
import { inspect, PackedManifest } from "./inspect.ts"
import { checkJoined } from "./joined.ts"
import { makeProject, type Project } from "./project.ts"
import { copySuites, runtimes } from "./runtimes.ts"
import { pack, publicModules, type Tarball } from "./tarball.ts"

/** One thing that was checked; `output` tells what is wrong when it is not `ok`. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly output: string
}

const Version = Schema.Struct({ version: Schema.String })

/** What a user installs beside the packages. */
const peers = ["effect", "@effect/platform-node"]

const versionsOf = (root: string): Record<string, string> =>
  Object.fromEntries(
    peers.map((name) => [name, readJson(join(root, "node_modules", name, "package.json"), Version).version])
  )

const kib = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KiB`

const build = async (root: string): Promise<Check> => {
  const { code, output } = await buildPackages(root)
  return { name: "build", ok: code === 0, output }
}

const contents = ({ folder }: Project, tarballs: ReadonlyArray<Tarball>): Array<Check> =>
  tarballs.map((tarball) => {
    const manifest = readJson(join(folder, "node_modules", tarball.name, "package.json"), PackedManifest)
    const problems = inspect(tarball, manifest)
    const modules = publicModules(tarball).length
    return {
      name: `${tarball.name}: ${modules} modules, ${tarball.files.length} files, ${kib(tarball.size)} packed`,
      ok: problems.length === 0,
      output: problems.map((line) => `${line}\n`).join("")
    }
  })

const types = async (root: string, { folder }: Project): Promise<Check> => {
  const { code, output } = await execBin(root, "typescript", ["-p", folder])
  return { name: "types, as a user's compiler sees them", ok: code === 0, output }
}

/** Where checks are told as they end, and in one line each what could not be checked on this machine. */
export interface Reporter {
  readonly report: (check: Check) => void
  readonly leftOut: (line: string) => void
}

/** Builds and packs every published package, installs the packages elsewhere and uses them from there. */
export const checkPacked = async (root: string, scratch: string, { leftOut, report }: Reporter): Promise<void> => {
  const packages = publishedPackages(root)
  const built = await build(root)
  report(built)
  if (!built.ok) return
  const tarballs = await pack(root, packages, join(scratch, "tarballs"))
  const project = await makeProject(join(scratch, "project"), tarballs, versionsOf(root))
  for (const check of contents(project, tarballs)) report(check)
  report(await types(root, project))
  for (const check of await checkJoined(root, project, tarballs)) report(check)
  for (const check of await checkBundle(root, project)) report(check)
  copySuites(project)
  for (const runtime of runtimes()) {
    if ("absent" in runtime) leftOut(`${runtime.name}: ${runtime.absent}`)
    else for (const check of await runtime.checks(project)) report(check)
  }
}
