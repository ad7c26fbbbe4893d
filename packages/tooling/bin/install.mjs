// Installs what the lockfile asks for, once per lockfile.
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

const pnpm = "pnpm@12.20.0"
const options = ["install", "--frozen-lockfile", "--ignore-scripts"]
const inputs = ["pnpm-lock.yaml", "pnpm-workspace.yaml"]
const patience = 10 * 60_000

const stampOf = (root) => join(root, "node_modules", ".mcpfx-installed")

const wanted = (root) => {
  const hash = createHash("sha256")
  for (const name of inputs) hash.update(readFileSync(join(root, name)))
  return hash.digest("hex")
}

/** True when the last install was made from this lockfile. */
export const isInstalled = (root) => {
  const stamp = stampOf(root)
  return existsSync(stamp) && readFileSync(stamp, "utf8") === wanted(root)
}

/** npm's own `exec` where npm started us, else `npx` from the path. */
const npx = () => {
  const npm = process.env.npm_execpath
  return npm !== undefined && npm.endsWith("npm-cli.js")
    ? { command: process.execPath, args: [npm, "exec", "--yes", pnpm, "--", ...options], shell: false }
    : { command: "npx", args: ["--yes", pnpm, ...options], shell: process.platform === "win32" }
}

const runInstall = (root) =>
  new Promise((settle) => {
    const { command, args, shell } = npx()
    const env = { ...process.env, CI: "true", npm_config_update_notifier: "false" }
    const child = spawn(command, args, { cwd: root, shell, env, stdio: ["ignore", "pipe", "pipe"] })
    const output = []
    child.stdout.on("data", (chunk) => output.push(chunk))
    child.stderr.on("data", (chunk) => output.push(chunk))
    child.on("error", (error) => settle({ code: 1, output: `${error.message}\n` }))
    child.on("close", (code) => settle({ code: code ?? 1, output: Buffer.concat(output).toString("utf8") }))
  })

const isAlive = (pid) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === "EPERM"
  }
}

/** True when the lock is of a process that is gone, or is too old to be believed. */
const isStale = (lock) => {
  try {
    const age = Date.now() - statSync(lock).mtimeMs
    const pid = Number(readFileSync(join(lock, "pid"), "utf8"))
    return age > patience || !isAlive(pid)
  } catch {
    // Its owner is between making the folder and writing its pid, or has just let go.
    return false
  }
}

/** Takes the lock folder, waiting for the process that holds it. */
const takeLock = async (lock) => {
  const start = Date.now()
  while (Date.now() - start < patience) {
    try {
      mkdirSync(lock)
      writeFileSync(join(lock, "pid"), String(process.pid))
      return
    } catch (error) {
      if (error.code !== "EEXIST") throw error
    }
    if (isStale(lock)) rmSync(lock, { recursive: true, force: true })
    await sleep(200)
  }
  throw new Error(`Another install holds ${lock} for more than ten minutes; remove it if that process is gone.`)
}

/** Installs, quietly unless it fails. Of several processes that start at once, one installs and the others wait. */
export const install = async (root) => {
  const lock = join(root, ".cache", "install.lock")
  mkdirSync(dirname(lock), { recursive: true })
  await takeLock(lock)
  try {
    if (isInstalled(root)) return
    process.stderr.write(`Installing dependencies (${pnpm})…\n`)
    const { code, output } = await runInstall(root)
    if (code !== 0) throw new Error(`${output}\nInstalling the dependencies failed (exit code ${code}).`)
    writeFileSync(stampOf(root), wanted(root))
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}
