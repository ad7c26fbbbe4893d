import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as McpClient from "effect/ai/McpClient"
import type { McpClientError } from "effect/ai/McpClientError"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as ChildProcess from "effect/process/ChildProcess"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type { Scope } from "effect/Scope"
import { byEffects } from "./byEffects.ts"
import { checkSum, drive, info, start } from "./drive.ts"

const protocol = McpProtocol.v2025_11_25

type Needed = HttpClient | ChildProcessSpawner | Scope

const transport: Effect.Effect<McpClient.Transport, McpClientError, Needed> = start.transport === "http"
  ? McpClient.http({ url: start.target, protocol })
  : McpClient.stdio({ protocol, command: ChildProcess.make(process.execPath, [start.target, "stdio"]) })

const tool = new McpSchema.Tool({ name: "add", inputSchema: { type: "object" } })

const program = Effect.gen(function*() {
  const client = yield* Effect.provideServiceEffect(McpClient.make(info), McpClient.Transport, transport)
  drive(
    byEffects((a) =>
      Effect.map(
        client.callTool({ tool, arguments: { a, b: 1 } }),
        ({ content: [block] }) => checkSum(a, block !== undefined && "text" in block ? block.text : undefined)
      )
    )
  )
  return yield* Effect.never
})

NodeRuntime.runMain(
  Effect.scoped(program).pipe(Effect.provide(Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici)))
)
