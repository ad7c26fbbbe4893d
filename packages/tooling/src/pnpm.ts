import { type Ended, exec, type ExecOptions } from "./exec.ts"

const version = "pnpm@12.20.0"

/** Runs the package manager of this repository, in the version it is pinned to. */
export const pnpm = (args: ReadonlyArray<string>, options: ExecOptions = {}): Promise<Ended> => {
  const env = { ...options.env, CI: "true", npm_config_update_notifier: "false" }
  const npm = process.env["npm_execpath"]
  return npm !== undefined && npm.endsWith("npm-cli.js")
    ? exec(process.execPath, [npm, "exec", "--yes", version, "--", ...args], { ...options, env })
    : exec("npx", ["--yes", version, ...args], { ...options, env })
}
