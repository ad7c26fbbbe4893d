import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { executable, hasResults } from "../docs/executable.ts"
import { fileNameOf, type Snippet, snippets } from "../docs/snippets.ts"
import { exec, execBin } from "../exec.ts"
import { isLibrary, placeOf } from "../house/layout.ts"
import { filesUnder, type SourceFile, sourceFiles } from "../sourceFiles.ts"
import { type Outcome, single, type Stage } from "./stage.ts"

const fileAt = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

const documents = (root: string): Array<SourceFile> => [
  ...(existsSync(join(root, "README.md"))
    ? [{ path: "README.md", text: readFileSync(join(root, "README.md"), "utf8") }]
    : []),
  ...filesUnder(root, "docs", (name) => name.endsWith(".md")),
  ...sourceFiles(root).filter(({ path }) => {
    const place = placeOf(path)
    return place !== undefined && isLibrary(place)
  })
]

const config = {
  extends: "../../../../tsconfig.base.json",
  include: ["*.ts"],
  compilerOptions: {
    composite: false,
    declaration: false,
    declarationMap: false,
    incremental: false,
    noEmit: true,
    noUnusedLocals: false,
    rewriteRelativeImportExtensions: false,
    types: ["node"]
  }
}

const check = async (root: string, folder: string, found: ReadonlyArray<Snippet>): Promise<Outcome> => {
  const run = join(folder, "run")
  mkdirSync(run)
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config))
  for (const snippet of found) writeFileSync(join(folder, fileNameOf(snippet)), snippet.code)
  const types = await execBin(root, "typescript", ["-p", folder])
  const executed = found.filter(hasResults).map((snippet) => {
    const file = join(run, fileNameOf(snippet))
    writeFileSync(file, executable(snippet, pathToFileURL(fileAt("../docs/expectEqual.ts")).href))
    return pathToFileURL(file).href
  })
  const ran = await exec(process.execPath, [fileAt("../docs/runAll.ts"), ...executed], { cwd: root })
  return single(types.code === 0 && ran.code === 0, types.output + ran.output)
}

/** Type-checks every `ts` block of the documents and doc comments, and runs those that state results. */
export const docs: Stage = {
  name: "docs",
  run: async ({ root }) => {
    const found = documents(root).flatMap(snippets)
    if (found.length === 0) return { passed: 0, failed: 0, output: "", leftOut: ["docs: there are no snippets"] }
    const home = join(root, "packages/tooling/tmp")
    mkdirSync(home, { recursive: true })
    const folder = mkdtempSync(join(home, "docs-"))
    try {
      return await check(root, folder, found)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
