/** Who takes part, and the programs that are run: compiled once, so that no type is stripped while the clock runs. */
import { alone } from "@mcpfx/tooling/packed"
import { build, type BuildOptions } from "esbuild"
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"

export const contenders = ["floor", "mcpfx", "mcpfxNode", "sdk1", "sdk2", "effectAi", "fastmcp"] as const
export type Contender = (typeof contenders)[number]

export const titles: Readonly<Record<Contender, string>> = {
  floor: "floor",
  mcpfx: "mcpfx",
  mcpfxNode: "mcpfx, NodeListener",
  sdk1: "SDK v1",
  sdk2: "SDK v2",
  effectAi: "effect/ai",
  fastmcp: "FastMCP"
}

const folder = dirname(fileURLToPath(import.meta.url))

/** Another place for the programs, for runs that must not disturb each other. */
const elsewhere = (): string | undefined => process.env["MCPFX_BENCH_PROGRAMS"]

/** Where the programs are compiled to. */
export const out = (): string => elsewhere() ?? join(folder, "../dist")

type Kind = "servers" | "minimal" | "clients"

export const probe = (): string => join(out(), "probe.js")

/** A contender, or the compiled program of a server in another place. */
export type Served = Contender | { readonly file: string }

export const serverFile = (served: Served): string =>
  typeof served === "string" ? join(out(), "servers", `${served}.js`) : served.file
export const clientFile = (contender: Contender): string => join(out(), "clients", `${contender}.js`)
export const minimalFile = (contender: Contender): string => join(out(), "minimal", `${contender}.js`)
export const bundledFile = (contender: Contender): string => join(out(), "bundled", `${contender}.mjs`)

const sourceOf = (kind: Kind, contender: Contender): string => join(folder, kind, `${contender}.ts`)

/** The programs there are of a kind, of these contenders. */
const sources = (kind: Kind, of: ReadonlyArray<Contender>): Record<string, string> =>
  Object.fromEntries(
    of.filter((name) => existsSync(sourceOf(kind, name))).map((name) => [`${kind}/${name}`, sourceOf(kind, name)])
  )

/** Packages of the repository as they are published; in another place from their sources. */
const conditions = (): Array<string> => (elsewhere() === undefined ? ["mcpfx-dist"] : [])

/** How a program is compiled into one file that has all it imports. */
export const whole: BuildOptions = { ...alone, banner: {} }

/** How a program is compiled whose packages stay where they are installed. */
export const common: BuildOptions = { ...whole, packages: "external" }

/** Compiles the programs; what they import stays where it is installed, except that another place needs all of it. */
export const compile = async (of: ReadonlyArray<Contender> = contenders): Promise<void> => {
  mkdirSync(out(), { recursive: true })
  await build({
    ...elsewhere() === undefined ? common : alone,
    conditions: conditions(),
    entryPoints: {
      ...sources("servers", of),
      ...sources("minimal", of),
      ...sources("clients", of),
      probe: join(folder, "probe.ts")
    },
    outdir: out()
  })
}

export interface Packed {
  readonly gzipped: number
  readonly raw: number
}

const packed = new Map<Contender, Promise<Packed>>()

const pack = async (contender: Contender): Promise<Packed> => {
  const outfile = bundledFile(contender)
  await build({
    ...alone,
    conditions: conditions(),
    minify: true,
    // What some look for and do without.
    external: ["sury", "@valibot/to-json-schema"],
    entryPoints: [sourceOf("minimal", contender)],
    outfile
  })
  const bytes = readFileSync(outfile)
  return { raw: bytes.length, gzipped: gzipSync(bytes, { level: 9 }).length }
}

/** Packs a minimal server and all it imports into one file, once. */
export const bundle = (contender: Contender): Promise<Packed> => {
  const known = packed.get(contender) ?? pack(contender)
  packed.set(contender, known)
  return known
}
