/** The bytes that go to every contender. */
import { longText, resource } from "./texts.ts"

export type Version = "2025-11-25" | "2026-07-28"

const client = { name: "bench", version: "1.0.0" }

/** What a client says it can do: nothing, or to answer questions. */
export type Abilities = "none" | "elicitation"

const capabilities = { none: {}, elicitation: { elicitation: { form: {} } } } as const

/** What a request of 2026-07-28 says about its sender, without the braces around it. */
const envelopeOf = (abilities: Abilities): string =>
  JSON.stringify({
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": client,
    "io.modelcontextprotocol/clientCapabilities": capabilities[abilities]
  }).slice(1, -1)

const envelopes: Readonly<Record<Abilities, string>> = {
  none: envelopeOf("none"),
  elicitation: envelopeOf("elicitation")
}

export const initializeAs = (abilities: Abilities): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: capabilities[abilities], clientInfo: client }
  })

export const initialize: string = initializeAs("none")

export const initialized: string = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })

/** A kind of request; `body` writes one of them. */
export interface Template {
  readonly version: Version
  readonly method: string
  /** The tool that is called or the resource that is read, where one is. */
  readonly name?: string
  readonly abilities: Abilities
  readonly body: (id: number) => string
}

const withMeta = (version: Version, abilities: Abilities, token: number | undefined): string => {
  const own = token === undefined ? "" : `"progressToken":${token}`
  if (version === "2025-11-25") return own === "" ? "" : `,"_meta":{${own}}`
  return `,"_meta":{${envelopes[abilities]}${own === "" ? "" : `,${own}`}}`
}

/** A request with these params, written as JSON without the braces around them. */
const written = (
  { abilities, method, version }: Omit<Template, "body">,
  id: number,
  params: string,
  token?: number
): string => {
  const meta = withMeta(version, abilities, token)
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${params}${params === "" ? meta.slice(1) : meta}}}`
}

interface Call {
  readonly version: Version
  readonly name: string
  readonly abilities?: Abilities
  /** The arguments as JSON. */
  readonly args: (id: number) => string
  readonly progress?: boolean
}

const call = ({ abilities = "none", args, name, progress, version }: Call): Template => {
  const kind = { version, method: "tools/call", name, abilities }
  return {
    ...kind,
    body: (id) => written(kind, id, `"name":"${name}","arguments":${args(id)}`, progress === true ? id : undefined)
  }
}

/** A call of `add`: small arguments, small answer. */
export const add = (version: Version): Template => call({ version, name: "add", args: (id) => `{"a":${id},"b":1}` })

/** A call of `progress`, by a client that wants to hear of it. */
export const progress = (version: Version): Template =>
  call({ version, name: "progress", args: () => "{}", progress: true })

/** A call of `sleep`. */
export const sleep = (milliseconds: number): Template =>
  call({ version: "2025-11-25", name: "sleep", args: () => `{"ms":${milliseconds}}` })

/** A call of `ask`, by a client that can be asked. */
export const ask = (version: Version): Template =>
  call({ version, name: "ask", abilities: "elicitation", args: () => "{}" })

/** A call of `touch`. */
export const touch = (version: Version): Template => call({ version, name: "touch", args: () => "{}" })

const longArguments = `{"text":${JSON.stringify(longText)}}`

/** A call of `echo` with 1 MiB. */
export const echo: Template = call({ version: "2025-11-25", name: "echo", args: () => longArguments })

export const list: Template = {
  version: "2025-11-25",
  method: "tools/list",
  abilities: "none",
  body: (id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list","params":{}}`
}

const ofResource = (version: Version, method: string, params: string, name?: string): Template => {
  const kind = { version, method, abilities: "none" as const, ...(name === undefined ? undefined : { name }) }
  return { ...kind, body: (id) => written(kind, id, params) }
}

const uri = `"uri":"${resource.uri}"`

/** Reads the resource. */
export const read: Template = ofResource("2025-11-25", "resources/read", uri, resource.uri)

/** Has a session hear of changes of the resource. */
export const subscribe: Template = ofResource("2025-11-25", "resources/subscribe", uri)

/** Opens a stream that hears of changes of the resource. */
export const listen: Template = ofResource(
  "2026-07-28",
  "subscriptions/listen",
  `"notifications":{"resourceSubscriptions":["${resource.uri}"]}`
)

/** What users answer when they are asked. */
export const name = "Ada"

const accepted = `{"action":"accept","content":{"name":"${name}"}}`

/** The answer to a question that came as a request. */
export const answer = (id: string | number): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${accepted}}`

/** The same call again, with answers to all that was asked. */
export const again = (
  template: Template,
  id: number,
  asked: { readonly keys: ReadonlyArray<string>; readonly state: string | undefined }
): string => {
  const answers = asked.keys.map((key) => `${JSON.stringify(key)}:${accepted}`).join()
  const state = asked.state === undefined ? "" : `,"requestState":${JSON.stringify(asked.state)}`
  return written(template, id, `"name":"${template.name}","arguments":{},"inputResponses":{${answers}}${state}`)
}
