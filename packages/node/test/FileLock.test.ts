import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { FileLock } from "@mcpfx/node"
import { Deferred, Effect, Fiber, FileSystem, PlatformError } from "effect"
import { TestClock } from "effect/testing"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { encode, type Owner, self } from "../src/internal/lockOwner.ts"

const worker = fileURLToPath(new URL("./support/lockWorker.ts", import.meta.url))

const folder = Effect.flatMap(
  FileSystem.FileSystem,
  (files) => files.makeTempDirectoryScoped({ prefix: "mcpfx-lock-" })
)

/** A process of its own, which ends with the scope. */
const run = (...args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, [worker, ...args], { stdio: ["ignore", "pipe", "inherit"] })),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )

const ended = (child: ChildProcess) =>
  Effect.promise(() => child.exitCode === null && child.signalCode === null ? once(child, "exit") : Promise.resolve([]))

/** An owner like this process, but for some of it. */
const owner = (changes: Partial<Owner>) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    return encode({ ...yield* self(files), token: "0123456789abcdef", ...changes })
  })

/** The id of a process that is no more. */
const deadPid = Effect.gen(function*() {
  const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" })
  yield* ended(child)
  return child.pid ?? 0
})

const linux = process.platform === "linux"

describe("a lock file", () => {
  it.live("is there while the effect runs, for its owner only to read, and gone after", () =>
    Effect.gen(function*() {
      const dir = yield* folder
      const path = join(dir, "lock")
      const held = Effect.sync(() => [readdirSync(dir), statSync(path).mode & 0o777] as const)
      const [names, mode] = yield* FileLock.withLock(path)(held)
      assert.deepStrictEqual(names, ["lock"])
      if (process.platform !== "win32") assert.strictEqual(mode, 0o600)
      assert.deepStrictEqual(readdirSync(dir), [])
      assert.strictEqual(yield* Effect.flip(FileLock.withLock(path)(Effect.fail("failed"))), "failed")
      const fiber = yield* Effect.forkChild(FileLock.withLock(path)(Effect.never))
      while (!existsSync(path)) yield* Effect.sleep("1 millis")
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(readdirSync(dir), [])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live("is waited for so long, then the error says who holds it", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "lock")
      const again = FileLock.withLock(path, { wait: "50 millis" })(Effect.void)
      const error = yield* FileLock.withLock(path)(Effect.flip(again))
      assert.deepStrictEqual([error.reason, error.pid, error.path], ["late", process.pid, path])
      yield* again
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live("can be waited for, and no more", () =>
    Effect.gen(function*() {
      const dir = yield* folder
      const path = join(dir, "lock")
      const release = yield* Deferred.make<void>()
      const holder = yield* Effect.forkChild(FileLock.withLock(path)(Deferred.await(release)))
      while (!existsSync(path)) yield* Effect.sleep("1 millis")
      const waiter = yield* Effect.forkChild(FileLock.withLock(path)(Effect.succeed("in")))
      const gone = yield* Effect.forkChild(FileLock.withLock(path)(Effect.never))
      yield* Effect.sleep("20 millis")
      yield* Fiber.interrupt(gone)
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(holder)
      assert.strictEqual(yield* Fiber.join(waiter), "in")
      assert.deepStrictEqual(readdirSync(dir), [])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live("that cannot be made is a typed error at once", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "no", "lock")
      const error = yield* Effect.flip(FileLock.withLock(path)(Effect.void))
      assert.deepStrictEqual([error.reason, error.path], ["failed", path])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live("works where there are no links", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const link = () =>
        Effect.fail(PlatformError.systemError({ _tag: "PermissionDenied", module: "FileSystem", method: "link" }))
      const path = join(yield* folder, "lock")
      const error = yield* FileLock.withLock(path)(
        Effect.flip(FileLock.withLock(path, { wait: "20 millis" })(Effect.void))
      ).pipe(Effect.provideService(FileSystem.FileSystem, { ...files, link }))
      assert.strictEqual(error.reason, "late")
      assert.isFalse(existsSync(path))
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})

describe("an owner that is gone", () => {
  const taken = (text: Effect.Effect<string, never, FileSystem.FileSystem>, options: FileLock.Options) =>
    Effect.gen(function*() {
      const dir = yield* folder
      const path = join(dir, "lock")
      writeFileSync(path, yield* text)
      const result = yield* Effect.result(FileLock.withLock(path, options)(Effect.succeed("in")))
      return result._tag === "Success" ? [result.success, ...readdirSync(dir)] : [result.failure.reason]
    })

  it.live("as its process is no more is followed at once", () =>
    Effect.gen(function*() {
      const pid = yield* deadPid
      assert.deepStrictEqual(yield* taken(owner({ pid }), { wait: "50 millis" }), ["in"])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live.skipIf(!linux)("is told from a process that got its id", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* taken(owner({ started: "1" }), { wait: "50 millis" }), ["in"])
      assert.deepStrictEqual(yield* taken(owner({}), { wait: "200 millis", stale: "20 millis" }), ["late"])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live("on another machine is followed when it shows no sign of life, and not before", () =>
    Effect.gen(function*() {
      const elsewhere = owner({ place: "elsewhere" })
      assert.deepStrictEqual(yield* taken(elsewhere, { wait: "100 millis", stale: "200 millis" }), ["late"])
      assert.deepStrictEqual(yield* taken(elsewhere, { wait: "2 seconds", stale: "100 millis" }), ["in"])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live("on another machine is followed that long after its last sign of life", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "lock")
      writeFileSync(path, yield* owner({ place: "elsewhere" }))
      const options = { wait: "10 seconds", stale: "1 second" } as const
      const waiter = yield* Effect.forkChild(FileLock.withLock(path, options)(Effect.succeed("in")))
      yield* Effect.sleep("500 millis")
      utimesSync(path, 1, 1)
      yield* Effect.sleep("600 millis")
      assert.isUndefined(waiter.pollUnsafe())
      assert.strictEqual(yield* Fiber.join(waiter), "in")
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live("and of whom nothing can be read, as a system crashed, is followed in the same way", () =>
    Effect.gen(function*() {
      for (const text of ["", "{", "[]", "null"]) {
        assert.deepStrictEqual(yield* taken(Effect.succeed(text), { wait: "2 seconds", stale: "50 millis" }), ["in"])
      }
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live("while it removed a lock leaves nothing in the way", () =>
    Effect.gen(function*() {
      const dir = yield* folder
      const path = join(dir, "lock")
      const pid = yield* deadPid
      writeFileSync(path, yield* owner({ pid, token: "a" }))
      writeFileSync(`${path}.a`, yield* owner({ pid, token: "b" }))
      writeFileSync(`${path}.a.b`, yield* owner({ pid, token: "c" }))
      assert.strictEqual(yield* FileLock.withLock(path, { wait: "1 second" })(Effect.succeed("in")), "in")
      assert.deepStrictEqual(readdirSync(dir), [])
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})

describe("signs of life", () => {
  it.live("are shown while the effect runs, so that nobody elsewhere takes over", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "lock")
      // The one who waits sees an owner of another place.
      const disguise = Effect.sync(() =>
        writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), place: "elsewhere" }))
      )
      const waiter = FileLock.withLock(path, { wait: "700 millis", stale: "300 millis" })(Effect.void)
      const error = yield* FileLock.withLock(path, { stale: "150 millis" })(
        Effect.andThen(disguise, Effect.flip(waiter))
      )
      assert.strictEqual(error.reason, "late")
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live("end with the lock: one that was robbed is interrupted, and leaves the lock of the other", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "lock")
      let interrupted = false
      const robbed = Effect.gen(function*() {
        writeFileSync(path, yield* owner({ token: "other" }))
        return yield* Effect.never
      }).pipe(Effect.onInterrupt(() => Effect.sync(() => (interrupted = true))))
      const error = yield* Effect.flip(FileLock.withLock(path, { stale: "60 millis" })(robbed))
      assert.strictEqual(error._tag === "FileLockError" && error.reason, "lost")
      assert.isTrue(interrupted)
      assert.include(readFileSync(path, "utf8"), "other")
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.effect("come three times in the time that is waited for them", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const path = join(yield* folder, "lock")
      let beats = 0
      const utimes: typeof files.utimes = (...args) => Effect.andThen(files.utimes(...args), Effect.sync(() => beats++))
      const held = yield* Deferred.make<void>()
      const fiber = yield* FileLock.withLock(path)(Effect.andThen(Deferred.succeed(held, undefined), Effect.never))
        .pipe(
          Effect.provideService(FileSystem.FileSystem, { ...files, utimes }),
          Effect.forkChild
        )
      // Files take real time, however the clock of the test stands.
      const turn = Effect.promise(() => new Promise((done) => setTimeout(done, 5)))
      yield* Deferred.await(held)
      yield* turn
      for (let beat = 1; beat <= 3; beat++) {
        yield* TestClock.adjust("5 seconds")
        for (let tries = 0; beats < beat && tries < 2000; tries++) yield* turn
        assert.strictEqual(beats, beat)
      }
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})

describe("processes", () => {
  const files = Effect.gen(function*() {
    const dir = yield* folder
    const counter = join(dir, "counter")
    writeFileSync(counter, "0")
    return { dir, counter, lock: join(dir, "lock") }
  })

  it.live("that race for one lock come one at a time, and some that crash stop nobody", () =>
    Effect.gen(function*() {
      const { counter, dir, lock } = yield* files
      const workers = yield* Effect.all([
        ...Array.from({ length: 4 }, () => run(lock, counter, "15")),
        ...Array.from({ length: 2 }, () => run(lock, counter, "1", "crash"))
      ])
      yield* Effect.forEach(workers, ended, { concurrency: "unbounded" })
      assert.strictEqual(readFileSync(counter, "utf8"), "62")
      assert.isFalse(existsSync(`${counter}.overlap`))
      assert.deepStrictEqual(workers.map(({ exitCode }) => exitCode), [0, 0, 0, 0, null, null])
      assert.strictEqual(yield* FileLock.withLock(lock, { wait: "1 second" })(Effect.succeed("in")), "in")
      assert.deepStrictEqual(readdirSync(dir), ["counter"])
    }).pipe(Effect.provide(NodeFileSystem.layer)), 60_000)

  it.live.skipIf(!linux)("that sleep keep their lock; those that are killed do not", () =>
    Effect.gen(function*() {
      const { counter, lock } = yield* files
      const child = yield* run(lock, counter, "1", "hold")
      yield* Effect.promise(() => once(child.stdout, "data"))
      child.kill("SIGSTOP")
      const error = yield* Effect.flip(FileLock.withLock(lock, { wait: "300 millis", stale: "50 millis" })(Effect.void))
      assert.deepStrictEqual([error.reason, error.pid], ["late", child.pid])
      child.kill("SIGKILL")
      yield* ended(child)
      assert.strictEqual(yield* FileLock.withLock(lock, { wait: "50 millis" })(Effect.succeed("in")), "in")
    }).pipe(Effect.provide(NodeFileSystem.layer)), 60_000)
})
