import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { type Admission, type Endpoint, Rejected } from "@mcpfx/transport/Endpoint"
import type { Outlet } from "@mcpfx/transport/Exchange"
import * as Limits from "@mcpfx/transport/Limits"
import type { Link } from "@mcpfx/transport/Link"
import * as StdioServer from "@mcpfx/transport/StdioServer"
import { Cause, Deferred, Effect, Exit, Fiber, Sink, Stdio, Stream } from "effect"
import { TestClock } from "effect/testing"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { admitted, echo, endpoint, keeper, settled, streams } from "./support/scripted.ts"

const ping = (id: JsonRpc.RequestId) => ({ jsonrpc: "2.0", id, method: "ping" })
const pong = (id: JsonRpc.RequestId) => ({ jsonrpc: "2.0", id, result: { method: "ping", params: {} } })
const notification = { jsonrpc: "2.0", method: "notifications/initialized" }

const code = (message: unknown): unknown => {
  const error = JsonRpc.isJsonObject(message) ? message["error"] : undefined
  return JsonRpc.isJsonObject(error) ? error["code"] : undefined
}
const reason = (message: unknown): unknown => {
  const error = JsonRpc.isJsonObject(message) ? message["error"] : undefined
  const data = JsonRpc.isJsonObject(error) ? error["data"] : undefined
  return JsonRpc.isJsonObject(data) ? data["reason"] : undefined
}
const idOf = (message: unknown): unknown => JsonRpc.isJsonObject(message) && "id" in message ? message["id"] : "absent"

/** Serves an endpoint until the test is over. */
const serving = Effect.fnUntraced(function*(server: Endpoint["Service"]) {
  const io = yield* streams
  const fiber = yield* Effect.forkChild(StdioServer.serve(server, io.streams))
  yield* settled
  return { ...io, fiber }
})

/** Sends all at once, ends the input and gives what came back. */
const exchange = Effect.fnUntraced(function*(server: Endpoint["Service"], ...messages: ReadonlyArray<unknown>) {
  const io = yield* serving(server)
  yield* io.send(...messages)
  yield* io.end
  yield* Fiber.join(io.fiber)
  return io.received()
})

describe("lines", () => {
  it.effect("[STD-01] [STD-02] writes one message a line, and nothing else", () =>
    Effect.gen(function*() {
      const io = yield* serving(echo)
      yield* io.send({ ...ping(1), params: { text: "a\nb\r\u2028é🎉" } }, notification, ping("2"))
      yield* io.end
      yield* Fiber.join(io.fiber)
      const text = io.writes.join("")
      assert.strictEqual(text.split("\n").length, 3)
      assert.isTrue(text.endsWith("\n"))
      assert.deepStrictEqual(io.received(), [
        { jsonrpc: "2.0", id: 1, result: { method: "ping", params: { text: "a\nb\r\u2028é🎉" } } },
        pong("2")
      ])
    }))

  it.effect("[FRM-01] reads CRLF and blank lines, and writes bare line feeds", () =>
    Effect.gen(function*() {
      const io = yield* serving(echo)
      yield* io.write(`${JSON.stringify(ping(1))}\r\n\r\n\n${JSON.stringify(ping(2))}\r\n`)
      yield* io.end
      yield* Fiber.join(io.fiber)
      assert.deepStrictEqual(io.received(), [pong(1), pong(2)])
      assert.notInclude(io.writes.join(""), "\r")
    }))

  it.effect("[FRM-02] reads characters that come byte by byte", () =>
    Effect.gen(function*() {
      const io = yield* serving(echo)
      const text = `${JSON.stringify({ ...ping(7), params: { t: "é—🎉" } })}\n`
      for (const byte of new TextEncoder().encode(text)) yield* io.write(Uint8Array.of(byte))
      yield* io.end
      yield* Fiber.join(io.fiber)
      assert.deepStrictEqual(io.received(), [{
        jsonrpc: "2.0",
        id: 7,
        result: { method: "ping", params: { t: "é—🎉" } }
      }])
    }))

  it.effect("[FRM-04] takes a Content-Length header for junk and answers the message after it", () =>
    Effect.gen(function*() {
      const io = yield* serving(echo)
      yield* io.write(`Content-Length: 46\r\n\r\n${JSON.stringify(ping(1))}\n`)
      yield* io.end
      yield* Fiber.join(io.fiber)
      const [junk, answer] = io.received()
      assert.strictEqual(code(junk), -32700)
      assert.deepStrictEqual(answer, pong(1))
    }))

  it.effect("[FRM-06] answers unreadable lines and lives on", () =>
    Effect.gen(function*() {
      const answers = yield* exchange(echo, "{\"a\":", "[]", "{\"jsonrpc\":\"2.0\"}", "\"text\"", ping(3))
      assert.deepStrictEqual(answers.map(code), [-32700, -32600, -32600, -32600, undefined])
      assert.deepStrictEqual(answers[4], pong(3))
    }))

  it.effect("[FRM-06] answers a line that is not UTF-8", () =>
    Effect.gen(function*() {
      const io = yield* serving(echo)
      yield* io.write(Uint8Array.of(0x22, 0xff, 0x22, 0x0a))
      yield* io.send(ping(1))
      yield* io.end
      yield* Fiber.join(io.fiber)
      assert.deepStrictEqual(io.received().map(code), [-32700, undefined])
    }))

  it.effect("writes the answers to what came in at once with one write", () =>
    Effect.gen(function*() {
      const io = yield* serving(echo)
      yield* io.send(...Array.from({ length: 64 }, (_, i) => ping(i)))
      yield* settled
      assert.strictEqual(io.writes.length, 1)
      assert.deepStrictEqual(io.received(), Array.from({ length: 64 }, (_, i) => pong(i)))
    }))
})

