/** The routes of mcpfx over HTTP, and the word of where they are. */
import * as McpServer from "@mcpfx/server/McpServer"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import { listening, start } from "../tools.ts"
import { options, Registrations } from "./mcpfxOffer.ts"

export const Routes = McpServer.layerHttp(Registrations, options)

export const Listening = Layer.effectDiscard(Effect.map(HttpServer.HttpServer, ({ address }) => {
  if ("port" in address) listening(address.port)
}))

export const at = { port: start.port, host: "127.0.0.1" }
