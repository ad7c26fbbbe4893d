/**
 * `npm run bench:weights`: what the parts of the minimal stdio server weigh in a bundle. A part weighs what the compressed
 * bundle is smaller by when it is taken out, so that what it has in common with others is not counted.
 *
 * Before them, the bare program beside this file: what Effect alone weighs.
 */
import { transform } from "esbuild"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { asked, flagsOf } from "../flags.ts"
import { format } from "../table.ts"
import { bundled } from "./bundled.ts"
import { partOf, parts } from "./parts.ts"

const folder = import.meta.dirname

const kib = (text: string): number => gzipSync(text, { level: 9 }).length / 1024

interface Module {
  readonly part: string
  readonly text: string
}

/** The modules of a bundle, each as short as it is in there: the bundler writes a line with its path before each. */
const modulesOf = async (bundle: string): Promise<ReadonlyArray<Module>> => {
  const [, ...pieces] = bundle.split(/^\/\/ ((?:node_modules|packages)\/\S+)$/m)
  const modules: Array<Module> = []
  for (let at = 0; at + 1 < pieces.length; at += 2) {
    const { code } = await transform(pieces[at + 1] ?? "", { minifyWhitespace: true })
    modules.push({ part: partOf(pieces[at] ?? ""), text: code })
  }
  return modules
}

const weigh = async (): Promise<void> => {
  const bare = kib(await bundled(join(folder, "bare.ts"), false))
  const small = join(folder, "../minimal/mcpfx.ts")
  const whole = kib(await bundled(small, false))
  const modules = await modulesOf(await bundled(small, true))
  const empty = parts.filter(({ name }) => modules.every(({ part }) => part !== name))
  if (empty.length > 0) throw new Error(`nothing in the bundle is ${empty.map(({ name }) => name).join(" or ")}`)
  const joined = (of: ReadonlyArray<Module>): number => kib(of.map(({ text }) => text).join(""))
  const all = joined(modules)
  const rows = parts
    .map(({ name }) => ({ name, weight: all - joined(modules.filter(({ part }) => part !== name)) }))
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ name, weight }) => [name, weight.toFixed(1)])
  const heads = [["a bare program of Effect", bare.toFixed(1)], ["the minimal stdio server", whole.toFixed(1)]]
  console.log(format([["part", "KiB"], ...heads, ...rows]))
}

asked(() => flagsOf({}))
await weigh()
