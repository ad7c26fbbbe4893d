/** Handlers that wait until they are told to go on, and a count of those that run. */
import { Tool } from "@mcpfx/schema"
import { Input, McpServer } from "@mcpfx/server"
import { ChangeBus, type Update } from "@mcpfx/server/ChangeBus"
import { Progress } from "@mcpfx/session"
import { Effect, Latch, Layer, Schema } from "effect"

const Key = { key: Schema.String }
const Instant = Tool.make("instant", { input: Key })
const Wait = Tool.make("wait", { input: Key })
const Report = Tool.make("report", { input: Key })
const Ask = Tool.make("ask", { input: Key })
const Job = Tool.make("job", { input: Key, task: "may" })

/** What tests and handlers tell each other; it outlives the server. */
export class Bench {
  /** The handlers that run, by their keys. */
  readonly running = new Set<string>()
  private readonly latches = new Map<string, Latch.Latch>()
  /** Announces a change at the server there is. */
  announce: (change: Update) => Effect.Effect<void> = () => Effect.void

  latch(key: string): Latch.Latch {
    const known = this.latches.get(key)
    if (known !== undefined) return known
    const latch = Latch.makeUnsafe(false)
    this.latches.set(key, latch)
    return latch
  }

  counted<A, E, R>(key: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.ensuring(
      Effect.suspend(() => {
        this.running.add(key)
        return effect
      }),
      Effect.sync(() => this.running.delete(key))
    )
  }

  waits(key: string): Effect.Effect<string> {
    return Effect.as(this.latch(key).await, "done")
  }
}

/** The message is the key, so that it is seen which question is asked. */
const question = (key: string) =>
  Effect.match(Input.elicit(key, Schema.Struct({ name: Schema.String })), {
    onFailure: ({ _tag }) => _tag,
    onSuccess: ({ name }) => `name ${name}`
  })

export const registrations = (bench: Bench) =>
  Layer.mergeAll(
    McpServer.tool(Instant, () => Effect.succeed("done")),
    McpServer.tool(Wait, ({ key }) => bench.counted(key, bench.waits(key))),
    McpServer.tool(Report, ({ key }) =>
      bench.counted(key, Effect.andThen(Progress.report({ progress: 1, total: 2 }), bench.waits(key)))),
    McpServer.tool(Ask, ({ key }) =>
      bench.counted(key, question(key))),
    McpServer.tool(Job, ({ key }) => bench.counted(key, bench.waits(key))),
    Layer.effectDiscard(Effect.map(ChangeBus, (bus) => {
      bench.announce = bus.publish
    }))
  )
