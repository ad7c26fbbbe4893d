import { it } from "@effect/vitest"
import { Effect, Layer, Exit } from "effect"
import { TestClock } from "effect/testing"
import { type Inside, register, spy, text, tool } from "./protocol/fixtures.ts"
import { connect, overHttp, serve, Wire } from "./protocol/harness.ts"
it.effect("dbg", () => Effect.gen(function*() {
  const inside: Inside = { registry: undefined, bus: undefined }
  const endpoint = yield* serve(Layer.merge(register(tool("t", () => Effect.succeed(text("")))), spy(inside)))
  const s = connect(endpoint, "2026-07-28").start("subscriptions/listen", { notifications: { toolsListChanged: true } }, 1)
  console.log(JSON.stringify(endpoint.health()))
  const e = yield* Effect.exit(endpoint.shutdown)
  console.log(String(e), JSON.stringify(s.answer), s.ended, JSON.stringify(s.pushed), JSON.stringify(endpoint.health()))
  yield* Effect.yieldNow
  yield* TestClock.adjust("1 second")
  console.log(String(e), JSON.stringify(s.answer), s.ended, JSON.stringify(s.pushed), JSON.stringify(endpoint.health()))
}))
