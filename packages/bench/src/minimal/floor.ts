/** A stdio server with one tool and nothing else. */
interface Message {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly arguments?: { readonly name?: string } }
}

const tool = {
  name: "hello",
  description: "Greets somebody",
  inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
}

const methods = new Map<string, (params: Message["params"]) => object>([
  ["initialize", () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "hello", version: "1.0.0" }
  })],
  ["tools/list", () => ({ tools: [tool] })],
  ["tools/call", (params) => ({ content: [{ type: "text", text: `Hello, ${params?.arguments?.name}!` }] })]
])

let rest = ""
process.stdin.setEncoding("utf8")
process.stdin.on("data", (chunk: string) => {
  const lines = (rest + chunk).split("\n")
  rest = lines.pop() ?? ""
  for (const line of lines) {
    const { id, method, params }: Message = JSON.parse(line)
    if (id === undefined) continue
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: methods.get(method)?.(params) ?? {} })}\n`)
  }
})
