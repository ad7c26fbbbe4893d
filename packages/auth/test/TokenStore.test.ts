import { assert, describe, it } from "@effect/vitest"
import { TokenStore } from "@mcpfx/auth"
import { boundedWait, fresh, plain, tokenStoreSuite } from "@mcpfx/tooling/tokenStoreSuite"
import { Context, Deferred, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { KeyValueStore } from "effect/persistence"
import { TestClock } from "effect/testing"
import { KeyedLock } from "../src/internal/keyedLock.ts"

const { TokenStore: Store } = TokenStore
const keyValue = (options?: TokenStore.KeyValueOptions) =>
  Layer.provideMerge(TokenStore.layerKeyValueStore(options), KeyValueStore.layerMemory)

tokenStoreSuite("in memory", TokenStore.layerMemory)
tokenStoreSuite("in a key-value store", keyValue())

const storeOf = <A>(layer: Layer.Layer<A | TokenStore.TokenStore>) =>
  Effect.map(Layer.build(layer), (context) => Context.get(context, Store))
boundedWait("in a key-value store", storeOf(keyValue({ wait: "100 millis" })))

describe("exclusive", () => {
  it.effect("waits a minute by default, in line", () =>
    Effect.gen(function*() {
      const self = yield* Store
      const order: Array<number> = []
      const release = yield* Deferred.make<void>()
      const holder = yield* Effect.forkChild(self.exclusive("a", Deferred.await(release)), { startImmediately: true })
      const late = yield* Effect.forkChild(Effect.flip(self.exclusive("a", Effect.void)), { startImmediately: true })
      yield* TestClock.adjust("59 seconds")
      const inTime = yield* Effect.forEach([1, 2, 3], (n) =>
        Effect.forkChild(self.exclusive("a", Effect.sync(() => order.push(n))), { startImmediately: true }))
      assert.isUndefined(late.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(late))._tag, "TokenStoreError")
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(holder)
      yield* Effect.forEach(inTime, Fiber.join)
      assert.deepStrictEqual(order, [1, 2, 3])
    }).pipe(Effect.provide(TokenStore.layerMemory)))

  it.effect("takes no space for names that nobody uses", () =>
    Effect.gen(function*() {
      const lock = new KeyedLock("1 second", (key) => key)
      const names = Array.from({ length: 50 }, (_, index) => `n${index % 10}`)
      const inUse = yield* Effect.forEach(
        names,
        (name) => lock.run(name, Effect.as(Effect.yieldNow, lock.size)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(Math.max(...inUse), 10)
      const holder = yield* Effect.forkChild(lock.run("a", Effect.never), { startImmediately: true })
      const late = yield* Effect.forkChild(Effect.flip(lock.run("a", Effect.void)), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(late), "a")
      yield* Fiber.interrupt(holder)
      assert.strictEqual(lock.size, 0)
    }))

  it.effect("is the one of the user where a key-value store is shared", () =>
    Effect.gen(function*() {
      const taken: Array<string> = []
      const exclusive: TokenStore.Exclusive = (key, effect) =>
        Effect.andThen(Effect.sync(() => taken.push(key)), effect)
      const self = yield* storeOf(keyValue({ exclusive }))
      assert.strictEqual(yield* self.exclusive("a", Effect.succeed(1)), 1)
      assert.deepStrictEqual(taken, ["a"])
    }))
})

describe("prefix", () => {
  it.effect("[ACL-25] keeps the users of one store apart", () =>
    Effect.gen(function*() {
      const store = yield* Store
      const [ada, bob] = [TokenStore.prefix(store, "ada/"), TokenStore.prefix(store, "bob/")]
      yield* ada.set("a", Redacted.make("1"))
      assert.deepStrictEqual(yield* bob.get("a"), Option.none())
      yield* bob.set("a", Redacted.make("2"))
      yield* bob.remove("a")
      assert.deepStrictEqual(plain(yield* ada.get("a")), Option.some("1"))
      assert.deepStrictEqual(plain(yield* store.get("ada/a")), Option.some("1"))
      assert.strictEqual(yield* ada.exclusive("a", bob.exclusive("a", Effect.succeed("both"))), "both")
    }).pipe(Effect.provide(TokenStore.layerMemory)))
})

describe("a key-value store", () => {
  it.effect("holds nothing outside of its prefix", () =>
    Effect.gen(function*() {
      const store = yield* Store
      yield* store.set("a", Redacted.make("1"))
      const values = yield* KeyValueStore.KeyValueStore
      assert.deepStrictEqual(yield* values.keys, ["mine/a"])
    }).pipe(Effect.provide(keyValue({ prefix: "mine/" }))))

  it.effect("[field AUT-09] that fails is a typed error without the secret", () =>
    Effect.gen(function*() {
      const fail = (method: string) =>
        Effect.fail(new KeyValueStore.KeyValueStoreError({ method, message: "could not keep secret" }))
      const broken = KeyValueStore.makeStringOnly({
        get: () => fail("get"),
        set: () => fail("set"),
        remove: () => fail("remove"),
        clear: Effect.void,
        size: Effect.succeed(0),
        keys: Effect.succeed([])
      })
      const self = yield* storeOf(
        Layer.provide(TokenStore.layerKeyValueStore(), Layer.succeed(KeyValueStore.KeyValueStore, broken))
      )
      const errors = yield* Effect.all([
        Effect.flip(self.get("a")),
        Effect.flip(self.set("a", Redacted.make("secret"))),
        Effect.flip(self.remove("a"))
      ])
      assert.deepStrictEqual(errors.map(({ operation }) => operation), ["read", "write", "remove"])
      assert.notInclude(JSON.stringify(errors) + errors.join(), "secret")
      assert.strictEqual(yield* self.exclusive(fresh(), Effect.succeed(1)), 1)
    }))
})
