/** The two builds, each in a folder of its own where nothing changes while it is measured. */
import { linkInstalled } from "@mcpfx/tooling/linkInstalled"
import { build } from "esbuild"
import { cpSync, existsSync, mkdirSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { common } from "../contenders.ts"

const sources = join(dirname(fileURLToPath(import.meta.url)), "..")

export const programs = ["servers", "minimal"] as const
export type Program = (typeof programs)[number]

export interface Side {
  readonly name: "base" | "head"
  /** Its programs, those of this tree first: what is measured should differ in the libraries alone. */
  readonly files: Readonly<Record<Program, ReadonlyArray<string>>>
}

/** Where a tree has what its packages are made of; one before the code was joined has it with the declarations. */
const built = ["dist", "lib"]

/** Copies what a tree was built to. */
export const copyBuilt = (root: string, copy: string): void => {
  for (const pkg of readdirSync(join(root, "packages"))) {
    const [from, to] = [join(root, "packages", pkg), join(copy, "packages", pkg)]
    if (!existsSync(join(from, "package.json"))) continue
    mkdirSync(to, { recursive: true })
    cpSync(join(from, "package.json"), join(to, "package.json"))
    for (const name of pkg === "bench" ? [] : built.filter((name) => existsSync(join(from, name)))) {
      cpSync(join(from, name), join(to, name), { recursive: true })
    }
    linkInstalled(join(from, "node_modules"), join(to, "node_modules"), copy)
  }
}

/** Compiles the programs in `from` for the build in `folder`, from where they find its packages. */
const compile = async (from: string, folder: string, name: string): Promise<Record<Program, string>> => {
  const outdir = join(folder, "packages/bench/dist", name)
  await build({
    ...common,
    entryPoints: Object.fromEntries(programs.map((program) => [program, join(from, program, "mcpfx.ts")])),
    outdir
  })
  return { servers: join(outdir, "servers.js"), minimal: join(outdir, "minimal.js") }
}

export const makeHead = async (folder: string): Promise<Side> => {
  const { minimal, servers } = await compile(sources, folder, "head")
  return { name: "head", files: { servers: [servers], minimal: [minimal] } }
}

/** The programs of the base itself are for what those of this tree need and the base does not have yet. */
export const makeBase = async (folder: string): Promise<Side> => {
  const shared = await compile(sources, folder, "head")
  const own = await compile(join(folder, "packages/bench/src"), folder, "base")
  return {
    name: "base",
    files: { servers: [shared.servers, own.servers], minimal: [shared.minimal, own.minimal] }
  }
}
