import { assert, describe, it } from "@effect/vitest"
import { ClientElicitation, McpClient, type McpClientError } from "@mcpfx/client"
import { McpError, type Revision, Tool } from "@mcpfx/schema"
import { Input, McpServer } from "@mcpfx/server"
import { Progress } from "@mcpfx/session"
import { TestServer } from "@mcpfx/testing"
import { Cause, Effect, Exit, Fiber, Layer, Option, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"

class Broken extends Schema.TaggedError<Broken>()("Broken", { what: Schema.String }) {}

const Job = Tool.make("job", {
  input: { wait: Schema.Int },
  output: { waited: Schema.Int },
  failure: Broken,
  task: "may"
})
const Must = Tool.make("must", { task: "must" })
const Plain = Tool.make("plain", { output: { n: Schema.Int } })
const Ask = Tool.make("ask", { task: "may" })
const Count = Tool.make("count", { task: "may" })
const Refuse = Tool.make("refuse", { task: "may" })

const state = () => ({ interrupted: 0, asked: 0 })

const registrations = (seen: ReturnType<typeof state>) =>
  Layer.mergeAll(
    McpServer.tool(Job, ({ wait }) =>
      wait < 0
        ? Effect.fail(new Broken({ what: "time" }))
        : Effect.as(Effect.sleep(wait), { waited: wait }).pipe(
          Effect.onInterrupt(() => Effect.sync(() => seen.interrupted++))
        )),
    McpServer.tool(Must, () => Effect.as(Effect.sleep(10), "had to")),
    McpServer.tool(Plain, () => Effect.succeed({ n: 1 })),
    McpServer.tool(Ask, () =>
      Effect.gen(function*() {
        const { name } = yield* Input.elicit("Who?", Schema.Struct({ name: Schema.String }))
        const { more } = yield* Input.elicit("More?", Schema.Struct({ more: Schema.Boolean }))
        return `${name} ${more}`
      })),
    McpServer.tool(Count, () =>
      Effect.gen(function*() {
        for (let at = 1; at <= 3; at++) {
          yield* Effect.sleep(1000)
          yield* Progress.report({ progress: at, total: 3 })
        }
        return "counted"
      })),
    McpServer.tool(Refuse, () => Effect.fail(new McpError.InvalidParams({ detail: "no" })))
  )

const forms = (seen: ReturnType<typeof state>) =>
  ClientElicitation.layerForm(({ message }) =>
    Effect.sync(() => {
      seen.asked++
      return ClientElicitation.accept(message === "Who?" ? { name: "Ada" } : { more: true })
    })
  )

const live = (revision: Revision.Version, seen = state()) =>
  TestServer.layer(registrations(seen), { revision, client: { tasks: true } }).pipe(Layer.provide(forms(seen)))

/** Moves the clock until a fiber has ended. */
const turn = <A, E>(effect: Effect.Effect<A, E, McpClient.McpClient>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
    for (let n = 0; n < 100 && fiber.pollUnsafe() === undefined; n++) yield* TestClock.adjust(1000)
    return yield* Fiber.join(fiber)
  })

const dialects = ["2025-11-25", "2026-07-28"] as const

