/** A server with version 1 of the TypeScript SDK whose one tool asks its client for everything there is to ask. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import * as z from "zod"
import * as Asks from "./asks.ts"

const server = new McpServer(Asks.info)

server.registerTool(Asks.tool, { inputSchema: { form: z.boolean() } }, async ({ form }) => {
  const { server: peer } = server
  const elicited = form
    ? await peer.elicitInput({
      message: Asks.question,
      requestedSchema: {
        type: "object",
        properties: { name: { type: "string" }, times: { type: "integer", minimum: 1, default: 1 } },
        required: ["name"]
      }
    })
    : undefined
  const { content, model } = await peer.createMessage({
    messages: [{ role: "user", content: { type: "text", text: Asks.question } }],
    maxTokens: 10
  })
  const { roots } = await peer.listRoots()
  const answers = { action: elicited?.action, content: elicited?.content, model, said: content, roots }
  return { content: [{ type: "text", text: JSON.stringify(answers) }] }
})

await server.connect(new StdioServerTransport())
