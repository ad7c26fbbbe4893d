/** Tools that go wrong in every way there is, and a count of what became of their calls. */
import { Resource, Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Progress } from "@mcpfx/session"
import { Effect, Layer, Schema } from "effect"

/** What became of the calls of one server. */
export class Tally {
  started = 0
  interrupted = 0
  reports = 0
}

const Empty = {}

export const Echo = Tool.make("echo", { input: { text: Schema.String }, output: { text: Schema.String } })
export const Sleep = Tool.make("sleep", { input: { ms: Schema.Finite }, output: { ms: Schema.Finite } })
export const Never = Tool.make("never", { input: Empty })
/** Wide enough for a flood, and never a text that cannot be made. */
const Amount = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))

export const Flood = Tool.make("flood", { input: { reports: Amount, size: Amount } })
export const Defect = Tool.make("defect", { input: Empty })
export const Touch = Tool.make("touch", { input: Empty })
export const Die = Tool.make("die", { input: { signal: Schema.optionalKey(Schema.Literals(["SIGKILL"])) } })
export const Counts = Tool.make("counts", {
  input: Empty,
  output: {
    started: Schema.Int,
    interrupted: Schema.Int,
    reports: Schema.Int,
    heapMiB: Schema.Finite,
    /** Requests whose handlers run in the process. */
    inFlight: Schema.Int,
    /** What keeps the process busy. */
    resources: Schema.Array(Schema.String)
  }
})

const watched = "demo://a"

/** All of them, counted in `tally`. */
export const registrations = (tally = new Tally()) => {
  const counted = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.onInterrupt(
      Effect.suspend(() => {
        tally.started++
        return effect
      }),
      () => Effect.sync(() => void tally.interrupted++)
    )
  return Layer.mergeAll(
    McpServer.tool(Echo, ({ text }) => Effect.succeed({ text })),
    McpServer.tool(Sleep, ({ ms }) => counted(Effect.as(Effect.sleep(ms), { ms }))),
    McpServer.tool(Never, () => counted(Effect.never)),
    McpServer.tool(Flood, ({ reports, size }) =>
      counted(Effect.gen(function*() {
        const message = "x".repeat(size)
        for (let progress = 1; progress <= reports; progress++) {
          yield* Progress.report({ progress, message })
          tally.reports = progress
        }
        return "flooded"
      }))),
    McpServer.tool(Defect, () => Effect.die(new Error("secret in /etc/shadow"))),
    McpServer.tool(Touch, () =>
      Effect.gen(function*() {
        yield* McpServer.resourceUpdated(watched)
        yield* McpServer.listChanged("tools")
        return "touched"
      })),
    McpServer.tool(Die, ({ signal }) =>
      Effect.callback<string>(() => {
        process.stderr.write("these are my last words\n", () => {
          if (signal === undefined) process.exit(7)
          process.kill(process.pid, signal)
        })
      })),
    McpServer.tool(Counts, () =>
      Effect.map(McpServer.Health, ({ endpoints }) => ({
        started: tally.started,
        interrupted: tally.interrupted,
        reports: tally.reports,
        heapMiB: process.memoryUsage().heapUsed / 2 ** 20,
        inFlight: endpoints.reduce((sum, endpoint) => sum + endpoint.inFlight, 0),
        resources: process.getActiveResourcesInfo().toSorted()
      }))),
    McpServer.resource(Resource.make(watched, { name: "a", mimeType: "text/plain" }), Effect.succeed("A"))
  )
}
