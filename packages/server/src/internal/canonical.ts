/** The one text of a JSON value, whatever the order of its members. */
import { isJsonObject } from "@mcpfx/schema/JsonRpc"

export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "null"
  const members = Object.keys(value).sort().flatMap((name) =>
    value[name] === undefined ? [] : [`${JSON.stringify(name)}:${canonical(value[name])}`]
  )
  return `{${members.join(",")}}`
}
