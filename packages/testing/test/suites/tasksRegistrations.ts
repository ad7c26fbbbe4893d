/** What the server of the suite about tasks offers. */
import { Tool } from "@mcpfx/schema"
import { Input, McpServer, Tasks } from "@mcpfx/server"
import { Progress } from "@mcpfx/session"
import { Effect, Layer, Option, Schema } from "effect"

export class Empty extends Schema.TaggedError<Empty>()("Empty", { what: Schema.String }) {}

export const Brew = Tool.make("brew", {
  input: { cups: Schema.Int },
  output: { cups: Schema.Int },
  failure: Empty,
  task: "may"
})
export const Roast = Tool.make("roast", { task: "must" })
export const Taste = Tool.make("taste", { task: "may" })
export const Grind = Tool.make("grind", { input: { key: Schema.String }, task: "may" })
export const Ground = Tool.make("ground", { input: { key: Schema.String }, output: { stopped: Schema.Boolean } })
export const Blend = Tool.make("blend", { task: "may" })
export const Sip = Tool.make("sip")

/** The keys of what was interrupted. */
const stopped = new Set<string>()

const Name = Schema.Struct({ name: Schema.String })

export const registrations = Layer.mergeAll(
  McpServer.tool(Brew, ({ cups }) =>
    Effect.gen(function*() {
      if (cups === 0) return yield* new Empty({ what: "the pot" })
      for (let cup = 1; cup <= cups; cup++) {
        yield* Effect.sleep("20 millis")
        yield* Progress.report({ progress: cup, total: cups, message: `cup ${cup}` })
      }
      return { cups }
    }), { task: { pollInterval: "50 millis" } }),
  McpServer.tool(Roast, () => Effect.as(Effect.sleep("20 millis"), "roasted"), { task: { pollInterval: "50 millis" } }),
  McpServer.tool(Taste, () =>
    Effect.gen(function*() {
      const [first, second] = yield* Input.all([Input.elicit("first?", Name), Input.elicit("second?", Name)])
      const third = yield* Input.elicit("third?", Name)
      return [first.name, second.name, third.name].join(", ")
    }), { task: { pollInterval: "50 millis" } }),
  McpServer.tool(
    Grind,
    ({ key }) =>
      Effect.andThen(Progress.report({ progress: 1, message: "grinding" }), Effect.never).pipe(
        Effect.onInterrupt(() => Effect.sync(() => stopped.add(key)))
      ),
    { task: { pollInterval: "50 millis" } }
  ),
  McpServer.tool(Ground, ({ key }) => Effect.sync(() => ({ stopped: stopped.has(key) }))),
  McpServer.tool(Blend, () =>
    Effect.gen(function*() {
      const { name } = yield* Input.elicit("whose?", Name)
      yield* Tasks.detach
      yield* Effect.sleep("20 millis")
      return `${Option.isSome(yield* Tasks.id) ? "a task" : "a call"} for ${name}`
    }), { task: { start: "when-told", pollInterval: "50 millis" } }),
  McpServer.tool(Sip, () => Effect.succeed("sipped"))
)

export const info = { name: "tasks", version: "1.0.0" }
