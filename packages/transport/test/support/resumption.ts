/** Clients that come back for the rest, in the hands of a test. */
import { assert } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Effect, Fiber, Queue } from "effect"
import * as EventStore from "../../src/EventStore.ts"
import type { Exchange } from "../../src/Exchange.ts"
import { attached, note, reading, scripted, serve, type Service } from "./http.ts"

export interface Seen {
  readonly id: string | undefined
  readonly retry: string | undefined
  readonly data: unknown
}

/** The events of a text, and no comments. */
export const eventsIn = (text: string): Array<Seen> =>
  text.split("\n\n").flatMap((block): Array<Seen> => {
    const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1]
    const data = field("data")
    if (data === undefined && field("id") === undefined && field("retry") === undefined) return []
    return [{
      id: field("id"),
      retry: field("retry"),
      data: data === undefined || data === "" ? data : JSON.parse(data)
    }]
  })

export const lastId = (events: ReadonlyArray<Seen>): string =>
  events.findLast(({ id }) => id !== undefined)?.id ?? assert.fail("no event has an id")

export const inSession = (version = "2025-11-25", session = "s1") => ({
  "mcp-session-id": session,
  "mcp-protocol-version": version
})

/** An endpoint whose sessions are all there, with its requests and streams kept for the test. */
export const resumable = Effect.fnUntraced(function*(
  store: EventStore.EventStore["Service"],
  overrides: Partial<Service> = {}
) {
  const exchanges = yield* Queue.unbounded<Exchange>()
  const links = yield* attached
  const server = yield* Effect.provideService(
    serve(scripted({
      handle: (exchange) => {
        if (JsonRpc.isRequest(exchange.message)) Queue.offerUnsafe(exchanges, exchange)
        return Effect.succeed({})
      },
      attach: links.attach,
      verify: () => Effect.void,
      ...overrides
    })),
    EventStore.EventStore,
    store
  )
  const post = (version?: string, session?: string, body: unknown = JsonRpc.request(1, "tools/call")) =>
    server.fetch({ body, headers: inSession(version, session) })
  const get = (lastEventId?: string, version?: string, session?: string) =>
    server.fetch({
      method: "GET",
      headers: { ...inSession(version, session), "last-event-id": lastEventId, accept: "text/event-stream" }
    })
  return { ...server, next: Queue.take(exchanges), link: links.next, post, get }
})

export const memory = Effect.provide(EventStore.layerMemory)

export const answer = (id: JsonRpc.RequestId = 1) => JsonRpc.success(id, { done: true })

/** Opens a stream that answers a request, and reads what it starts with. */
export const opened = Effect.fnUntraced(function*(
  server: Effect.Success<ReturnType<typeof resumable>>,
  version?: string,
  session?: string
) {
  const fiber = yield* Effect.forkChild(server.post(version, session))
  const { outlet } = yield* server.next
  yield* outlet.push(note(1))
  const response = yield* Fiber.join(fiber)
  const body = reading(response)
  const events = eventsIn((yield* body.next) ?? "")
  return { outlet, body, events, response }
})
