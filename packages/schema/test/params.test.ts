import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Methods from "../src/Methods.ts"
import * as Revisions from "../src/Revisions.ts"
import { codec, legacy, refusal } from "./support/codecs.ts"

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {}
}

describe("params", () => {
  it("[field RPC-14] a list without params is page one up to 2025-11-25, and lacks its envelope on 2026-07-28", () => {
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

  it("[field RPC-10] members no revision knows stay on what is read, at every depth", () => {
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
