import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Agent } from "node:http"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Server from "../../src/faults/httpServer.ts"
import { registrations } from "../../src/faults/registrations.ts"
import { at, call, modernHeaders, modernRequest, openSession, parse, request, send } from "../../src/faults/wire.ts"

const sessions = 2000

/** The heap after all that can go has gone. */
const heap = (): number => {
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("gc")
  if (typeof collect === "function") { for (let i = 0; i < 3; i++) collect() }
  return process.memoryUsage().heapUsed
}

describe("idle sessions", () => {
  it.effect("two thousand of them are cheap, hold nobody up, and all end at the idle limit", () =>
    Effect.gen(function*() {
      const context = yield* Layer.build(Server.layer(registrations()))
      const port = yield* Effect.provideContext(Server.port, context)
      const agent = new Agent({ keepAlive: true, maxSockets: 8 })
      yield* Effect.addFinalizer(() => Effect.sync(() => agent.destroy()))
      const count = Effect.map(
        Effect.promise(() => send(port, { method: "GET", path: "/healthz", agent })),
        ({ text }) => at(parse(text), "endpoints", 0, "sessions")
      )
      const headers = yield* Effect.promise(async () => {
        // What is made once is not counted.
        for (let i = 0; i < 50; i++) await openSession(port, "2025-11-25", agent)
        const before = heap()
        const opened: Array<Record<string, string>> = []
        for (let i = 0; i < sessions / 8; i++) {
          opened.push(...await Promise.all(Array.from({ length: 8 }, () => openSession(port, "2025-11-25", agent))))
        }
        const each = (heap() - before) / sessions / 1024
        assert.isBelow(each, 12, "KiB of heap a session")
        return opened
      })
      assert.strictEqual(yield* count, sessions + 50)
      const [first] = headers
      const millis = yield* Effect.promise(async () => {
        const began = performance.now()
        for (let id = 0; id < 50; id++) {
          const params = call("echo", { text: `${id}` })
          const [old, young] = await Promise.all([
            send(port, { body: JSON.stringify(request(id, "tools/call", params)), headers: first ?? {}, agent }),
            send(port, {
              body: JSON.stringify(modernRequest(id, "tools/call", params)),
              headers: modernHeaders("tools/call", "echo"),
              agent
            })
          ])
          for (const { text } of [old, young]) {
            assert.strictEqual(at(parse(text), "result", "structuredContent", "text"), `${id}`)
          }
        }
        return performance.now() - began
      })
      assert.isBelow(millis / 100, 20, "milliseconds a call")
      yield* TestClock.adjust("29 minutes")
      yield* Effect.promise(() => send(port, { body: JSON.stringify(request(1, "ping")), headers: first ?? {}, agent }))
      assert.strictEqual(yield* count, sessions + 50)
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* count, 1)
      yield* TestClock.adjust("30 minutes")
      assert.strictEqual(yield* count, 0)
      const gone = yield* Effect.promise(() =>
        send(port, { body: JSON.stringify(request(1, "ping")), headers: first ?? {}, agent })
      )
      assert.strictEqual(gone.status, 404)
    }))
})
