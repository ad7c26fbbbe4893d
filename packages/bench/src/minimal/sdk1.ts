/** A stdio server with one tool and nothing else. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import * as z from "zod"

const server = new McpServer({ name: "hello", version: "1.0.0" })

server.registerTool(
  "hello",
  { description: "Greets somebody", inputSchema: { name: z.string() } },
  ({ name }) => ({ content: [{ type: "text", text: `Hello, ${name}!` }] })
)

await server.connect(new StdioServerTransport())
