import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { Admission } from "@mcpfx/transport/Endpoint"
import * as Limits from "@mcpfx/transport/Limits"
import * as StdioServer from "@mcpfx/transport/StdioServer"
import { Cause, Deferred, Duration, Effect, Exit, Fiber, Sink, Stdio, Stream } from "effect"
import { TestClock } from "effect/testing"
import { echo, endpoint, keeper, settled, streams } from "./support/scripted.ts"
import { code, exchange, idOf, notification, ping, pong, reason, serving } from "./support/stdio.ts"

describe("limits", () => {
  it.effect("[FRM-14] answers a line past the limit under its id, keeps nothing of it and lives on", () =>
    Effect.gen(function*() {
      const long = { ...ping(5), params: { text: "x".repeat(2000) } }
      const answers = yield* exchange(
        echo,
        long,
        `${"a".repeat(3000)}`,
        { jsonrpc: "2.0", id: 6, result: { text: "x".repeat(2000) } },
        ping(1)
      )
      assert.deepStrictEqual(answers.map((a) => [idOf(a), code(a), reason(a)]), [
        [5, -32600, "MessageTooLarge"],
        ["absent", -32600, "MessageTooLarge"],
        [1, undefined, undefined]
      ])
    }).pipe(Effect.provide(Limits.layer({ stdioMessageIn: 1000 }))))

  it.effect("stops reading while what is written is not taken, and goes on in order", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const io = yield* streams
      const taken: Array<string> = []
      const output = Sink.forEachArray((texts: ReadonlyArray<string>) =>
        Effect.andThen(Deferred.await(gate), Effect.sync(() => void taken.push(...texts)))
      )
      const { endpoint, exchanges } = keeper((exchange) => echo.handle(exchange))
      const fiber = yield* Effect.forkChild(StdioServer.serve(endpoint, { input: io.streams.input, output }))
      for (let i = 0; i < 100; i++) {
        yield* io.send(ping(i))
        yield* settled
      }
      // Eight answers wait, and one is in the hands of the writer.
      assert.isAtMost(exchanges.length, 9)
      yield* Deferred.succeed(gate, undefined)
      yield* io.end
      yield* Fiber.join(fiber)
      const ids = taken.join("").trim().split("\n").map((line) => idOf(JSON.parse(line)))
      assert.deepStrictEqual(ids, Array.from({ length: 100 }, (_, i) => i))
    }).pipe(Effect.provide(Limits.layer({ outgoingMessages: 8 }))))

  it.effect("[FRM-18] lets many senders wait in line: all are written, in order", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const io = yield* streams
      const taken: Array<string> = []
      const output = Sink.forEachArray((texts: ReadonlyArray<string>) =>
        Effect.andThen(Deferred.await(gate), Effect.sync(() => void taken.push(...texts)))
      )
      const { endpoint, exchanges } = keeper()
      const fiber = yield* Effect.forkChild(StdioServer.serve(endpoint, { input: io.streams.input, output }))
      yield* io.send(notification)
      yield* settled
      const link = exchanges[0]?.facts.connection
      assert.isDefined(link)
      const senders = yield* Effect.forkChild(Effect.forEach(
        Array.from({ length: 50 }, (_, i) => i),
        (i) => link.send(JsonRpc.notification("n", { i, text: "x".repeat(20_000) })),
        { concurrency: "unbounded", discard: true }
      ))
      yield* settled
      assert.isUndefined(senders.pollUnsafe())
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(senders)
      yield* io.end
      yield* Fiber.join(fiber)
      const order = taken.join("").trim().split("\n").map((line): unknown => JSON.parse(line).params.i)
      assert.deepStrictEqual(order, Array.from({ length: 50 }, (_, i) => i))
    }).pipe(Effect.provide(Limits.layer({ outgoingMessages: 4 }))))

  it.effect("gives up a reader that takes nothing for a minute", () =>
    Effect.gen(function*() {
      const io = yield* streams
      const { endpoint, exchanges } = keeper((exchange) => echo.handle(exchange))
      const fiber = yield* Effect.forkChild(
        StdioServer.serve(endpoint, { input: io.streams.input, output: Sink.forEachArray(() => Effect.never) })
      )
      yield* io.send(ping(1), ping(2), ping(3))
      yield* settled
      const link = exchanges[0]?.facts.connection
      assert.isDefined(link)
      yield* TestClock.adjust("59 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(fiber)
      const closed = yield* link.closed
      assert.strictEqual(closed._tag === "TransportClosed" ? closed.reason : "", "The peer stopped reading")
      const failure = yield* Effect.flip(link.send(JsonRpc.notification("n")))
      assert.strictEqual(failure._tag, "TransportClosed")
    }).pipe(Effect.provide(Limits.layer({ outgoingMessages: 2 }))))

  it.effect("fails a send that is too large and keeps the connection", () =>
    Effect.gen(function*() {
      const { endpoint, exchanges } = keeper()
      const io = yield* serving(endpoint)
      yield* io.send(notification)
      yield* settled
      const link = exchanges[0]?.facts.connection
      assert.isDefined(link)
      const failure = yield* Effect.flip(link.send(JsonRpc.notification("n", { text: "é".repeat(500) })))
      assert.deepInclude(failure, { _tag: "MessageTooLarge", bytes: 1051, limit: 1000 })
      yield* link.send(JsonRpc.notification("n"))
      yield* io.end
      yield* Fiber.join(io.fiber)
      assert.deepStrictEqual(io.received(), [{ jsonrpc: "2.0", method: "n" }])
    }).pipe(Effect.provide(Limits.layer({ stdioMessageOut: 1000 }))))
})

