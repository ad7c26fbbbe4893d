/** Clients of the faulty servers. */
import { NodeServices } from "@effect/platform-node"
import { type ClientOptions, McpClient, Negotiation } from "@mcpfx/client"
import type { Revision } from "@mcpfx/schema"
import { StdioClient, StreamableHttpClient } from "@mcpfx/transport"
import { Context, Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { program } from "../../src/faults/programs.ts"

const built = <E>(layer: Layer.Layer<McpClient.McpClient, E>) =>
  Effect.map(Layer.build(layer), (context) => Context.get(context, McpClient.McpClient))

const fresh = Layer.sync(Negotiation.CurrentEraCache, () => Negotiation.makeEraCache())

/** A client of a server process. */
export const stdioClient = (
  version: Revision.Version,
  options: ClientOptions.ClientOptions = {},
  name: "stdioServer" | "hostileStdio" = "stdioServer",
  args: ReadonlyArray<string> = []
) =>
  Effect.flatMap(
    Effect.promise(() => program(name)),
    (file) =>
      built(
        McpClient.layer({ revisions: [version], ...options }).pipe(
          Layer.provide(StdioClient.layer({ command: [process.execPath, file, ...args] })),
          Layer.provide(NodeServices.layer),
          Layer.provide(fresh)
        )
      )
  )

/** A client of a server on the loopback interface. */
export const httpClient = (
  port: number,
  version: Revision.Version,
  options: ClientOptions.ClientOptions = {},
  http: Partial<StreamableHttpClient.Options> = {}
) =>
  built(
    McpClient.layer({ revisions: [version], ...options }).pipe(
      Layer.provide(StreamableHttpClient.layer({ url: `http://127.0.0.1:${port}/mcp`, ...http })),
      Layer.provide(FetchHttpClient.layer),
      Layer.provide(fresh)
    )
  )

/** Looks again and again until it is so, for five seconds at most. */
export const eventually = (what: string, look: Effect.Effect<boolean>): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (let tries = 0; tries < 250; tries++) {
      if (yield* look) return
      yield* Effect.sleep(20)
    }
    return yield* Effect.die(new Error(`never: ${what}`))
  })

/** Fails where it takes longer. */
export const within = (what: string, millis: number) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.timeoutOrElse(effect, {
    duration: millis,
    orElse: () => Effect.die(new Error(`${what} took more than ${millis} ms`))
  })

/** What keeps this process busy, by kind; taken outside of any timer, which would count itself. */
export const resources: Effect.Effect<Readonly<Record<string, number>>> = Effect.promise(() =>
  new Promise((resolve) =>
    setImmediate(() => {
      // Opened by whoever looks first.
      void [process.stdout.fd, process.stderr.fd]
      const counts: Record<string, number> = {}
      for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1
      resolve(counts)
    })
  )
)

/** Whether there is no more of any kind than before. */
export const noMore = (now: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>): boolean =>
  Object.entries(now).every(([kind, count]) => count <= (before[kind] ?? 0))
