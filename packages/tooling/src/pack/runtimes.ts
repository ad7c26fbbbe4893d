import { copyFileSync, mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Ended, exec } from "../exec.ts"
import * as Binaries from "./binaries.ts"
import type { Check } from "./check.ts"
import type { Project } from "./project.ts"
import { runInWorkerd } from "./workerd.ts"

/** A run time that has to use the packed packages as well as Node does. */
export interface Runtime {
  readonly name: string
  readonly checks: (project: Project) => Promise<ReadonlyArray<Check>>
}

/** One that is not on this machine, and why. */
export interface Absent {
  readonly name: string
  readonly absent: string
}

const suites = fileURLToPath(new URL("suites", import.meta.url))

/** Puts the programs of the suites into the project, so that they import what is installed there. */
export const copySuites = ({ folder }: Project): void => {
  mkdirSync(join(folder, "suites"), { recursive: true })
  for (const name of readdirSync(suites)) copyFileSync(join(suites, name), join(folder, "suites", name))
}

/** How the suites ended: the name tells how many cases there were, the output of those that failed what is wrong. */
const suitesOf = (name: string, { code, output }: Ended): Check => {
  const cases = output.split("\n").filter((line) => line.startsWith("ok ")).length
  return {
    name: `${name} passes the memory and HTTP suites (${cases} cases)`,
    ok: code === 0 && cases > 0,
    output: output.split("\n").filter((line) => !line.startsWith("ok ")).join("\n")
  }
}

/** A run time with a command line; `args` come before the file to run. */
const onCommandLine = (
  name: string,
  command: string,
  args: ReadonlyArray<string>,
  env: (project: Project) => Readonly<Record<string, string>> = () => ({})
): Runtime => {
  const run = (project: Project, file: string) =>
    exec(command, [...args, file], { cwd: project.folder, env: { NO_COLOR: "1", ...env(project) }, timeout: 60_000 })
  return {
    name,
    checks: async (project) => {
      const imported = await run(project, "importAll.mjs")
      return [
        { name: `${name} imports ${project.modules.length} modules`, ok: imported.code === 0, output: imported.output },
        suitesOf(name, await run(project, "suites/main.ts"))
      ]
    }
  }
}

const node = onCommandLine(`node ${process.versions.node}`, process.execPath, [])

const fromRegistry = (source: Binaries.Source, make: (name: string, file: string) => Runtime): Runtime | Absent => {
  const found = Binaries.find(source)
  return "absent" in found ? { name: source.name, ...found } : make(`${source.name} ${found.version}`, found.file)
}

const denoArgs = ["run", "--node-modules-dir=manual", "--no-remote", "--allow-all"]

/** All of them, in the order they are told of. */
export const runtimes = (): ReadonlyArray<Runtime | Absent> => [
  node,
  fromRegistry(Binaries.bun, (name, file) => onCommandLine(name, file, [])),
  fromRegistry(Binaries.deno, (name, file) =>
    onCommandLine(name, file, denoArgs, ({ folder }) => ({
      DENO_DIR: join(folder, ".deno"),
      DENO_NO_UPDATE_CHECK: "1"
    }))),
  fromRegistry(Binaries.workerd, (name, file) => ({
    name,
    checks: async (project) => [suitesOf(name, await runInWorkerd(file, project))]
  }))
]
