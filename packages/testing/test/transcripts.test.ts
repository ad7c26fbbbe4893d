/** What goes over the wire in one conversation, on every revision, message for message. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { McpClient, Negotiation } from "@mcpfx/client"
import { McpError, Prompt, Resource, Revisions, Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Progress } from "@mcpfx/session"
import { ClientTransport, Endpoint, Memory } from "@mcpfx/transport"
import { Effect, FileSystem, Layer, Schema } from "effect"
import { fileURLToPath } from "node:url"
import { Golden } from "../src/index.ts"

const Add = Tool.make("add", {
  title: "Adding",
  description: "Adds two numbers",
  input: { a: Schema.Finite, b: Schema.Finite },
  output: { sum: Schema.Finite },
  annotations: { readOnlyHint: true }
})

class TooBig extends Schema.TaggedError<TooBig>()("TooBig", { limit: Schema.Finite }) {}

const Count = Tool.make("count", { input: { to: Schema.Int }, failure: TooBig })

const Link = Tool.make("link", { description: "Links to a resource" })

const registrations = Layer.mergeAll(
  McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b })),
  McpServer.tool(Count, ({ to }) =>
    Effect.gen(function*() {
      if (to > 3) return yield* new TooBig({ limit: 3 })
      for (let at = 1; at <= to; at++) yield* Progress.report({ progress: at, total: to, message: `at ${at}` })
      yield* McpServer.log("notice", { counted: to })
      return `counted to ${to}`
    })),
  McpServer.tool(Link, () => Effect.succeed({ type: "resource_link", uri: "app://motd", name: "motd" } as const)),
  McpServer.resource(Resource.make("app://motd", { name: "motd", mimeType: "text/plain" }), "Be kind."),
  McpServer.template(
    Resource.template("app://users/{id}", { name: "user", params: { id: Schema.Int } }),
    ({ id }, uri) => id === 1 ? Effect.succeed("Ada") : Effect.fail(new McpError.ResourceNotFound({ uri })),
    { complete: { id: ["1", "10", "2"] } }
  ),
  McpServer.prompt(
    Prompt.make("review", { arguments: { language: Schema.String } }),
    ({ language }) => Effect.succeed(`Review this ${language} code.`)
  )
)

/** The conversation: every method a client has, failures among them. */
const conversation = Effect.gen(function*() {
  const client = yield* McpClient.McpClient
  yield* client.setLogLevel("info")
  yield* client.ping
  yield* client.tools
  yield* client.call(Add, { a: 1, b: 2 })
  yield* client.call(Count, { to: 2 }, { onProgress: () => Effect.void })
  yield* Effect.flip(client.call(Count, { to: 9 }))
  yield* client.callTool("link")
  yield* client.callTool("add", { a: "one" }).pipe(Effect.ignore)
  yield* client.callTool("unknown").pipe(Effect.ignore)
  yield* client.resources
  yield* client.resourceTemplates
  yield* client.readResource("app://motd")
  yield* client.readResource("app://users/2").pipe(Effect.ignore)
  yield* client.prompts
  yield* client.getPrompt("review", { language: "Rust" })
  yield* client.getPrompt("review").pipe(Effect.ignore)
  yield* client.complete({ type: "ref/resource", uri: "app://users/{id}" }, { name: "id", value: "1" })
})

const fileOf = (version: string) => fileURLToPath(new URL(`./golden/transcripts/${version}.txt`, import.meta.url))

describe("transcripts", () => {
  for (const { version } of Revisions.all) {
    it.effect(`the conversation on ${version} is the recorded one`, () =>
      Effect.gen(function*() {
        const endpoint = yield* Endpoint.Endpoint
        const recorder = Golden.record(Memory.transport(endpoint))
        const client = McpClient.layer({
          revisions: [version],
          info: { name: "golden", version: "1.0.0" },
          cacheCapacity: 0
        })
        yield* Effect.provide(
          conversation,
          client.pipe(
            Layer.provide(Layer.succeed(ClientTransport.ClientTransport, recorder.transport)),
            Layer.provide(Layer.sync(Negotiation.CurrentEraCache, () => Negotiation.makeEraCache()))
          )
        )
        const files = yield* FileSystem.FileSystem
        const actual = Golden.stringify(recorder.transcript())
        if (process.env["MCPFX_UPDATE_GOLDEN"] !== undefined) yield* files.writeFileString(fileOf(version), actual)
        assert.strictEqual(actual, yield* files.readFileString(fileOf(version)))
      }).pipe(
        Effect.provide(McpServer.layer(registrations, { name: "golden", version: "1.0.0" })),
        Effect.provide(NodeServices.layer)
      ))
  }
})
