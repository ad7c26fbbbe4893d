import { assert, describe, it } from "@effect/vitest"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import { Deferred, Effect, Exit, type Fiber, Logger, Scope } from "effect"
import * as fc from "fast-check"
import { client, handler, nothing, readyServer, rejection, request, Stream, Wire } from "../fixtures.ts"

/** What a peer and the handlers may do to a server's session, in any order. */
const serverStep = fc.oneof(
  fc.record({
    op: fc.constant("ask" as const),
    id: fc.oneof(fc.integer({ min: 0, max: 6 }), fc.constantFrom("0", "1", "")),
    how: fc.constantFrom("now" as const, "later" as const, "fail" as const, "die" as const, "stubborn" as const)
  }),
  fc.record({
    op: fc.constant("cancel" as const),
    id: fc.oneof(fc.integer({ min: 0, max: 6 }), fc.constantFrom("0", "1", ""))
  }),
  fc.record({ op: fc.constant("finish" as const), nth: fc.nat(9) })
)

describe("Session, served", () => {
  it("[RPC-05] [CAN-03] every stream is closed exactly once, cancelled ones without an answer, and nothing is left", () =>
    whatever(fc.array(serverStep, { maxLength: 60 }), (steps) =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const gates: Array<Deferred.Deferred<void>> = []
        const wait = (uninterruptible: boolean) => {
          const gate = Deferred.makeUnsafe<void>()
          gates.push(gate)
          const waiting = Effect.as(Deferred.await(gate), { ok: true })
          return uninterruptible ? Effect.uninterruptible(waiting) : waiting
        }
        const bench = yield* Scope.provide(
          readyServer({
            handler: handler({
              now: () => Effect.succeed({ ok: true }),
              later: () => wait(false),
              fail: () => Effect.fail(new McpError.InvalidCursor({})),
              die: () => Effect.die("broken"),
              stubborn: () => wait(true)
            })
          }),
          scope
        )
        const all: Array<{ readonly id: JsonRpc.RequestId; readonly stream: Stream; cancelled: boolean }> = []
        const running = new Map<JsonRpc.RequestId, typeof all[number]>()
        const tidy = () => {
          for (const [id, entry] of running) if (entry.stream.answers.length > 0) running.delete(id)
        }
        for (const step of steps) {
          if (step.op === "ask") {
            const stream = new Stream()
            const exit = bench.accept(request(step.id, step.how), stream)
            const busy = running.get(step.id)
            if (busy !== undefined) {
              // A cancelled request that will not end may or may not hold its id still; a live one holds it.
              if (!busy.cancelled) assert.strictEqual(rejection(exit)?.error.code, -32600)
              if (Exit.isFailure(exit)) continue
            }
            assert.isTrue(Exit.isSuccess(exit))
            const entry = { id: step.id, stream, cancelled: false }
            all.push(entry)
            if (step.how === "later" || step.how === "stubborn") running.set(step.id, entry)
          } else if (step.op === "cancel") {
            bench.tell("notifications/cancelled", { requestId: step.id })
            const entry = running.get(step.id)
            if (entry !== undefined) {
              entry.cancelled = true
              assert.strictEqual(entry.stream.ends, 1)
            }
          } else {
            const gate = gates[step.nth % Math.max(gates.length, 1)]
            if (gate !== undefined) yield* Deferred.succeed(gate, undefined)
            yield* Effect.yieldNow
          }
          tidy()
        }
        yield* Effect.forEach(gates, (gate, n) => n % 2 === 0 ? Deferred.succeed(gate, undefined) : Effect.void)
        yield* Effect.yieldNow
        tidy()
        const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
        yield* Effect.forEach(gates, (gate) => Deferred.succeed(gate, undefined))
        yield* awaitExit(closing)
        for (const { cancelled, stream } of all) {
          assert.strictEqual(stream.closings, 1)
          if (cancelled) assert.deepStrictEqual(stream.answers, [])
        }
        assert.deepStrictEqual(bench.session.load(), nothing)
      })))
})

const whatever = <A>(arbitrary: fc.Arbitrary<A>, holds: (value: A) => Effect.Effect<void>): Promise<void> =>
  fc.assert(
    fc.asyncProperty(arbitrary, (value) => Effect.runPromise(Effect.provide(holds(value), Logger.layer([])))),
    { numRuns: 200 }
  )

const awaitExit = (fiber: Fiber.Fiber<void>) =>
  Effect.callback<void>((resume) => void fiber.addObserver(() => resume(Effect.void)))

const clientStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constantFrom("send" as const, "send hanging" as const, "send failing" as const) })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant("answer" as const),
      id: fc.integer({ min: 1, max: 25 }),
      echo: fc.boolean()
    })
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("progress" as const), id: fc.integer({ min: 1, max: 25 }) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("interrupt" as const), nth: fc.nat(24) }) }
)

describe("Session, sending", () => {
  it("[field RPC-15] [MEM-05] [SHT-06] every request ends exactly once, as the model says, and nothing is left", () =>
    whatever(fc.array(clientStep, { maxLength: 60 }), (steps) =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const wire = new Wire()
        wire.gate = (message) =>
          message["method"] === "send hanging"
            ? Effect.never
            : message["method"] === "send failing"
            ? Effect.die("no")
            : Effect.void
        const bench = yield* Scope.provide(client(wire), scope)
        const sent: Array<{ readonly fiber: Fiber.Fiber<unknown, unknown>; readonly seen: Array<number> }> = []
        const expected: Array<"answered" | "failed" | "interrupted" | "waiting"> = []
        for (const step of steps) {
          switch (step.op) {
            case "send":
            case "send hanging":
            case "send failing": {
              const seen: Array<number> = []
              const fiber = yield* Effect.forkDetach(
                bench.session.peer.requestRaw(step.op, {}, {
                  onProgress: (p) => Effect.sync(() => void seen.push(p.progress))
                }),
                { startImmediately: true }
              )
              sent.push({ fiber, seen })
              expected.push(step.op === "send failing" ? "failed" : "waiting")
              break
            }
            case "answer":
              bench.accept({ jsonrpc: "2.0", id: step.echo ? String(step.id) : step.id, result: { id: step.id } })
              if (expected[step.id - 1] === "waiting") expected[step.id - 1] = "answered"
              break
            case "progress": {
              const before = sent[step.id - 1]?.seen.length
              bench.tell("notifications/progress", { progressToken: step.id, progress: 1 })
              const live = expected[step.id - 1] === "waiting" ? 1 : 0
              if (before !== undefined) assert.strictEqual(sent[step.id - 1]?.seen.length, before + live)
              break
            }
            case "interrupt":
              sent[step.nth]?.fiber.interruptUnsafe()
              if (expected[step.nth] === "waiting") expected[step.nth] = "interrupted"
              break
          }
          yield* Effect.yieldNow
          assert.strictEqual(bench.session.load().waiting, expected.filter((state) => state === "waiting").length)
        }
        yield* Scope.close(scope, Exit.void)
        yield* Effect.yieldNow
        const ended = sent.map(({ fiber }) => {
          const exit = fiber.pollUnsafe()
          if (exit === undefined) return "waiting"
          if (Exit.isSuccess(exit)) return "answered"
          return Exit.hasInterrupts(exit) ? "interrupted" : "failed"
        })
        // What still waited at the end fails with it.
        assert.deepStrictEqual(ended, expected.map((state) => state === "waiting" ? "failed" : state))
        assert.deepStrictEqual(bench.session.load(), nothing)
      })))
})
