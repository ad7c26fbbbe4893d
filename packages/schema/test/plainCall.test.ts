import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import fc from "fast-check"
import { isPlainResult } from "../src/internal/plainCall.ts"
import { isJsonObject } from "../src/JsonRpc.ts"
import * as Methods from "../src/Methods.ts"
import * as Revisions from "../src/Revisions.ts"
import * as Tool from "../src/Tool.ts"
import { codec } from "./support/codecs.ts"
import { damaged } from "./support/mutate.ts"

const plain = { name: "t", arguments: { a: [null] }, _meta: { progressToken: 1 } }
const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
  "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
  "io.modelcontextprotocol/logLevel": "info",
  progressToken: 1
}
const text = {
  content: [{ type: "text", text: "x", annotations: { priority: 1 }, _meta: {} }],
  isError: false,
  _meta: {}
}

describe("calls recognised by hand", () => {
  for (const revision of Revisions.all) {
    const { decodeParams, wire } = codec(revision, Methods.ToolsCall)
    const isWire = Schema.is(wire.params)
    const params = revision.era === "modern" ? { ...plain, _meta: envelope } : plain

    it(`[TOL-14] are those that the schema of ${revision.version} accepts`, () => {
      fc.assert(
        fc.property(damaged(params) ?? fc.constant({ value: params }), ({ value }) => {
          assert.strictEqual(Result.isSuccess(decodeParams(value)), isWire(value), JSON.stringify(value))
        }),
        { numRuns: 1_000 }
      )
    })
  }

  it("[TOL-14] have results that the schema accepts", () => {
    const isResult = Schema.is(Tool.CallResult)
    fc.assert(
      fc.property(damaged(text) ?? fc.constant({ value: text }), ({ value }) => {
        if (isJsonObject(value) && isPlainResult(value)) assert.isTrue(isResult(value), JSON.stringify(value))
      }),
      { numRuns: 1_000 }
    )
  })
})
