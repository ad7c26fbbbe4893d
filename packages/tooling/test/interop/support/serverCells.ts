/** Our client against a server of another make, in one cell. */
import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { ClientElicitation, ClientRoots, ClientSampling, McpClient, Negotiation } from "@mcpfx/client"
import { JsonRpc } from "@mcpfx/schema"
import type { Version } from "@mcpfx/schema/Revision"
import { ClientTransport, HttpSseClient, StdioClient, StreamableHttpClient } from "@mcpfx/transport"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import * as Offer from "../../../src/interop/offer.ts"
import type { Target } from "../../../src/interop/peerClient.ts"
import type { Wire } from "../../../src/interop/wire.ts"
import { cell, type Check } from "./cell.ts"
import { type Program, stdioTarget } from "./server.ts"
import type { Connected } from "./serverChecks.ts"

/** The same way, with every message written down. */
const tappedWay = (way: ClientTransport.Way, wire: Wire): ClientTransport.Way => ({
  ...way,
  connect: (endpoint) =>
    Effect.map(
      way.connect({
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
})

const tapped = (wire: Wire) =>
  Layer.effect(
    ClientTransport.ClientTransport,
    Effect.map(ClientTransport.ClientTransport, ({ fallback, ...way }) => ({
      ...tappedWay(way, wire),
      fallback: fallback && tappedWay(fallback, wire)
    }))
  )

/** Over HTTP+SSE a client that is told nothing has to find out that there is nothing else. */
const overSse = (url: string, told: boolean) =>
  Layer.effect(
    ClientTransport.ClientTransport,
    Effect.gen(function*() {
      const sse = yield* HttpSseClient.make({ url })
      return told ? sse : { ...yield* StreamableHttpClient.make({ url }), fallback: sse }
    })
  )

const transportTo = (target: Target, told: boolean) =>
  target.transport === "http"
    ? Layer.provide(
      target.sse === true ? overSse(target.url, told) : StreamableHttpClient.layer({ url: target.url }),
      NodeHttpClient.layerUndici
    )
    : Layer.provide(
      StdioClient.layer({ command: [target.command, ...target.args], cwd: target.cwd, env: target.env }),
      NodeServices.layer
    )

const Answers = Layer.mergeAll(
  ClientElicitation.layerForm(({ message }) =>
    Effect.succeed(
      message === Offer.whatSecret
        ? ClientElicitation.decline
        : ClientElicitation.accept({ name: Offer.answers.name })
    )
  ),
  ClientSampling.layer(() => Effect.succeed(ClientSampling.text(Offer.answers.text, Offer.answers.model))),
  ClientRoots.layer([{ uri: Offer.answers.root }])
)

const connect = async (target: Target, told: Version | undefined, wire: Wire): Promise<Connected> => {
  const scope = Effect.runSync(Scope.make())
  // A busy machine may need longer to start a program than a server is usually given to answer.
  const options = { probeTimeout: "25 seconds", ...(told === undefined ? {} : { revisions: [told] }) } as const
  const live = McpClient.layer(options).pipe(
    Layer.provide(Answers),
    Layer.provide(tapped(wire)),
    Layer.provide(transportTo(target, told !== undefined))
  )
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
  /** Over HTTP+SSE instead of Streamable HTTP. */
  readonly sse?: boolean
  readonly checks: ReadonlyArray<Check<Connected>>
}

export const serverCell = (
  { http, only, program, revision, sse = false, told, transport, ...rest }: ServerCell
): void =>
  cell({
    ...rest,
    revision,
    transport,
    how: told ? "told" : "by itself",
    connect: async (running) =>
      connect(
        transport === "stdio"
          ? await stdioTarget(program, running, only ? revision : undefined)
          : { transport, url: http.url(sse ? "/sse" : only ? `/${revision}` : "/mcp"), sse },
        told ? revision : undefined,
        running.wire
      ),
    close: ({ close }) => close()
  })
