import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Revisions from "@mcpfx/schema/Revisions"
import * as Lifecycle from "@mcpfx/session/Lifecycle"

const refusal = (version: string, messages: ReadonlyArray<JsonRpc.Message>) =>
  Lifecycle.batchRefusal(Revisions.byVersion(version), messages, 3)

describe("batches", () => {
  const ping = JsonRpc.request(1, "ping")

  it("[RPC-10] [RPC-12] come in on 2025-03-26 alone", () => {
    const verdicts = Revisions.all.map((
      revision
    ) => [revision.version, refusal(revision.version, [ping]) === undefined])
    assert.deepStrictEqual(verdicts, [
      ["2024-11-05", false],
      ["2025-03-26", true],
      ["2025-06-18", false],
      ["2025-11-25", false],
      ["2026-07-28", false]
    ])
    assert.include(refusal("none", [ping]), "initialize")
  })

  it("[RPC-11] [RPC-07] never hold initialize, are never empty and never too long", () => {
    assert.include(refusal("2025-03-26", [ping, JsonRpc.request(2, "initialize")]), "initialize")
    assert.include(refusal("2025-03-26", []), "empty")
    assert.include(refusal("2025-03-26", [ping, ping, ping, ping]), "3")
    assert.strictEqual(
      refusal("2025-03-26", [JsonRpc.notification("a"), JsonRpc.notification("initialize/x")]),
      undefined
    )
  })
})
