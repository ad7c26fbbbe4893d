/** What a client sends on one revision, taken down on its way. */
import { McpClient, Negotiation } from "@mcpfx/client"
import type { Revision } from "@mcpfx/schema"
import { StreamableHttpClient } from "@mcpfx/transport"
import { Context, Effect, Fiber, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { Echo, Never, Sleep } from "./registrations.ts"

/** One HTTP request. */
export interface Recorded {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const bodyOf = (body: RequestInit["body"]): string =>
  typeof body === "string" ? body : body instanceof Uint8Array ? new TextDecoder().decode(body) : ""

/** A whole conversation: lists, calls, reads, a subscription, log level, progress, a cancellation. */
const converse = Effect.gen(function*() {
  const client = yield* McpClient.McpClient
  yield* client.tools
  yield* client.resources
  yield* client.prompts
  yield* client.ping
  yield* client.setLogLevel("debug")
  yield* Effect.scoped(client.subscribe({ uris: ["demo://a"], tools: true }))
  yield* client.call(Echo, { text: "héllo \u{1f600}" })
  yield* client.callTool("flood", { reports: 3, size: 3 }, { onProgress: () => Effect.void })
  yield* client.call(Sleep, { ms: 2 })
  yield* client.readResource("demo://a")
  yield* Effect.ignore(client.callTool("nothing"))
  const fiber = yield* Effect.forkChild(client.call(Never))
  yield* Effect.sleep(50)
  yield* Fiber.interrupt(fiber)
})

/** Records it against the server at `port`. */
export const record = Effect.fnUntraced(function*(port: number, version: Revision.Version) {
  const recorded: Array<Recorded> = []
  const tapped: typeof globalThis.fetch = (url, init) => {
    recorded.push({
      method: init?.method ?? "GET",
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: bodyOf(init?.body)
    })
    return fetch(url, init)
  }
  yield* converse.pipe(
    Effect.provide(
      McpClient.layer({ revisions: [version] }).pipe(
        Layer.provide(StreamableHttpClient.layer({ url: `http://127.0.0.1:${port}/mcp` })),
        Layer.provide(FetchHttpClient.layer),
        Layer.provide(Layer.succeed(FetchHttpClient.Fetch, tapped)),
        Layer.provide(Layer.succeedContext(Context.make(Negotiation.CurrentEraCache, Negotiation.makeEraCache())))
      )
    )
  )
  return recorded
})
