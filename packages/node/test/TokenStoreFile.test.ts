import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { TokenStore } from "@mcpfx/auth"
import { TokenStoreFile } from "@mcpfx/node"
import { leftOut } from "@mcpfx/tooling/leftOut"
import { boundedWait, plain, tokenStoreSuite } from "@mcpfx/tooling/tokenStoreSuite"
import { ConfigProvider, Context, Effect, FileSystem, Layer, Option, PlatformError, Redacted } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const posix = process.platform !== "win32"

const temporary = Effect.flatMap(
  FileSystem.FileSystem,
  (files) => files.makeTempDirectoryScoped({ prefix: "mcpfx-store-" })
)

const storeIn = (options: TokenStoreFile.Options) =>
  Effect.map(Layer.build(TokenStoreFile.layer(options)), (context) => Context.get(context, TokenStore.TokenStore))

const fresh = Layer.unwrap(Effect.map(temporary, (dir) => TokenStoreFile.layer({ directory: join(dir, "a", "b") })))
tokenStoreSuite("in files", Layer.provide(fresh, NodeFileSystem.layer))
boundedWait(
  "in files",
  Effect.flatMap(temporary, (directory) => storeIn({ directory, wait: "100 millis" })).pipe(
    Effect.provide(NodeFileSystem.layer)
  )
)

const modeOf = (path: string) => statSync(path).mode & 0o777
const only = (directory: string) => join(directory, readdirSync(directory).find((name) => name.endsWith(".json")) ?? "")
const one = Redacted.make("first secret")
const two = Redacted.make("second secret")

/** The error, which says where and not what. */
const failure = <A, R>(effect: Effect.Effect<A, TokenStore.TokenStoreError, R>, path: string) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.include(error.detail, path)
    assert.notInclude(`${JSON.stringify(error)} ${error.message} ${String(error.cause)}`, "secret")
    return error
  })

