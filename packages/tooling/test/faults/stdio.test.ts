import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber } from "effect"
import { Child } from "../../src/faults/child.ts"
import { program } from "../../src/faults/programs.ts"
import { Counts, Defect, Die, Echo, Never, Sleep } from "../../src/faults/registrations.ts"
import { at, call, initialize, initialized, modernRequest, parse, request } from "../../src/faults/wire.ts"
import { eventually, stdioClient, within } from "./support.ts"

const revisions = ["2025-11-25", "2026-07-28"] as const

/** A server process that ends with the test, whatever happens. */
const child = Effect.acquireRelease(
  Effect.promise(async () => new Child(await program("stdioServer"), ["1000"])),
  (child) =>
    Effect.promise(() => {
      child.kill("SIGKILL")
      return child.ended
    })
)

const answerTo = (child: Child, id: unknown) =>
  Effect.promise(() =>
    child.lines.find((line) => {
      const message = parse(line)
      return at(message, "id") === id && at(message, "method") === undefined ? message : undefined
    })
  )

describe("a server process", () => {
  for (const version of revisions) {
    it.live(`[field SHT-06] ${version}: that ends fails what waits at once, with its exit code and last words`, () =>
      Effect.gen(function*() {
        const client = yield* stdioClient(version)
        const waiting = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(Effect.flip(client.call(Never))))
        yield* eventually("three calls", Effect.map(Effect.orDie(client.call(Counts)), ({ started }) => started === 3))
        const died = yield* Effect.flip(client.call(Die)).pipe(within("the last call", 2000))
        const errors = yield* Fiber.joinAll(waiting).pipe(within("the others", 500))
        for (const error of [died, ...errors]) {
          assert.strictEqual(error.reason._tag, "ConnectionLost")
          if (error.reason._tag !== "ConnectionLost") continue
          assert.strictEqual(error.reason.exitCode, 7)
          assert.include(error.reason.stderr, "these are my last words")
        }
        const after = yield* Effect.flip(client.call(Echo, { text: "?" })).pipe(within("a call after", 100))
        assert.strictEqual(after.reason._tag, "ConnectionLost")
      }))
  }

  it.live("[field SHT-06] that is killed is a lost connection too", () =>
    Effect.gen(function*() {
      const client = yield* stdioClient("2025-11-25")
      const error = yield* Effect.flip(client.call(Die, { signal: "SIGKILL" })).pipe(within("the call", 2000))
      assert.strictEqual(error.reason._tag, "ConnectionLost")
      if (error.reason._tag === "ConnectionLost") assert.include(error.reason.stderr, "last words")
    }))

  for (const version of revisions) {
    it.live(`[CAN-02] ${version}: a handler that never ends is cut off by the client's deadline, and interrupted`, () =>
      Effect.gen(function*() {
        const client = yield* stdioClient(version)
        const error = yield* Effect.flip(client.call(Never, {}, { timeout: "200 millis" })).pipe(within("it", 3000))
        assert.strictEqual(error.reason._tag, "TimedOut")
        yield* eventually(
          "the handler is interrupted",
          Effect.map(Effect.orDie(client.call(Counts)), ({ interrupted }) => interrupted === 1)
        )
        const fiber = yield* Effect.forkChild(client.call(Never))
        yield* eventually(
          "a second call",
          Effect.map(Effect.orDie(client.call(Counts)), ({ started }) => started === 2)
        )
        yield* Fiber.interrupt(fiber)
        const exit = yield* Fiber.await(fiber)
        assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
        yield* eventually(
          "the second handler is interrupted",
          Effect.map(Effect.orDie(client.call(Counts)), ({ interrupted }) => interrupted === 2)
        )
      }))

    it.live(`${version}: a defect is -32603 without a word of its cause, and the session goes on`, () =>
      Effect.gen(function*() {
        const client = yield* stdioClient(version)
        const { reason } = yield* Effect.flip(client.callTool(Defect.name))
        assert.strictEqual(reason._tag, "Refused")
        if (reason._tag === "Refused") {
          assert.strictEqual(reason.code, -32603)
          assert.notInclude(JSON.stringify(reason), "shadow")
        }
        assert.deepStrictEqual(yield* client.call(Echo, { text: "still here" }), { text: "still here" })
      }))

    it.live(`${version}: a thousand calls at once are all answered, each with its own`, () =>
      Effect.gen(function*() {
        const client = yield* stdioClient(version)
        const answers = yield* Effect.forEach(
          Array.from({ length: 1000 }, (_, index) => index),
          (index) =>
            index % 2 === 0
              ? Effect.map(client.call(Echo, { text: `${index}` }), ({ text }) => Number(text))
              : Effect.map(client.call(Sleep, { ms: index / 10 }), ({ ms }) => Math.round(ms * 10)),
          { concurrency: "unbounded" }
        ).pipe(within("a thousand calls", 10_000))
        assert.deepStrictEqual(answers, Array.from({ length: 1000 }, (_, index) => index))
      }))
  }
})

