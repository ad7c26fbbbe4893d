import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Sessions from "@mcpfx/session/Sessions"
import { Endpoint, type Rejected } from "@mcpfx/transport/Endpoint"
import { type Facts, noOutlet } from "@mcpfx/transport/Exchange"
import { Effect, Layer, Option } from "effect"
import { assemble } from "../../src/internal/assemble.ts"
import { connectionsOnly } from "../../src/internal/connectionsOnly.ts"

const options = { name: "small", version: "1.0.0" }
const small = assemble(Layer.empty, options, Sessions.layerConnected, connectionsOnly)

const facts: Facts = {
  transport: "http",
  connection: undefined,
  sessionId: "somebody's",
  protocolVersion: "2025-11-25",
  headers: undefined,
  principal: Option.none()
}

const envelope = {
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "x", version: "0" }
  }
}

describe("an endpoint that is reached over connections alone", () => {
  it.effect("refuses all that comes without one", () =>
    Effect.gen(function*() {
      const endpoint = yield* Endpoint
      const handled = (params?: JsonRpc.JsonObject) =>
        endpoint.handle({ facts, message: JsonRpc.request(1, "ping", params), outlet: noOutlet })
      const link = { id: "x", send: () => Effect.void, closed: Effect.never, agreed: () => Effect.void }
      const refused: ReadonlyArray<Effect.Effect<unknown, Rejected>> = [
        handled(),
        handled(envelope),
        endpoint.admitBatch([], facts),
        Effect.scoped(endpoint.attach(facts, link)),
        endpoint.verify?.(facts) ?? Effect.void,
        endpoint.terminate(facts)
      ]
      for (const effect of refused) assert.deepNestedInclude(yield* Effect.flip(effect), { "error.code": -32600 })
    }).pipe(Effect.provide(small)))
})
