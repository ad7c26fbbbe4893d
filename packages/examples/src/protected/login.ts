/**
 * The authorization server of the example. In life it is the one your company or your provider has; this one is for tests,
 * and lets everybody in who says yes.
 */
import { NodeHttpServer } from "@effect/platform-node"
import { TestAuthorizationServer } from "@mcpfx/testing"
import { Layer } from "effect"
import { createServer } from "node:http"

/** Serves a login page on a port of the loopback interface; 0 is a free one. */
export const layer = (port: number) =>
  TestAuthorizationServer.layerHttp({
    scopes: ["diary:read", "diary:write"],
    users: [{ id: "ada" }]
  }).pipe(Layer.provide(NodeHttpServer.layer(createServer, { port, host: "127.0.0.1" })))
