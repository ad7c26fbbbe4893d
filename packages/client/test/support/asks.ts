/** A client with handlers, and a scripted server of any revision that asks it. */
import { McpClient, Negotiation } from "@mcpfx/client"
import type { ClientOptions } from "@mcpfx/client"
import { JsonRpc, type Revision, Revisions } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { ClientTransport } from "@mcpfx/transport"
import { Context, Effect, Layer } from "effect"

export const stateful = Revisions.all.filter(({ era }) => era === "legacy").map(({ version }) => version)

const everything = { tools: {}, prompts: {}, resources: {} }

/** A script for a server of this revision. */
export const speaking = (
  version: Revision.Version,
  script: ScriptedServer.Script = {}
): ScriptedServer.Script =>
  version === "2026-07-28"
    ? { "server/discover": ScriptedServer.discovered(everything), ...script }
    : { initialize: ScriptedServer.initialized(version, everything), ping: ScriptedServer.result({}), ...script }

/** A client of this server, with the layers of its handlers, until the scope closes. */
export const connected = (
  server: ScriptedServer.ScriptedServer,
  handlers: Layer.Layer<never>,
  options: ClientOptions.ClientOptions = {}
) =>
  Effect.map(
    Layer.build(
      McpClient.layer(options).pipe(
        Layer.provide(handlers),
        Layer.provide(Layer.mergeAll(
          Layer.succeed(ClientTransport.ClientTransport, server.transport),
          Layer.succeed(Negotiation.CurrentEraCache, Negotiation.makeEraCache())
        ))
      )
    ),
    (context) => Context.get(context, McpClient.McpClient)
  )

/** Asks the client by a request, and gives its answer as it is on the wire. */
export const ask = (
  server: ScriptedServer.ScriptedServer,
  method: string,
  params?: JsonRpc.JsonObject,
  id: JsonRpc.RequestId = "ask"
) =>
  Effect.gen(function*() {
    yield* server.send(JsonRpc.request(id, method, params))
    const answer = yield* server.expectMessage(
      "an answer",
      (message) => JsonRpc.isResponse(message) && message.id === id
    )
    if (!JsonRpc.isResponse(answer)) return yield* Effect.die("no answer")
    return JsonRpc.isFailure(answer) ? { error: answer.error } : { result: answer.result }
  })

/** What a client of this revision declares. */
export const declaredTo = (server: ScriptedServer.ScriptedServer): unknown => {
  for (const message of server.received()) {
    if (!JsonRpc.isRequest(message)) continue
    if (message.method === "initialize") return message.params?.["capabilities"]
    const meta = message.params?.["_meta"]
    if (JsonRpc.isJsonObject(meta)) return meta["io.modelcontextprotocol/clientCapabilities"]
  }
  return undefined
}

/** A result of 2026-07-28 that asks. */
export const asking = (inputRequests?: JsonRpc.JsonObject, requestState?: string): ScriptedServer.Reply =>
  ScriptedServer.result({
    resultType: "input_required",
    ...(inputRequests === undefined ? undefined : { inputRequests }),
    ...(requestState === undefined ? undefined : { requestState })
  })

/** A result of a tool. */
export const said = (text: string): ScriptedServer.Reply =>
  ScriptedServer.result({ resultType: "complete", content: [{ type: "text", text }] })

/** The params of the requests of this method, in order. */
export const sentTo = (server: ScriptedServer.ScriptedServer, method: string) =>
  server.received().flatMap((message) =>
    JsonRpc.isRequest(message) && message.method === method
      ? [{ id: message.id, params: withoutEnvelope(message.params ?? {}) }]
      : []
  )

const withoutEnvelope = ({ _meta, ...params }: JsonRpc.JsonObject): JsonRpc.JsonObject => params
