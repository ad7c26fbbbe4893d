/** What clients do while something goes wrong. */
import type { Revision } from "@mcpfx/schema"
import { Effect, Stream } from "effect"
import type { Bed, Transport } from "./bed.ts"
import { watched } from "./tools.ts"

export interface Scenario {
  readonly name: string
  readonly transports: ReadonlyArray<Transport>
  readonly versions: ReadonlyArray<Revision.Version>
  /** Ends however it likes; what has to hold is that it ends. */
  readonly run: (bed: Bed, version: Revision.Version) => Effect.Effect<unknown, unknown>
}

const both: ReadonlyArray<Transport> = ["memory", "http"]
const eras = ["2025-11-25", "2026-07-28"] as const

const withClient = (
  use: (client: Effect.Success<ReturnType<Bed["client"]>>, bed: Bed) => Effect.Effect<unknown, unknown>
): Scenario["run"] =>
(bed, version) => Effect.scoped(Effect.flatMap(bed.client(version), (client) => use(client, bed)))

export const scenarios: ReadonlyArray<Scenario> = [
  { name: "handshake", transports: both, versions: eras, run: withClient((client) => client.server) },
  {
    name: "call with progress",
    transports: both,
    versions: eras,
    run: withClient((client) => client.callTool("report", {}, { onProgress: () => Effect.void }))
  },
  { name: "question", transports: both, versions: eras, run: withClient((client) => client.callTool("ask")) },
  { name: "list of pages", transports: both, versions: eras, run: withClient((client) => client.tools) },
  {
    name: "subscription",
    transports: both,
    versions: eras,
    run: withClient((client) =>
      Effect.scoped(Effect.gen(function*() {
        const { changes } = yield* client.subscribe({ uris: [watched] })
        yield* client.callTool("touch")
        yield* Effect.timeoutOption(Stream.runHead(changes), "1 minute")
      }))
    )
  },
  {
    name: "task",
    transports: both,
    versions: eras,
    run: withClient((client) => Effect.flatMap(client.callTask("job"), ({ wait }) => wait))
  },
  {
    name: "resumed stream",
    transports: ["http"],
    versions: ["2025-11-25"],
    run: withClient((client) => client.callTool("away"))
  },
  {
    name: "server that comes back",
    transports: ["http"],
    versions: eras,
    run: withClient((client, bed) =>
      Effect.gen(function*() {
        yield* client.callTool("add")
        yield* Effect.uninterruptible(bed.restart)
        yield* client.callTool("add")
      })
    )
  },
  {
    name: "drain",
    transports: both,
    versions: eras,
    run: withClient((client, bed) =>
      Effect.all([client.callTool("slow"), Effect.delay(bed.server.self.shutdown, "500 millis")], {
        concurrency: "unbounded"
      }).pipe(Effect.ensuring(bed.restart))
    )
  }
]