for (const revision of dialects) {
  describe(`tasks of ${revision}`, () => {
    const seen = state()
    const test = (
      title: string,
      run: (client: McpClient.McpClient["Service"]) => Effect.Effect<void, unknown, McpClient.McpClient>
    ) =>
      it.effect(
        title,
        () => Effect.flatMap(McpClient.McpClient, run).pipe(Effect.provide(Layer.fresh(live(revision, seen))))
      )

    test("[TKL-07] [TKX-12] gives a handle at once, and the result by it, typed", (client) =>
      Effect.gen(function*() {
        const task = yield* client.callTask(Job, { wait: 5000 })
        assert.isString(task.id)
        assert.strictEqual((yield* task.status)?.status, "working")
        assert.deepEqual(yield* turn(task.wait), { waited: 5000 })
        assert.strictEqual((yield* task.status)?.status, "completed")
        assert.deepEqual(yield* task.wait, { waited: 5000 })
      }))

    test("[TOL-16] a declared failure of the tool comes back typed", (client) =>
      Effect.gen(function*() {
        const task = yield* client.callTask(Job, { wait: -1 })
        const failure = yield* Effect.flip(turn(task.wait))
        assert.strictEqual(failure._tag, "Broken")
      }))

    test("[TKL-05] an error of the protocol is refused as the call would have been", (client) =>
      Effect.gen(function*() {
        const task = yield* client.callTask("refuse")
        const { reason } = yield* Effect.flip(turn(task.wait))
        assert.deepInclude(reason, { _tag: "Refused", code: -32602, message: "no" })
      }))

    test("[TKL-08] [TKX-09] [TKX-11] cancels, and says so to who waits", (client) =>
      Effect.gen(function*() {
        const before = seen.interrupted
        const task = yield* client.callTask(Job, { wait: 60_000 })
        const waiting = yield* Effect.forkChild(Effect.flip(task.wait), { startImmediately: true })
        yield* TestClock.adjust(1)
        yield* task.cancel
        yield* TestClock.adjust(1000)
        const error = yield* Fiber.join(waiting)
        assert.strictEqual(error._tag === "McpClientError" ? error.reason._tag : error._tag, "TaskCancelled")
        assert.strictEqual(seen.interrupted, before + 1)
        yield* task.cancel
      }))

    test("finds a task again by its id", (client) =>
      Effect.gen(function*() {
        const { id = "" } = yield* client.callTask(Job, { wait: 100 })
        assert.deepEqual(yield* turn(client.task(id, Job).wait), { waited: 100 })
        assert.deepEqual((yield* client.task(id).wait).structuredContent, { waited: 100 })
        const { reason } = yield* Effect.flip(client.task("none").wait)
        assert.deepInclude(reason, { _tag: "Refused", code: -32602 })
      }))

    test("[TKL-06] [TKX-12] answers what the task asks, each thing once", (client) =>
      Effect.gen(function*() {
        const before = seen.asked
        const task = yield* client.callTask("ask")
        const result = yield* turn(task.wait)
        assert.deepEqual(result.content, [{ type: "text", text: "Ada true" }])
        assert.strictEqual(seen.asked, before + 2)
      }))

    test("shows each change of the status, to the end", (client) =>
      Effect.gen(function*() {
        const task = yield* client.callTask("count")
        const changes = yield* turn(Stream.runCollect(task.changes))
        assert.strictEqual(changes.at(-1)?.status, "completed")
        assert.includeMembers(changes.map(({ statusMessage }) => statusMessage), ["1 of 3", "2 of 3"])
      }))

    test("[TOL-23] [TKX-03] a plain call of a tool that has to be a task waits for it", (client) =>
      Effect.gen(function*() {
        const result = yield* turn(client.callTool("must"))
        assert.deepEqual(result.content, [{ type: "text", text: "had to" }])
        assert.deepEqual((yield* turn(client.call(Must))).content, [{ type: "text", text: "had to" }])
      }))

    test("leaves a task alone when who waits is interrupted", (client) =>
      Effect.gen(function*() {
        const before = seen.interrupted
        const task = yield* client.callTask(Job, { wait: 3000 })
        const waiting = yield* Effect.forkChild(task.wait, { startImmediately: true })
        yield* TestClock.adjust(1500)
        yield* Fiber.interrupt(waiting)
        assert.strictEqual(seen.interrupted, before)
        assert.deepEqual(yield* turn(task.wait), { waited: 3000 })
      }))
  })
}

