/** Laws of sealed states: what was sealed comes back, and nothing else does. */
import { assert, describe, it } from "@effect/vitest"
import { RequestState } from "@mcpfx/server"
import { Effect, Exit, Layer, Option, Redacted } from "effect"
import * as fc from "fast-check"

const one = "a secret of one server, long enough"
const two = "another secret, which came after it"

const opened = (keys: ReadonlyArray<string>, sealed: string) =>
  Effect.provide(
    Effect.flatMap(RequestState.RequestState, (state) => state.unseal(sealed)),
    RequestState.layer(keys)
  )
const sealed = (keys: ReadonlyArray<string>, text: string) =>
  Effect.provide(Effect.flatMap(RequestState.RequestState, (state) => state.seal(text)), RequestState.layer(keys))

const run = <A>(effect: Effect.Effect<A, unknown>) => Effect.runPromise(Effect.orDie(effect))

describe("sealed states", () => {
  it("[MRT-06] what was sealed is opened again, and differs every time", async () => {
    const { seal, unseal } = await run(Effect.provide(RequestState.RequestState, RequestState.layerRandom))
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 2000, unit: "binary" }), async (text) => {
        const first = await run(seal(text))
        const second = await run(seal(text))
        assert.notStrictEqual(first, second)
        assert.match(first, /^[A-Za-z0-9_-]+$/)
        const back = Option.getOrThrow(await run(unseal(first)))
        const again = Option.getOrThrow(await run(unseal(second)))
        assert.strictEqual(back.text, text)
        assert.notStrictEqual(back.id, again.id)
      }),
      { numRuns: 50 }
    )
  })

  it("[MRT-06] any character changed, cut or added is refused", async () => {
    const { seal, unseal } = await run(Effect.provide(RequestState.RequestState, RequestState.layerRandom))
    const text = await run(seal("answers"))
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    const refused = async (changed: string) => assert.isTrue(Option.isNone(await run(unseal(changed))), changed)
    for (let at = 0; at < text.length; at++) {
      for (let bit = 1; bit < 64; bit <<= 1) {
        const other = alphabet[alphabet.indexOf(text.charAt(at)) ^ bit] ?? "A"
        await refused(text.slice(0, at) + other + text.slice(at + 1))
      }
      await refused(text.slice(0, at))
    }
    for (const more of ["=", "==", "A", "-TAMPERED", " ", "\n"]) await refused(text + more)
  })

  it("anything else is refused", async () => {
    const { unseal } = await run(Effect.provide(RequestState.RequestState, RequestState.layerRandom))
    await fc.assert(fc.asyncProperty(fc.oneof(fc.string(), fc.base64String()), async (text) => {
      assert.isTrue(Option.isNone(await run(unseal(text))))
    }))
  })

  it.effect("[MRT-06] keys change: the first seals, all open", () =>
    Effect.gen(function*() {
      const old = yield* sealed([one], "x")
      assert.strictEqual(Option.getOrThrow(yield* opened([two, one], old)).text, "x")
      const young = yield* sealed([two, one], "y")
      assert.isTrue(Option.isNone(yield* opened([one], young)))
      assert.strictEqual(Option.getOrThrow(yield* opened([two], young)).text, "y")
      assert.isTrue(Option.isNone(yield* opened([two], old)))
    }))

  it.effect("a server with a key of its own does not open what another sealed", () =>
    Effect.gen(function*() {
      const seal = Effect.flatMap(RequestState.RequestState, (state) => state.seal("x"))
      const text = yield* Effect.provide(seal, Layer.fresh(RequestState.layerRandom))
      const other = Effect.flatMap(RequestState.RequestState, (state) => state.unseal(text))
      assert.isTrue(Option.isNone(yield* Effect.provide(other, Layer.fresh(RequestState.layerRandom))))
    }))

  it.effect("keys are long enough, and there is one", () =>
    Effect.gen(function*() {
      for (const keys of [[], ["short"], [one, Redacted.make("short")]]) {
        const exit = yield* Effect.exit(Effect.scoped(Layer.build(RequestState.layer(keys))))
        assert.isTrue(Exit.isFailure(exit))
        assert.notInclude(String(exit), "short")
      }
    }))
})
