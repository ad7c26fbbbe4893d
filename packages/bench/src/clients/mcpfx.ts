import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as McpClient from "@mcpfx/client/McpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { byEffects } from "./byEffects.ts"
import { checkSum, drive, start } from "./drive.ts"

const Live = start.transport === "http"
  ? Layer.provide(McpClient.layerHttp({ url: start.target }), NodeHttpClient.layerUndici)
  : Layer.provide(
    McpClient.layerStdio({ command: [process.execPath, start.target, "stdio"] }),
    NodeServices.layer
  )

const program = Effect.gen(function*() {
  const client = yield* McpClient.McpClient
  yield* client.server
  drive(
    byEffects((a) =>
      Effect.map(
        client.callTool("add", { a, b: 1 }),
        ({ content: [block] }) => checkSum(a, block?.type === "text" ? block.text : undefined)
      )
    )
  )
  return yield* Effect.never
})

NodeRuntime.runMain(Effect.provide(program, Live))
