/** A server of version 1 of the TypeScript SDK whose tools run as tasks, over standard streams. */
import {
  InMemoryTaskMessageQueue,
  InMemoryTaskStore
} from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import * as z from "zod"

const server = new McpServer({ name: "sdk1-tasks", version: "1.0.0" }, {
  capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
  taskStore: new InMemoryTaskStore(),
  taskMessageQueue: new InMemoryTaskMessageQueue()
})

server.experimental.tasks.registerToolTask("work", {
  inputSchema: { millis: z.number(), fails: z.boolean().optional() },
  execution: { taskSupport: "required" }
}, {
  createTask: async ({ fails, millis }, { taskRequestedTtl, taskStore }) => {
    const task = await taskStore.createTask({ ttl: taskRequestedTtl ?? 60_000, pollInterval: 50 })
    setTimeout(() => {
      const content = [{ type: "text" as const, text: fails === true ? "failed" : `slept ${millis}` }]
      void taskStore.storeTaskResult(
        task.taskId,
        fails === true ? "failed" : "completed",
        { content, isError: fails === true }
      ).catch(() => {})
    }, millis)
    return { task }
  },
  getTask: (_, { taskId, taskStore }) => taskStore.getTask(taskId),
  getTaskResult: async (_, { taskId, taskStore }) => CallToolResultSchema.parse(await taskStore.getTaskResult(taskId))
})

await server.connect(new StdioServerTransport())
