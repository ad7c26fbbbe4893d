import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { byPromises, checkSum, drive, info, start } from "./drive.ts"

const transport = start.transport === "http"
  ? new StreamableHTTPClientTransport(new URL(start.target))
  : new StdioClientTransport({ command: process.execPath, args: [start.target, "stdio"] })

const client = new Client(info)
// The class calls its session id optional in another way than its own interface does.
await client.connect(Object.assign(transport, { onclose: () => {}, onerror: () => {} }))

const textOf = (content: unknown): unknown => (Array.isArray(content) ? content[0]?.text : undefined)

drive(byPromises(async (a) => {
  const { content } = await client.callTool({ name: "add", arguments: { a, b: 1 } })
  checkSum(a, textOf(content))
}))
