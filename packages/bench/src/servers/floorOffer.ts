/** What the floor answers with: look up and call. Nothing is checked, nothing can be cancelled. */
import { setTimeout } from "node:timers/promises"
import { hello, question, resource } from "../texts.ts"
import { descriptions, fillerNames, info, layers, start, steps } from "../tools.ts"

export interface Params {
  readonly name?: string
  readonly uri?: string
  readonly arguments?: { readonly a?: number; readonly b?: number; readonly text?: string; readonly ms?: number }
  readonly inputResponses?: { readonly name?: Answer }
  readonly notifications?: { readonly resourceSubscriptions?: ReadonlyArray<string> }
  readonly _meta?: { readonly progressToken?: number; readonly "io.modelcontextprotocol/protocolVersion"?: string }
}

export interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Params
  readonly result?: Answer
}

interface Answer {
  readonly content?: { readonly name?: string }
}

/** What a handler may do while it runs. */
export interface Call {
  readonly notify: (message: object) => void
  /** Tells all that listen that a resource has changed. */
  readonly announce: (uri: string) => void
}

type Handle = (params: Params | undefined, call: Call) => object | Promise<object>

const number = { type: "number" }
const object = (properties: object, required: ReadonlyArray<string> = []) => ({ type: "object", properties, required })
const fillerInput = object({
  query: { type: "string", description: "What to look for" },
  limit: { type: "integer", description: "How many at most" },
  tags: { type: "array", items: { type: "string" }, description: "Only documents with all of these" },
  drafts: { type: "boolean", description: "Whether drafts count" }
}, ["query", "limit"])

const descriptors = [
  { name: "add", description: descriptions.add, inputSchema: object({ a: number, b: number }, ["a", "b"]) },
  { name: "echo", description: descriptions.echo, inputSchema: object({ text: { type: "string" } }, ["text"]) },
  { name: "progress", description: descriptions.progress, inputSchema: object({}) },
  ...fillerNames.map((name) => ({ name, description: descriptions.filler, inputSchema: fillerInput }))
]

const text = (value: unknown): object => ({ content: [{ type: "text", text: String(value) }] })

let asked = 0
const asking = new Map<number, (answer: Answer) => void>()

const ask: Handle = (params, { notify }) => {
  if (params?._meta?.["io.modelcontextprotocol/protocolVersion"] === "2026-07-28") {
    const { inputResponses } = params
    if (inputResponses !== undefined) return text(hello(inputResponses.name?.content?.name))
    return {
      resultType: "input_required",
      inputRequests: { name: { method: "elicitation/create", params: { mode: "form", ...question } } }
    }
  }
  const id = asked++
  const answered = new Promise<Answer>((resolve) => asking.set(id, resolve))
  notify({ jsonrpc: "2.0", id, method: "elicitation/create", params: { mode: "form", ...question } })
  return answered.then(({ content }) => text(hello(content?.name)))
}

/** Takes the answer to a question. */
export const answered = ({ id, result }: Message): void => {
  if (id === undefined || result === undefined) return
  asking.get(id)?.(result)
  asking.delete(id)
}

const tools = new Map<string, Handle>([
  ["add", (params) => text((params?.arguments?.a ?? 0) + (params?.arguments?.b ?? 0))],
  ["echo", (params) => text(params?.arguments?.text)],
  ["progress", (params, { notify }) => {
    const progressToken = params?._meta?.progressToken
    for (const progress of steps) {
      notify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress, total: 3 } })
    }
    return text("done")
  }],
  ...(start.extras ? extras() : [])
])

function extras(): ReadonlyArray<readonly [string, Handle]> {
  return [
    ["ask", ask],
    ["sleep", (params) => setTimeout(params?.arguments?.ms).then(() => text("done"))],
    ["touch", (_, { announce }) => {
      announce(resource.uri)
      return text("done")
    }]
  ]
}

const callTool: Handle = (params, call) => tools.get(params?.name ?? "")?.(params, call) ?? {}

const around = (inner: Handle): Handle => (params, call) => inner(params, call)

const resources = new Map<string, object>([[resource.uri, {
  uri: resource.uri,
  mimeType: resource.mimeType,
  text: resource.text
}]])

const methods = new Map<string, Handle>([
  ["initialize", () => ({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: info })],
  ["tools/list", () => ({ tools: descriptors })],
  ["tools/call", layers.reduce(around, callTool)],
  ["resources/read", (params) => ({ contents: [resources.get(params?.uri ?? "")] })],
  ["resources/subscribe", () => ({})],
  ["subscriptions/listen", () => ({})]
])

const unknown = { code: -32601, message: "Method not found" }

const reply = (id: number | undefined, result: object): string => JSON.stringify({ jsonrpc: "2.0", id, result })

/** The answer to a request, now or later. */
export const answer = ({ id, method = "", params }: Message, call: Call): string | Promise<string> => {
  const handle = methods.get(method)
  if (handle === undefined) return JSON.stringify({ jsonrpc: "2.0", id, error: unknown })
  const result = handle(params, call)
  return result instanceof Promise ? result.then((later) => reply(id, later)) : reply(id, result)
}
