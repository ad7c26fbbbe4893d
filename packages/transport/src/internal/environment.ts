import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"

/**
 * What a child process inherits by default: enough to find programs, the home directory and temporary files. Everything
 * else may be a secret of another program.
 */
const inherited: ReadonlyArray<string> = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "TERM",
  "LANG",
  // Windows, in the spelling that its processes see
  "Path",
  "PATHEXT",
  "SystemRoot",
  "SYSTEMROOT",
  "SystemDrive",
  "SYSTEMDRIVE",
  "ComSpec",
  "COMSPEC",
  "windir",
  "HOMEDRIVE",
  "HOMEPATH",
  "USERPROFILE",
  "USERNAME",
  "APPDATA",
  "LOCALAPPDATA",
  "ProgramData",
  "ProgramFiles",
  "PROGRAMFILES",
  "PROCESSOR_ARCHITECTURE",
  "TEMP",
  "TMP"
]

/** The allowed variables of this process. The environment itself is read, whatever the program's own config comes from. */
export const allowed: Effect.Effect<Record<string, string>> = Effect.suspend(() => {
  const provider = ConfigProvider.fromEnv()
  return Effect.reduce(
    inherited,
    (): Record<string, string> => ({}),
    (env, name) =>
      Effect.map(Effect.orElseSucceed(provider.load([name]), () => undefined), (node) => {
        const value = node?.value
        // Shells export functions this way; they are code, not settings.
        return value === undefined || value.startsWith("()") ? env : { ...env, [name]: value }
      })
  )
})
