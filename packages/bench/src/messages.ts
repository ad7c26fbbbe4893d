/** The bytes that go to every contender. */

export type Version = "2025-11-25" | "2026-07-28"

const client = { name: "bench", version: "1.0.0" }

/** What a request of 2026-07-28 says about its sender. */
const envelope = JSON.stringify({
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": client,
  "io.modelcontextprotocol/clientCapabilities": {}
})

export const initialize: string = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: client }
})

export const initialized: string = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })

/** A kind of request; `body` writes one of them. */
export interface Template {
  readonly version: Version
  readonly method: string
  /** The tool that is called, where one is. */
  readonly tool?: string
  readonly body: (id: number) => string
}

const withMeta = (version: Version, token: number | undefined): string => {
  const own = token === undefined ? "" : `"progressToken":${token}`
  if (version === "2025-11-25") return own === "" ? "" : `,"_meta":{${own}}`
  return `,"_meta":{${envelope.slice(1, -1)}${own === "" ? "" : `,${own}`}}`
}

/** A call of `add`: small arguments, small answer. */
export const add = (version: Version): Template => ({
  version,
  method: "tools/call",
  tool: "add",
  body: (id) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"add","arguments":{"a":${id},"b":1}${
      withMeta(version, undefined)
    }}}`
})

/** A call of `progress`, by a client that wants to hear of it. */
export const progress = (version: Version): Template => ({
  version,
  method: "tools/call",
  tool: "progress",
  body: (id) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"progress","arguments":{}${
      withMeta(version, id)
    }}}`
})

export const list: Template = {
  version: "2025-11-25",
  method: "tools/list",
  body: (id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list","params":{}}`
}

const isObject = (u: unknown): u is Readonly<Record<string, unknown>> => typeof u === "object" && u !== null

const member = (u: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), u)

/** Throws unless these messages are what the request of this id is to be answered with, in this order. */
export const check = (template: Template, id: number, messages: ReadonlyArray<unknown>): void => {
  const answer = messages.at(-1)
  const wrong = (what: string) => new Error(`${what}: ${JSON.stringify(messages).slice(0, 600)}`)
  if (member(answer, "id") !== id || !isObject(member(answer, "result"))) throw wrong("no result under the id")
  if (member(answer, "result", "isError") === true) throw wrong("the tool failed")
  if (template === list || template.method === "tools/list") {
    const tools = member(answer, "result", "tools")
    if (!Array.isArray(tools) || tools.length !== 103) throw wrong("not 103 tools")
    return
  }
  // Some write the text of a text as JSON again.
  const text = member(answer, "result", "content", 0, "text")
  if (template.tool === "add" && String(text).replaceAll("\"", "") !== String(id + 1)) throw wrong("not the sum")
  const steps = messages.slice(0, -1).map((message) => member(message, "params", "progress"))
  if (template.tool === "progress" && steps.join() !== "1,2,3") throw wrong("not three steps")
}
