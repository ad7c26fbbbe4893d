/** A client of a scripted server. */
import { McpClient, Negotiation } from "@mcpfx/client"
import type { ClientOptions, McpClientError } from "@mcpfx/client"
import type { JsonRpc } from "@mcpfx/schema"
import { ScriptedServer, TestHttp } from "@mcpfx/testing"
import { ClientTransport, StreamableHttpClient } from "@mcpfx/transport"
import { Effect, type Fiber } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"

/** Each with verdicts of its own, unless the test shares them. */
export const clientOf = (
  server: Pick<ScriptedServer.ScriptedServer, "transport">,
  options: ClientOptions.ClientOptions = {},
  eras: Negotiation.EraCache = Negotiation.makeEraCache()
) =>
  McpClient.make(options).pipe(
    Effect.provideService(ClientTransport.ClientTransport, server.transport),
    Effect.provideService(Negotiation.CurrentEraCache, eras)
  )

type HttpHandler = (request: Request) => Response | Promise<Response>

/** A client over HTTP of a server that is a function. */
export const clientOver = Effect.fnUntraced(function*(
  handler: HttpHandler,
  options: ClientOptions.ClientOptions = {}
) {
  const transport = yield* Effect.provideService(
    StreamableHttpClient.make({ url: "http://localhost/mcp" }),
    HttpClient.HttpClient,
    TestHttp.clientOf(handler)
  )
  return yield* McpClient.make(options).pipe(
    Effect.provideService(ClientTransport.ClientTransport, transport),
    Effect.provideService(Negotiation.CurrentEraCache, Negotiation.makeEraCache())
  )
})

export const legacy = (script: ScriptedServer.Script = {}, capabilities = {}): ScriptedServer.Script => ({
  initialize: ScriptedServer.initialized("2025-11-25", capabilities),
  ping: ScriptedServer.result({}),
  ...script
})

export const modern = (script: ScriptedServer.Script = {}, capabilities = {}): ScriptedServer.Script => ({
  "server/discover": ScriptedServer.discovered(capabilities),
  ...script
})

/** A tool as a server lists it. */
export const tool = (name: string, more: JsonRpc.JsonObject = {}): JsonRpc.JsonObject => ({
  name,
  inputSchema: { type: "object" },
  ...more
})

export const namesOf = (listed: ReadonlyArray<{ readonly name: string }>): ReadonlyArray<string> =>
  listed.map(({ name }) => name)

/** Why something failed. */
export const reasonOf = <A, R>(effect: Effect.Effect<A, McpClientError.McpClientError, R>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)

/** A client of a server that answers every call with `answer`, and lists these tools. */
export const calling = (answer: JsonRpc.JsonObject, tools: ReadonlyArray<JsonRpc.JsonObject> = []) =>
  Effect.flatMap(
    ScriptedServer.make(
      legacy({ "tools/call": ScriptedServer.result(answer), "tools/list": ScriptedServer.result({ tools }) }, {
        tools: {}
      })
    ),
    (server) => clientOf(server)
  )

/** Lets everything that can go on without the clock do so. */
export const settle = Effect.repeat(Effect.yieldNow, { times: 50 })

/** Moves the clock, half a second at a time, until a fiber has ended; for a minute at most. */
export const joined = <A, E>(fiber: Fiber.Fiber<A, E>): Effect.Effect<A, E> =>
  Effect.gen(function*() {
    for (let steps = 0; steps < 120 && fiber.pollUnsafe() === undefined; steps++) {
      yield* settle
      yield* TestClock.adjust("500 millis")
    }
    return yield* fiber.pollUnsafe() ?? Effect.die(new Error("the fiber does not end"))
  })
