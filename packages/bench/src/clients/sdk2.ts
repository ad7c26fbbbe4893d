import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { byPromises, checkSum, drive, info, start } from "./drive.ts"

const transport = start.transport === "http"
  ? new StreamableHTTPClientTransport(new URL(start.target))
  : new StdioClientTransport({ command: process.execPath, args: [start.target, "stdio"] })

const client = new Client(info)
await client.connect(transport)

drive(byPromises(async (a) => {
  const [block] = (await client.callTool({ name: "add", arguments: { a, b: 1 } })).content
  checkSum(a, block?.type === "text" ? block.text : undefined)
}))
