import { build, type Metafile } from "esbuild"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import type { Check } from "./check.ts"
import type { Project } from "./project.ts"

/** Parts of `effect` that a small server has no use for. */
const foreign = /\/effect\/dist\/(?:ai|sql|cluster|cli)\/|\/node_modules\/jose\//

/** KiB of the whole program, compressed: more means that something came in with a barrel or an import. */
const budget = 275

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

/** Bundles the smallest example from the packed packages, and judges what is in it and how much. */
export const checkBundle = async (root: string, { folder }: Project): Promise<ReadonlyArray<Check>> => {
  copyFileSync(join(root, "packages/examples/src/hello.ts"), join(folder, "hello.ts"))
  const { metafile, outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: ["hello.ts"],
    outfile: "hello.js",
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
  const inputs = metafile.outputs["hello.js"]?.inputs ?? {}
  const found = strangers(inputs)
  const heavy = weights(inputs).map(([name, bytes]) => `  ${kib(bytes).padStart(10)} of ${name}, before compression\n`)
  return [
    {
      name: "hello, bundled, holds nothing of effect/ai, sql, cluster, cli and jose",
      ok: found.length === 0 && !text.includes("from\"redis\""),
      output: found.map((path) => `${path}\n`).join("")
    },
    {
      name: `hello, bundled, is ${kib(size)} compressed, at most ${budget} KiB`,
      ok: size > 0 && size <= budget * 1024,
      output: heavy.join("")
    }
  ]
}
