/** The JSON Schemas of the specification, as its conformance suite carries them, one per revision. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Version } from "../../src/Revision.ts"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonMap
export interface JsonMap {
  readonly [key: string]: Json
}

export const isMap = (u: unknown): u is JsonMap => typeof u === "object" && u !== null && !Array.isArray(u)

interface Checked {
  readonly valid: boolean
  readonly errors: ReadonlyArray<{ readonly instanceLocation: string; readonly error: string }>
}
interface CfWorker {
  readonly Validator: new(
    schema: object,
    draft: "7" | "2020-12",
    shortCircuit: boolean
  ) => { readonly validate: (value: unknown) => Checked }
}

const isCfWorker = (u: unknown): u is CfWorker => typeof u === "object" && u !== null && "Validator" in u

const loaded: unknown = createRequire(new URL("../../../session/package.json", import.meta.url))(
  "@cfworker/json-schema"
)
if (!isCfWorker(loaded)) throw new Error("@cfworker/json-schema is not what was expected")
const { Validator } = loaded

const source = readFileSync(
  new URL("../../../tooling/node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
  "utf8"
)

/** Where the object literal that starts at `start` ends. */
const literalEnd = (start: number): number => {
  let depth = 0
  for (let at = start; at < source.length; at++) {
    const char = source[at]
    if (char === "`" || char === "\"" || char === "'") {
      for (at++; source[at] !== char; at++) if (source[at] === "\\") at++
    } else if (char === "{") depth++
    else if (char === "}" && --depth === 0) return at + 1
  }
  throw new Error("unbalanced literal")
}

const literals = [
  ...source.matchAll(/\{\$schema:`https?:\/\/json-schema\.org\/[^`]*schema#?`,(?:definitions|\$defs):/g)
]
  .map(({ index }): JsonMap => {
    const value: unknown = new Function(`return ${source.slice(index, literalEnd(index))}`)()
    if (!isMap(value)) throw new Error("not a schema")
    return value
  })

/** What the validators are not asked about, each for a reason. */
const relaxed = (path: string, node: Json): Json => {
  if (Array.isArray(node)) return node.map((item) => relaxed(path, item))
  if (!isMap(node)) return node
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, value]): ReadonlyArray<[string, Json]> => {
      // Formats (uri, byte, uri-template) are annotations: both dialects leave asserting them to the validator.
      if (key === "format" && typeof value === "string") return []
      if (key === "description" && typeof value === "string") return []
      return [[key, relaxed(`${path}/${key}`, value)]]
    })
  )
}

const asNumber = (type: Json): Json => Array.isArray(type) ? type.map(asNumber) : type === "integer" ? "number" : type

const numbers = (node: Json): Json =>
  Array.isArray(node)
    ? node.map(numbers)
    : isMap(node)
    ? Object.fromEntries(
      Object.entries(node).map((
        [key, value]
      ) => [key, key === "type" && !isMap(value) ? asNumber(value) : numbers(value)])
    )
    : node

const corrections: Readonly<Record<string, (node: Json) => Json>> = {
  // The generator wrote `integer` where schema.ts says `number`: answers and bounds of forms may be fractions.
  ElicitResult: numbers,
  NumberSchema: numbers,
  // The generator lost `null`, and fractions, of JSON values.
  JSONValue: () => ({})
}

const definitionsOf = (schema: JsonMap): JsonMap => {
  const definitions = schema["definitions"] ?? schema["$defs"]
  if (!isMap(definitions)) throw new Error("no definitions")
  return Object.fromEntries(
    Object.entries(definitions).map(([name, node]) => [name, (corrections[name] ?? ((n) => n))(relaxed(name, node))])
  )
}

const without = (node: Json, ref: string): Json =>
  Array.isArray(node)
    ? node.filter((item) => !(isMap(item) && item["$ref"] === ref)).map((item) => without(item, ref))
    : isMap(node)
    ? Object.fromEntries(Object.entries(node).map(([key, value]) => [key, without(value, ref)]))
    : node

const dropMember = (node: Json | undefined, ...path: ReadonlyArray<string>): Json => {
  const [head, ...rest] = path
  if (!isMap(node) || head === undefined) throw new Error("no such member")
  return rest.length === 0
    ? Object.fromEntries(Object.entries(node).filter(([key]) => key !== head))
    : { ...node, [head]: dropMember(node[head], ...rest) }
}

/** The suite has no schema of 2024-11-05: it is that of 2025-03-26 without what came with it. */
const first = (second: JsonMap): JsonMap => {
  const definitions = without(second, "#/definitions/AudioContent")
  if (!isMap(definitions)) throw new Error("no definitions")
  return {
    ...definitions,
    ServerCapabilities: dropMember(definitions["ServerCapabilities"], "properties", "completions"),
    Tool: dropMember(definitions["Tool"], "properties", "annotations"),
    ProgressNotification: dropMember(
      definitions["ProgressNotification"],
      "properties",
      "params",
      "properties",
      "message"
    )
  }
}

