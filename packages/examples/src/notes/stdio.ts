/** The notes server over standard input and output: `node stdio.ts FOLDER`. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { McpServer } from "@mcpfx/server"
import { Effect, Layer } from "effect"
import { info, Notes } from "./server.ts"
import { NoteStore } from "./store.ts"

const folder = process.argv[2] ?? "notes"

McpServer.runStdio(Notes, info).pipe(
  Effect.provide(Layer.provideMerge(NoteStore.layer(folder), NodeServices.layer)),
  NodeRuntime.runMain
)
