/**
 * A server with version 2 of the TypeScript SDK whose one tool asks its client for everything there is to ask: by rounds on
 * 2026-07-28, by requests before.
 */
import { inputRequired, inputResponse, McpServer } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import * as z from "zod"
import * as Asks from "./asks.ts"

const makeServer = (): McpServer => {
  const server = new McpServer(Asks.info)
  server.registerTool(Asks.tool, { inputSchema: z.object({ form: z.boolean() }) }, ({ form }, { mcpReq }) => {
    const elicited = inputResponse(mcpReq.inputResponses, "name")
    const sampled = inputResponse(mcpReq.inputResponses, "model")
    const listed = inputResponse(mcpReq.inputResponses, "roots")
    if (sampled.kind !== "sampling" || listed.kind !== "roots") {
      return inputRequired({
        inputRequests: {
          ...(form
            ? {
              name: inputRequired.elicit({
                message: Asks.question,
                requestedSchema: {
                  type: "object",
                  properties: { name: { type: "string" }, times: { type: "integer", minimum: 1, default: 1 } },
                  required: ["name"]
                }
              })
            }
            : {}),
          model: inputRequired.createMessage({
            messages: [{ role: "user", content: { type: "text", text: Asks.question } }],
            maxTokens: 10
          }),
          roots: inputRequired.listRoots()
        }
      })
    }
    const { content, model } = sampled.result
    const answers = {
      ...(elicited.kind === "elicit" ? { action: elicited.action, content: elicited.content } : {}),
      model,
      said: content,
      roots: listed.roots
    }
    return { content: [{ type: "text", text: JSON.stringify(answers) }] }
  })
  return server
}

serveStdio(() => makeServer())
