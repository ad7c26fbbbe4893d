/** Programs packed into one file each, so that a process starts in a moment. */
import { build, type BuildOptions } from "esbuild"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, parse } from "node:path"

/** How a program is packed with all that it imports. */
export const alone: BuildOptions = {
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node24",
  logLevel: "error",
  // What some packages expect of a module that was written for CommonJS.
  banner: { js: "import{createRequire as __r}from'node:module';const require=__r(import.meta.url);" }
}

const made = new Map<string, Promise<string>>()
let folder: string | undefined

/** Gone with this process. */
const folderOf = (): string => {
  if (folder !== undefined) return folder
  const own = mkdtempSync(join(tmpdir(), "packed-"))
  process.once("exit", () => rmSync(own, { recursive: true, force: true }))
  folder = own
  return own
}

const pack = async (entry: string): Promise<string> => {
  const outfile = join(mkdtempSync(join(folderOf(), "p-")), `${parse(entry).name}.mjs`)
  await build({ ...alone, entryPoints: [entry], outfile })
  return outfile
}

/** The file of a program whose source is at a path, made once in a process. */
export const packed = (entry: string): Promise<string> => {
  const known = made.get(entry)
  if (known !== undefined) return known
  const file = pack(entry)
  made.set(entry, file)
  return file
}
