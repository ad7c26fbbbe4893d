import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Scheduler, Stream } from "effect"
import * as fc from "fast-check"
import { Outbox } from "../../src/internal/lineOutbox.ts"

const make = (maxMessages: number) =>
  new Outbox({
    maxMessages,
    maxBytes: 16 * 1024 * 1024,
    deadReader: Duration.seconds(60),
    dispatcher: new Scheduler.MixedScheduler().makeDispatcher(),
    onDeadReader: () => {}
  })

const encoder = new TextEncoder()

describe("Outbox", () => {
  it("writes every line, in order, whatever is put together or cut", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom("a", "é", "🎉", "x🎉"), fc.constantFrom(1, 10, 40_000)), {
          maxLength: 8
        }),
        fc.integer({ min: 1, max: 10 }),
        async (shapes, maxMessages) => {
          const lines = shapes.map(([unit, times]) => unit.repeat(times))
          const outbox = make(maxMessages)
          const write = Effect.andThen(
            Effect.forEach(lines, (line, i) =>
              i % 2 === 0 ? Effect.sync(() => outbox.offer(line)) : outbox.send(line, () => true)),
            Effect.sync(() =>
              outbox.end()
            )
          )
          // Each write becomes bytes by itself, as on a real stream.
          const read = Stream.runCollect(Stream.map(outbox.stream, (text) => encoder.encode(text)))
          const [, writes] = await Effect.runPromise(Effect.all([write, read], { concurrency: 2 }))
          const decoder = new TextDecoder("utf-8", { fatal: true })
          const text = writes.map((bytes) => decoder.decode(bytes, { stream: true })).join("")
          assert.strictEqual(text, lines.map((line) => `${line}\n`).join(""))
          assert.isTrue(writes.every((bytes) => bytes.length <= 4 * 600_000))
        }
      ),
      // Of the first, a piece would end inside a character.
      { numRuns: 30, examples: [[[["x🎉", 300_000]], 1], [[["🎉", 300_000], ["é", 1]], 2]] }
    ))

  it("leaves out what is no longer wanted at its turn, and tells the sender", () =>
    Effect.runPromise(Effect.gen(function*() {
      const outbox = make(1)
      outbox.offer("first")
      let wanted = true
      const sends = yield* Effect.forkChild(Effect.all([
        outbox.send("second", () => wanted),
        outbox.send("third", () => true)
      ], { concurrency: 2 }))
      yield* Effect.yieldNow
      wanted = false
      const texts: Array<string> = []
      const reader = yield* Effect.forkChild(
        Stream.runForEach(outbox.stream, (text) => Effect.sync(() => void texts.push(text)))
      )
      assert.deepStrictEqual(yield* Fiber.join(sends), [false, true])
      outbox.end()
      yield* Fiber.join(reader)
      assert.deepStrictEqual(texts, ["first\n", "third\n"])
    })))
})
