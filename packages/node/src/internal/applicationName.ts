/** The names that applications may have, which are names of folders too, on every system. */
import { TokenStoreError } from "@mcpfx/auth/TokenStore"
import * as Effect from "effect/Effect"

const longest = 100

/** Separators, what Windows takes for more than a name, and what cannot be seen. */
const forbidden = /[/\\:*?"<>|\p{C}\p{Zl}\p{Zp}]/u

/** Windows leaves these out at the end of a name; `.` and `..` are other folders everywhere. */
const edges = /^\s|[\s.]$/u

/** Devices of Windows, whatever follows a dot. */
const device = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

const fault = (name: string): string | undefined => {
  if (name === "") return "it is empty"
  if (name.length > longest) return `it is longer than ${longest} characters`
  if (forbidden.test(name)) return "it has a character that a folder's name cannot have"
  if (edges.test(name)) return "it begins with a space, or ends with a space or a dot"
  return device.test(name) ? "it is the name of a device" : undefined
}

/** The name, if credentials under it lie in a folder of their own below the settings of the user, and nowhere else. */
export const applicationName = (name = "mcpfx"): Effect.Effect<string, TokenStoreError> => {
  const why = fault(name)
  if (why === undefined) return Effect.succeed(name)
  const detail = `${JSON.stringify(name.slice(0, longest))} cannot be the name of an application: ${why}`
  return Effect.fail(new TokenStoreError({ operation: "write", detail }))
}
