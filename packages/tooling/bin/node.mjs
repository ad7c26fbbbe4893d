// Finds the Node that runs the scripts.
import { existsSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"

const oldest = [22, 19]

const isRecent = (version) => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1])
}

/**
 * The Node that the lockfile pins for this system; where the registry has none for it (macOS, for one), the Node that
 * runs this script, if it is recent enough to run TypeScript by itself.
 */
export const pinnedNode = (root) => {
  const os = process.platform === "win32" ? "win" : process.platform
  const file = process.platform === "win32" ? "node.exe" : "node"
  const pinned = join(root, "node_modules", `node-${os}-${process.arch}`, "bin", file)
  if (existsSync(pinned)) return pinned
  if (isRecent(process.versions.node)) return process.execPath
  throw new Error(
    `This needs Node ${
      oldest.join(".")
    } or later, and there is no packaged one for ${process.platform}-${process.arch}.\n`
      + `This is Node ${process.versions.node}: install Node 24 (https://nodejs.org) and run the same command again.`
  )
}

/** The environment with that Node and the installed commands first on the path. */
export const withPath = (root, node) => {
  const key = Object.keys(process.env).find((name) => name.toLowerCase() === "path") ?? "PATH"
  const folders = [dirname(node), join(root, "node_modules", ".bin"), process.env[key] ?? ""]
  return { ...process.env, [key]: folders.join(delimiter) }
}
