/** Which programs open a page on a system, in the order they are tried. Pure. */
import * as Result from "effect/Result"
import { CannotOpen } from "../LoginError.ts"

export interface Opener {
  readonly program: string
  readonly args: ReadonlyArray<string>
}

export type Environment = Readonly<Record<string, string | undefined>>

const isSet = (value: string | undefined): value is string => value !== undefined && value !== ""

const says = (value: string | undefined): boolean => isSet(value) && !/^(?:0|false|no)$/i.test(value)

const headless = (detail: string) => Result.fail(new CannotOpen({ reason: "headless", detail }))

/** Somebody at another machine sees nothing of what opens on the screen of this one. */
const isRemoteShell = (env: Environment): boolean => isSet(env["SSH_CONNECTION"]) || isSet(env["SSH_TTY"])

/** No part of the address is looked at by `cmd`, which would take `&` and `%` for its own. */
const windows = (href: string, program: string): Opener => ({
  program,
  args: ["url.dll,FileProtocolHandler", href]
})

/**
 * A program named by `BROWSER`, such as the one that editors put into containers to reach the screen of the person. One with
 * arguments would need a shell.
 */
const named = (env: Environment, href: string): ReadonlyArray<Opener> => {
  const program = env["BROWSER"]?.split(":")[0]
  return isSet(program) && !/[\s%"'$]/.test(program) ? [{ program, args: [href] }] : []
}

const onUnix = (env: Environment, href: string): Result.Result<ReadonlyArray<Opener>, CannotOpen> => {
  const args = [href]
  const wsl = isSet(env["WSL_DISTRO_NAME"])
  const found: ReadonlyArray<Opener> = [
    ...(wsl ? [{ program: "wslview", args }] : []),
    ...(isSet(env["DISPLAY"]) || isSet(env["WAYLAND_DISPLAY"]) ? [{ program: "xdg-open", args }] : []),
    ...named(env, href),
    ...(wsl ? [windows(href, "/mnt/c/Windows/System32/rundll32.exe")] : []),
    ...(isSet(env["TERMUX_VERSION"]) ? [{ program: "termux-open-url", args }] : [])
  ]
  return found.length === 0 ? headless("neither DISPLAY nor WAYLAND_DISPLAY is set") : Result.succeed(found)
}

/** The programs to try until one of them does it; `href` is an address in its normal form, so it begins with its scheme. */
export const openers = (
  platform: string,
  env: Environment,
  href: string
): Result.Result<ReadonlyArray<Opener>, CannotOpen> => {
  if (says(env["CI"])) return headless("this is a run of CI")
  if (platform !== "win32" && platform !== "darwin") return onUnix(env, href)
  if (isRemoteShell(env)) return headless("this is a shell on another machine")
  if (platform === "darwin") return Result.succeed([{ program: "/usr/bin/open", args: [href] }])
  return Result.succeed([windows(href, `${env["SystemRoot"] ?? "C:\\Windows"}\\System32\\rundll32.exe`)])
}
