import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Content from "../src/Content.ts"
import * as Methods from "../src/Methods.ts"
import * as Outcome from "../src/Outcome.ts"
import * as Revisions from "../src/Revisions.ts"
import type * as Tool from "../src/Tool.ts"
import { codec, legacy, refusal } from "./support/codecs.ts"

describe("results", () => {
  it("[SCH-08] a block of an unknown type is kept, the others are typed", () => {
    const wire = {
      content: [
        { type: "text", text: "hi" },
        { type: "resource_link", uri: "demo://a", name: "a" },
        { type: "audio", data: "AAAA", mimeType: "audio/wav" },
        { type: "hologram", x: 1 }
      ]
    }
    for (const revision of Revisions.all) {
      const read = Result.getOrThrow(codec(revision, Methods.ToolsCall).decodeResult(wire))
      if (Outcome.isInputRequired(read) || Outcome.isTask(read)) throw new Error("not a call result")
      assert.deepStrictEqual(read.content.map((block) => block.type), ["text", "resource_link", "audio", "opaque"])
      assert.deepStrictEqual<object | undefined>(read.content[3], { type: "opaque", block: { type: "hologram", x: 1 } })
    }
    const prompt = Result.getOrThrow(
      codec(Revisions.newestLegacy, Methods.PromptsGet).decodeResult({
        messages: [{ role: "user", content: { type: "hologram" } }]
      })
    )
    assert.isFalse(Outcome.isInputRequired(prompt))
    if (!Outcome.isInputRequired(prompt)) assert.strictEqual(prompt.messages[0]?.content.type, "opaque")
  })

  it("[SCH-08] a block of a known type with a wrong shape is refused", () => {
    const call = codec(Revisions.newestLegacy, Methods.ToolsCall)
    assert.notStrictEqual(refusal(call.decodeResult({ content: [{ type: "text" }] })), "accepted")
    assert.notStrictEqual(refusal(call.decodeResult({ content: [{ text: "no type" }] })), "accepted")
  })

  it("[SCH-09] null for an absent member is taken as absent", () => {
    const list = codec(Revisions.newestLegacy, Methods.ToolsList)
    const read = Result.getOrThrow(list.decodeResult({
      tools: [{
        name: "a",
        description: null,
        annotations: null,
        inputSchema: { type: "object", default: null },
        _meta: null
      }],
      nextCursor: null
    }))
    assert.deepStrictEqual<object>(read, { tools: [{ name: "a", inputSchema: { type: "object", default: null } }] })
    const answer = codec(Revisions.newestLegacy, Methods.ElicitationCreate).decodeResult({
      action: "decline",
      content: null
    })
    assert.deepStrictEqual<object>(Result.getOrThrow(answer), { action: "decline" })
    const call = codec(Revisions.newestLegacy, Methods.ToolsCall).decodeResult({
      content: [{ type: "text", text: "x", annotations: null }],
      structuredContent: { a: null },
      isError: null,
      _meta: { "example.com/a": null }
    })
    assert.deepStrictEqual<object>(Result.getOrThrow(call), {
      content: [{ type: "text", text: "x" }],
      structuredContent: { a: null },
      _meta: { "example.com/a": null }
    })
  })

  it("[SCH-09] a null that means something stays", () => {
    const get = codec(Revisions.newestLegacy, Methods.TasksGet)
    const task = { taskId: "t", status: "working", createdAt: "a", lastUpdatedAt: "b", ttl: null, statusMessage: null }
    assert.strictEqual(Result.getOrThrow(get.decodeResult(task)).ttlMs, null)
  })

  it("[SCH-14] a call result without content has none", () => {
    for (const revision of Revisions.all) {
      const call = codec(revision, Methods.ToolsCall)
      assert.deepStrictEqual<object>(Result.getOrThrow(call.decodeResult({ structuredContent: { n: 1 } })), {
        structuredContent: { n: 1 },
        content: []
      })
      assert.deepStrictEqual<object>(Result.getOrThrow(call.decodeResult({})), { content: [] })
      assert.deepStrictEqual<object>(Result.getOrThrow(call.decodeResult({ content: null })), { content: [] })
    }
  })

  it("[SCH-15] [TOL-06] falsy structured content is not lost on 2026-07-28, and shown as text before", () => {
    for (const value of [[1, 2], "x", 0, false, "", null]) {
      const result: Tool.CallResult = { content: [], structuredContent: value }
      assert.deepStrictEqual<unknown>(
        codec(Revisions.newest, Methods.ToolsCall).encodeResult(result)["structuredContent"],
        value
      )
      for (const revision of legacy) {
        assert.deepStrictEqual<object>(codec(revision, Methods.ToolsCall).encodeResult(result), {
          content: [{ type: "text", text: JSON.stringify(value) }]
        })
        assert.deepStrictEqual<object>(
          codec(revision, Methods.ToolsCall).encodeResult({ ...result, content: [Content.text("t")] }),
          { content: [{ type: "text", text: "t" }] }
        )
      }
    }
  })

  it("[SCH-21] [RPC-13] resultType is looked at first, the method decides the rest", () => {
    const call = codec(Revisions.newest, Methods.ToolsCall)
    const round = Result.getOrThrow(call.decodeResult({ resultType: "input_required", requestState: "s", content: [] }))
    assert.isTrue(Outcome.isInputRequired(round))
    const complete = Result.getOrThrow(call.decodeResult({ resultType: "complete", content: [] }))
    assert.isFalse(Outcome.isInputRequired(complete))
    assert.deepStrictEqual<object>(codec(Revisions.newest, Methods.PromptsGet).encodeResult({ messages: [] }), {
      messages: [],
      resultType: "complete"
    })
    assert.strictEqual(refusal(codec(Revisions.newest, Methods.ToolsList).decodeResult({ tools: [] })), "accepted")
    assert.notStrictEqual(refusal(codec(Revisions.newest, Methods.ToolsList).decodeResult({ prompts: [] })), "accepted")
  })

  it("[RPC-14] [RPC-15] without resultType a result is complete, with an unknown one it is invalid", () => {
    const call = codec(Revisions.newest, Methods.ToolsCall)
    assert.isTrue(Result.isSuccess(call.decodeResult({ content: [] })))
    assert.isTrue(Result.isSuccess(codec(Revisions.newest, Methods.PromptsGet).decodeResult({ messages: [] })))
    for (const resultType of ["task", "later", 5]) {
      assert.isTrue(Result.isFailure(call.decodeResult({ resultType, content: [] })), String(resultType))
    }
    assert.isTrue(
      Result.isFailure(
        codec(Revisions.newest, Methods.ToolsList).decodeResult({ resultType: "input_required", requestState: "s" })
      )
    )
  })

  it("[MRT-03] a round that neither asks nor remembers is none", () => {
    const call = codec(Revisions.newest, Methods.ToolsCall)
    assert.isTrue(Result.isFailure(call.decodeResult({ resultType: "input_required" })))
    assert.isTrue(Result.isSuccess(call.decodeResult({ resultType: "input_required", inputRequests: {} })))
  })

  it("[MRT-04] a round asks only for what can be asked for", () => {
    const call = codec(Revisions.newest, Methods.ToolsCall)
    const asking = (request: unknown) =>
      call.decodeResult({ resultType: "input_required", inputRequests: { a: request } })
    assert.isTrue(Result.isSuccess(asking({ method: "roots/list" })))
    assert.isTrue(Result.isFailure(asking({ method: "ping" })))
    assert.isTrue(Result.isFailure(asking({ method: "elicitation/create", params: {} })))
  })

  it("[LIF-18] on older revisions resultType and hints mean nothing", () => {
    for (const revision of legacy) {
      const read = codec(revision, Methods.ToolsCall).decodeResult({ resultType: "input_required", content: [] })
      assert.deepStrictEqual<object>(Result.getOrThrow(read), { content: [] })
      const list = codec(revision, Methods.ToolsList).decodeResult({
        tools: [],
        resultType: "complete",
        ttlMs: "x",
        cacheScope: 1
      })
      assert.deepStrictEqual<object>(Result.getOrThrow(list), { tools: [] })
    }
  })

  it("[TOL-05] a tool whose input schema is null, or no object at its root, is refused", () => {
    for (const revision of Revisions.all) {
      const list = codec(revision, Methods.ToolsList)
      const tool = (inputSchema: unknown) => list.decodeResult({ tools: [{ name: "a", inputSchema }] })
      for (const schema of [{ type: "object" }, { type: "object", properties: {}, anyOf: [] }]) {
        assert.isTrue(Result.isSuccess(tool(schema)))
      }
      for (const schema of [null, undefined, true, {}, [], { type: "array" }, { type: ["object"] }]) {
        assert.isTrue(Result.isFailure(tool(schema)), JSON.stringify(schema))
      }
    }
  })

  it("[TOL-06] an output schema whose root is no object is shown on 2026-07-28 alone", () => {
    const tools: ReadonlyArray<Tool.Descriptor> = [{
      name: "a",
      inputSchema: { type: "object" },
      outputSchema: { type: "array", items: {} }
    }]
    for (const revision of Revisions.all) {
      const written = JSON.stringify(codec(revision, Methods.ToolsList).encodeResult({ tools }))
      assert.strictEqual(written.includes("outputSchema"), revision.features.structuredContent === "any")
    }
  })

  it("[CCH-06] a negative ttl is read, and never written", () => {
    const list = codec(Revisions.newest, Methods.ToolsList)
    assert.strictEqual(Result.getOrThrow(list.decodeResult({ tools: [], ttlMs: -5 })).ttlMs, -5)
    assert.strictEqual(list.encodeResult({ tools: [], ttlMs: -5 })["ttlMs"], 0)
    assert.strictEqual(list.encodeResult({ tools: [], ttlMs: 10.7 })["ttlMs"], 10)
  })

  it("[CCH-01] [RPC-13] hints left out mean that the result is not to be kept", () => {
    assert.deepStrictEqual<object>(codec(Revisions.newest, Methods.ToolsList).encodeResult({ tools: [] }), {
      tools: [],
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private"
    })
  })

  it("[TKL-02] [TKX-03] a task is told from a result, in each dialect and nowhere else", () => {
    const core = codec(Revisions.newestLegacy, Methods.ToolsCall)
    const wire = { taskId: "t", status: "working", createdAt: "a", lastUpdatedAt: "b" }
    const created = Result.getOrThrow(core.decodeResult({ task: { ...wire, ttl: 5, pollInterval: 1 } }))
    assert.isTrue(Outcome.isTask(created))
    assert.deepStrictEqual<object>(created, { resultType: "task", task: { ...wire, ttlMs: 5, pollIntervalMs: 1 } })
    const extended = codec(Revisions.withTasks(Revisions.newest), Methods.ToolsCall)
    const flat = Result.getOrThrow(extended.decodeResult({ ...wire, ttlMs: null, resultType: "task", "x-own": 1 }))
    assert.deepStrictEqual<object>(flat, { resultType: "task", "x-own": 1, task: { ...wire, ttlMs: null } })
    assert.isTrue(Result.isFailure(
      codec(Revisions.withTasks(Revisions.newest), Methods.PromptsGet).decodeResult({
        ...wire,
        ttlMs: null,
        resultType: "task"
      })
    ))
  })
})
