/** What the server of the shared suites offers: one of everything. */
import { McpError, Prompt, Resource, Tool } from "@mcpfx/schema"
import { McpServer, Registry, ServerPrompt } from "@mcpfx/server"
import { Progress, RequestContext } from "@mcpfx/session"
import { Effect, Layer, Schema } from "effect"

export class Refusal extends Schema.TaggedError<Refusal>()("Refusal", { why: Schema.String }) {
  override get message(): string {
    return `refused: ${this.why}`
  }
}

export const Add = Tool.make("add", {
  title: "Adding",
  description: "Adds two numbers",
  input: { a: Schema.Finite, b: Schema.Finite },
  output: { sum: Schema.Finite }
})

export const Refuse = Tool.make("refuse", { input: { why: Schema.String }, failure: Refusal })
export const Count = Tool.make("count", { input: { to: Schema.Int } })
export const Log = Tool.make("log", { input: { text: Schema.String } })
export const Sleep = Tool.make("sleep", { input: { key: Schema.String } })
export const Stopped = Tool.make("stopped", { input: { key: Schema.String }, output: { stopped: Schema.Boolean } })
export const Touch = Tool.make("touch", { input: { uri: Schema.String } })
export const Offer = Tool.make("offer", { input: { name: Schema.String } })
export const Die = Tool.make("die")
export const Media = Tool.make("media")
export const Revision = Tool.make("revision")

export const Motd = Resource.make("app://motd", { name: "motd", mimeType: "text/plain" })
export const Pixel = Resource.make("app://pixel", { name: "pixel", mimeType: "image/png" })
export const User = Resource.template("app://users/{id}", {
  name: "user",
  mimeType: "text/plain",
  params: { id: Schema.Int }
})
export const Review = Prompt.make("review", { arguments: { language: Schema.String } })

/** The keys of sleepers that were interrupted. */
const stopped = new Set<string>()

const tools = Layer.mergeAll(
  McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b })),
  McpServer.tool(Refuse, ({ why }) => Effect.fail(new Refusal({ why }))),
  McpServer.tool(Count, ({ to }) =>
    Effect.gen(function*() {
      for (let at = 1; at <= to; at++) yield* Progress.report({ progress: at, total: to, message: `at ${at}` })
      return `counted to ${to}`
    })),
  McpServer.tool(Log, ({ text }) => Effect.as(McpServer.log("notice", text, "suite"), "logged")),
  McpServer.tool(Sleep, ({ key }) => Effect.onInterrupt(Effect.never, () => Effect.sync(() => stopped.add(key)))),
  McpServer.tool(Stopped, ({ key }) => Effect.sync(() => ({ stopped: stopped.has(key) }))),
  McpServer.tool(Touch, ({ uri }) => Effect.as(McpServer.resourceUpdated(uri), "touched")),
  McpServer.tool(Offer, ({ name }) =>
    Effect.gen(function*() {
      const registry = yield* Registry.Registry
      const added = McpServer.tool(Tool.make(name), () => Effect.succeed("offered"))
      yield* Effect.scoped(Effect.orDie(Layer.build(Layer.provide(added, Layer.succeed(Registry.Registry, registry)))))
      return "offered and taken back"
    })),
  McpServer.tool(Die, () => Effect.die(new Error("secret detail"))),
  McpServer.tool(Media, () =>
    Effect.succeed([
      "text",
      { type: "image", data: "AAAA", mimeType: "image/png" },
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource_link", uri: "app://motd", name: "motd" }
    ])),
  McpServer.tool(Revision, () => Effect.map(RequestContext.RequestContext, ({ revision }) => revision.version))
)

/** 103 small tools, so that their list has two pages. */
const many = Layer.mergeAll(
  McpServer.tool(Tool.make("small-000"), () => Effect.void),
  ...Array.from(
    { length: 102 },
    (_, index) => McpServer.tool(Tool.make(`small-${String(index + 1).padStart(3, "0")}`), () => Effect.void)
  )
)

const rest = Layer.mergeAll(
  McpServer.resource(Motd, "Be kind."),
  McpServer.resource(Pixel, new Uint8Array([1, 2, 3])),
  McpServer.template(
    User,
    ({ id }, uri) => id === 1 ? Effect.succeed("Ada") : Effect.fail(new McpError.ResourceNotFound({ uri })),
    { complete: { id: ["1", "10", "2"] } }
  ),
  McpServer.prompt(
    Review,
    ({ language }) =>
      Effect.succeed([ServerPrompt.user(`Review this ${language} code.`), ServerPrompt.assistant("Fine.")]),
    { complete: { language: ["Rust", "Ruby", "TypeScript"] } }
  )
)

export const registrations = Layer.mergeAll(tools, many, rest)

export const info = { name: "suite", version: "1.0.0", instructions: "Use it well." }
