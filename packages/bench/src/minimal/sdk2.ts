/** A stdio server with one tool and nothing else. */
import { McpServer } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import * as z from "zod"

serveStdio(() => {
  const server = new McpServer({ name: "hello", version: "1.0.0" })
  server.registerTool(
    "hello",
    { description: "Greets somebody", inputSchema: z.object({ name: z.string() }) },
    ({ name }) => ({ content: [{ type: "text", text: `Hello, ${name}!` }] })
  )
  return server
})
