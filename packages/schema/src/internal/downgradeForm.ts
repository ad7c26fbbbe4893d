/** The forms of 2025-06-18: titles of choices as `enumNames`, no lists, defaults for booleans only (ELI-05, ELI-06). */
import { isJsonObject, type JsonObject } from "../JsonRpc.ts"
import { compose, member, omit, type Project, values } from "./project.ts"

const choices = (list: unknown): JsonObject => {
  const all = Array.isArray(list) ? list.filter(isJsonObject) : []
  return { enum: all.map((choice) => choice["const"]), enumNames: all.map((choice) => choice["title"]) }
}

/** One of several strings instead of several of them: that revision has no lists. */
const selection = (property: JsonObject): JsonObject => {
  const { description, items, title } = property
  const list = isJsonObject(items) ? items : {}
  return {
    type: "string",
    ...(title === undefined ? undefined : { title }),
    ...(description === undefined ? undefined : { description }),
    ...("anyOf" in list ? choices(list["anyOf"]) : { enum: list["enum"] })
  }
}

const noDefault: Project = omit("default")

const property: Project = (property) => {
  if (property["type"] === "array") return selection(property)
  if (property["type"] === "boolean") return property
  const plain = noDefault(property)
  return plain["oneOf"] === undefined ? plain : { ...omit("oneOf")(plain), ...choices(plain["oneOf"]) }
}

const form: Project = compose(
  omit("mode", "task"),
  member("requestedSchema", compose(omit("$schema"), values("properties", property)))
)

/** A page to visit becomes a question without fields that names it. */
const page = (params: JsonObject): JsonObject => ({
  ...omit("mode", "task", "url", "elicitationId")(params),
  message: `${String(params["message"])}\n${String(params["url"])}`,
  requestedSchema: { type: "object", properties: {} }
})

export const formOnly: Project = (params) => params["mode"] === "url" ? page(params) : form(params)

/** Lists of strings become one string. */
export const joinedValues: Project = member("content", (content) =>
  Object.values(content).some(Array.isArray)
    ? Object.fromEntries(
      Object.entries(content).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value])
    )
    : content)
