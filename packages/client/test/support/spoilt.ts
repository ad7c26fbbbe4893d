/** Answers as careless servers give them. Run as a program it is such a server, over standard input and output. */
import { createInterface } from "node:readline"

const deep = `{"a":${"[".repeat(200)}${"]".repeat(200)}}`

const answers: ReadonlyMap<string, (id: number) => string> = new Map([
  ["both", (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{},"error":{"code":1,"message":"x"}}`],
  ["neither", (id) => `{"jsonrpc":"2.0","id":${id}}`],
  ["null", (id) => `{"jsonrpc":"2.0","id":${id},"result":null}`],
  ["a list", (id) => `{"jsonrpc":"2.0","id":${id},"result":[]}`],
  ["a text for an error", (id) => `{"jsonrpc":"2.0","id":${id},"error":"no such tool"}`],
  ["a word for a code", (id) => `{"jsonrpc":"2.0","id":${id},"error":{"code":"ENOENT","message":"x"}}`],
  ["deep", (id) => `{"jsonrpc":"2.0","id":${id},"result":${deep}}`],
  ["another shape", (id) => `{"jsonrpc":"2.0","id":${id},"result":{"content":"text"}}`]
])

export const spoilt = [...answers.keys()]

export interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly name: string }
}

/** What the server says to a message; nothing to a notification. */
export const answerTo = ({ id, method, params }: Message): string | undefined => {
  if (id === undefined) return undefined
  const result = (value: object) => JSON.stringify({ jsonrpc: "2.0", id, result: value })
  switch (method) {
    case "initialize":
      return result({
        protocolVersion: "2025-03-26",
        capabilities: { tools: {} },
        serverInfo: { name: "careless", version: "1" }
      })
    case "tools/call":
      return answers.get(params?.name ?? "")?.(id) ?? result({ content: [{ type: "text", text: "good" }] })
    default:
      return result({})
  }
}

if (process.argv[2] === "serve") {
  const isBatch = process.argv[3] === "batch"
  createInterface({ input: process.stdin }).on("line", (line) => {
    const message: Message = JSON.parse(line)
    const answer = answerTo(message)
    if (answer !== undefined) {
      process.stdout.write(isBatch && message.method === "tools/call" ? `[${answer}]\n` : `${answer}\n`)
    }
  })
}
