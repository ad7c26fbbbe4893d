import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import fc from "fast-check"
import * as Content from "../src/Content.ts"
import { isPlainCall, isPlainResult } from "../src/internal/plainCall.ts"
import { isJsonObject } from "../src/JsonRpc.ts"
import type * as Method from "../src/Method.ts"
import * as Methods from "../src/Methods.ts"
import * as Outcome from "../src/Outcome.ts"
import type { RequestCodec, Revision } from "../src/Revision.ts"
import * as Revisions from "../src/Revisions.ts"
import * as Salvage from "../src/Salvage.ts"
import * as Tool from "../src/Tool.ts"
import { damaged } from "./support/mutate.ts"

const legacy = Revisions.all.filter((revision) => revision.era === "legacy")
const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {}
}

const codec = <N extends string, P, R>(
  revision: Revision,
  method: Method.RequestMethod<N, P, R>
): RequestCodec<P, R> => {
  const found = revision.request(method)
  if (found === undefined) throw new Error(`${method.name} on ${revision.version}`)
  return found
}

const refusal = (result: Result.Result<unknown, { readonly message: () => string }>): string =>
  Result.isFailure(result) ? result.failure.message() : "accepted"

describe("params", () => {
  it("[RPC-14] a list without params is page one up to 2025-11-25, and lacks its envelope on 2026-07-28", () => {
    for (const revision of legacy) {
      const list = codec(revision, Methods.ToolsList)
      assert.deepStrictEqual(Result.getOrThrow(list.decodeParams(undefined)), {})
      assert.deepStrictEqual(Result.getOrThrow(list.decodeParams({})), {})
      assert.strictEqual(refusal(list.decodeParams({ cursor: null })), "cursor: Expected string")
      assert.deepStrictEqual(Result.getOrThrow(list.decodeParams({ cursor: "" })), { cursor: "" })
    }
    const modern = codec(Revisions.newest, Methods.ToolsList)
    assert.strictEqual(refusal(modern.decodeParams(undefined)), "_meta: Missing key")
    assert.strictEqual(
      refusal(modern.decodeParams({ _meta: {} })),
      "_meta: Expected an object with the keys of the envelope"
    )
    assert.isTrue(Result.isSuccess(modern.decodeParams({ _meta: meta })))
  })

  it("[SCH-10] arguments left out are none; null, arrays and strings are refused by name", () => {
    for (const revision of Revisions.all) {
      const call = codec(revision, Methods.ToolsCall)
      const base = revision.era === "modern" ? { name: "now", _meta: meta } : { name: "now" }
      assert.isUndefined(Result.getOrThrow(call.decodeParams(base)).arguments)
      for (const args of [null, [], "{}", 5]) {
        assert.strictEqual(refusal(call.decodeParams({ ...base, arguments: args })), "arguments: Expected an object")
      }
      assert.strictEqual(refusal(call.decodeParams({ ...base, name: 5 })), "name: Expected string")
      assert.notStrictEqual(refusal(call.decodeParams([])), "accepted")
    }
  })

  it("[RPC-10] members no revision knows stay on what is read, at every depth", () => {
    const call = codec(Revisions.newestLegacy, Methods.ToolsCall)
    const wire = {
      name: "t",
      extra: 1,
      _meta: { "example.com/a": { b: 1 } },
      arguments: { __proto__: null, constructor: 1 }
    }
    assert.strictEqual(Result.getOrThrow(call.decodeParams(wire)), wire)
  })

  it("[TKL-01] members of other revisions mean nothing and are not seen", () => {
    for (const revision of legacy.slice(0, 3)) {
      const read = Result.getOrThrow(
        codec(revision, Methods.ToolsCall).decodeParams({
          name: "t",
          task: "garbage",
          requestState: 5,
          inputResponses: null,
          other: true
        })
      )
      assert.deepStrictEqual<object>(read, { name: "t", other: true })
    }
    const newestLegacy = codec(Revisions.newestLegacy, Methods.ToolsCall)
    assert.deepStrictEqual(Result.getOrThrow(newestLegacy.decodeParams({ name: "t", task: { ttl: 5 } })).task, {
      ttl: 5
    })
    assert.strictEqual(refusal(newestLegacy.decodeParams({ name: "t", task: 5 })), "task: Expected object")
    const modern = Result.getOrThrow(
      codec(Revisions.newest, Methods.ToolsCall).decodeParams({ name: "t", task: 5, _meta: meta })
    )
    assert.isFalse("task" in modern)
  })

  it("[ELI-03] a form without a mode is a form", () => {
    const ask = codec(Revisions.newestLegacy, Methods.ElicitationCreate)
    const form = { message: "m", requestedSchema: { type: "object", properties: { a: { type: "string" } } } }
    assert.deepStrictEqual<object>(Result.getOrThrow(ask.decodeParams(form)), form)
    assert.notStrictEqual(refusal(ask.decodeParams({ ...form, mode: "voice" })), "accepted")
  })

  it("[ELI-05] [ELI-06] forms are flat, of primitives and choices", () => {
    const ask = codec(Revisions.newestLegacy, Methods.ElicitationCreate)
    const form = (property: unknown) => ({
      message: "m",
      requestedSchema: { type: "object", properties: { a: property } }
    })
    for (
      const property of [
        { type: "string", format: "date-time", pattern: "^a" },
        { type: "number", default: 1.5 },
        { type: "boolean" },
        { type: "string", enum: ["a"], enumNames: ["A"] },
        { type: "string", oneOf: [{ const: "a", title: "A" }] },
        { type: "array", items: { type: "string", enum: ["a"] } },
        { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } }
      ]
    ) {
      assert.strictEqual(refusal(ask.decodeParams(form(property))), "accepted", JSON.stringify(property))
    }
    for (
      const property of [{ type: "object" }, { type: "array", items: { type: "number" } }, {}, {
        type: ["string", "null"]
      }]
    ) {
      assert.notStrictEqual(refusal(ask.decodeParams(form(property))), "accepted", JSON.stringify(property))
    }
  })

  it("[LOG-05] a level that is none is refused", () => {
    const setLevel = codec(Revisions.newestLegacy, Methods.LoggingSetLevel)
    assert.isTrue(Result.isSuccess(setLevel.decodeParams({ level: "emergency" })))
    assert.strictEqual(refusal(setLevel.decodeParams({ level: "loud" })).startsWith("level: Expected"), true)
  })

  it("[PRG-01] a progress token is a string or an integer", () => {
    const list = codec(Revisions.newestLegacy, Methods.ToolsList)
    for (const progressToken of [0, "", "a", 7]) {
      assert.isTrue(Result.isSuccess(list.decodeParams({ _meta: { progressToken } })))
    }
    for (const progressToken of [1.5, null, {}, true]) {
      assert.isTrue(Result.isFailure(list.decodeParams({ _meta: { progressToken } })))
    }
  })

  it("[CAN-06] [PRG-14] a cancellation without an id is one on 2025-11-25 alone", () => {
    for (const revision of Revisions.all) {
      const cancelled = revision.notification(Methods.Cancelled)
      const read = cancelled?.decodeParams({ reason: "x" })
      assert.strictEqual(read?._tag === "Success", revision.version === "2025-11-25")
      assert.isTrue(cancelled?.decodeParams({ requestId: 0 })._tag === "Success")
    }
  })

  it("[RPC-06] a refusal shows no values", () => {
    const text = refusal(codec(Revisions.newestLegacy, Methods.ToolsCall).decodeParams({ name: { secret: "hunter2" } }))
    assert.isFalse(text.includes("hunter2"))
    assert.isFalse(text.includes("\n"))
  })
})

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
    assert.strictEqual(refusal(codec(Revisions.newest, Methods.ToolsList).decodeResult({ tools: [] })), "accepted")
    assert.notStrictEqual(refusal(codec(Revisions.newest, Methods.ToolsList).decodeResult({ prompts: [] })), "accepted")
  })

  it("[RPC-14] [RPC-15] without resultType a result is complete, with an unknown one it is invalid", () => {
    const call = codec(Revisions.newest, Methods.ToolsCall)
    assert.isTrue(Result.isSuccess(call.decodeResult({ content: [] })))
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

describe("calls recognised by hand", () => {
  const call = codec(Revisions.newestLegacy, Methods.ToolsCall)
  const isCall = isPlainCall((u) => u === undefined || isJsonObject(u))
  const params = {
    name: "t",
    arguments: { a: 1 },
    task: { ttl: 5 },
    inputResponses: {},
    requestState: "s",
    _meta: { progressToken: 1 }
  }
  const result = {
    content: [{ type: "text", text: "x", annotations: { priority: 1 }, _meta: {} }, {
      type: "image",
      data: "",
      mimeType: ""
    }],
    isError: false,
    resultType: "complete",
    structuredContent: [],
    _meta: {}
  }

  it("[TOL-14] are all accepted by the schemas", () => {
    fc.assert(
      fc.property(
        damaged(params) ?? fc.constant({ value: params }),
        damaged(result) ?? fc.constant({ value: result }),
        (a, b) => {
          if (isJsonObject(a.value) && isCall(a.value) && !("progressToken" in Object(a.value["_meta"]))) {
            assert.isTrue(Schema.is(Tool.CallParams)(a.value))
          }
          if (isJsonObject(b.value) && isPlainResult(b.value)) assert.isTrue(Schema.is(Tool.CallResult)(b.value))
        }
      ),
      { numRuns: 2_000 }
    )
  })

  it("[TOL-14] and nothing is lost when they are not", () => {
    assert.isTrue(Result.isSuccess(call.decodeParams(params)))
    assert.isTrue(Result.isSuccess(call.decodeResult(result)))
  })
})

describe("lists with wrong items", () => {
  const list = codec(Revisions.newestLegacy, Methods.ToolsList)

  it("[SCH-05] [SCH-06] the good ones stay, the bad ones are named, what can be meant is repaired", () => {
    const { faults, result } = Result.getOrThrow(Salvage.list(list, {
      tools: [
        { name: "a", inputSchema: { type: "object" } },
        { name: "b", inputSchema: null },
        { name: "c", inputSchema: { $schema: "http://json-schema.org/draft-07/schema#" } },
        { name: "d", inputSchema: { anyOf: [{ type: "object" }] } },
        { inputSchema: { type: "object" } },
        { name: "f", inputSchema: { type: "object" }, "x-team": "a" }
      ],
      nextCursor: "n"
    }))
    assert.deepStrictEqual(result.tools.map((tool) => tool.name), ["a", "c", "d", "f"])
    assert.isTrue(result.tools.every((tool) => tool.inputSchema.type === "object"))
    assert.strictEqual(result.nextCursor, "n")
    assert.deepStrictEqual(faults.map(({ index, name, repaired }) => [index, name, repaired]), [
      [1, "b", false],
      [2, "c", true],
      [3, "d", true],
      [4, undefined, false]
    ])
    assert.strictEqual(faults[0]?.reason, "inputSchema: Expected object")
  })

  it("[SCH-05] a good list has no faults, one that is none still fails", () => {
    const wire = { tools: [{ name: "a", inputSchema: { type: "object" } }] }
    const read = Result.getOrThrow(Salvage.list(list, wire))
    assert.deepStrictEqual(read.faults, [])
    assert.strictEqual<unknown>(read.result, wire)
    assert.isTrue(Result.isFailure(Salvage.list(list, { tools: 5 })))
    assert.isTrue(Result.isFailure(Salvage.list(list, { tools: [], nextCursor: 5 })))
    assert.isTrue(Result.isFailure(Salvage.list(list, undefined)))
  })
})
