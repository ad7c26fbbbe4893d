import { FastMCP } from "fastmcp"
import { createServer } from "node:net"
import { setTimeout } from "node:timers/promises"
import * as z from "zod"
import { hello, question, resource } from "../texts.ts"
import { descriptions, fillerNames, info, listening, start, steps } from "../tools.ts"

const silent = { debug: () => {}, error: () => {}, info: () => {}, log: () => {}, warn: () => {} }

const server = new FastMCP({ ...info, logger: silent })

server.addTool({
  name: "add",
  description: descriptions.add,
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => String(a + b)
})
server.addTool({
  name: "echo",
  description: descriptions.echo,
  parameters: z.object({ text: z.string() }),
  execute: async ({ text }) => text
})
server.addTool({
  name: "progress",
  description: descriptions.progress,
  execute: async (_, { reportProgress }) => {
    for (const progress of steps) await reportProgress({ progress, total: 3 })
    return "done"
  }
})

for (const name of fillerNames) {
  server.addTool({
    name,
    description: descriptions.filler,
    parameters: z.object({
      query: z.string().describe("What to look for"),
      limit: z.int().describe("How many at most"),
      tags: z.array(z.string()).optional().describe("Only documents with all of these"),
      drafts: z.boolean().optional().describe("Whether drafts count")
    }),
    execute: async ({ query }) => query
  })
}

/** The question, which may be written to. */
const asks = {
  mode: "form" as const,
  ...question,
  requestedSchema: { ...question.requestedSchema, required: ["name"] }
}

if (start.extras) {
  server.addTool({
    name: "ask",
    description: descriptions.ask,
    execute: async (_, { elicit }) => hello((await elicit(asks)).content?.["name"])
  })
  server.addTool({
    name: "sleep",
    description: descriptions.sleep,
    parameters: z.object({ ms: z.number() }),
    execute: async ({ ms }) => {
      await setTimeout(ms)
      return "done"
    }
  })
  server.addTool({
    name: "touch",
    description: descriptions.touch,
    execute: async () => {
      await server.sendResourceUpdated(resource.uri)
      return "done"
    }
  })
  const { mimeType, name, text, uri } = resource
  server.addResource({ name, uri, mimeType, load: async () => ({ text }) })
}

/** A port that is free; the server does not tell which one it took. */
const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer().on("error", reject).listen(0, "127.0.0.1", () => {
      const address = probe.address()
      probe.close(() => {
        if (typeof address === "object" && address !== null) resolve(address.port)
      })
    })
  })

if (start.transport === "http") {
  const port = await freePort()
  await server.start({
    transportType: "httpStream",
    httpStream: { port, host: "127.0.0.1", endpoint: "/mcp", enableJsonResponse: !start.stream }
  })
  listening(port)
} else {
  await server.start({ transportType: "stdio" })
}