describe("plain calls that become tasks", () => {
  it.effect("[TKX-03] [CAN-01] are waited for, and cancelled when they are interrupted", () =>
    Effect.gen(function*() {
      const seen = state()
      yield* Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        assert.deepEqual(yield* turn(client.call(Job, { wait: 2000 })), { waited: 2000 })
        const call = yield* Effect.forkChild(client.call(Job, { wait: 60_000 }), { startImmediately: true })
        yield* TestClock.adjust(1500)
        yield* Fiber.interrupt(call)
        yield* TestClock.adjust(1)
        assert.strictEqual(seen.interrupted, 1)
      }).pipe(Effect.provide(live("2026-07-28", seen)))
    }))

  it.effect("[TKX-03] a result that comes at once is a handle without a task", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const task = yield* client.callTask(Plain)
      assert.deepEqual([task.id, yield* task.status, yield* task.wait], [undefined, undefined, { n: 1 }])
      yield* task.cancel
    }).pipe(Effect.provide(live("2026-07-28"))))

  it.effect("[PRG-07] progress goes on under the token of the call", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const heard: Array<number> = []
      const task = yield* client.callTask("count", {}, {
        onProgress: ({ progress }) => Effect.sync(() => void heard.push(progress))
      })
      yield* turn(task.wait)
      assert.deepEqual(heard, [1, 2, 3])
    }).pipe(Effect.provide(live("2025-11-25"))))
})

describe("servers without tasks", () => {
  const bare = McpServer.tool(Plain, () => Effect.succeed({ n: 1 }))

  it.effect("[EXT-04] [TKL-01] `NotOffered`, and nothing is sent", () =>
    Effect.forEach(["2025-06-18", "2025-11-25", "2026-07-28"] as const, (revision) =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const asked: ReadonlyArray<Effect.Effect<unknown, McpClientError.McpClientError>> = [
          client.callTask("plain"),
          client.tasks,
          client.task("x").status
        ]
        for (const effect of asked) {
          const { reason } = yield* Effect.flip(effect)
          assert.strictEqual(reason._tag, "NotOffered", revision)
        }
      }).pipe(Effect.provide(TestServer.layer(bare, { revision, client: { tasks: true } })))))

  it.effect("[TOL-23] [EXT-06] a tool that does not say so, and a client that did not announce it", () =>
    Effect.gen(function*() {
      const seen = state()
      yield* Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const { reason } = yield* Effect.flip(client.callTask("plain"))
        assert.deepInclude(reason, { _tag: "NotOffered", what: "plain as a task" })
        assert.strictEqual((yield* client.tasks).length, 0)
      }).pipe(Effect.provide(live("2025-11-25", seen)))
      yield* Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const { reason } = yield* Effect.flip(client.callTask(Job, { wait: 0 }))
        assert.strictEqual(reason._tag, "NotOffered")
        assert.deepEqual(yield* client.call(Job, { wait: 0 }), { waited: 0 })
        const must = yield* Effect.flip(client.call(Must))
        assert.deepInclude(must.reason, { _tag: "Refused", code: -32021 })
      }).pipe(Effect.provide(TestServer.layer(registrations(seen), { revision: "2026-07-28" })))
    }))

  it.effect("[TKL-10] lists the tasks of the caller", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      for (let n = 0; n < 5; n++) yield* client.callTask(Job, { wait: n })
      assert.strictEqual((yield* client.tasks).length, 5)
    }).pipe(
      Effect.provide(TestServer.layer(registrations(state()), { revision: "2025-11-25", server: { pageSize: 2 } }))
    ))

  it.effect("waits no longer than it may", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const task = yield* client.callTask(Job, { wait: 60_000 })
      const exit = yield* Effect.exit(turn(task.wait))
      const error = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.findErrorOption(exit.cause)) : undefined
      assert.deepInclude(error?._tag === "McpClientError" ? error.reason : {}, { _tag: "TimedOut", millis: 5000 })
    }).pipe(
      Effect.provide(
        TestServer.layer(registrations(state()), {
          revision: "2026-07-28",
          client: { tasks: { timeout: 5000 } }
        })
      )
    ))
})
