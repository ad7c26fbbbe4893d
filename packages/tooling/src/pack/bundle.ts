import { build, type Metafile } from "esbuild"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import type { Check } from "./check.ts"
import type { Project } from "./project.ts"

/** Parts of `effect` that a small server has no use for. */
const foreign = /\/effect\/dist\/(?:ai|sql|cluster|cli)\/|\/node_modules\/jose\//

interface Program {
  readonly name: string
  /** Where it is in the repository. */
  readonly source: string
  /** KiB of the whole program, compressed: more means that something came in with a barrel or an import. */
  readonly budget: number
}

const programs: ReadonlyArray<Program> = [
  { name: "hello", source: "packages/examples/src/hello.ts", budget: 257 },
  { name: "small", source: "packages/bench/src/minimal/mcpfx.ts", budget: 103 }
]

const packageOf = (path: string): string => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? "the program"

/** Bytes that each package has in the output, most first. */
export const weights = (inputs: Metafile["outputs"][string]["inputs"]): ReadonlyArray<readonly [string, number]> => {
  const sums = new Map<string, number>()
  for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
    const name = packageOf(path)
    sums.set(name, (sums.get(name) ?? 0) + bytesInOutput)
  }
  return [...sums].toSorted(([, a], [, b]) => b - a)
}

/** Modules in the output that have no business there. */
export const strangers = (inputs: Metafile["outputs"][string]["inputs"]): Array<string> =>
  Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
    bytesInOutput > 0 && foreign.test(`/${path}`) ? [path] : []
  )

const kib = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KiB`

const check = async (
  root: string,
  folder: string,
  { budget, name, source }: Program
): Promise<ReadonlyArray<Check>> => {
  copyFileSync(join(root, source), join(folder, `${name}.ts`))
  const { metafile, outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: [`${name}.ts`],
    outfile: `${name}.js`,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    // The platform package names it as a peer for a module that is not used here.
    external: ["redis"],
    write: false,
    metafile: true,
    logLevel: "silent"
  })
  const text = outputFiles[0]?.text ?? ""
  const size = gzipSync(text, { level: 9 }).length
  const inputs = metafile.outputs[`${name}.js`]?.inputs ?? {}
  const found = strangers(inputs)
  const heavy = weights(inputs).map(([name, bytes]) => `  ${kib(bytes).padStart(10)} of ${name}, before compression\n`)
  return [
    {
      name: `${name}, bundled, holds nothing of effect/ai, sql, cluster, cli and jose`,
      ok: found.length === 0 && !text.includes("from\"redis\""),
      output: found.map((path) => `${path}\n`).join("")
    },
    {
      name: `${name}, bundled, is ${kib(size)} compressed, at most ${budget} KiB`,
      ok: size > 0 && size <= budget * 1024,
      output: heavy.join("")
    }
  ]
}

/** Bundles the smallest programs from the packed packages, and judges what is in them and how much. */
export const checkBundle = async (root: string, { folder }: Project): Promise<ReadonlyArray<Check>> =>
  (await Promise.all(programs.map((program) => check(root, folder, program)))).flat()
