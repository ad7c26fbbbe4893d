/**
 * A raw peer over any transport: it sends messages that a test writes, and expects what comes back.
 *
 * It knows nothing of the protocol, so that a test can send what no client would.
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Logging from "@mcpfx/schema/Logging"
import * as Meta from "@mcpfx/schema/Meta"
import type { ClientTransport } from "@mcpfx/transport/ClientTransport"
import type { Endpoint } from "@mcpfx/transport/Endpoint"
import type { Link } from "@mcpfx/transport/Link"
import * as Memory from "@mcpfx/transport/Memory"
import type { TransportError } from "@mcpfx/transport/TransportError"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Inbox } from "./internal/inbox.ts"
import { Unexpected } from "./TestError.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface TestPeer {
  readonly link: Link
  /** Sends one message as it is. Over HTTP it succeeds once the exchange is over, answer included. */
  readonly send: (message: JsonRpc.Message) => Effect.Effect<void, TransportError>
  /** Sends one message and does not wait: failures are lost, and show as what does not come. */
  readonly start: (message: JsonRpc.Message) => Effect.Effect<void>
  /** Sends a request and waits for the answer with its id; what comes before it stays for {@link TestPeer.take}. */
  readonly request: (
    id: JsonRpc.RequestId,
    method: string,
    params?: JsonRpc.JsonObject
  ) => Effect.Effect<JsonRpc.Response, TransportError | Unexpected>
  readonly notify: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<void, TransportError>
  /** The next message of the other side, in order. */
  readonly take: Effect.Effect<JsonRpc.Message>
  /** The next message that `wanted` accepts; others stay, in order. Fails when 1,000 others came first. */
  readonly expect: (
    what: string,
    wanted: (message: JsonRpc.Message) => boolean
  ) => Effect.Effect<JsonRpc.Message, Unexpected>
  /** The next request or notification of this method. */
  readonly expectMethod: (method: string) => Effect.Effect<JsonRpc.Request | JsonRpc.Notification, Unexpected>
  /** The answer to the request with this id. */
  readonly expectAnswer: (id: JsonRpc.RequestId) => Effect.Effect<JsonRpc.Response, Unexpected>
  /** Everything that has come and was not taken; it stays. */
  readonly pending: () => ReadonlyArray<JsonRpc.Message>
  /** Performs the handshake of a stateful revision and gives the server's answer. */
  readonly initialize: (
    version: string,
    capabilities?: JsonRpc.JsonObject
  ) => Effect.Effect<JsonRpc.Response, TransportError | Unexpected>
}

/**
 * A peer in the place of a client, over `transport`; its scope ends the connection.
 *
 * **Example** (A request with a string id)
 *
 * ```ts
 * import { McpServer } from "@mcpfx/server"
 * import { TestPeer } from "@mcpfx/testing"
 * import { Endpoint } from "@mcpfx/transport"
 * import { Effect, Layer } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const peer = yield* TestPeer.make(yield* Endpoint.Endpoint)
 *   return yield* peer.request("one", "ping")
 * })
 * const server = McpServer.layer(Layer.empty, { name: "test", version: "1.0.0" })
 * await Effect.runPromise(Effect.scoped(Effect.provide(program, server))) // => { jsonrpc: "2.0", id: "one", result: {} }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const connect = Effect.fnUntraced(function*(
  transport: ClientTransport["Service"]
): Effect.fn.Return<TestPeer, TransportError, Scope.Scope> {
  const inbox = new Inbox()
  const link = yield* transport.connect({
    handle: ({ message }) => {
      inbox.offer(message)
      return Effect.succeed({})
    },
    admitBatch: () => Effect.void,
    attach: () => Effect.void,
    terminate: () => Effect.void
  })
  return of(link, inbox, yield* Effect.scope)
})

/**
 * A peer linked in memory to a server's endpoint; its scope ends the connection.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (server: Endpoint["Service"]): Effect.Effect<TestPeer, never, Scope.Scope> =>
  Effect.orDie(connect(Memory.transport(server)))

const of = (link: Link, inbox: Inbox, scope: Scope.Scope): TestPeer => {
  const expectAnswer: TestPeer["expectAnswer"] = (id) =>
    Effect.flatMap(
      inbox.expect(
        `an answer to ${JSON.stringify(id)}`,
        (message) => JsonRpc.isResponse(message) && message.id === id
      ),
      (message) =>
        JsonRpc.isResponse(message)
          ? Effect.succeed(message)
          : Effect.fail(new Unexpected({ wanted: "an answer", got: [message] }))
    )

  /** Over HTTP sending lasts as long as the exchange; what was wanted may come long before. */
  const request: TestPeer["request"] = (id, method, params) =>
    Effect.raceFirst(
      expectAnswer(id),
      Effect.andThen(link.send(JsonRpc.request(id, method, params)), Effect.never)
    )

  const notify: TestPeer["notify"] = (method, params) => link.send(JsonRpc.notification(method, params))

  return {
    link,
    send: link.send,
    start: (message) =>
      Effect.asVoid(Effect.forkIn(Effect.ignore(link.send(message)), scope, { startImmediately: true })),
    request,
    notify,
    take: inbox.take,
    expect: inbox.expect,
    expectMethod: (method) =>
      Effect.flatMap(
        inbox.expect(method, (message) => "method" in message && message.method === method),
        (message) =>
          "method" in message
            ? Effect.succeed(message)
            : Effect.fail(new Unexpected({ wanted: method, got: [message] }))
      ),
    expectAnswer,
    pending: inbox.pending,
    initialize: Effect.fnUntraced(function*(version, capabilities = {}) {
      const answer = yield* request("initialize", "initialize", {
        protocolVersion: version,
        capabilities,
        clientInfo: { name: "test-peer", version: "0.0.0" }
      })
      if (!JsonRpc.isFailure(answer)) {
        const agreed = answer.result["protocolVersion"]
        yield* link.agreed({ version: typeof agreed === "string" ? agreed : version, era: "legacy" })
        yield* notify("notifications/initialized")
      }
      return answer
    })
  }
}

/**
 * What a request of 2026-07-28 says about its client.
 *
 * @category models
 * @since 0.1.0
 */
export interface Envelope {
  /** `2026-07-28` by default. */
  readonly version?: string | undefined
  readonly capabilities?: Capabilities.Client | undefined
  readonly logLevel?: Logging.Level | undefined
}

/**
 * Params with the envelope that every request of 2026-07-28 carries (META-07).
 *
 * **Example** (Listing tools without a handshake)
 *
 * ```ts
 * import { TestPeer } from "@mcpfx/testing"
 * import { Effect } from "effect"
 *
 * const list = (peer: TestPeer.TestPeer) => peer.request(1, "tools/list", TestPeer.modern())
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const modern = (
  params: JsonRpc.JsonObject = {},
  { capabilities = {}, logLevel, version = "2026-07-28" }: Envelope = {}
): JsonRpc.JsonObject =>
  Meta.merge(
    params,
    Meta.encodeEnvelope({
      protocolVersion: version,
      clientCapabilities: capabilities,
      clientInfo: { name: "test-peer", version: "0.0.0" },
      logLevel
    })
  )
