import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import fc from "fast-check"
import { isPlainCall, isPlainResult } from "../src/internal/plainCall.ts"
import { isJsonObject } from "../src/JsonRpc.ts"
import * as Methods from "../src/Methods.ts"
import * as Revisions from "../src/Revisions.ts"
import * as Tool from "../src/Tool.ts"
import { codec } from "./support/codecs.ts"
import { damaged } from "./support/mutate.ts"

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
