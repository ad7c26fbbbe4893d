import type { Result } from "effect"
import { describe, expect, test } from "tstyche"
import type * as Content from "../src/Content.ts"
import * as Methods from "../src/Methods.ts"
import * as Outcome from "../src/Outcome.ts"
import type { InvalidShape } from "../src/Revision.ts"
import * as Revisions from "../src/Revisions.ts"
import type * as Tool from "../src/Tool.ts"

describe("codecs", () => {
  test("have the types of their method", () => {
    const call = Revisions.newest.request(Methods.ToolsCall)
    if (call === undefined) return
    expect(call.decodeParams({})).type.toBe<Result.Result<Tool.CallParams, InvalidShape>>()
    expect(call.encodeParams).type.not.toBeCallableWith({ arguments: {} })
    expect(call.encodeResult).type.toBeCallableWith({ content: [] })
    expect(call.encodeResult).type.not.toBeCallableWith({ content: [{ type: "hologram" }] })
  })

  test("the ways a call can end are told apart", () => {
    const outcome = {} as Outcome.ToolCall
    if (Outcome.isInputRequired(outcome)) {
      expect(outcome.resultType).type.toBe<"input_required">()
    } else if (Outcome.isTask(outcome)) {
      expect(outcome.task.taskId).type.toBe<string>()
    } else {
      expect(outcome.content).type.toBe<ReadonlyArray<Content.Content>>()
    }
  })

  test("blocks are told apart by their type", () => {
    const block = {} as Content.Content
    if (block.type === "text") expect(block.text).type.toBe<string>()
    if (block.type === "opaque") expect(block.block["x"]).type.toBe<unknown>()
  })
})
