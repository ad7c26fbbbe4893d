/**
 * A scripted raw peer: sends what it is told, message by message or byte by byte of JSON, and expects what comes back.
 *
 * It knows nothing of the protocol, so a test can send what no client would.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { Endpoint } from "@mcpfx/transport/Endpoint"
import type { Link } from "@mcpfx/transport/Link"
import * as Memory from "@mcpfx/transport/Memory"
import type { TransportError } from "@mcpfx/transport/TransportError"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"

/**
 * What was expected did not come.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unexpected extends Schema.TaggedError<Unexpected>("@mcpfx/testing/Unexpected")("Unexpected", {
  wanted: Schema.String,
  got: Schema.Array(Schema.Unknown)
}) {}

/**
 * @category models
 * @since 0.1.0
 */
export interface TestPeer {
  readonly link: Link
  /** Sends one message as it is. */
  readonly send: (message: JsonRpc.Message) => Effect.Effect<void, TransportError>
  /** Sends a request and waits for the answer with its id; what comes before it stays for `take`. */
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
  /** Everything that has come and was not taken. */
  readonly pending: () => ReadonlyArray<JsonRpc.Message>
  /** Performs the handshake of a stateful revision and gives the server's answer. */
  readonly initialize: (
    version: string,
    capabilities?: JsonRpc.JsonObject
  ) => Effect.Effect<JsonRpc.Response, TransportError | Unexpected>
}

const mailbox = 100_000
const patience = 1000

/**
 * A peer linked in memory to a server's endpoint; its scope ends the connection.
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
export const make = Effect.fnUntraced(function*(
  server: Endpoint["Service"]
): Effect.fn.Return<TestPeer, never, Scope.Scope> {
  const inbox = yield* Effect.acquireRelease(Queue.dropping<JsonRpc.Message>(mailbox), Queue.shutdown)
  const kept: Array<JsonRpc.Message> = []
  const { client: link } = yield* Memory.pair({
    handle: ({ message }) => {
      Queue.offerUnsafe(inbox, message)
      return Effect.succeed({})
    },
    admitBatch: () => Effect.void,
    attach: () => Effect.void,
    terminate: () => Effect.void
  }, server)

  const take = Effect.suspend(() => {
    const first = kept.shift()
    return first === undefined ? Queue.take(inbox) : Effect.succeed(first)
  })

  const expect: TestPeer["expect"] = (what, wanted) =>
    Effect.gen(function*() {
      const at = kept.findIndex(wanted)
      const [there] = at < 0 ? [] : kept.splice(at, 1)
      if (there !== undefined) return there
      while (kept.length < patience) {
        const message = yield* Queue.take(inbox)
        if (wanted(message)) return message
        kept.push(message)
      }
      return yield* new Unexpected({ wanted: what, got: kept.slice(0, 10) })
    })

  const request: TestPeer["request"] = (id, method, params) =>
    Effect.gen(function*() {
      yield* link.send(JsonRpc.request(id, method, params))
      const message = yield* expect(
        `an answer to ${method}`,
        (message) => JsonRpc.isResponse(message) && message.id === id
      )
      if (JsonRpc.isResponse(message)) return message
      return yield* new Unexpected({ wanted: "a response", got: [message] })
    })

  const notify: TestPeer["notify"] = (method, params) => link.send(JsonRpc.notification(method, params))

  return {
    link,
    send: link.send,
    request,
    notify,
    take,
    expect,
    pending: () => {
      let poll = Queue.takeUnsafe(inbox)
      while (poll !== undefined && poll._tag === "Success") {
        kept.push(poll.value)
        poll = Queue.takeUnsafe(inbox)
      }
      return [...kept]
    },
    initialize: (version, capabilities = {}) =>
      Effect.tap(
        request("initialize", "initialize", {
          protocolVersion: version,
          capabilities,
          clientInfo: { name: "test-peer", version: "0.0.0" }
        }),
        notify("notifications/initialized")
      )
  }
})
