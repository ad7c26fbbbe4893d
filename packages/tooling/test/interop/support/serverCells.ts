/** Our client against a server of another make, in one cell. */
import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { McpClient, Negotiation } from "@mcpfx/client"
import { JsonRpc } from "@mcpfx/schema"
import type { Version } from "@mcpfx/schema/Revision"
import { ClientTransport, StdioClient, StreamableHttpClient } from "@mcpfx/transport"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import type { Target } from "../../../src/interop/peerClient.ts"
import type { Wire } from "../../../src/interop/wire.ts"
import { cell, type Check } from "./cell.ts"
import { type Program, stdioTarget } from "./server.ts"
import type { Connected } from "./serverChecks.ts"

/** The same transport, with every message written down. */
const tapped = (wire: Wire) =>
  Layer.effect(
    ClientTransport.ClientTransport,
    Effect.map(ClientTransport.ClientTransport, (transport) => ({
      ...transport,
      connect: (endpoint) =>
        Effect.map(
          transport.connect({
            ...endpoint,
            handle: (exchange) => {
              wire.received(JsonRpc.stringify(exchange.message))
              return endpoint.handle(exchange)
            }
          }),
          (link) => ({
            ...link,
            send: (message, options) => {
              wire.sent(JsonRpc.stringify(message))
              return Effect.tapError(link.send(message, options), (error) => Effect.sync(() => wire.received(error)))
            }
          })
        )
    }))
  )

const transportTo = (target: Target) =>
  target.transport === "http"
    ? Layer.provide(StreamableHttpClient.layer({ url: target.url }), NodeHttpClient.layerUndici)
    : Layer.provide(
      StdioClient.layer({ command: [target.command, ...target.args], cwd: target.cwd, env: target.env }),
      NodeServices.layer
    )

const connect = async (target: Target, told: Version | undefined, wire: Wire): Promise<Connected> => {
  const scope = Effect.runSync(Scope.make())
  // A busy machine may need longer to start a program than a server is usually given to answer.
  const options = { probeTimeout: "25 seconds", ...(told === undefined ? {} : { revisions: [told] }) } as const
  const live = McpClient.layer(options).pipe(Layer.provide(tapped(wire)), Layer.provide(transportTo(target)))
  const context = await Effect.runPromise(
    Layer.buildWithScope(live, scope).pipe(
      // No verdict of another cell may stand in for a probe.
      Effect.provideService(Negotiation.CurrentEraCache, Negotiation.makeEraCache())
    )
  )
  return {
    client: Context.get(context, McpClient.McpClient),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

export interface ServerCell {
  readonly suite: string
  readonly program: Program
  readonly revision: Version
  /** Whether the client is told the revision, or finds it by itself. */
  readonly told: boolean
  /** Whether the server has this revision alone; all otherwise. */
  readonly only: boolean
  readonly transport: "stdio" | "http"
  readonly http: { readonly url: (path: string) => string }
  readonly checks: ReadonlyArray<Check<Connected>>
}

export const serverCell = ({ http, only, program, revision, told, transport, ...rest }: ServerCell): void =>
  cell({
    ...rest,
    revision,
    transport,
    how: told ? "told" : "by itself",
    connect: (running) =>
      connect(
        transport === "stdio"
          ? stdioTarget(program, running, only ? revision : undefined)
          : { transport, url: http.url(only ? `/${revision}` : "/mcp") },
        told ? revision : undefined,
        running.wire
      ),
    close: ({ close }) => close()
  })
