import { assert, describe, it } from "@effect/vitest"
import { TaskState } from "@mcpfx/session"
import * as fc from "fast-check"

const outcome = fc.oneof(
  fc.record({ _tag: fc.constant("Result" as const), result: fc.record({ isError: fc.boolean() }) }),
  fc.record({
    _tag: fc.constant("Error" as const),
    error: fc.record({ code: fc.integer({ max: -1, min: -32768 }), message: fc.string() })
  })
)

const key = fc.constantFrom("a", "b", "__proto__", "constructor")

const event: fc.Arbitrary<TaskState.Event> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ _tag: fc.constant("Asked" as const), key, request: fc.constant({ method: "m" }) })
  },
  { weight: 4, arbitrary: fc.record({ _tag: fc.constant("Settled" as const), key }) },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant("Told" as const), message: fc.string() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      _tag: fc.constant("Ended" as const),
      outcome,
      message: fc.option(fc.string(), { nil: undefined })
    })
  },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant("Cancelled" as const), message: fc.string() }) }
)

const legal: Readonly<Record<TaskState.TaskRecord["status"], ReadonlyArray<string>>> = {
  working: ["working", "input_required", "completed", "failed", "cancelled"],
  input_required: ["input_required", "working", "completed", "failed", "cancelled"],
  completed: [],
  failed: [],
  cancelled: []
}

const seed = { id: "1", principal: "p", owner: "o", method: "tools/call", ttl: 1000, pollInterval: 10 }

describe("the life of a task", () => {
  it("[TKL-03] [TKL-08] goes only ways that are allowed, and ends for good, whatever happens in whatever order", () => {
    fc.assert(fc.property(fc.array(fc.tuple(event, fc.integer({ min: -5, max: 50 }))), (events) => {
      let record = TaskState.begin(seed, 100)
      let now = 100
      for (const [event, passed] of events) {
        now += passed
        const next = TaskState.step(record, event, now)
        if (next === record) continue
        assert.include(legal[record.status], next.status)
        assert.strictEqual(next.version, record.version + 1)
        assert.isAtLeast(next.updatedAt, record.updatedAt)
        assert.deepInclude(next, { id: "1", createdAt: 100, ttl: 1000 })
        record = next
      }
    }))
  })

  it("[TKX-04] asks while it is `input_required` and never else, and has an outcome when it has one", () => {
    fc.assert(fc.property(fc.array(event), (events) => {
      const record = events.reduce((record, event) => TaskState.step(record, event, 0), TaskState.begin(seed, 0))
      assert.strictEqual(record.status === "input_required", Object.keys(record.inputs).length > 0)
      assert.strictEqual(record.outcome !== undefined, record.status === "completed" || record.status === "failed")
    }))
  })

  it("[TKL-08] [TKX-07] the two dialects differ in results that say that a tool failed, and in nothing else", () => {
    fc.assert(fc.property(fc.array(event), (events) => {
      const record = events.reduce((record, event) => TaskState.step(record, event, 0), TaskState.begin(seed, 0))
      const [core, extension] = [TaskState.toTask(record, "core"), TaskState.toTask(record, "extension")]
      const isError = record.outcome?._tag === "Result" && record.outcome.result["isError"] === true
      assert.deepEqual(core, isError ? { ...extension, status: "failed" } : extension)
      assert.strictEqual(extension.status, record.status)
    }))
  })

  it("is told by events in any interleaving of two processes as one order of them", () => {
    // What two processes do goes through compare-and-set: each sees the outcome of the other or loses.
    fc.assert(fc.property(fc.array(fc.tuple(event, fc.boolean())), (events) => {
      let kept = TaskState.begin(seed, 0)
      const seen = [kept, kept]
      let changes = 0
      for (const [event, second] of events) {
        const mine = second ? 1 : 0
        const next = TaskState.step(seen[mine] ?? kept, event, 0)
        if (next === seen[mine]) continue
        if ((seen[mine] ?? kept).version !== kept.version) {
          seen[mine] = kept
          continue
        }
        assert.isFalse(TaskState.isTerminal(kept))
        kept = next
        seen[mine] = next
        changes++
      }
      assert.strictEqual(kept.version, 1 + changes)
    }))
  })
})
