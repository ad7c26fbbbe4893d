import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pnpm } from "../pnpm.ts"
import { publicModules, type Tarball } from "./tarball.ts"

/** A project outside the repository that uses the packed packages, as a user's would. */
export interface Project {
  readonly folder: string
  /** Every public module of every package. */
  readonly modules: ReadonlyArray<string>
}

const importAll = (modules: ReadonlyArray<string>): string =>
  `const modules = ${JSON.stringify(modules, undefined, 2)}
const failed = []
for (const name of modules) {
  try {
    await import(name)
  } catch (error) {
    failed.push(name)
    console.log(\`\${name}: \${error}\`)
  }
}
if (failed.length > 0) throw new Error(\`\${failed.length} of \${modules.length} modules cannot be imported\`)
`

const consumer = (modules: ReadonlyArray<string>): string =>
  modules.map((name, at) => `export * as M${at} from ${JSON.stringify(name)}\n`).join("")

const tsconfig = {
  compilerOptions: {
    target: "ES2024",
    lib: ["ES2024", "DOM", "DOM.Iterable"],
    module: "NodeNext",
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    // The declarations of these packages are what is checked; those of others are not ours to judge.
    skipLibCheck: true,
    types: []
  },
  files: ["consumer.ts"]
}

/**
 * Lays the project out and installs the packages in it. `peers` come in the versions the repository uses, everything
 * else as the packages themselves ask for it, with no hoisting: what a package forgot to declare is not found.
 */
export const makeProject = async (
  folder: string,
  tarballs: ReadonlyArray<Tarball>,
  peers: Readonly<Record<string, string>>
): Promise<Project> => {
  mkdirSync(folder, { recursive: true })
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const modules = tarballs.flatMap(publicModules)
  const files = Object.fromEntries(tarballs.map(({ filename, name }) => [name, `file:${filename}`]))
  write(
    "package.json",
    JSON.stringify({ name: "consumer", private: true, type: "module", dependencies: { ...files, ...peers } })
  )
  // JSON is YAML too. The overrides make the packages find each other, none of them being in the registry.
  write(
    "pnpm-workspace.yaml",
    JSON.stringify({ packages: ["."], overrides: files, hoist: false, autoInstallPeers: false })
  )
  write("importAll.mjs", importAll(modules))
  write("consumer.ts", consumer(modules))
  write("tsconfig.json", JSON.stringify(tsconfig))
  const args = ["install", "--ignore-scripts", "--prefer-offline", "--no-frozen-lockfile"]
  const { code, output } = await pnpm(args, { cwd: folder })
  if (code !== 0) throw new Error(`installing the packed packages failed:\n${output}`)
  return { folder, modules }
}