describe("the client of a server process", () => {
  it.live("[STD-09] may leave in the middle: what is in flight is answered, and the process ends with 0", () =>
    Effect.gen(function*() {
      const server = yield* child
      server.send(initialize("2025-11-25"))
      server.send(initialized)
      yield* answerTo(server, "init")
      for (let id = 0; id < 20; id++) server.send(request(id, "tools/call", call("sleep", { ms: 200 + id })))
      server.send(modernRequest("listening", "subscriptions/listen", { notifications: { toolsListChanged: true } }))
      server.end()
      const end = yield* Effect.promise(() => server.ended).pipe(within("the end", 5000))
      assert.deepStrictEqual(end, { code: 0, signal: null }, server.stderr)
      const answers = server.lines.all.map(parse)
      for (let id = 0; id < 20; id++) {
        const answer = answers.find((message) => at(message, "id") === id)
        assert.strictEqual(at(answer, "result", "structuredContent", "ms"), 200 + id)
      }
    }))

  it.live("[STD-09] may be killed in the middle of a call: the server ends by itself", () =>
    Effect.gen(function*() {
      const server = yield* child
      server.send(modernRequest("never", "tools/call", call("never")))
      server.send(modernRequest("echo", "tools/call", call("echo", { text: "hi" })))
      yield* answerTo(server, "echo")
      // The pipes of a killed process close both at once.
      server.process.stdout?.destroy()
      server.process.stdin?.destroy()
      const end = yield* Effect.promise(() => server.ended).pipe(within("the end", 5000))
      assert.strictEqual(end.signal, null)
    }))

  it.live("may stop reading: a flood of progress waits in the handler and not in memory", () =>
    Effect.gen(function*() {
      const server = yield* child
      server.send(initialize("2025-11-25"))
      server.send(initialized)
      yield* answerTo(server, "init")
      server.process.stdout?.pause()
      const megabytes = 64
      server.send(request("flood", "tools/call", {
        ...call("flood", { reports: megabytes * 16, size: 64 * 1024 }),
        _meta: { progressToken: "p" }
      }))
      yield* Effect.sleep(1000)
      // Its answer waits behind what was not read; it was made while the flood stood still.
      server.send(request("counts", "tools/call", call("counts")))
      yield* Effect.sleep(300)
      server.process.stdout?.resume()
      const counts = yield* answerTo(server, "counts")
      assert.isBelow(Number(at(counts, "result", "structuredContent", "reports")), megabytes * 8)
      assert.isBelow(Number(at(counts, "result", "structuredContent", "heapMiB")), 120)
      yield* answerTo(server, "flood")
      const last = server.lines.all.findLast((line) => line.includes("notifications/progress"))
      assert.strictEqual(at(parse(last ?? ""), "params", "progress"), megabytes * 16)
    }))
})
