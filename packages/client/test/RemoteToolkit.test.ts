import { assert, describe, it } from "@effect/vitest"
import { McpClientError, RemoteToolkit } from "@mcpfx/client"
import type { JsonRpc } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Context, Effect, Stream } from "effect"
import { Tool as AiTool } from "effect/ai"
import { modelNames } from "../src/internal/modelNames.ts"
import { clientOf, legacy } from "./support/client.ts"

const { error, make, result } = ScriptedServer

const tool = (name: string, more: JsonRpc.JsonObject = {}) => ({ name, inputSchema: { type: "object" }, ...more })

const toolkitOf = (
  tools: ReadonlyArray<JsonRpc.JsonObject>,
  call: ScriptedServer.Script[string],
  options?: RemoteToolkit.Options
) =>
  Effect.gen(function*() {
    const server = yield* make(legacy({ "tools/list": result({ tools }), "tools/call": call }, { tools: {} }))
    const toolkit = yield* RemoteToolkit.make(yield* clientOf(server), options)
    const run = (name: string, args: unknown) =>
      Effect.flatMap(
        toolkit.handle(name, args),
        (results) => Effect.map(Stream.runCollect(results), (all) => all.at(-1))
      )
    return { server, toolkit, run }
  })

const text = (text: string) => ({ type: "text", text })

describe("the tools of a toolkit", () => {
  it.effect("[field SCH-04] have the schema, the description and the hints of the server's", () =>
    Effect.gen(function*() {
      const inputSchema = {
        type: "object",
        $defs: { p: { type: "string" } },
        properties: { path: { $ref: "#/$defs/p" } },
        required: ["path"]
      }
      const listed = {
        name: "rm",
        title: "Remove",
        description: "Removes",
        inputSchema,
        annotations: { destructiveHint: true }
      }
      const { toolkit } = yield* toolkitOf([listed], result({ content: [] }), {
        needsApproval: ({ name }) => name === "rm"
      })
      const remote = toolkit.tools["rm"]
      assert.isDefined(remote)
      if (remote === undefined) return
      assert.deepStrictEqual(AiTool.getJsonSchema(remote), inputSchema)
      assert.strictEqual(AiTool.getDescription(remote), "Removes")
      assert.strictEqual(remote.needsApproval, true)
      assert.strictEqual(Context.getOrUndefined(remote.annotations, AiTool.Title), "Remove")
      assert.strictEqual(Context.get(remote.annotations, AiTool.Destructive), true)
      assert.strictEqual(Context.get(remote.annotations, AiTool.Readonly), false)
      assert.strictEqual(AiTool.getStrictMode(remote), false)
    }))

  it.effect("are those that pass the filter, under names that a model takes, and none is lost", () =>
    Effect.gen(function*() {
      const names = [
        "plain",
        "dots.and/slashes",
        "dots_and_slashes",
        "x".repeat(100),
        "__proto__",
        "constructor",
        "hidden"
      ]
      const { run, server, toolkit } = yield* toolkitOf(
        names.map((name) => tool(name)),
        ({ params }) => result({ content: [text(String(params?.["name"]))] }),
        { filter: ({ name }) => name !== "hidden", prefix: "srv__" }
      )
      const given = Object.keys(toolkit.tools)
      assert.lengthOf(given, 6)
      for (const name of given) {
        assert.match(name, /^srv__[A-Za-z0-9_-]{1,59}$/)
        yield* run(name, {})
      }
      const called = server.received().flatMap((message) =>
        "method" in message && message.method === "tools/call" ? [message.params?.["name"]] : []
      )
      assert.sameMembers(called, names.filter((name) => name !== "hidden"))
    }))

  it("[field HST-02] keep their names whatever the order they are listed in", () => {
    const names = ["a b", "a_b", "a.b", "é", "y".repeat(80), `${"y".repeat(80)}z`, "a b"]
    const map = modelNames(names, "", 64)
    assert.strictEqual(map.get("a_b"), "a_b")
    assert.strictEqual(new Set(map.values()).size, 6)
    assert.deepStrictEqual(new Map([...modelNames(names.toReversed(), "", 64)].sort()), new Map([...map].sort()))
    for (const name of map.values()) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/)
  })
})

describe("a call of a model", () => {
  it.effect("gives texts, images, audio, files, links and what nobody knows", () =>
    Effect.gen(function*() {
      const { run } = yield* toolkitOf(
        [tool("t")],
        result({
          content: [
            text("hi"),
            { type: "image", data: "AAAA", mimeType: "image/png" },
            { type: "audio", data: "BBBB", mimeType: "audio/wav" },
            { type: "resource_link", uri: "a://1", name: "one", description: "The first" },
            { type: "resource", resource: { uri: "a://2/two.txt", text: "two" } },
            { type: "resource", resource: { uri: "a://3/three.bin", blob: "CCCC" } },
            { type: "hologram" }
          ]
        })
      )
      const output = yield* run("t", {})
      assert.isFalse(output?.isFailure)
      const parts = output?.modelOutput ?? []
      assert.deepStrictEqual(
        parts.map((part) => part.type === "text" ? part.text : [part.mediaType, part.data, part.fileName]),
        [
          "hi",
          ["image/png", "AAAA", undefined],
          ["audio/wav", "BBBB", undefined],
          "one: a://1\nThe first",
          "two",
          ["application/octet-stream", "CCCC", "three.bin"],
          "[content of type \"hologram\", which cannot be shown]"
        ]
      )
    }))

  it.effect("[field HST-08] gives structured content where there is nothing else", () =>
    Effect.gen(function*() {
      const { run } = yield* toolkitOf([tool("t")], result({ content: [], structuredContent: { n: 1 } }))
      assert.deepInclude((yield* run("t", {}))?.modelOutput?.[0], { type: "text", text: "{\"n\":1}" })
    }))

  it.effect("[TOL-16, field HST-07] that its tool failed is a value that the model reads", () =>
    Effect.gen(function*() {
      const { run } = yield* toolkitOf([tool("t")], result({ isError: true, content: [text("file not found")] }))
      const output = yield* run("t", {})
      assert.deepInclude(output?.modelOutput?.[0], { type: "text", text: "file not found" })
      assert.deepInclude(output?.result, { isError: true })
    }))

  it.effect("[field HST-07] fails for another reason with a typed failure, or tells the model", () =>
    Effect.gen(function*() {
      const failing = yield* toolkitOf([tool("t")], error(-32603, "Internal error"))
      const failure = yield* Effect.flip(failing.run("t", {}))
      assert.isTrue(failure instanceof McpClientError.McpClientError && failure.reason._tag === "Refused")
      const telling = yield* toolkitOf([tool("t")], error(-32603, "Internal error"), { failures: "tell" })
      assert.deepInclude((yield* telling.run("t", {}))?.modelOutput?.[0], {
        text: "tools/call: the server refused: Internal error (-32603)"
      })
    }))

  it.effect("sends nothing that are no arguments", () =>
    Effect.gen(function*() {
      const { run, server } = yield* toolkitOf([tool("t")], result({ content: [] }))
      for (const args of ["text", 7, null, [1]]) {
        const failure = yield* Effect.flip(run("t", args))
        assert.isTrue(failure instanceof McpClientError.McpClientError && failure.reason._tag === "BadInput")
      }
      assert.notInclude(server.methods(), "tools/call")
    }))
})
