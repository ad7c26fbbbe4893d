import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import * as EventStore from "../../src/EventStore.ts"
import { Parser } from "../../src/Sse.ts"
import { EventStoreUnavailable } from "../../src/TransportError.ts"
import { resumable } from "../support/resumption.ts"

/** Lets the platform go on for so many turns. */
const turns = (count: number) =>
  Effect.promise(async () => {
    for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve))
  })

/** Takes values of a list in turn, round and round. */
const cycle = <A>(values: ReadonlyArray<A>, empty: A) => {
  let at = 0
  return (): A => values[at++ % values.length] ?? empty
}

/** A store that takes its time, and now and then does not work. */
const slow = (
  store: EventStore.EventStore["Service"],
  latency: () => number,
  broken: () => boolean
): EventStore.EventStore["Service"] => {
  const later = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.flatMap(turns(latency()), () => Effect.tap(effect, turns(latency())))
  return {
    append: (key, events) =>
      later(
        Effect.suspend(() =>
          broken() ? Effect.fail(new EventStoreUnavailable({ operation: "append" })) : store.append(key, events)
        )
      ),
    read: (key, after) => later(store.read(key, after)),
    end: (key) => later(store.end(key)),
    remove: store.remove
  }
}

const numbered = (n: number) =>
  JsonRpc.notification("notifications/progress", { progress: n, text: "é🎉".repeat(n % 7) })

/** Reads a response up to some byte, or to its end, and lets go of it. */
const readUpTo = async (response: Response, parser: Parser, bytes: number, enough: () => boolean) => {
  const reader = response.body?.getReader() ?? assert.fail("no body")
  let left = bytes
  for (let read = await reader.read(); !read.done && (left > 0 || !enough()); read = await reader.read()) {
    const chunk = read.value
    let at = Math.min(Math.max(left, 0), chunk.length)
    parser.push(chunk.subarray(0, at))
    left -= chunk.length
    while (left <= 0 && at < chunk.length && !enough()) parser.push(chunk.subarray(at, ++at))
    if (left <= 0 && enough()) break
  }
  await reader.cancel()
}

const scenario = fc.record({
  primed: fc.boolean(),
  count: fc.integer({ min: 1, max: 60 }),
  pauses: fc.array(fc.constantFrom(0, 0, 0, 1, 2, 5), { maxLength: 12 }),
  latencies: fc.array(fc.constantFrom(0, 0, 1, 3, 8), { maxLength: 12 }),
  failures: fc.array(fc.boolean(), { maxLength: 6 }),
  cuts: fc.array(fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 4000 })), { minLength: 1 })
})

describe("a stream that is cut", () => {
  it(
    "[HTTP-33] [field HTP-32] gives every event exactly once, in order, wherever it is cut and however slow the store is",
    () =>
      fc.assert(
        fc.asyncProperty(scenario, ({ count, cuts, failures, latencies, pauses, primed }) =>
          Effect.runPromise(
            Effect.scoped(Effect.gen(function*() {
              const latency = cycle(latencies, 0)
              const left = [...failures]
              const store = slow(yield* EventStore.EventStore, latency, () => left.pop() ?? false)
              // Time goes by as the platform goes on.
              yield* Effect.forkScoped(Effect.forever(Effect.andThen(turns(1), TestClock.adjust("20 millis"))))
              const server = yield* resumable(store)
              const version = primed ? "2025-11-25" : "2025-06-18"
              const pause = cycle(pauses, 0)
              const cut = cycle(cuts, 1)

              const posted = yield* Effect.forkChild(server.post(version))
              const { outlet } = yield* server.next
              const writer = yield* Effect.forkChild(Effect.gen(function*() {
                for (let n = 1; n <= count; n++) {
                  yield* outlet.push(numbered(n))
                  yield* turns(pause())
                }
                outlet.answer(JsonRpc.success(1, { done: true }))
              }))

              const seen: Array<string> = []
              const ids = new Set<string>()
              let lastEventId: string | undefined = undefined
              let answered = false
              let response: Response = yield* Fiber.join(posted)
              for (let connections = 0; !answered; connections++) {
                assert.isBelow(connections, 2000)
                if (response.status === 200) {
                  const parser: Parser = new Parser({
                    maxBytes: 65_536,
                    lastEventId,
                    onTooLarge: () => assert.fail("too large"),
                    onEvent: ({ data, id }) => {
                      if (id !== undefined) {
                        assert.isFalse(ids.has(id))
                        ids.add(id)
                      }
                      if (data === "") return
                      seen.push(data)
                      answered ||= data.includes("\"done\"")
                    }
                  })
                  yield* Effect.promise(() =>
                    readUpTo(
                      response,
                      parser,
                      connections % 3 === 2 ? 250 + cut() : cut(),
                      () => parser.lastEventId !== undefined
                    )
                  )
                  lastEventId = parser.lastEventId
                } else {
                  assert.strictEqual(response.status, 409)
                }
                if (!answered) response = yield* server.get(lastEventId, version)
              }
              yield* Fiber.join(writer)
              const expected = Array.from({ length: count }, (_, index) => JSON.stringify(numbered(index + 1)))
              assert.deepStrictEqual(seen, [...expected, JSON.stringify(JsonRpc.success(1, { done: true }))])
            })).pipe(Effect.provide(EventStore.layerMemory), Effect.provide(TestClock.layer()))
          )),
        { numRuns: 60 }
      ),
    120_000
  )
})
