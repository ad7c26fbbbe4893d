/**
 * Client and server in one process, through the same text as on a wire: what works here works over stdio.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ClientTransport } from "./ClientTransport.ts"
import { Endpoint } from "./Endpoint.ts"
import * as Wire from "./internal/wire.ts"
import * as Limits from "./Limits.ts"
import type { Link } from "./Link.ts"
import { TransportClosed } from "./TransportError.ts"

const closedBy = (reason: string): TransportClosed => new TransportClosed({ reason })

const makeWire = (
  endpoint: Endpoint["Service"],
  limits: Limits.Limits,
  unreadable: Wire.WireOptions["unreadable"]
): Effect.Effect<Wire.Wire> =>
  Wire.make({ transport: "memory", endpoint, limits, maxOut: limits.clientMessageIn, unreadable })

/** Hands the texts of one side to the other until the first has no more. A long line comes in several texts. */
const carry = (from: Wire.Wire, to: Wire.Wire): Effect.Effect<void> =>
  Effect.suspend(() => {
    let begun = ""
    return Stream.runForEachArray(from.outbox.stream, (texts) => {
      to.outbox.cork()
      for (const text of texts) {
        const lines = text.split("\n")
        const rest = lines.pop() ?? ""
        for (const end of lines) {
          const line = begun === "" ? end : begun + end
          begun = ""
          if (line !== "") to.inbound.accept(line)
        }
        begun += rest
      }
      to.outbox.uncork()
      return to.unsettled ? to.settle : Effect.void
    })
  })

/**
 * Joins two endpoints: each link sends to the other's endpoint. Messages travel as text, in order, through bounded queues.
 * Closing the scope ends both links; what was sent before still arrives.
 *
 * @category connecting
 * @since 0.1.0
 */
export const pair: (
  client: Endpoint["Service"],
  server: Endpoint["Service"]
) => Effect.Effect<{ readonly client: Link; readonly server: Link }, never, Scope.Scope> = Effect.fnUntraced(
  function*(client, server) {
    const limits = yield* Limits.Limits
    const left = yield* makeWire(client, limits, () => {})
    const right = yield* makeWire(server, limits, "answer")
    const toServer = yield* Effect.forkScoped(carry(left, right))
    const toClient = yield* Effect.forkScoped(carry(right, left))
    yield* Effect.forkScoped(left.outbox.watch)
    yield* Effect.forkScoped(right.outbox.watch)
    // An end that one side finds by itself, such as a reader that stands still, is the end of both.
    yield* Effect.forkScoped(Effect.flatMap(left.closed, (reason) => Effect.sync(() => right.close(reason))))
    yield* Effect.forkScoped(Effect.flatMap(right.closed, (reason) => Effect.sync(() => left.close(reason))))
    yield* Effect.addFinalizer(() => {
      left.outbox.end()
      right.outbox.end()
      const delivered = Effect.timeoutOption(Fiber.awaitAll([toServer, toClient]), limits.drain)
      // A connection that has ended before has nothing more to deliver.
      return Effect.andThen(
        Effect.raceFirst(delivered, left.closed),
        Effect.sync(() => {
          left.close(closedBy("The connection was closed"))
          right.close(closedBy("The connection was closed"))
        })
      )
    })
    return { client: left.link, server: right.link }
  }
)

let made = 0

/** No two are the same server, so what is known of one by its name is not taken for the other. */
const nextTarget = (): string => `memory ${++made}`

/**
 * A transport whose every connection is served by `endpoint`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const transport = (endpoint: Endpoint["Service"]): ClientTransport["Service"] => ({
  kind: "memory",
  target: nextTarget(),
  connect: (client) => Effect.map(pair(client, endpoint), (links) => links.client)
})

/**
 * The transport to the endpoint in the context.
 *
 * **Example** (A client and a server without ports)
 *
 * ```ts
 * import { JsonRpc } from "@mcpfx/schema"
 * import { ClientTransport, Endpoint, Memory } from "@mcpfx/transport"
 * import { Deferred, Effect, Layer } from "effect"
 *
 * const nothing = { admitBatch: () => Effect.void, attach: () => Effect.void, terminate: () => Effect.void }
 * const server = Layer.succeed(Endpoint.Endpoint, {
 *   ...nothing,
 *   handle: ({ message, outlet }) => {
 *     if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.success(message.id, { pong: true }))
 *     return Effect.succeed({})
 *   }
 * })
 *
 * const program = Effect.gen(function*() {
 *   const transport = yield* ClientTransport.ClientTransport
 *   const answer = yield* Deferred.make<JsonRpc.Message>()
 *   const link = yield* transport.connect({
 *     ...nothing,
 *     handle: ({ message }) => Effect.as(Deferred.succeed(answer, message), {})
 *   })
 *   yield* link.send(JsonRpc.request(1, "ping"))
 *   return yield* Deferred.await(answer)
 * })
 *
 * const run = Effect.scoped(Effect.provide(program, Layer.provide(Memory.layer, server)))
 * await Effect.runPromise(run) // => { jsonrpc: "2.0", id: 1, result: { pong: true } }
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<ClientTransport, never, Endpoint> = Layer.effect(
  ClientTransport,
  Effect.map(Endpoint, transport)
)

/**
 * Both ends of a memory transport whose server comes later, or comes and goes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Memory {
  /** Connects to whoever serves at that time; `TransportClosed` where nobody does. */
  readonly transport: ClientTransport["Service"]
  /** Serves new connections while the scope is open, in the place of who served before; closing it ends its connections. */
  readonly serve: (endpoint: Endpoint["Service"]) => Effect.Effect<void, never, Scope.Scope>
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make: Effect.Effect<Memory> = Effect.sync(() => {
  const target = nextTarget()
  let served: { readonly endpoint: Endpoint["Service"]; readonly scope: Scope.Scope } | undefined = undefined
  return {
    transport: {
      kind: "memory",
      target,
      connect: Effect.fnUntraced(function*(client) {
        if (served === undefined) return yield* closedBy("Nobody serves")
        const connection = yield* Scope.fork(served.scope)
        yield* Effect.addFinalizer((exit) => Scope.close(connection, exit))
        const links = yield* Scope.provide(pair(client, served.endpoint), connection)
        return links.client
      })
    },
    serve: Effect.fnUntraced(function*(endpoint) {
      const scope = yield* Effect.scope
      const mine = { endpoint, scope }
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          served = mine
        }),
        () =>
          Effect.sync(() => {
            if (served === mine) served = undefined
          })
      )
    })
  }
})
