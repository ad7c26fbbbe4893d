/** Tools that run as tasks, and a client of each dialect. */
import { McpError, Task, Tool } from "@mcpfx/schema"
import { Input, McpServer, Tasks } from "@mcpfx/server"
import type { McpEndpoint } from "@mcpfx/server/McpEndpoint"
import { Progress, type RequestContext } from "@mcpfx/session"
import { type Context, Deferred, Effect, Layer, Option, Schema } from "effect"
import { interactionOf } from "../../src/internal/wayToAsk.ts"
import { at, Client, type Json, type Sent, serve, type Version, Wire } from "../protocol/harness.ts"

export class Broken extends Schema.TaggedError<Broken>()("Broken", { what: Schema.String }) {
  override get message(): string {
    return `broken: ${this.what}`
  }
}

export const Job = Tool.make("job", { input: { wait: Schema.optionalKey(Schema.Int) }, task: "may" })
export const Must = Tool.make("must", { input: { n: Schema.optionalKey(Schema.Int) }, task: "must" })
export const Plain = Tool.make("plain")
export const Failing = Tool.make("failing", { failure: Broken, task: "may" })
export const Refusing = Tool.make("refusing", { task: "may" })
export const Dying = Tool.make("dying", { task: "may" })
export const Asking = Tool.make("asking", { task: "may" })
export const Counting = Tool.make("counting", { task: "may" })
export const Rebuild = Tool.make("rebuild", { input: { detach: Schema.optionalKey(Schema.Boolean) }, task: "may" })
export const Stubborn = Tool.make("stubborn", { task: "may" })

/** What handlers and tests tell each other. */
export class Bench {
  started = 0
  interrupted = 0
  scopes = 0
  readonly go = Deferred.makeUnsafe<void>()
  readonly never = Deferred.makeUnsafe<void>()
}

const form = (message: string) =>
  ({
    method: "elicitation/create",
    params: {
      message,
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
    }
  }) as const

/** Asks as `Input` would. */
export const ask = (message: string, key?: string) =>
  Effect.contextWith((context: Context.Context<RequestContext.RequestContext>) =>
    interactionOf(context).ask({ asks: ["elicitation.form"], request: form(message), key, timeout: undefined })
  )

export const tools = (bench: Bench) =>
  Layer.mergeAll(
    McpServer.tool(Job, ({ wait = 0 }) =>
      Effect.gen(function*() {
        bench.started++
        yield* Effect.addFinalizer(() => Effect.sync(() => bench.scopes++))
        yield* Effect.sleep(wait)
        return "done"
      }).pipe(Effect.onInterrupt(() => Effect.sync(() => bench.interrupted++))), {
      task: { immediateResponse: "It takes a while." }
    }),
    McpServer.tool(Must, ({ n = 1 }) => Effect.succeed(`must ${n}`)),
    McpServer.tool(Plain, () => Effect.succeed("plain")),
    McpServer.tool(Failing, () => Effect.fail(new Broken({ what: "the pipe" }))),
    McpServer.tool(Refusing, () =>
      Effect.fail(new McpError.InvalidParams({ detail: "not this one", data: { why: "because" } }))),
    McpServer.tool(Dying, () =>
      Effect.die(new Error("secret detail"))),
    McpServer.tool(Asking, () =>
      Effect.map(
        Effect.all([ask("first?", "first"), ask("second?")], { concurrency: "unbounded" }),
        (answers) => JSON.stringify(answers)
      )),
    McpServer.tool(Counting, () =>
      Effect.gen(function*() {
        yield* Progress.report({ progress: 1, total: 2, message: "half" })
        yield* Effect.sleep(1000)
        yield* Progress.report({ progress: 2, total: 2 })
        yield* Deferred.await(bench.go)
        return "counted"
      })),
    McpServer.tool(Rebuild, ({ detach = true }) =>
      Effect.gen(function*() {
        bench.started++
        yield* Effect.addFinalizer(() => Effect.sync(() => bench.scopes++))
        const { name } = yield* Input.elicit("Who?", Schema.Struct({ name: Schema.String }))
        if (!detach) return `at once for ${name}`
        yield* Tasks.detach
        const id = Option.getOrElse(yield* Tasks.id, () => "no task")
        const more = yield* ask("And?").pipe(
          Effect.map(JSON.stringify),
          Effect.catchTag("CapabilityMissing", () => Effect.succeed(""))
        )
        yield* Effect.sleep(1000)
        return `${id} for ${name} ${more}`
      }).pipe(Effect.onInterrupt(() => Effect.sync(() => bench.interrupted++))), { task: { start: "when-told" } }),
    McpServer.tool(Stubborn, () => Effect.as(Effect.uninterruptible(Deferred.await(bench.go)), "after all"))
  )

export const elicitation: Json = { elicitation: { form: {} } }
export const extension: Json = { extensions: { [Task.extensionId]: {} } }

/** What a client of the extension says with each request. */
export const declaring = (params: Json = {}, capabilities: Json = {}): Json => ({
  ...params,
  _meta: { "io.modelcontextprotocol/clientCapabilities": { ...extension, ...capabilities } }
})

export const core = "2025-11-25" satisfies Version
export const modern = "2026-07-28" satisfies Version

export const served = (bench: Bench, options: Partial<McpServer.Options> = {}) => serve(tools(bench), options)

/** A client of one revision over a connection, with these capabilities. */
export const connected = (endpoint: McpEndpoint["Service"], version: Version, capabilities: Json = {}) => {
  const client = new Client(endpoint, version, new Wire())
  const hello = client.hello(capabilities)
  return { client, hello }
}

/** A client of 2025-11-25 over a connection. */
export const coreClient = (bench: Bench, options: Partial<McpServer.Options> = {}, capabilities: Json = {}) =>
  Effect.map(served(bench, options), (endpoint) => connected(endpoint, core, capabilities).client)

export const taskOf = (sent: Sent): Json => {
  const task = at(sent.result, "task")
  return typeof task === "object" && task !== null ? { ...task } : {}
}

export const idOf = (sent: Sent): string => String(at(sent.result, "task", "taskId") ?? at(sent.result, "taskId"))

/** Lets every fiber that can go on do so. */
export const settle = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true })
