/** The programs of this folder, each packed into one file, so that a process starts in a moment. */
import { build } from "esbuild"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
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

const pack = async (name: string): Promise<string> => {
  const outfile = join(folderOf(), `${name}.mjs`)
  await build({
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    logLevel: "error",
    banner: { js: "import{createRequire as __r}from'node:module';const require=__r(import.meta.url);" },
    entryPoints: [fileURLToPath(new URL(`${name}.ts`, import.meta.url))],
    outfile
  })
  return outfile
}

/** The file of a program, made once. */
export const program = (name: "stdioServer" | "httpProgram" | "hostileStdio"): Promise<string> => {
  const known = made.get(name)
  if (known !== undefined) return known
  const file = pack(name)
  made.set(name, file)
  return file
}
