/** The one text of a JSON value, whatever the order of its members. */
import { isJsonObject } from "@mcpfx/schema/JsonRpc"

export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "null"
  const names = Object.keys(value)
  if (names.length > 1) names.sort()
  let members = ""
  for (const name of names) {
    const member = value[name]
    if (member !== undefined) members += `${members === "" ? "" : ","}${JSON.stringify(name)}:${canonical(member)}`
  }
  return `{${members}}`
}
