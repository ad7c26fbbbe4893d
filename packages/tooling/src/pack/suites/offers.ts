/** What the server of the suites offers. */
import { Prompt, Resource, Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Progress } from "@mcpfx/session"
import { Effect, Layer, Schema } from "effect"

export const Add = Tool.make("add", { input: { a: Schema.Finite, b: Schema.Finite }, output: { sum: Schema.Finite } })
export const Count = Tool.make("count", { input: { to: Schema.Int } })
export const Wait = Tool.make("wait")
export const Motd = Resource.make("suite://motd", { name: "motd", mimeType: "text/plain" })
export const User = Resource.template("suite://users/{id}", { name: "user", params: { id: Schema.Int } })
export const Review = Prompt.make("review", { arguments: { language: Schema.String } })

/** Registrations, and how many calls of `wait` have begun and were stopped. */
export const make = () => {
  const waits = { begun: 0, stopped: 0 }
  const registrations = Layer.mergeAll(
    McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b })),
    McpServer.tool(Count, ({ to }) =>
      Effect.gen(function*() {
        for (let at = 1; at <= to; at++) {
          yield* Progress.report({ progress: at, total: to })
          yield* Effect.sleep("5 millis")
        }
        return `counted to ${to}`
      })),
    McpServer.tool(Wait, () =>
      Effect.suspend(() => {
        waits.begun++
        return Effect.onInterrupt(Effect.never, () =>
          Effect.sync(() => {
            waits.stopped++
          }))
      })),
    McpServer.resource(Motd, "Be kind."),
    McpServer.template(User, ({ id }) => Effect.succeed(`user ${id}`)),
    McpServer.prompt(Review, ({ language }) => Effect.succeed(`Review this ${language} code.`), {
      complete: { language: ["python", "typescript"] }
    })
  )
  return { registrations, waits }
}

/** What {@link make} makes. */
export type Offers = ReturnType<typeof make>

/** How the server calls itself. */
export const info = { name: "suite", version: "1.0.0" }
