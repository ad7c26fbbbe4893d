import { assert, describe, it } from "@effect/vitest"
import { TokenStore, TokenStoreRedis } from "@mcpfx/auth"
import { hasRedis, layerRedis, layerRedisServer, redisServer } from "@mcpfx/tooling/redis"
import { boundedWait, fresh, plain, tokenStoreSuite } from "@mcpfx/tooling/tokenStoreSuite"
import { Context, Deferred, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { Redis } from "effect/persistence"

const here = hasRedis()

/** A store with a connection of its own, as another process has. */
const storeOf = <E>(redis: Layer.Layer<Redis.Redis, E>, options?: TokenStoreRedis.Options) =>
  Effect.map(
    Layer.build(Layer.provide(TokenStoreRedis.layer(options), redis)),
    (context) => Context.get(context, TokenStore.TokenStore)
  )

if (here) {
  tokenStoreSuite("in Redis", Layer.provide(TokenStoreRedis.layer(), layerRedisServer))
  boundedWait("in Redis", storeOf(layerRedisServer, { wait: "100 millis" }))
}

describe.skipIf(!here)("in Redis", () => {
  it.live("[ACL-25] two processes come one at a time, and see what the other kept", () =>
    Effect.gen(function*() {
      const server = yield* redisServer
      const stores = yield* Effect.all([storeOf(layerRedis(server)), storeOf(layerRedis(server))])
      const key = fresh()
      const spent: Array<string> = []
      const refresh = (store: TokenStore.TokenStore["Service"]) =>
        store.exclusive(
          key,
          Effect.gen(function*() {
            const token = Option.getOrElse(plain(yield* store.get(key)), () => "0")
            yield* Effect.sleep("1 millis")
            spent.push(token)
            yield* store.set(key, Redacted.make(String(Number(token) + 1)))
          })
        )
      yield* Effect.forEach(stores, (store) => Effect.repeat(refresh(store), { times: 9 }), { concurrency: 2 })
      assert.strictEqual(new Set(spent).size, 20)
    }))

  it.live("a lock outlives its lease while it is held, is given back by who is interrupted, and ends with it after a crash", () =>
    Effect.gen(function*() {
      const server = yield* redisServer
      const options = { lease: "300 millis", wait: "700 millis" } as const
      const [one, two] = yield* Effect.all([storeOf(layerRedis(server), options), storeOf(layerRedis(server), options)])
      const key = fresh()
      const inside = yield* Deferred.make<void>()
      const holder = yield* Effect.forkChild(
        one.exclusive(key, Effect.andThen(Deferred.succeed(inside, undefined), Effect.never))
      )
      yield* Deferred.await(inside)
      assert.strictEqual((yield* Effect.flip(two.exclusive(key, Effect.void))).operation, "lock")
      yield* Fiber.interrupt(holder)
      const redis = Context.get(yield* Layer.build(layerRedis(server)), Redis.Redis)
      assert.deepStrictEqual(yield* redis.send("KEYS", "*"), [])
      // One that crashed holds it still.
      yield* redis.send("SET", `mcp-credentials/${key}:lock`, "crashed", "PX", "300")
      assert.strictEqual(yield* two.exclusive(key, Effect.succeed("in")), "in")
      assert.deepStrictEqual(yield* redis.send("KEYS", "*"), [])
    }))

  it.live("a holder that is robbed, or cannot be heard, is interrupted", () =>
    Effect.gen(function*() {
      const server = yield* redisServer
      const store = yield* storeOf(layerRedis(server), { lease: "300 millis" })
      const redis = Context.get(yield* Layer.build(layerRedis(server)), Redis.Redis)
      for (
        const harm of [(key: string) => redis.send("SET", `mcp-credentials/${key}:lock`, "other"), () => server.freeze]
      ) {
        let interrupted = false
        const key = fresh()
        const critical = Effect.andThen(harm(key), Effect.never).pipe(
          Effect.onInterrupt(() => Effect.sync(() => (interrupted = true)))
        )
        const error = yield* Effect.flip(store.exclusive(key, critical))
        assert.deepStrictEqual([error._tag, interrupted], ["TokenStoreError", true])
      }
      yield* server.thaw
    }))

  it.live("[field AUT-09] without a server all fails at once, with typed errors and no secret", () =>
    Effect.gen(function*() {
      const server = yield* redisServer
      const store = yield* storeOf(layerRedis(server))
      yield* server.kill
      const errors = [
        yield* Effect.flip(store.get("a")),
        yield* Effect.flip(store.set("a", Redacted.make("secret"))),
        yield* Effect.flip(store.remove("a")),
        yield* Effect.flip(store.exclusive("a", Effect.void))
      ]
      assert.deepStrictEqual(errors.map(({ operation }) => operation), ["read", "write", "remove", "lock"])
      assert.notInclude(JSON.stringify(errors), "secret")
    }))
})
