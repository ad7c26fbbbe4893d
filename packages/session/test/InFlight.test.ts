import { assert, describe, it } from "@effect/vitest"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as McpError from "@mcpfx/schema/McpError"
import * as InFlight from "@mcpfx/session/InFlight"
import { Context, Deferred, Effect, Exit, Fiber, References, Scope } from "effect"
import { TestClock } from "effect/testing"
import { at, legacy, Stream } from "./fixtures.ts"

const run = (
  id: JsonRpc.RequestId,
  effect: Effect.Effect<JsonRpc.ResultBody, McpError.McpError>,
  more: Partial<InFlight.Run> = {}
) => {
  const stream = new Stream()
  return {
    stream,
    run: {
      id,
      method: "test",
      outlet: stream,
      revision: legacy,
      begin: () => effect,
      context: () => Context.make(References.CurrentLoggers, new Set()),
      ...more
    }
  }
}

describe("InFlight", () => {
  it.effect("refuses a key that is in use, what is too much, and everything once it is closed", () =>
    Effect.gen(function*() {
      const inFlight = yield* InFlight.make({ limit: 2 })
      assert.strictEqual(inFlight.start(run(1, Effect.never).run), undefined)
      assert.strictEqual(inFlight.start(run(1, Effect.never).run), "Taken")
      assert.strictEqual(inFlight.start(run("1", Effect.never).run), undefined)
      assert.strictEqual(inFlight.start(run(3, Effect.never).run), "Full")
      inFlight.closeUnsafe()
      assert.strictEqual(inFlight.start(run(4, Effect.never).run), "Closed")
      assert.deepStrictEqual([inFlight.size, inFlight.has(1), inFlight.has("1"), inFlight.has(3)], [
        2,
        true,
        true,
        false
      ])
    }))

  it.effect("keys tell requests of several clients apart where their ids do not", () =>
    Effect.gen(function*() {
      const inFlight = yield* InFlight.make({ limit: 9 })
      const one = run(1, Effect.never, { key: "a/1" })
      const two = run(1, Effect.never, { key: "b/1" })
      assert.deepStrictEqual([inFlight.start(one.run), inFlight.start(two.run)], [undefined, undefined])
      assert.isTrue(inFlight.interrupt("a/1"))
      assert.isFalse(inFlight.interrupt("a/1"))
      assert.deepStrictEqual([one.stream.ends, two.stream.ends, inFlight.size], [1, 0, 1])
    }))

  it.effect("a request that starts another one of its id on its own stack is noticed", () =>
    Effect.gen(function*() {
      const inFlight = yield* InFlight.make({ limit: 9 })
      const seen: Array<unknown> = []
      const inner = run(1, Effect.succeed({}))
      const other = run(2, Effect.succeed({ inner: true }))
      const outer = run(
        1,
        Effect.sync(() => {
          seen.push(inFlight.start(inner.run), inFlight.start(other.run), inFlight.has(1), inFlight.size)
          return { outer: true }
        })
      )
      inFlight.start(outer.run)
      assert.deepStrictEqual(seen, ["Taken", undefined, true, 0])
      assert.deepStrictEqual([outer.stream.answers.length, other.stream.answers.length], [1, 1])
    }))

  it.effect("what has ended as it begins needs no context; what throws as it begins is an internal error", () =>
    Effect.gen(function*() {
      const inFlight = yield* InFlight.make({ limit: 9 })
      let contexts = 0
      const context = () => {
        contexts += 1
        return Context.make(References.CurrentLoggers, new Set<never>())
      }
      const ended = run(1, Effect.succeed({ ended: true }), { context })
      inFlight.start(ended.run)
      assert.deepStrictEqual([at(ended.stream.only, "result", "ended"), contexts], [true, 0])
      const thrown = run(2, Effect.succeed({}), {
        context,
        begin: () => {
          throw new Error("secret")
        }
      })
      inFlight.start(thrown.run)
      assert.deepStrictEqual(
        [at(thrown.stream.only, "error", "code"), JSON.stringify(thrown.stream.only).includes("secret")],
        [-32603, false]
      )
      assert.deepStrictEqual([inFlight.size, inFlight.has(2), contexts], [0, false, 1])
    }))

  it.effect("a request that is cancelled as it begins is not answered", () =>
    Effect.gen(function*() {
      const inFlight = yield* InFlight.make({ limit: 9 })
      const seen: Array<boolean> = []
      for (const effect of [Effect.succeed({}), Effect.never]) {
        const gone = run(1, effect, {
          begin: () => {
            seen.push(inFlight.interrupt(1))
            return effect
          }
        })
        inFlight.start(gone.run)
        assert.deepStrictEqual([gone.stream.answers, gone.stream.ends, inFlight.size], [[], 1, 0])
      }
      assert.deepStrictEqual(seen, [true, true])
    }))

  it.effect("a finalizer that breaks after a good end is an internal error", () =>
    Effect.gen(function*() {
      const inFlight = yield* InFlight.make({ limit: 9 })
      const scope = Effect.map(Effect.context<never>(), (context) => Context.getUnsafe(context, Scope.Scope))
      const broken = run(1, Effect.as(Effect.flatMap(scope, (s) => Scope.addFinalizer(s, Effect.die("broken"))), {}))
      inFlight.start(broken.run)
      assert.strictEqual(at(broken.stream.only, "error", "code"), -32603)
    }))

  it.effect("says when nothing more may be sent, before the answer, and when all is over, after it", () =>
    Effect.gen(function*() {
      const inFlight = yield* InFlight.make({ limit: 9 })
      const order: Array<string> = []
      const { run: one } = run(1, Effect.succeed({}), {
        watcher: { finish: () => void order.push("finish") },
        after: () => void order.push("after")
      })
      inFlight.start({
        ...one,
        outlet: { answer: () => void order.push("answer"), end: () => {}, push: () => Effect.void }
      })
      assert.deepStrictEqual(order, ["finish", "answer", "after"])
    }))

  it.effect("closing the scope interrupts what runs and waits for it", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const inFlight = yield* Scope.provide(InFlight.make({ limit: 9 }), scope)
      let finalized = false
      const slow = run(
        1,
        Effect.onInterrupt(Effect.never, () =>
          Effect.andThen(Effect.yieldNow, Effect.sync(() => void (finalized = true))))
      )
      inFlight.start(slow.run)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual([finalized, inFlight.size, slow.stream.ends, slow.stream.answers], [true, 0, 1, []])
      assert.strictEqual(inFlight.start(run(2, Effect.succeed({})).run), "Closed")
    }))

  it.effect("[SHT-01] waits for the request that has it drained as the first thing it does", () =>
    Effect.gen(function*() {
      for (const rest of [Effect.void, Effect.sleep("1 second")]) {
        const inFlight = yield* InFlight.make({ limit: 9 })
        const stop = yield* Deferred.make<void>()
        const draining = yield* Effect.forkChild(Effect.andThen(Deferred.await(stop), inFlight.drain("1 hour")))
        yield* Effect.yieldNow
        const stopping = run(1, Effect.as(Effect.andThen(Deferred.succeed(stop, undefined), rest), {}))
        inFlight.start(stopping.run)
        assert.strictEqual(draining.pollUnsafe() !== undefined, stopping.stream.answers.length > 0)
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(draining)
        assert.lengthOf(stopping.stream.answers, 1)
      }
    }))

  it.effect("[SHT-01] drains at once when empty, when the last has ended, or at the deadline", () =>
    Effect.gen(function*() {
      const empty = yield* InFlight.make({ limit: 9 })
      yield* empty.drain("1 hour")
      const busy = yield* InFlight.make({ limit: 9 })
      const go = yield* Deferred.make<void>()
      const first = run(1, Effect.as(Deferred.await(go), { done: true }))
      busy.start(first.run)
      const draining = yield* Effect.forkChild(busy.drain("1 hour"))
      yield* Effect.yieldNow
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(draining)
      assert.strictEqual(first.stream.answers.length, 1)
      const stuck = yield* InFlight.make({ limit: 9 })
      const never = run(1, Effect.never)
      stuck.start(never.run)
      const late = yield* Effect.forkChild(Effect.uninterruptible(stuck.drain("1 hour")))
      yield* TestClock.adjust("1 hour")
      yield* Fiber.join(late)
      assert.deepStrictEqual([never.stream.ends, stuck.size], [1, 0])
    }))
})
