/** The server of the tasks suite, as a process. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { McpServer } from "@mcpfx/server"
import { Effect } from "effect"
import { info, registrations } from "./tasksRegistrations.ts"

McpServer.runStdio(registrations, info).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
