/** The programs whose starts are compared, as they are installed and as they are bundled. */
import { build } from "esbuild"
import { join } from "node:path"
import { common, out, whole } from "../contenders.ts"

const sources = join(import.meta.dirname, "..")

const programs = {
  "floor": "minimal/floor.ts",
  "floor, again": "minimal/floor.ts",
  "Effect alone": "starts/effect.ts",
  "mcpfx": "minimal/mcpfx.ts"
} as const

export type Way = "installed" | "bundled"

export interface Program {
  readonly name: string
  readonly way: Way
  readonly file: string
}

/** Compiles a program one way. */
export const compileStart = (source: string, way: Way, outfile: string): Promise<unknown> =>
  build({
    ...(way === "installed" ? common : { ...whole, minify: true }),
    conditions: ["mcpfx-dist"],
    entryPoints: [join(sources, source)],
    outfile
  })

/** Compiles each of them both ways. */
export const makePrograms = async (): Promise<ReadonlyArray<Program>> => {
  const made: Array<Program> = []
  for (const way of ["installed", "bundled"] as const) {
    for (const [name, source] of Object.entries(programs)) {
      const file = join(out(), "starts", way, `${name.replaceAll(/\W+/g, "-")}.js`)
      await compileStart(source, way, file)
      made.push({ name, way, file })
    }
  }
  return made
}
