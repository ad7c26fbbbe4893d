/** Who takes part, and the programs that are run: compiled once, so that no type is stripped while the clock runs. */
import { build, type BuildOptions } from "esbuild"
import { mkdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"

export const contenders = ["floor", "mcpfx", "sdk1", "sdk2", "effectAi"] as const
export type Contender = (typeof contenders)[number]

export const titles: Readonly<Record<Contender, string>> = {
  floor: "floor",
  mcpfx: "mcpfx",
  sdk1: "SDK v1",
  sdk2: "SDK v2",
  effectAi: "effect/ai"
}

const folder = dirname(fileURLToPath(import.meta.url))
const out = join(folder, "../dist")

export const probe = join(out, "probe.js")
export const serverFile = (contender: Contender): string => join(out, "servers", `${contender}.js`)
export const minimalFile = (contender: Contender): string => join(out, "minimal", `${contender}.js`)
export const bundledFile = (contender: Contender): string => join(out, "bundled", `${contender}.mjs`)

const sources = (kind: "servers" | "minimal"): Record<string, string> =>
  Object.fromEntries(contenders.map((name) => [`${kind}/${name}`, join(folder, kind, `${name}.ts`)]))

const common: BuildOptions = {
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node24",
  conditions: ["mcpfx-dist"],
  logLevel: "error"
}

/** Compiles the programs; what they import stays where it is installed. */
export const compile = async (): Promise<void> => {
  mkdirSync(out, { recursive: true })
  await build({
    ...common,
    packages: "external",
    entryPoints: { ...sources("servers"), ...sources("minimal"), probe: join(folder, "probe.ts") },
    outdir: out
  })
}

/** Packs a minimal server and all it imports into one file. */
export const bundle = async (contender: Contender): Promise<{ readonly gzipped: number; readonly raw: number }> => {
  const outfile = bundledFile(contender)
  await build({
    ...common,
    minify: true,
    // What some packages expect of a module that was written for CommonJS.
    banner: { js: "import{createRequire as __r}from'node:module';const require=__r(import.meta.url);" },
    entryPoints: [join(folder, "minimal", `${contender}.ts`)],
    outfile
  })
  const bytes = readFileSync(outfile)
  return { raw: bytes.length, gzipped: gzipSync(bytes, { level: 9 }).length }
}
