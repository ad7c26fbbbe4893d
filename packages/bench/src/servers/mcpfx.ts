import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as McpServer from "@mcpfx/server/McpServer"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import { start } from "../tools.ts"
import { at, Listening, Routes } from "./mcpfxHttp.ts"
import { options, Registrations } from "./mcpfxOffer.ts"

const Http = HttpRouter.serve(Routes, { disableListenLog: true, disableLogger: true }).pipe(
  Layer.merge(Listening),
  Layer.provide(NodeHttpServer.layer(createServer, at))
)

if (start.transport === "http") NodeRuntime.runMain(Layer.launch(Http))
else NodeRuntime.runMain(Effect.provide(McpServer.runStdio(Registrations, options), NodeServices.layer))
