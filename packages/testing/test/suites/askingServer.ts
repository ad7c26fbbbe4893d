/** The server of the asking suite, as a process. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { McpServer } from "@mcpfx/server"
import { Effect } from "effect"
import { info, registrations } from "./askingRegistrations.ts"

McpServer.runStdio(registrations, info).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
