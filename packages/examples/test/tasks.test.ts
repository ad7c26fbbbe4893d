/** Work that outlives its call looks the same in both dialects. */
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@mcpfx/testing"
import { Effect, Layer } from "effect"
import { Answers, tour } from "../src/tasks/client.ts"
import { info, Shop } from "../src/tasks/server.ts"
import { printed } from "./support/printed.ts"

for (const revision of ["2025-11-25", "2026-07-28"] as const) {
  describe(`tasks on ${revision}`, () => {
    it.live("[TKL-02] [TKX-03] a handle, its result, its questions and its end", () =>
      Effect.gen(function*() {
        const live = TestServer.layer(Shop, { server: info, revision, client: { tasks: true } }).pipe(
          Layer.provide(Answers)
        )
        assert.deepStrictEqual(yield* printed(Effect.provide(tour, live)), [
          "the print is completed",
          "300 sheets",
          "still 300 sheets",
          "100 sheets are missing",
          "asked: Which cover for Emma?",
          "a blue cover",
          "asked: Where to with Emma?",
          "shipped to 1 Main St",
          "tools/call: the task was cancelled"
        ])
      }))
  })
}
