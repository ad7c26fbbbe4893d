/** The tools of the scenarios; what they wait for may go wrong, too. */
import { Resource, Tool } from "@mcpfx/schema"
import { Input, McpServer, type Registry } from "@mcpfx/server"
import { Polling, Progress } from "@mcpfx/session"
import { Effect, Layer, Schema } from "effect"
import type { FaultPoints } from "./faultPoints.ts"

export const watched = "demo://watched"

const names = ["add", "report", "ask", "job", "touch", "slow", "away"] as const

/** Registered together; `running` are those that run. */
export const registrations = (
  points: FaultPoints,
  running: Set<string>
): Layer.Layer<never, never, Registry.Registry | McpServer.Provided> => {
  const counted = <A, E, R>(name: typeof names[number], effect: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => running.add(name)),
      () => effect,
      () => Effect.sync(() => running.delete(name))
    )
  const waits = points.at("a handler waits", Effect.sleep("1 second"), undefined)
  const report = (progress: number) => Progress.report({ progress, total: 2 })
  return Layer.orDie(Layer.mergeAll(
    McpServer.tool(Tool.make("add"), () => Effect.succeed("added")),
    McpServer.tool(
      Tool.make("report"),
      () => counted("report", Effect.as(Effect.all([report(1), waits, report(2), waits]), "reported"))
    ),
    McpServer.tool(
      Tool.make("ask"),
      () =>
        counted("ask", Effect.map(Input.elicit("Name?", Schema.Struct({ name: Schema.String })), ({ name }) => name))
    ),
    McpServer.tool(
      Tool.make("job", { task: "may" }),
      () => counted("job", Effect.as(Effect.andThen(waits, waits), "done"))
    ),
    McpServer.tool(
      Tool.make("touch"),
      () => counted("touch", Effect.as(McpServer.resourceUpdated(watched), "touched"))
    ),
    McpServer.tool(Tool.make("slow"), () => counted("slow", Effect.as(Effect.all([waits, waits, waits]), "slow"))),
    McpServer.tool(
      Tool.make("away"),
      () =>
        counted(
          "away",
          Effect.as(Effect.andThen(Polling.hangUp({ retry: "2 seconds" }), Effect.all([waits, waits, waits])), "back")
        )
    ),
    McpServer.resource(Resource.make(watched, { name: "watched", mimeType: "text/plain" }), Effect.succeed("w"))
  ))
}
