import { assert, it } from "@effect/vitest"
import { McpClient } from "@mcpfx/client"
import { Prompt, Resource, Revisions, Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Progress } from "@mcpfx/session"
import { TestServer } from "@mcpfx/testing"
import { Effect, Layer, Schema, Stream } from "effect"

class Broke extends Schema.TaggedError<Broke>()("Broke", { by: Schema.Int }) {}

const Add = Tool.make("add", {
  input: { a: Schema.Finite, b: Schema.Finite },
  output: { sum: Schema.Finite },
  failure: Broke
})
const Now = Tool.make("now")
const Settings = Resource.make("app://settings", { name: "settings", content: Schema.Struct({ theme: Schema.String }) })
const Note = Resource.template("note://{id}", { name: "note", params: { id: Schema.Int } })
const Greet = Prompt.make("greet", { arguments: { name: Schema.String, times: Schema.optionalKey(Schema.Int) } })

const Everything = Layer.mergeAll(
  McpServer.tool(Add, ({ a, b }) =>
    b === 0 ? Effect.fail(new Broke({ by: a })) : Effect.as(
      Effect.andThen(Progress.report({ progress: 1, total: 2 }), Progress.report({ progress: 2, total: 2 })),
      { sum: a + b }
    )),
  McpServer.tool(Now, () => Effect.succeed("noon")),
  McpServer.resource(Settings, { theme: "dark" }),
  McpServer.template(Note, ({ id }) => Effect.succeed(`note ${id}`)),
  McpServer.prompt(Greet, ({ name, times }) => Effect.succeed(`${name} × ${times ?? 1}`))
)

for (const { version } of Revisions.all) {
  it.layer(TestServer.layer(Everything, { revision: version }))(version, (it) => {
    it.effect("calls, reads and gets by contract", () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        assert.strictEqual((yield* client.server).revision.version, version)
        assert.deepStrictEqual(yield* client.call(Add, { a: 1, b: 2 }), { sum: 3 })
        assert.deepStrictEqual(yield* Effect.flip(client.call(Add, { a: 1, b: 0 })), new Broke({ by: 1 }))
        assert.deepStrictEqual((yield* client.call(Now)).content, [{ type: "text", text: "noon" }])
        assert.deepStrictEqual(yield* client.read(Settings), { theme: "dark" })
        assert.deepStrictEqual((yield* client.read(Note, { id: 7 })).contents.length, 1)
        const { messages } = yield* client.prompt(Greet, { name: "Ada", times: 2 })
        assert.deepStrictEqual(messages, [{ role: "user", content: { type: "text", text: "Ada × 2" } }])
        assert.deepStrictEqual((yield* client.tools).map(({ name }) => name), ["add", "now"])
        assert.deepStrictEqual((yield* client.resources).map(({ uri }) => uri), ["app://settings"])
        assert.deepStrictEqual((yield* client.resourceTemplates).map(({ uriTemplate }) => uriTemplate), ["note://{id}"])
        assert.deepStrictEqual((yield* client.prompts).map(({ name }) => name), ["greet"])
        yield* client.ping
        const events = yield* Stream.runCollect(
          McpClient.progress((onProgress) => client.call(Add, { a: 1, b: 2 }, { onProgress }))
        )
        assert.deepStrictEqual(
          events.map((event) => event._tag === "Progress" ? event.progress.progress : event.result),
          [
            1,
            2,
            { sum: 3 }
          ]
        )
      }))
  })
}
