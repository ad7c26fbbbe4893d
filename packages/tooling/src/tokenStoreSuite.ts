/** What every token store does, whatever it keeps credentials in. */
import { assert, it, layer } from "@effect/vitest"
import { TokenStore } from "@mcpfx/auth"
import { Deferred, Effect, Exit, Fiber, type Layer, Option, Redacted, type Scope } from "effect"
import * as fc from "fast-check"

const { TokenStore: Store } = TokenStore

let keys = 0

/** A key that no other test knows. */
export const fresh = () => `tokens/https://login.example.com/${++keys}?resource=https://mcp.example.com/a b`

export const plain = Option.map((value: Redacted.Redacted<string>) => Redacted.value(value))

/** What a program does with a store, beside a plain map. */
const command = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ op: fc.constant("set" as const), key: fc.nat(3), value: fc.string({ unit: "binary" }) })
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("get" as const), key: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("remove" as const), key: fc.nat(3) }) }
)

/** Names that are something else to objects, files or command lines. */
const names = [
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "a\0b\n",
  "CON",
  ".",
  "",
  "é",
  "E",
  "e",
  "x".repeat(5000)
]

export interface SuiteOptions {
  /** How many random programs are run. */
  readonly runs?: number | undefined
}

const keepsLast = Effect.gen(function*() {
  const self = yield* Store
  const [key, other] = [fresh(), fresh()]
  assert.deepStrictEqual(yield* self.get(key), Option.none())
  yield* self.remove(key)
  yield* self.set(key, Redacted.make("one"))
  yield* self.set(other, Redacted.make("other"))
  yield* self.set(key, Redacted.make("two"))
  assert.deepStrictEqual(plain(yield* self.get(key)), Option.some("two"))
  yield* self.remove(key)
  assert.deepStrictEqual(yield* self.get(key), Option.none())
  assert.deepStrictEqual(plain(yield* self.get(other)), Option.some("other"))
  yield* self.remove(other)
})

const keepsAnything = Effect.gen(function*() {
  const self = yield* Store
  for (const [index, key] of names.entries()) {
    assert.deepStrictEqual(yield* self.get(key), Option.none(), key)
    yield* self.set(key, Redacted.make(`${index} é 😀 \u0000 \n`))
  }
  for (const [index, key] of names.entries()) {
    assert.deepStrictEqual(plain(yield* self.get(key)), Option.some(`${index} é 😀 \u0000 \n`), key)
    yield* self.remove(key)
  }
})

const keepsMuch = Effect.gen(function*() {
  const self = yield* Store
  const key = fresh()
  for (const length of [0, 16_384, 10]) {
    const value = "é".repeat(length)
    yield* self.set(key, Redacted.make(value))
    assert.deepStrictEqual(plain(yield* self.get(key)), Option.some(value))
  }
  yield* self.remove(key)
})

const isMap = (runs: number) =>
  Effect.gen(function*() {
    const self = yield* Store
    const run = (commands: ReadonlyArray<typeof command extends fc.Arbitrary<infer A> ? A : never>) =>
      Effect.gen(function*() {
        const own = Array.from({ length: 4 }, fresh)
        const model = new Map<string, string>()
        for (const step of commands) {
          const key = own[step.key] ?? ""
          switch (step.op) {
            case "set":
              yield* self.set(key, Redacted.make(step.value))
              model.set(key, step.value)
              break
            case "get":
              assert.deepStrictEqual(plain(yield* self.get(key)), Option.fromUndefinedOr(model.get(key)))
              break
            case "remove":
              yield* self.remove(key)
              model.delete(key)
          }
        }
        for (const key of own) {
          assert.deepStrictEqual(plain(yield* self.get(key)), Option.fromUndefinedOr(model.get(key)))
          yield* self.remove(key)
        }
      })
    const property = fc.asyncProperty(
      fc.array(command, { maxLength: 12 }),
      (commands) => Effect.runPromise(run(commands))
    )
    yield* Effect.promise(() => fc.assert(property, { numRuns: runs }))
  })

const excludes = Effect.gen(function*() {
  const self = yield* Store
  const key = fresh()
  let [inside, most, runs] = [0, 0, 0]
  const critical = Effect.gen(function*() {
    most = Math.max(most, ++inside)
    yield* Effect.sleep("2 millis")
    runs++
    inside--
  })
  yield* Effect.forEach(Array.from({ length: 10 }), () => self.exclusive(key, critical), { concurrency: 10 })
  assert.deepStrictEqual([most, runs], [1, 10])
  assert.strictEqual(yield* self.exclusive(key, self.exclusive(fresh(), Effect.succeed("both"))), "both")
})

const opens = Effect.gen(function*() {
  const self = yield* Store
  const key = fresh()
  assert.strictEqual(yield* Effect.flip(self.exclusive(key, Effect.fail("failed"))), "failed")
  assert.isTrue(Exit.isFailure(yield* Effect.exit(self.exclusive(key, Effect.die("died")))))
  const inside = yield* Deferred.make<void>()
  const holder = yield* Effect.forkChild(
    self.exclusive(key, Effect.andThen(Deferred.succeed(inside, undefined), Effect.never))
  )
  yield* Deferred.await(inside)
  const waiter = yield* Effect.forkChild(self.exclusive(key, Effect.succeed("in")), { startImmediately: true })
  const gone = yield* Effect.forkChild(self.exclusive(key, Effect.never), { startImmediately: true })
  yield* Fiber.interrupt(gone)
  assert.isUndefined(waiter.pollUnsafe())
  yield* Fiber.interrupt(holder)
  assert.strictEqual(yield* Fiber.join(waiter), "in")
})

export const tokenStoreSuite = <E>(
  name: string,
  store: Layer.Layer<TokenStore.TokenStore, E>,
  options: SuiteOptions = {}
): void =>
  layer(store, { excludeTestServices: true })(name, (it) => {
    it.effect("[ACL-25] gives what was kept last, until it is removed", () => keepsLast)
    it.effect("keeps any text, under any name", () => keepsAnything)
    it.effect("keeps a text as long as tokens get", () => keepsMuch)
    it.effect("does what a map does", () => isMap(options.runs ?? 50), 60_000)
    it.effect("lets one run at a time under a key, and others under other keys", () => excludes)
    it.effect("opens again after a failure, a defect and an interruption", () => opens)
  })

/** `make` gives a store whose `exclusive` waits for 100 ms. */
export const boundedWait = <E>(
  name: string,
  make: Effect.Effect<TokenStore.TokenStore["Service"], E, Scope.Scope>
): void =>
  it.live(`${name}: the wait for a turn is bounded, and the one who holds it is left alone`, () =>
    Effect.gen(function*() {
      const self = yield* make
      const key = fresh()
      const inside = yield* Deferred.make<void>()
      const release = yield* Deferred.make<string>()
      const holder = yield* Effect.forkChild(
        self.exclusive(key, Effect.andThen(Deferred.succeed(inside, undefined), Deferred.await(release)))
      )
      yield* Deferred.await(inside)
      const error = yield* Effect.flip(self.exclusive(key, Effect.void))
      assert.strictEqual(error.operation, "lock")
      yield* Deferred.succeed(release, "done")
      assert.strictEqual(yield* Fiber.join(holder), "done")
      assert.strictEqual(yield* self.exclusive(key, Effect.succeed("in")), "in")
    }))
