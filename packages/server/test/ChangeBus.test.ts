import { assert, describe, it } from "@effect/vitest"
import { ChangeBus } from "@mcpfx/server"
import { Effect } from "effect"

describe("ChangeBus", () => {
  it.effect("every listener hears every change, once, while its scope is open", () =>
    Effect.gen(function*() {
      const bus = yield* ChangeBus.make
      const heard: Array<string> = []
      yield* bus.subscribe((change) => heard.push(`a ${change.kind}`))
      yield* Effect.scoped(Effect.gen(function*() {
        yield* bus.subscribe((change) => heard.push(`b ${change.kind}`))
        yield* bus.publish({ kind: "tools" })
      }))
      yield* bus.publish({ kind: "resource", uri: "demo://a" })
      assert.deepStrictEqual(heard, ["a tools", "b tools", "a resource"])
    }))

  it.effect("[CON-04] a listener that throws keeps nobody else from hearing, nor the publisher from going on", () =>
    Effect.gen(function*() {
      const bus = yield* ChangeBus.make
      const heard: Array<string> = []
      yield* bus.subscribe(() => {
        throw new Error("deaf")
      })
      yield* bus.subscribe((change) => heard.push(change.kind))
      yield* bus.publish({ kind: "prompts" })
      assert.deepStrictEqual(heard, ["prompts"])
    }))

  it.effect("[SUB-03] a listener that leaves while it is told leaves no trace", () =>
    Effect.gen(function*() {
      const bus = yield* ChangeBus.make
      let heard = 0
      yield* Effect.scoped(Effect.andThen(
        Effect.forEach(Array.from({ length: 1000 }), () => bus.subscribe(() => heard++), { discard: true }),
        bus.publish({ kind: "tools" })
      ))
      yield* bus.publish({ kind: "tools" })
      assert.strictEqual(heard, 1000)
    }))
})