const [b, c, d, e] = literals.map(definitionsOf)
if (b === undefined || c === undefined || d === undefined || e === undefined) throw new Error("a schema is missing")

/** The definitions of each revision. */
export const definitions: Readonly<Record<Version, JsonMap>> = {
  "2024-11-05": first(b),
  "2025-03-26": b,
  "2025-06-18": c,
  "2025-11-25": d,
  "2026-07-28": e
}

const root = (version: Version): "definitions" | "$defs" => version < "2025-11-25" ? "definitions" : "$defs"

const validators = new Map<string, { readonly validate: (value: unknown) => Checked }>()

/** The validator cannot point at a name that is half a character. */
const wellFormed = (value: unknown): unknown =>
  typeof value === "string"
    ? value.toWellFormed()
    : Array.isArray(value)
    ? value.map(wellFormed)
    : isMap(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]))
    : value

/** What the specification's schema has against `value` as a `name`; empty when nothing. */
export const faults = (version: Version, name: string, value: unknown): ReadonlyArray<string> => {
  const key = `${version} ${name}`
  let validator = validators.get(key)
  if (validator === undefined) {
    if (definitions[version][name] === undefined) throw new Error(`no ${name} on ${version}`)
    validator = new Validator(
      { $ref: `#/${root(version)}/${name}`, [root(version)]: definitions[version] },
      version < "2025-11-25" ? "7" : "2020-12",
      true
    )
    validators.set(key, validator)
  }
  return validator.validate(wellFormed(value)).errors.map(({ error, instanceLocation }) =>
    `${instanceLocation}: ${error}`
  )
}

export const has = (version: Version, name: string): boolean => definitions[version][name] !== undefined

/** Names of the definitions of each method's request and results, and of each notification. */
export const requestNames: Readonly<Record<string, readonly [request: string, ...results: ReadonlyArray<string>]>> = {
  initialize: ["InitializeRequest", "InitializeResult"],
  "server/discover": ["DiscoverRequest", "DiscoverResult"],
  ping: ["PingRequest", "EmptyResult"],
  "tools/list": ["ListToolsRequest", "ListToolsResult"],
  "tools/call": ["CallToolRequest", "CallToolResult", "CreateTaskResult", "InputRequiredResult"],
  "resources/list": ["ListResourcesRequest", "ListResourcesResult"],
  "resources/templates/list": ["ListResourceTemplatesRequest", "ListResourceTemplatesResult"],
  "resources/read": ["ReadResourceRequest", "ReadResourceResult", "InputRequiredResult"],
  "resources/subscribe": ["SubscribeRequest", "EmptyResult"],
  "resources/unsubscribe": ["UnsubscribeRequest", "EmptyResult"],
  "prompts/list": ["ListPromptsRequest", "ListPromptsResult"],
  "prompts/get": ["GetPromptRequest", "GetPromptResult", "InputRequiredResult"],
  "completion/complete": ["CompleteRequest", "CompleteResult"],
  "logging/setLevel": ["SetLevelRequest", "EmptyResult"],
  "subscriptions/listen": ["SubscriptionsListenRequest", "SubscriptionsListenResult"],
  "sampling/createMessage": ["CreateMessageRequest", "CreateMessageResult", "CreateTaskResult"],
  "roots/list": ["ListRootsRequest", "ListRootsResult"],
  "elicitation/create": ["ElicitRequest", "ElicitResult", "CreateTaskResult"],
  "tasks/get": ["GetTaskRequest", "GetTaskResult"],
  "tasks/result": ["GetTaskPayloadRequest", "GetTaskPayloadResult"],
  "tasks/list": ["ListTasksRequest", "ListTasksResult"],
  "tasks/cancel": ["CancelTaskRequest", "CancelTaskResult"]
}

export const notificationNames: Readonly<Record<string, string>> = {
  "notifications/initialized": "InitializedNotification",
  "notifications/cancelled": "CancelledNotification",
  "notifications/progress": "ProgressNotification",
  "notifications/message": "LoggingMessageNotification",
  "notifications/tools/list_changed": "ToolListChangedNotification",
  "notifications/prompts/list_changed": "PromptListChangedNotification",
  "notifications/resources/list_changed": "ResourceListChangedNotification",
  "notifications/resources/updated": "ResourceUpdatedNotification",
  "notifications/roots/list_changed": "RootsListChangedNotification",
  "notifications/elicitation/complete": "ElicitationCompleteNotification",
  "notifications/tasks/status": "TaskStatusNotification",
  "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification"
}
