/** The programs of this folder, each packed into one file, so that a process starts in a moment. */
import { build } from "esbuild"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"

const made = new Map<string, Promise<string>>()
let folder: string | undefined

const folderOf = (): string => {
  if (folder !== undefined) return folder
  const own = mkdtempSync(join(tmpdir(), "faults-"))
  process.once("exit", () => rmSync(own, { recursive: true, force: true }))
  folder = own
  return own
}

const pack = async (entry: string): Promise<string> => {
  const outfile = join(folderOf(), `${basename(entry, ".ts")}.mjs`)
  await build({
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    logLevel: "error",
    banner: { js: "import{createRequire as __r}from'node:module';const require=__r(import.meta.url);" },
    entryPoints: [entry],
    outfile
  })
  return outfile
}

/** The file of a program at a path, made once. */
export const packed = (entry: string): Promise<string> => {
  const known = made.get(entry)
  if (known !== undefined) return known
  const file = pack(entry)
  made.set(entry, file)
  return file
}

/** The file of a program of this folder, made once. */
export const program = (name: "stdioServer" | "httpProgram" | "hostileStdio"): Promise<string> =>
  packed(fileURLToPath(new URL(`${name}.ts`, import.meta.url)))
