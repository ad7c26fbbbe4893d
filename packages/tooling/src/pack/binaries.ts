/** Finds the run times that the registry packages hold: no install script runs, so the files are called where they lie. */
import * as Schema from "effect/Schema"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { readJson } from "../readJson.ts"

/** A run time as a registry package: the package that names its builds, and where the build for this system is. */
export interface Source {
  readonly name: string
  /** The build for one system, and the executable in it; `undefined` where there is none. */
  readonly build: (platform: string, arch: string) => { readonly pkg: string; readonly file: string } | undefined
}

const exe = (platform: string, file: string): string => (platform === "win32" ? `${file}.exe` : file)

const systems = new Set(["linux", "darwin", "win32"])
const processors = new Set(["x64", "arm64"])

const supported = (build: Source["build"]): Source["build"] => (platform, arch) =>
  systems.has(platform) && processors.has(arch) ? build(platform, arch) : undefined

export const bun: Source = {
  name: "bun",
  build: supported((platform, arch) => ({
    pkg: `@oven/bun-${platform === "win32" ? "windows" : platform}-${arch === "arm64" ? "aarch64" : arch}`,
    file: exe(platform, "bin/bun")
  }))
}

export const deno: Source = {
  name: "deno",
  build: supported((platform, arch) => ({
    pkg: `@deno/${platform}-${arch}${platform === "linux" ? "-glibc" : ""}`,
    file: exe(platform, "deno")
  }))
}

export const workerd: Source = {
  name: "workerd",
  build: supported((platform, arch) => {
    const os = platform === "win32" ? "windows" : platform
    return { pkg: `@cloudflare/workerd-${os}-${arch === "x64" ? "64" : arch}`, file: exe(platform, "bin/workerd") }
  })
}

const Manifest = Schema.Struct({ version: Schema.String })

/** Where the executable is, with its version, or why it is not there. */
export type Found =
  | { readonly file: string; readonly version: string }
  | { readonly absent: string }

/** Looks for the build that was installed for this system. */
export const find = (source: Source): Found => {
  const build = source.build(process.platform, process.arch)
  if (build === undefined) return { absent: `no build for ${process.platform}-${process.arch} in the registry` }
  try {
    // The build is a dependency of the package, not of this one.
    const manifest = createRequire(import.meta.url).resolve(`${source.name}/package.json`)
    const own = createRequire(manifest).resolve(`${build.pkg}/package.json`)
    return { file: join(dirname(own), build.file), version: readJson(own, Manifest).version }
  } catch {
    return { absent: `${build.pkg} is not installed` }
  }
}