describe("files of credentials", () => {
  it.live.skipIf(!posix)(
    "[ACL-25] are their owner's alone, and wider rights are taken back",
    () =>
      Effect.gen(function*() {
        const directory = join(yield* temporary, "credentials")
        const store = yield* storeIn({ directory })
        yield* store.set("a", one)
        assert.deepStrictEqual([modeOf(directory), modeOf(only(directory))], [0o700, 0o600])
        chmodSync(directory, 0o755)
        chmodSync(only(directory), 0o644)
        const again = yield* storeIn({ directory })
        assert.deepStrictEqual(plain(yield* again.get("a")), Option.some("first secret"))
        assert.deepStrictEqual([modeOf(directory), modeOf(only(directory))], [0o700, 0o600])
        chmodSync(only(directory), 0o666)
        yield* again.set("a", two)
        assert.strictEqual(modeOf(only(directory)), 0o600)
      }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.live("have names that tell nothing, and nothing else is left beside them", () =>
    Effect.gen(function*() {
      const directory = yield* temporary
      const store = yield* storeIn({ directory })
      yield* store.set("../x", one)
      yield* store.exclusive("../x", store.set("../x", two))
      assert.match(readdirSync(directory).join(), /^[0-9a-f]{64}\.json$/)
      yield* store.remove("../x")
      assert.deepStrictEqual(readdirSync(directory), [])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live("that cannot be read are an error that says where, and are not lost when others are written", () =>
    Effect.gen(function*() {
      const directory = yield* temporary
      const store = yield* storeIn({ directory })
      yield* store.set("a", one)
      yield* store.set("b", one)
      yield* store.remove("b")
      const path = only(directory)
      for (
        const text of [
          "",
          "{\"version\":1,\"key\":\"a\",\"val",
          "null",
          readFileSync(path, "utf8").replace("\"a\"", "\"c\"")
        ]
      ) {
        writeFileSync(path, text)
        yield* store.set("b", two)
        assert.strictEqual((yield* failure(store.get("a"), path)).operation, "read")
        assert.strictEqual(readFileSync(path, "utf8"), text)
        assert.deepStrictEqual(plain(yield* store.get("b")), Option.some("second secret"))
        yield* store.remove("b")
        yield* store.set("a", two)
        assert.deepStrictEqual(plain(yield* store.get("a")), Option.some("second secret"))
        assert.strictEqual(readFileSync(path.replace(".json", ".corrupt"), "utf8"), text)
      }
      yield* store.remove("a")
      assert.deepStrictEqual(readdirSync(directory), [])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live.skipIf(!posix)("are never written or read through links", () =>
    Effect.gen(function*() {
      const dir = yield* temporary
      const directory = join(dir, "credentials")
      const store = yield* storeIn({ directory })
      yield* store.set("a", one)
      const path = only(directory)
      const target = join(dir, "target")
      writeFileSync(target, readFileSync(path))
      rmSync(path)
      symlinkSync(target, path)
      yield* failure(store.get("a"), path)
      yield* store.set("a", two)
      assert.isTrue(lstatSync(path).isFile())
      assert.include(readFileSync(target, "utf8"), "first")
      assert.deepStrictEqual(plain(yield* store.get("a")), Option.some("second secret"))
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live("half done by a crash are removed, when they are old", () =>
    Effect.gen(function*() {
      const directory = yield* temporary
      const old = new Date(Date.now() - 2 * 3_600_000)
      for (const name of ["x.json.0.tmp", "x.lock.0.new", "x.json"]) {
        writeFileSync(join(directory, name), "")
        utimesSync(join(directory, name), old, old)
      }
      writeFileSync(join(directory, "y.json.0.tmp"), "")
      yield* storeIn({ directory })
      assert.deepStrictEqual(readdirSync(directory).toSorted(), ["x.json", "y.json.0.tmp"])
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})

describe("the folder", () => {
  it.live("is the one of the application's settings", () =>
    Effect.gen(function*() {
      const home = yield* temporary
      const environment = ConfigProvider.fromEnv({ env: { XDG_CONFIG_HOME: home } })
      const store = yield* Effect.provideService(
        storeIn({ name: "calculator" }),
        ConfigProvider.ConfigProvider,
        environment
      )
      yield* store.set("a", one)
      assert.isTrue(existsSync(only(join(home, "calculator", "credentials"))))
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live("that cannot be had is a typed error that says where", () =>
    Effect.gen(function*() {
      const dir = yield* temporary
      const directory = join(dir, "file")
      writeFileSync(directory, "")
      yield* failure(storeIn({ directory }), directory)
      yield* failure(storeIn({ directory: join(directory, "in") }), directory)
      const homeless = Effect.provideService(
        storeIn({}),
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromEnv({ env: {} })
      )
      yield* failure(homeless, "home folder")
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live.skipIf(!posix)("of another user is refused", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const directory = yield* temporary
      const stat: typeof files.stat = (path) =>
        Effect.map(files.stat(path), (info) => ({ ...info, uid: Option.some((process.getuid?.() ?? 0) + 1) }))
      yield* Effect.provideService(
        failure(storeIn({ directory }), directory),
        FileSystem.FileSystem,
        { ...files, stat }
      )
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})

/** What was kept is kept still, and nothing half done is beside it. */
const unharmed = (store: TokenStore.TokenStore["Service"], directory: string) =>
  Effect.gen(function*() {
    const error = yield* failure(store.set("a", two), directory)
    assert.strictEqual(error.operation, "write")
    assert.deepStrictEqual(plain(yield* store.get("a")), Option.some("first secret"))
    assert.lengthOf(readdirSync(directory), 1)
    return error.detail
  })

describe("what cannot be written", () => {
  it.live("is known: what was written is on disk before it has its name, and its name before it is said to be kept", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const directory = yield* temporary
      const done: Array<string> = []
      const note = (what: string) => Effect.sync(() => done.push(what))
      const open: typeof files.open = (path, options) =>
        Effect.map(files.open(path, options), (file): FileSystem.File => ({
          ...file,
          writeAll: (bytes) => Effect.tap(file.writeAll(bytes), note("write")),
          sync: Effect.tap(file.sync, note(path === directory ? "sync folder" : "sync"))
        }))
      const rename: typeof files.rename = (from, to) => Effect.tap(files.rename(from, to), note("rename"))
      const store = yield* Effect.provideService(storeIn({ directory }), FileSystem.FileSystem, {
        ...files,
        open,
        rename
      })
      yield* store.set("a", one)
      assert.deepStrictEqual(done, ["write", "sync", "rename", ...(posix ? ["sync folder"] : [])])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live.skipIf(process.platform !== "linux")(
    "[field AUT-09] as the disk is full leaves what was there",
    () =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        const directory = yield* temporary
        yield* (yield* storeIn({ directory })).set("a", one)
        // A device that is always full.
        const open: typeof files.open = (path, options) =>
          options?.flag === "wx"
            ? Effect.andThen(files.writeFileString(path, "", options), files.open("/dev/full", { flag: "w" }))
            : files.open(path, options)
        const full = yield* Effect.provideService(storeIn({ directory }), FileSystem.FileSystem, { ...files, open })
        assert.include(yield* unharmed(full, directory), "ENOSPC")
      }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.live.skipIf(process.platform !== "linux")(
    "[field AUT-09] as a small disk is full leaves what was there",
    () =>
      Effect.gen(function*() {
        const directory = yield* temporary
        const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "none", directory], { stdio: "ignore" })
        if (mounted.status !== 0) return leftOut("a full disk of its own: it takes root to mount one")
        yield* Effect.addFinalizer(() => Effect.sync(() => spawnSync("umount", [directory])))
        const store = yield* storeIn({ directory })
        yield* store.set("a", one)
        const error = yield* failure(store.set("a", Redacted.make("secret".repeat(20_000))), directory)
        assert.include(error.detail, "ENOSPC")
        assert.deepStrictEqual(plain(yield* store.get("a")), Option.some("first secret"))
        yield* store.set("a", two)
        assert.deepStrictEqual(plain(yield* store.get("a")), Option.some("second secret"))
      }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.live("[field AUT-09] as the folder is read-only leaves what was there", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const directory = join(yield* temporary, "credentials")
      mkdirSync(directory)
      yield* (yield* storeIn({ directory })).set("a", one)
      const open: typeof files.open = (path, options) =>
        options?.flag === "wx"
          ? Effect.fail(PlatformError.systemError({
            _tag: "PermissionDenied",
            module: "FileSystem",
            method: "open",
            pathOrDescriptor: path,
            cause: new Error(`EROFS: read-only file system, open '${path}'`)
          }))
          : files.open(path, options)
      const store = yield* Effect.provideService(storeIn({ directory }), FileSystem.FileSystem, { ...files, open })
      assert.include(yield* unharmed(store, directory), "EROFS")
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live("as the system stops in the middle leaves what was there", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const directory = yield* temporary
      yield* (yield* storeIn({ directory })).set("a", one)
      const rename = () =>
        Effect.fail(PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method: "rename" }))
      const store = yield* Effect.provideService(storeIn({ directory }), FileSystem.FileSystem, { ...files, rename })
      yield* unharmed(store, directory)
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})

describe("two processes with one store", () => {
  it.live("[ACL-25] spend each refresh token once", () =>
    Effect.gen(function*() {
      const dir = yield* temporary
      const [directory, spent] = [join(dir, "credentials"), join(dir, "spent")]
      mkdirSync(spent)
      const worker = fileURLToPath(new URL("./support/storeWorker.ts", import.meta.url))
      const children = yield* Effect.forEach([1, 2], () =>
        Effect.acquireRelease(
          Effect.sync(() => spawn(process.execPath, [worker, directory, spent, "20"], { stdio: "inherit" })),
          (child) => Effect.sync(() => void child.kill("SIGKILL"))
        ))
      const codes = yield* Effect.promise(() => Promise.all(children.map((child) => once(child, "exit"))))
      assert.deepStrictEqual(codes, [[0, null], [0, null]])
      assert.lengthOf(readdirSync(spent), 40)
      const store = yield* storeIn({ directory })
      assert.deepStrictEqual(plain(yield* store.get("login")), Option.some("40"))
    }).pipe(Effect.provide(NodeFileSystem.layer)), 60_000)
})
