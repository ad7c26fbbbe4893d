import * as Schema from "effect/Schema"
import { join } from "node:path"
import { compile } from "../compile.ts"
import { execBin } from "../exec.ts"
import { publishedPackages } from "../publishedPackages.ts"
import { readJson } from "../readJson.ts"
import { inspect, PackedManifest } from "./inspect.ts"
import { makeProject, type Project } from "./project.ts"
import { runtimes } from "./runtimes.ts"
import { removeStaleOutputs } from "./staleOutputs.ts"
import { pack, publicModules, type Tarball } from "./tarball.ts"

/** One thing that was checked; `output` tells what is wrong when it is not `ok`. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly output: string
}

const Version = Schema.Struct({ version: Schema.String })

const effectVersion = (root: string): string =>
  readJson(join(root, "node_modules/effect/package.json"), Version).version

const kib = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KiB`

const build = async (root: string, packages: ReadonlyArray<string>): Promise<Check> => {
  for (const pkg of packages) removeStaleOutputs(root, pkg)
  const { code, output } = await compile(root)
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

/** Builds and packs every published package, installs the packages elsewhere and uses them from there. */
export const checkPacked = async (root: string, scratch: string, report: (check: Check) => void): Promise<void> => {
  const packages = publishedPackages(root)
  const built = await build(root, packages)
  report(built)
  if (!built.ok) return
  const tarballs = await pack(root, packages, join(scratch, "tarballs"))
  const project = await makeProject(join(scratch, "project"), tarballs, effectVersion(root))
  for (const check of contents(project, tarballs)) report(check)
  report(await types(root, project))
  for (const runtime of runtimes) {
    const { code, output } = await runtime.importAll(project)
    report({ name: `${runtime.name} imports ${project.modules.length} modules`, ok: code === 0, output })
  }
}
