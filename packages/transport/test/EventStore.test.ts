import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import * as EventStore from "../src/EventStore.ts"
import * as Limits from "../src/Limits.ts"
import { event, events, eventStoreSuite, fresh, seqs } from "./support/eventStoreSuite.ts"

eventStoreSuite("in memory", EventStore.layerMemory)

describe("in memory", () => {
  const provide = (limits: Partial<Limits.Limits>) =>
    Effect.provide(Layer.provide(EventStore.layerMemory, Limits.layer(limits)))

  it.effect("a stream lives for so long after its last event or reader", () =>
    Effect.gen(function*() {
      const self = yield* EventStore.EventStore
      const key = fresh()
      const other = fresh()
      yield* self.append(key, events(1, 1))
      yield* self.append(other, events(1, 1))
      yield* TestClock.adjust("4 minutes")
      yield* self.append(key, events(2, 2))
      yield* TestClock.adjust("4 minutes")
      assert.deepStrictEqual(yield* self.read(other, 0), Option.none())
      assert.deepStrictEqual(seqs(yield* self.read(key, 0)), Option.some([1, 2]))
      yield* TestClock.adjust("299 seconds")
      assert.deepStrictEqual(seqs(yield* self.read(key, 0)), Option.some([1, 2]))
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(yield* self.read(key, 0), Option.none())
    }).pipe(provide({})))

  it.effect("[field MEM-05] what is too old makes room, and without room nothing more is kept", () =>
    Effect.gen(function*() {
      const self = yield* EventStore.EventStore
      const kib = "x".repeat(4096)
      const fill = Effect.forEach(Array.from({ length: 4 }, () => fresh()), (key) => self.append(key, [event(1, kib)]))
      yield* fill
      const late = fresh()
      const error = yield* Effect.flip(self.append(late, [event(1, kib)]))
      assert.deepInclude(error, { _tag: "EventStoreFull", limit: "eventBytes" })
      assert.deepStrictEqual(yield* self.read(late, 0), Option.none())
      yield* TestClock.adjust("5 minutes")
      yield* fill
      assert.strictEqual((yield* Effect.flip(self.append(late, [event(1, kib)])))._tag, "EventStoreFull")
    }).pipe(provide({ eventBytes: 20_000 })))
})
