import { NodeFileSystem } from "@effect/platform-node"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { TokenStore } from "@mcpfx/auth"
import { TokenStoreKeychain } from "@mcpfx/node"
import { hasSecretService, secretService } from "@mcpfx/tooling/secretService"
import { boundedWait, plain, tokenStoreSuite } from "@mcpfx/tooling/tokenStoreSuite"
import { Context, Duration, Effect, Exit, Fiber, FileSystem, Layer, Option, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import { KeychainEntries } from "../src/internal/keychainEntries.ts"
import { load } from "../src/internal/keyring.ts"
import { fakeKeyring } from "./support/fakeKeyring.ts"

const settings = { service: "test", timeout: Duration.minutes(2), partLength: 1200 }

const temporary = Effect.flatMap(
  FileSystem.FileSystem,
  (files) => files.makeTempDirectoryScoped({ prefix: "mcpfx-keychain-" })
)

/** A secret service for this file: what speaks to the bus does so once for the whole process. */
const scope = Scope.makeUnsafe()
const service = Effect.runSync(Effect.cached(
  secretService.pipe(
    Effect.tap(({ address }) => Effect.sync(() => (process.env["DBUS_SESSION_BUS_ADDRESS"] = address))),
    Scope.provide(scope)
  )
))
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const keychain = (options?: TokenStoreKeychain.Options) =>
  Layer.unwrap(
    Effect.map(
      Effect.andThen(service, temporary),
      (directory) => TokenStoreKeychain.layer({ name: "mcpfx-test", directory, ...options })
    )
  )

const storeOf = (options?: TokenStoreKeychain.Options) =>
  Effect.map(Layer.build(keychain(options)), (context) => Context.get(context, TokenStore.TokenStore))

const here = hasSecretService()

if (here) {
  tokenStoreSuite("in a secret service", Layer.provide(keychain(), NodeFileSystem.layer), { runs: 5 })
  boundedWait("in a secret service", Effect.provide(storeOf({ wait: "100 millis" }), NodeFileSystem.layer))
}

describe.skipIf(!here)("in a secret service", () => {
  it.live("[ACL-25] a service that is gone is a typed error, and keeps what it kept", () =>
    Effect.gen(function*() {
      const { kill, start } = yield* service
      const store = yield* storeOf()
      yield* store.set("a", Redacted.make("secret"))
      yield* kill
      const failures = [store.get("a"), store.set("a", Redacted.make("secret")), store.remove("a")]
      for (const [index, operation] of (["read", "write", "remove"] as const).entries()) {
        const error = yield* Effect.flip<unknown, TokenStore.TokenStoreError, never>(failures[index] ?? Effect.void)
        assert.strictEqual(error.operation, operation)
        assert.include(error.detail, "org.freedesktop.secrets")
        assert.notInclude(JSON.stringify(error), "\"secret\"")
      }
      yield* start
      assert.deepStrictEqual(plain(yield* store.get("a")), Option.some("secret"))
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})

const fakeStore = (fake: ReturnType<typeof fakeKeyring>, partLength: number | undefined) => {
  const entries = new KeychainEntries(fake.keyring, { ...settings, partLength })
  return Layer.succeed(TokenStore.TokenStore, {
    get: (key) => entries.get(key),
    set: (key, value) => entries.set(key, value),
    remove: (key) => entries.remove(key),
    exclusive: TokenStore.makeExclusive()
  })
}
tokenStoreSuite("in entries of 2,560 bytes", fakeStore(fakeKeyring(2560), 1200))
tokenStoreSuite("in entries of a few characters", fakeStore(fakeKeyring(200), 60))

describe("parts of an entry", () => {
  const long = Redacted.make("long secret ".repeat(500))
  const short = Redacted.make("short secret")
  const made = () => {
    const fake = fakeKeyring(2560)
    return { ...fake, store: new KeychainEntries(fake.keyring, settings) }
  }

  it.effect("are made where one cannot hold it all, and go when they are replaced or removed", () =>
    Effect.gen(function*() {
      const { entries, store } = made()
      yield* store.set("a", long)
      assert.isAbove(entries.size, 5)
      yield* store.set("a", long)
      const size = entries.size
      yield* store.set("a", short)
      assert.strictEqual(entries.size, 1)
      yield* store.set("a", long)
      assert.strictEqual(entries.size, size)
      yield* store.remove("a")
      assert.strictEqual(entries.size, 0)
    }))

  it.effect("[field AUT-09] that cannot all be written leave what was there", () =>
    Effect.gen(function*() {
      for (const old of [short, long]) {
        for (let call = 1; call <= 7; call++) {
          const { entries, failFrom, failing, store } = made()
          yield* store.set("a", old)
          const before = [...entries.keys()].toSorted()
          failFrom(call)
          const error = yield* Effect.flip(store.set("a", long))
          assert.deepStrictEqual([error.operation, error.detail], ["write", "keychain of test: it is locked"])
          failing.clear()
          assert.deepStrictEqual(plain(yield* store.get("a")), Option.some(Redacted.value(old)))
          assert.deepStrictEqual([...entries.keys()].toSorted(), before)
        }
      }
    }))

  it.effect("of which one is missing, and an entry of somebody else, are errors and no absence", () =>
    Effect.gen(function*() {
      const { entries, store } = made()
      yield* store.set("a", long)
      for (const name of entries.keys()) if (name.endsWith(".3")) entries.delete(name)
      assert.include((yield* Effect.flip(store.get("a"))).detail, "a part of an entry is missing")
      yield* store.set("a", short)
      const [name = ""] = entries.keys()
      for (const text of ["", "hello", "{}"]) {
        entries.set(name, text)
        assert.strictEqual((yield* Effect.flip(store.get("a"))).operation, "read")
        assert.strictEqual(entries.get(name), text)
      }
    }))

  it.effect("a keychain that does not answer is waited for so long", () =>
    Effect.gen(function*() {
      class AsyncEntry {
        getPassword = () => new Promise<string>(() => {})
        setPassword = () => new Promise<void>(() => {})
        deleteCredential = () => new Promise<boolean>(() => {})
      }
      const store = new KeychainEntries({ AsyncEntry }, settings)
      const fiber = yield* Effect.forkChild(Effect.flip(store.set("a", short)), { startImmediately: true })
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* Fiber.join(fiber)).detail, "keychain of test: it does not answer")
    }))
})

describe("the package", () => {
  it.effect("that is missing is a typed error with its name", () =>
    Effect.gen(function*() {
      const missing = yield* Effect.flip(load(() => Promise.reject(new Error("ERR_MODULE_NOT_FOUND"))))
      const other = yield* Effect.flip(load(() => Promise.resolve({ Entry: 1 })))
      for (const error of [missing, other]) assert.include(error.detail, "@napi-rs/keyring")
      assert.strictEqual(
        (yield* load(() => Promise.resolve({ default: fakeKeyring().keyring }))).AsyncEntry.name,
        "AsyncEntry"
      )
    }))
})
