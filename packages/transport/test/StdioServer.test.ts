import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Rejected } from "@mcpfx/transport/Endpoint"
import type { Outlet } from "@mcpfx/transport/Exchange"
import * as Limits from "@mcpfx/transport/Limits"
import type { Link } from "@mcpfx/transport/Link"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { admitted, echo, endpoint, keeper, settled } from "./support/scripted.ts"
import { code, exchange, idOf, notification, ping, pong, reason, serving } from "./support/stdio.ts"

describe("lines", () => {
  it.effect("[STD-01] [STD-02] [STD-17] writes one message a line, and nothing else", () =>
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

  it.effect("[field RPC-10] hands on members that nobody knows", () =>
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
      yield* settled
      assert.deepStrictEqual(seen, [1, 2, 3])
      assert.deepStrictEqual(io.received(), [pong(1), pong(2), pong(3)])
      yield* Fiber.interrupt(io.fiber)
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