describe("end", () => {
  it.effect("[SHT-01] answers what is in flight after the end of the input", () =>
    Effect.gen(function*() {
      const { endpoint, exchanges } = keeper()
      const io = yield* serving(endpoint)
      yield* io.send(ping(1), ping(2))
      yield* io.end
      yield* settled
      assert.isUndefined(io.fiber.pollUnsafe())
      exchanges[0]?.outlet.answer(JsonRpc.success(1, {}))
      yield* settled
      assert.isUndefined(io.fiber.pollUnsafe())
      exchanges[1]?.outlet.answer(JsonRpc.success(2, {}))
      yield* Fiber.join(io.fiber)
      assert.deepStrictEqual(io.received().map(idOf), [1, 2])
    }))

  it.effect("[SHT-01] reads a last line that has no end", () =>
    Effect.gen(function*() {
      const io = yield* serving(echo)
      yield* io.write(JSON.stringify(ping(1)))
      yield* io.end
      yield* Fiber.join(io.fiber)
      assert.deepStrictEqual(io.received(), [pong(1)])
    }))

  it.effect("[SHT-01] [STD-09] waits ten seconds and not longer, then tells the handlers", () =>
    Effect.gen(function*() {
      let disconnected = 0
      const { endpoint, exchanges } = keeper(() =>
        Exit.succeed({
          disconnected: () => {
            disconnected++
          }
        })
      )
      const io = yield* serving(endpoint)
      yield* io.send(ping(1))
      yield* io.end
      yield* settled
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(io.fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(io.fiber)
      assert.strictEqual(disconnected, 1)
      exchanges[0]?.outlet.answer(JsonRpc.success(1, {}))
      assert.deepStrictEqual(io.received(), [])
    }))

  it.effect("[STD-09] ends at once when nothing is in flight, and says why", () =>
    Effect.gen(function*() {
      const { endpoint, exchanges } = keeper()
      const io = yield* serving(endpoint)
      yield* io.send(notification)
      yield* io.end
      yield* Fiber.join(io.fiber)
      const closed = yield* exchanges[0]?.facts.connection?.closed ?? Effect.never
      assert.strictEqual(closed._tag === "TransportClosed" ? closed.reason : "", "The input ended")
    }))

  it.effect("[FRM-07] ends without a failure when the output breaks, and tells the handlers", () =>
    Effect.gen(function*() {
      let disconnected = 0
      const io = yield* streams
      const { endpoint, exchanges } = keeper(() =>
        Exit.succeed({
          disconnected: () => {
            disconnected++
          }
        })
      )
      const broken = Sink.forEachArray(() => Effect.fail("EPIPE"))
      const fiber = yield* Effect.forkChild(
        StdioServer.serve(endpoint, { input: io.streams.input, output: broken })
      )
      yield* io.send(ping(1), ping(2))
      yield* settled
      exchanges[0]?.outlet.answer(JsonRpc.success(1, {}))
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.isSuccess(exit))
      assert.strictEqual(disconnected, 1)
      exchanges[1]?.outlet.answer(JsonRpc.success(2, {}))
    }))

  it.effect("[FRM-07] takes an input that breaks for its end", () =>
    Effect.gen(function*() {
      const io = yield* streams
      const input = Stream.concat(
        Stream.make(new TextEncoder().encode(`${JSON.stringify(ping(1))}\n`)),
        Stream.fail("EIO")
      )
      yield* StdioServer.serve(echo, { input, output: io.streams.output })
      assert.deepStrictEqual(io.received(), [pong(1)])
    }))

  it.effect("[SHT-05] closes the link and tells the handlers when it is interrupted", () =>
    Effect.gen(function*() {
      let disconnected = 0
      const { endpoint, exchanges } = keeper((): Exit.Exit<Admission> =>
        Exit.succeed({
          disconnected: () => {
            disconnected++
          }
        })
      )
      const io = yield* serving(endpoint)
      yield* io.send(ping(1))
      yield* settled
      yield* Fiber.interrupt(io.fiber)
      assert.strictEqual(disconnected, 1)
      const closed = yield* exchanges[0]?.facts.connection?.closed ?? Effect.never
      assert.strictEqual(closed._tag, "TransportClosed")
    }))

  it.effect("[SHT-05] interrupted, it leaves a client that does not read so long, and no longer", () =>
    Effect.gen(function*() {
      const io = yield* streams
      const output = Sink.forEachArray(() => Effect.never)
      const fiber = yield* Effect.forkChild(StdioServer.serve(echo, { input: io.streams.input, output }))
      yield* io.send(ping(1), ping(2))
      yield* settled
      const interrupting = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* TestClock.adjust("199 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(interrupting)
      assert.isDefined(fiber.pollUnsafe())
    }).pipe(Effect.provide(Limits.layer({ lastWrite: Duration.millis(200) }))))

  it.effect("reads and writes the streams of Stdio, and leaves the output open", () =>
    Effect.gen(function*() {
      const written: Array<string | Uint8Array> = []
      const asked: Array<unknown> = []
      yield* Effect.provide(
        StdioServer.run(echo),
        Stdio.layerTest({
          stdin: Stream.make(new TextEncoder().encode(`${JSON.stringify(ping(1))}\n`)),
          stdout: (options) => {
            asked.push(options)
            return Sink.forEach((text: string | Uint8Array) => Effect.sync(() => void written.push(text)))
          }
        })
      )
      assert.deepStrictEqual(written, [`${JSON.stringify(pong(1))}\n`])
      assert.deepStrictEqual(asked, [{ endOnDone: false }])
    }))

  it.effect("lets a defect of the endpoint's handle through", () =>
    Effect.gen(function*() {
      const broken = new Error("broken")
      const io = yield* serving(endpoint(() => {
        throw broken
      }))
      yield* io.send(ping(1))
      const exit = yield* Fiber.await(io.fiber)
      assert.strictEqual(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined, broken)
    }))
})
