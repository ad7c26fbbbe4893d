import { assert, describe, it } from "@effect/vitest"
import type * as Wire from "@mcpfx/schema/Progress"
import * as Revisions from "@mcpfx/schema/Revisions"
import * as Progress from "@mcpfx/session/Progress"
import { RequestContext } from "@mcpfx/session/RequestContext"
import { Context, Deferred, Effect, Fiber } from "effect"
import * as fc from "fast-check"
import { at, established, handler, readyServer, request, server, Stream } from "./fixtures.ts"

/** Reports as a handler does: with what its fiber carries. */
const report = (value: Progress.Report): Effect.Effect<void> =>
  Effect.flatMap(
    Effect.context<never>(),
    (context) =>
      Effect.provideService(Progress.report(value), RequestContext, Context.getUnsafe(context, RequestContext))
  )

const steps = (...values: ReadonlyArray<Progress.Report>) =>
  handler({ work: () => Effect.as(Effect.forEach(values, report), {}) })

describe("from a handler", () => {
  it.effect("[PRG-02] [field PRG-03] [field PRG-05] repeats the token as it came and sends only what rises", () =>
    Effect.gen(function*() {
      const values = [1, 1, 0.5, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2].map((progress) => ({ progress }))
      for (const token of [0, "", "0", 7, "t"]) {
        const bench = yield* readyServer({ handler: steps(...values) })
        const stream = bench.ask(1, "work", { _meta: { progressToken: token } })
        assert.deepStrictEqual(
          stream.pushed,
          [1, 1.5, 2].map((progress) => ({
            jsonrpc: "2.0",
            method: "notifications/progress",
            params: { progressToken: token, progress }
          }))
        )
      }
    }))

  it.effect("[field PRG-02] sends nothing where no token, or none that is one, was given", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({ handler: steps({ progress: 1 }, { progress: 2 }, { progress: 3 }) })
      for (const meta of [undefined, {}, { progressToken: null }, { progressToken: 1.5 }, { progressToken: {} }]) {
        const stream = bench.ask(1, "work", meta === undefined ? undefined : { _meta: meta })
        assert.deepStrictEqual([stream.pushed, stream.answers.length], [[], 1])
      }
    }))

  it.effect("[PRG-05] the message is left out where the revision has no place for it, the total always optional", () =>
    Effect.gen(function*() {
      const value = { progress: 1, total: 2, message: "half" }
      const sent: Array<unknown> = []
      for (const revision of [Revisions.all[0], Revisions.all[1]]) {
        const bench = yield* server({ established: established(revision), handler: steps(value) })
        const stream = bench.ask(1, "work", { _meta: { progressToken: 1 } })
        sent.push(stream.pushed.map((message) => at(message, "params")))
      }
      assert.deepStrictEqual(sent, [
        [{ progressToken: 1, progress: 1, total: 2 }],
        [{ progressToken: 1, progress: 1, total: 2, message: "half" }]
      ])
    }))

  it.effect("[PRG-03] [PRG-04] nothing is sent once the request is answered, by fibers that live on either", () =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      let late: Fiber.Fiber<void> | undefined
      const bench = yield* readyServer({
        handler: handler({
          work: (_, context) =>
            Effect.gen(function*() {
              yield* report({ progress: 1 })
              late = yield* Effect.forkDetach(
                Effect.andThen(Deferred.await(go), context.progress?.report({ progress: 2 }) ?? Effect.void)
              )
              return {}
            })
        })
      })
      const stream = new Stream()
      const open = { answer: () => {}, end: () => {}, push: stream.push }
      bench.accept(request(1, "work", { _meta: { progressToken: 1 } }), open)
      yield* Deferred.succeed(go, undefined)
      if (late !== undefined) yield* Fiber.await(late)
      assert.strictEqual(stream.pushed.length, 1)
    }))
})

describe("Reporter", () => {
  const make = (after?: number) => {
    const sent: Array<Wire.Params> = []
    const gate = Deferred.makeUnsafe<void>()
    const reporter = Progress.make({
      token: "t",
      after,
      send: (params) => Effect.andThen(Effect.sync(() => void sent.push(params)), Deferred.await(gate))
    })
    return { sent, gate, reporter, values: () => sent.map((params) => params.progress) }
  }

  it.effect("waits while the stream is full, and coalesces what others report meanwhile", () =>
    Effect.gen(function*() {
      const { gate, reporter, values } = make()
      const first = yield* Effect.forkChild(reporter.report({ progress: 1 }), { startImmediately: true })
      for (const progress of [2, 3, 4]) yield* reporter.report({ progress })
      assert.deepStrictEqual([first.pollUnsafe(), values()], [undefined, [1]])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(first)
      assert.deepStrictEqual(values(), [1, 4])
      assert.strictEqual(reporter.last(), 4)
    }))

  it.effect("a report that is interrupted while it waits does not stop later ones", () =>
    Effect.gen(function*() {
      const { gate, reporter, values } = make()
      const first = yield* Effect.forkChild(reporter.report({ progress: 1 }), { startImmediately: true })
      yield* reporter.report({ progress: 2 })
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(gate, undefined)
      yield* reporter.report({ progress: 3 })
      assert.deepStrictEqual(values(), [1, 3])
    }))

  it.effect("goes on above where an earlier pass stopped", () =>
    Effect.gen(function*() {
      const { gate, reporter, values } = make(5)
      yield* Deferred.succeed(gate, undefined)
      for (const progress of [4, 5, 6]) yield* reporter.report({ progress })
      assert.deepStrictEqual(values(), [6])
    }))

  it.effect("[PRG-02] what is sent rises strictly, whatever is reported", () =>
    Effect.sync(() =>
      fc.assert(fc.property(fc.array(fc.double()), (values) => {
        const sent: Array<number> = []
        const reporter = Progress.make({ token: 1, send: (p) => Effect.sync(() => void sent.push(p.progress)) })
        Effect.runSync(Effect.forEach(values, (progress) => reporter.report({ progress })))
        for (let i = 1; i < sent.length; i++) assert.isAbove(Number(sent[i]), Number(sent[i - 1]))
        const highest = values.filter(Number.isFinite).reduce<number | undefined>(
          (a, b) => a === undefined || b > a ? b : a,
          undefined
        )
        assert.strictEqual(sent.at(-1), highest)
      }))
    ))
})