describe("messages", () => {
  it.effect("[RPC-02] refuses ids that are null, fractions or objects, and keeps the type of those that are right", () =>
    Effect.gen(function*() {
      const odd = [null, 1.5, {}, true].map((id) => ({ jsonrpc: "2.0", id, method: "ping" }))
      const answers = yield* exchange(echo, ...odd, ping(0), ping("0"), ping(""), ping(-1))
      assert.deepStrictEqual(answers.slice(0, 4).map(code), [-32600, -32600, -32600, -32600])
      assert.deepStrictEqual(answers.slice(4), [pong(0), pong("0"), pong(""), pong(-1)])
    }))

  it.effect("[RPC-08] leaves the id of an unreadable request out, and writes null once an older revision is agreed", () =>
    Effect.gen(function*() {
      const link = yield* Deferred.make<Link>()
      const server = endpoint(({ facts }) => {
        if (facts.connection !== undefined) Deferred.doneUnsafe(link, Exit.succeed(facts.connection))
        return admitted
      })
      const io = yield* serving(server)
      yield* io.send("junk", notification)
      const connection = yield* Deferred.await(link)
      yield* connection.agreed({ version: "2025-06-18", era: "legacy" })
      yield* io.send("junk", "{}")
      yield* settled
      yield* connection.agreed({ version: "2025-11-25", era: "legacy" })
      yield* io.send("junk")
      yield* io.end
      yield* Fiber.join(io.fiber)
      assert.deepStrictEqual(io.received().map(idOf), ["absent", null, null, "absent"])
    }))

  it.effect("[RPC-08] answers a malformed request under its id where it has one", () =>
    Effect.gen(function*() {
      const answers = yield* exchange(echo, { jsonrpc: "2.0", id: "x", method: 5 }, { id: 6, method: "ping" })
      assert.deepStrictEqual(answers.map((answer) => [idOf(answer), code(answer)]), [["x", -32600], [6, -32600]])
    }))

  it.effect("[RPC-09] never answers notifications and responses, however wrong", () =>
    Effect.gen(function*() {
      const answers = yield* exchange(
        keeper().endpoint,
        notification,
        { jsonrpc: "2.0", method: "notifications/x", params: [1] },
        { method: "notifications/x" },
        { jsonrpc: "2.0", id: 1, result: 5 },
        { jsonrpc: "2.0", id: null, error: { code: "x" } },
        { jsonrpc: "2.0", id: 1, result: {} }
      )
      assert.deepStrictEqual(answers, [])
    }))

  it.effect("[RPC-10] hands on members that nobody knows", () =>
    Effect.gen(function*() {
      const { endpoint, exchanges } = keeper()
      const message: unknown = { jsonrpc: "2.0", method: "x", params: { extra: 1, _meta: { "a.b/c": [] } }, trace: "x" }
      yield* exchange(endpoint, message)
      assert.deepStrictEqual(exchanges.map((e): unknown => e.message), [message])
    }))

  it.effect("refuses what nests too deep, and not what only has many members", () =>
    Effect.gen(function*() {
      const nested = (depth: number): unknown => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`)
      const at = (depth: number) => ({ ...ping(1), params: { v: nested(depth - 2) } })
      const wide = { ...ping(2), params: { v: Array.from({ length: 500 }, () => ({ a: "[[[{{{\\\"[" })) } }
      const answers = yield* exchange(echo, at(128), at(129), "[".repeat(200_000), wide)
      assert.deepStrictEqual(answers.map(code), [undefined, -32600, -32600, undefined])
      assert.strictEqual(reason(answers[1]), "MessageTooDeep")
    }))
})

describe("admission", () => {
  const refused = new Rejected({ code: -32000, message: "full" }, 503)

  it.effect("answers a refused request with the error, and a refused notification not at all", () =>
    Effect.gen(function*() {
      const answers = yield* exchange(endpoint(() => Exit.fail(refused)), ping(1), notification)
      assert.deepStrictEqual(answers, [{ jsonrpc: "2.0", id: 1, error: { code: -32000, message: "full" } }])
    }))

  it.effect("answers -32603 where the endpoint has a defect, and goes on", () =>
    Effect.gen(function*() {
      const server = endpoint((exchange) =>
        "id" in exchange.message && exchange.message.id === 1 ? Exit.die("secret") : echo.handle(exchange)
      )
      const answers = yield* exchange(server, ping(1), ping(2))
      assert.deepStrictEqual(answers, [
        { jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } },
        pong(2)
      ])
    }))

  it.effect("keeps the order of messages when an admission has to wait", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const seen: Array<unknown> = []
      const server = endpoint((exchange) => {
        const id = "id" in exchange.message ? exchange.message.id : undefined
        const admit = Effect.suspend(() => {
          seen.push(id)
          return echo.handle(exchange)
        })
        if (id === 1) return Effect.andThen(Deferred.await(gate), admit)
        seen.push(id)
        return echo.handle(exchange)
      })
      const io = yield* serving(server)
      yield* io.send(ping(1), ping(2))
      yield* io.send(ping(3))
      yield* settled
      assert.deepStrictEqual(seen, [])
      yield* Deferred.succeed(gate, undefined)
      yield* io.end
      yield* Fiber.join(io.fiber)
      assert.deepStrictEqual(seen, [1, 2, 3])
      assert.deepStrictEqual(io.received(), [pong(1), pong(2), pong(3)])
    }))
})

describe("batches", () => {
  it.effect("[STD-07] [RPC-10] answers an array with one array, when the last request is done", () =>
    Effect.gen(function*() {
      const { endpoint, exchanges } = keeper()
      const io = yield* serving(endpoint)
      yield* io.send([ping(1), notification, ping(2)])
      yield* settled
      const [first, , second] = exchanges
      second?.outlet.answer(JsonRpc.success(2, {}))
      yield* settled
      assert.deepStrictEqual(io.received(), [])
      first?.outlet.answer(JsonRpc.success(1, {}))
      yield* settled
      assert.deepStrictEqual(io.received(), [[
        { jsonrpc: "2.0", id: 2, result: {} },
        { jsonrpc: "2.0", id: 1, result: {} }
      ]])
      yield* Fiber.interrupt(io.fiber)
    }))

  it.effect("[RPC-10] writes nothing for notifications alone, and leaves ended requests out", () =>
    Effect.gen(function*() {
      const server = endpoint(({ message, outlet }) => {
        if (!JsonRpc.isRequest(message)) return admitted
        if (message.id === 1) outlet.end()
        else outlet.answer(JsonRpc.success(message.id, {}))
        return admitted
      })
      const answers = yield* exchange(server, [notification, notification], [ping(1)], [ping(1), ping(2)])
      assert.deepStrictEqual(answers, [[{ jsonrpc: "2.0", id: 2, result: {} }]])
    }))

  it.effect("[RPC-10] answers what is wrong inside an array in the array", () =>
    Effect.gen(function*() {
      const [answer] = yield* exchange(echo, [1, { jsonrpc: "2.0", id: 5 }, ping(2), { method: "n" }])
      assert.isTrue(Array.isArray(answer))
      const entries: ReadonlyArray<unknown> = Array.isArray(answer) ? answer : []
      assert.deepStrictEqual(entries.map((e) => [idOf(e), code(e)]), [["absent", -32600], [5, -32600], [2, undefined]])
    }))

  it.effect("[RPC-10] refuses an empty array and a long one as a whole", () =>
    Effect.gen(function*() {
      const answers = yield* exchange(echo, [], Array.from({ length: 101 }, (_, i) => ping(i)))
      assert.deepStrictEqual(answers.map((a) => [idOf(a), code(a)]), [["absent", -32600], ["absent", -32600]])
    }))

  it.effect("[RPC-12] refuses an array that the endpoint does not take", () =>
    Effect.gen(function*() {
      const kept = keeper()
      const server = endpoint(
        kept.endpoint.handle,
        () => Exit.fail(new Rejected({ code: -32600, message: "no batches" }, 400))
      )
      const answers = yield* exchange(server, [ping(1), ping(2)])
      assert.deepStrictEqual(answers, [{ jsonrpc: "2.0", error: { code: -32600, message: "no batches" } }])
      assert.deepStrictEqual(kept.exchanges, [])
    }))

  it.effect("keeps the order of an array when an admission has to wait", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const server = endpoint(
        (exchange) => {
          const admit = Effect.suspend(() => {
            seen.push("id" in exchange.message ? exchange.message.id : undefined)
            return echo.handle(exchange)
          })
          return Effect.andThen(Effect.yieldNow, admit)
        },
        () => Effect.yieldNow
      )
      const answers = yield* exchange(server, [ping(1), ping(2)], ping(3))
      assert.deepStrictEqual(seen, [1, 2, 3])
      assert.deepStrictEqual(answers, [[pong(1), pong(2)], pong(3)])
    }))
})

describe("outlets", () => {
  it.effect("writes what is pushed before the answer, and nothing after it", () =>
    Effect.gen(function*() {
      const { endpoint, exchanges } = keeper()
      const io = yield* serving(endpoint)
      yield* io.send(ping(1))
      yield* settled
      const outlet: Outlet | undefined = exchanges[0]?.outlet
      assert.isDefined(outlet)
      yield* outlet.push(JsonRpc.notification("notifications/progress", { progress: 1 }))
      outlet.answer(JsonRpc.success(1, {}))
      outlet.answer(JsonRpc.success(1, { twice: true }))
      outlet.end()
      yield* outlet.push(JsonRpc.notification("notifications/progress", { progress: 2 }))
      yield* settled
      assert.deepStrictEqual(io.received(), [
        { jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } },
        { jsonrpc: "2.0", id: 1, result: {} }
      ])
      yield* Fiber.interrupt(io.fiber)
    }))

  it.effect("[STD-14] writes nothing for a request that was ended", () =>
    Effect.gen(function*() {
      const { endpoint, exchanges } = keeper()
      const io = yield* serving(endpoint)
      yield* io.send(ping(1))
      yield* settled
      exchanges[0]?.outlet.end()
      exchanges[0]?.outlet.answer(JsonRpc.success(1, {}))
      yield* io.end
      yield* Fiber.join(io.fiber)
      assert.deepStrictEqual(io.received(), [])
    }))

  it.effect("[FRM-14] puts an error in the place of an answer that is too large", () =>
    Effect.gen(function*() {
      const server = endpoint(({ message, outlet }) => {
        if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.success(message.id, { text: "é".repeat(500) }))
        return admitted
      })
      const [answer] = yield* exchange(server, ping(9))
      assert.deepStrictEqual([idOf(answer), code(answer), reason(answer)], [9, -32603, "ResultTooLarge"])
    }).pipe(Effect.provide(Limits.layer({ stdioMessageOut: 1000 }))))

  it.effect("puts an error in the place of an answer that is no JSON", () =>
    Effect.gen(function*() {
      const server = endpoint(({ message, outlet }) => {
        if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.success(message.id, { n: 1n }))
        return admitted
      })
      const answers = yield* exchange(server, ping(9), ping(10))
      assert.deepStrictEqual(answers.map((a) => [idOf(a), code(a)]), [[9, -32603], [10, -32603]])
    }))
})

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

describe("as a program", () => {
  const program = fileURLToPath(new URL("./fixtures/server.mjs", import.meta.url))

  interface Run {
    readonly child: ChildProcessWithoutNullStreams
    readonly stdout: () => string
    readonly stderr: () => string
    /** Resolves when the output has this many lines. */
    readonly lines: (count: number) => Promise<ReadonlyArray<unknown>>
    readonly exit: Promise<number | NodeJS.Signals | null>
  }

  const start = (...argv: ReadonlyArray<string>): Run => {
    const child = spawn(process.execPath, [program, ...argv], { stdio: "pipe" })
    let out = ""
    let err = ""
    let wake = () => {}
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text
      wake()
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text
    })
    child.stdin.on("error", () => {})
    const parsed = () => out.split("\n").slice(0, -1).map((line): unknown => JSON.parse(line))
    return {
      child,
      stdout: () => out,
      stderr: () => err,
      lines: (count) =>
        new Promise((resolve) => {
          wake = () => {
            if (parsed().length >= count) resolve(parsed())
          }
          wake()
        }),
      exit: new Promise((resolve) => {
        child.on("close", (exitCode, signal) => resolve(exitCode ?? signal))
      })
    }
  }
  const request = (id: number, method: string, params: JsonRpc.JsonObject = {}) =>
    `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`
  const temporary = () => join(mkdtempSync(join(tmpdir(), "mcpfx-")), "released")

  it.live("[SHT-01] answers what is in flight when its input ends at once, then exits with 0", () =>
    Effect.promise(async () => {
      const run = start()
      run.child.stdin.end(request(1, "ping") + request(2, "slow", { ms: 200 }) + request(3, "ping").trim())
      assert.strictEqual(await run.exit, 0)
      const ids = run.stdout().trim().split("\n").map((line) => idOf(JSON.parse(line)))
      assert.deepStrictEqual(ids, [1, 3, 2])
      assert.strictEqual(run.stderr(), "")
    }))

  it.live("[FRM-17] writes a large answer whole to a slow reader before it exits", () =>
    Effect.promise(async () => {
      const run = start()
      run.child.stdout.pause()
      run.child.stdin.end(request(1, "big", { bytes: 2_000_000 }))
      setTimeout(() => run.child.stdout.resume(), 600)
      assert.strictEqual(await run.exit, 0)
      const answer: unknown = JSON.parse(run.stdout())
      const result = JsonRpc.isJsonObject(answer) ? answer["result"] : undefined
      assert.isTrue(JsonRpc.isJsonObject(result) && String(result["text"]).length === 2_000_000)
    }))

  it.live("[FRM-10] [SHT-05] runs its finalizers and exits with 0 when its input ends", () =>
    Effect.promise(async () => {
      const file = temporary()
      const run = start(file)
      run.child.stdin.write(request(1, "ping"))
      await run.lines(1)
      run.child.stdin.end()
      assert.strictEqual(await run.exit, 0)
      assert.strictEqual(readFileSync(file, "utf8"), "released")
    }))

  it.live("[SHT-05] runs its finalizers on SIGTERM", () =>
    Effect.promise(async () => {
      const file = temporary()
      const run = start(file)
      run.child.stdin.write(request(1, "ping") + request(2, "slow", { ms: 60_000 }))
      await run.lines(1)
      run.child.kill("SIGTERM")
      await run.exit
      assert.strictEqual(readFileSync(file, "utf8"), "released")
    }))

  it.live("[FRM-07] stops quietly when its client goes away in the middle of a call", () =>
    Effect.promise(async () => {
      const file = temporary()
      const run = start(file)
      run.child.stdin.write(request(1, "ping"))
      await run.lines(1)
      run.child.stdin.write(request(2, "slow", { ms: 200 }))
      await new Promise((resume) => setTimeout(resume, 50))
      run.child.stdout.destroy()
      run.child.stdin.destroy()
      assert.strictEqual(await run.exit, 0)
      assert.strictEqual(run.stderr(), "")
      assert.strictEqual(readFileSync(file, "utf8"), "released")
    }))

  it.live("[FRM-13] programs that a tool starts neither read its input nor write to its output", () =>
    Effect.promise(async () => {
      const run = start()
      run.child.stdin.write(request(1, "run"))
      await run.lines(1)
      run.child.stdin.end(request(2, "ping"))
      assert.strictEqual(await run.exit, 0)
      assert.deepStrictEqual(await run.lines(2), [
        { jsonrpc: "2.0", id: 1, result: { exitCode: 0 } },
        { jsonrpc: "2.0", id: 2, result: {} }
      ])
    }))
})
