import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Methods from "../src/Methods.ts"
import * as Revisions from "../src/Revisions.ts"
import * as Salvage from "../src/Salvage.ts"
import { codec } from "./support/codecs.ts"

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
