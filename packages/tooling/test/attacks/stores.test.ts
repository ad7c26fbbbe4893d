/** Stores that cannot be written, and stores that somebody has written to. */
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { AuthError, TokenStore } from "@mcpfx/auth"
import { TokenStoreFile } from "@mcpfx/node"
import { Context, Effect, FileSystem, Layer, Logger, PlatformError, Redacted } from "effect"
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { challenge, type Seen } from "../../src/attacks/network.ts"
import { everything, Recorder } from "../../src/attacks/recorder.ts"
import { authorize, evil, issuer, make, mcpUrl, reasonOf, tokenUrl } from "../../src/attacks/world.ts"

const files = { json: (directory: string) => readdirSync(directory).filter((name) => name.endsWith(".json")) }

const failed = (method: string, path: string, why: string) =>
  Effect.fail(
    PlatformError.systemError({
      _tag: "Unknown",
      module: "FileSystem",
      method,
      pathOrDescriptor: path,
      cause: new Error(`${why}, ${method} '${path}'`)
    })
  )

/** A disk that is full or read-only from when the test says so. */
const disk = Effect.map(FileSystem.FileSystem, (real) => {
  let fault: "ENOSPC: no space left on device" | "EROFS: read-only file system" | undefined
  const isWrite = (flag: string | undefined) => flag !== undefined && flag !== "r"
  const open: typeof real.open = (path, options) => {
    if (fault === undefined || !isWrite(options?.flag)) return real.open(path, options)
    if (fault.startsWith("EROFS")) return failed("open", path, fault)
    const why = fault
    // A name fits on a full disk, and no byte behind it.
    return Effect.map(real.open(path, options), (file) => ({
      ...file,
      [FileSystem.FileTypeId]: file[FileSystem.FileTypeId],
      stat: file.stat,
      sync: file.sync,
      write: () => failed("write", path, why),
      writeAll: () => failed("write", path, why)
    }))
  }
  const guarded = (
    name: string,
    path: string,
    effect: Effect.Effect<void, PlatformError.PlatformError>
  ) => fault?.startsWith("EROFS") === true ? failed(name, path, fault) : effect
  return {
    breaks: (next: typeof fault) => void (fault = next),
    files: {
      ...real,
      open,
      rename: (from: string, to: string) => guarded("rename", from, real.rename(from, to)),
      link: (from: string, to: string) => guarded("link", from, real.link(from, to)),
      remove: (path: string, options?: Parameters<typeof real.remove>[1]) =>
        guarded("unlink", path, real.remove(path, options)),
      chmod: (path: string, mode: number) => guarded("chmod", path, real.chmod(path, mode)),
      writeFile: (path: string, data: Uint8Array, options?: Parameters<typeof real.writeFile>[2]) =>
        fault === undefined ? real.writeFile(path, data, options) : failed("write", path, fault),
      writeFileString: (path: string, data: string, options?: Parameters<typeof real.writeFileString>[2]) =>
        fault === undefined ? real.writeFileString(path, data, options) : failed("write", path, fault)
    }
  }
})

const opened = Effect.gen(function*() {
  const real = yield* FileSystem.FileSystem
  const directory = join(yield* real.makeTempDirectoryScoped({ prefix: "mcpfx-attack-" }), "credentials")
  const { breaks, files } = yield* disk
  const store = yield* Effect.map(
    Layer.build(TokenStoreFile.layer({ directory, wait: "1 second" })),
    (context) => Context.get(context, TokenStore.TokenStore)
  ).pipe(Effect.provideService(FileSystem.FileSystem, files))
  return { directory, store, breaks, world: yield* make() }
})

const faults = ["ENOSPC: no space left on device", "EROFS: read-only file system"] as const

const refusing = (tokens: ReadonlyArray<string>) => (seen: Seen) =>
  tokens.some((token) => seen.headers["authorization"] === `Bearer ${token}`)
    ? challenge("error=\"invalid_token\"")
    : "real"

describe("a disk that takes nothing", () => {
  for (const fault of faults) {
    it.live(`[field AUT-09] (${fault.slice(0, 6)}) does not keep anybody from a login, and is told`, () => {
      const recorder = new Recorder()
      return Effect.gen(function*() {
        const { breaks, directory, store, world } = yield* opened
        breaks(fault)
        const { http, oauth } = yield* authorize(world, { store })
        assert.notStrictEqual((yield* http.post(mcpUrl)).status, 401)
        assert.notStrictEqual((yield* http.post(mcpUrl)).status, 401)
        assert.strictEqual(yield* world.login.count("authorize"), 1)
        const status = yield* oauth.status
        assert.isTrue(status._tag === "LoggedIn" && status.unsaved?.reason._tag === "StoreFailed")
        const told = yield* Effect.flip(oauth.login())
        assert.deepInclude(told.reason, { _tag: "StoreFailed", operation: "write" })
        assert.include(told.message, fault)
        assert.deepStrictEqual(readdirSync(directory), [])
        assert.isTrue(recorder.messages.some((line) => line.startsWith(`Tokens for ${mcpUrl} are not kept: `)))
        for (const text of [...recorder.lines, everything(status), everything(told)]) {
          assert.deepStrictEqual(world.network.secrets.leaks(text), [])
        }
        // Once there is room it is kept.
        breaks(undefined)
        yield* oauth.login()
        assert.isAtLeast(files.json(directory).length, 2)
        assert.deepInclude(yield* oauth.status, { _tag: "LoggedIn", unsaved: undefined })
      }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer), Effect.provide(recorder.layer))
    })

    it.live(`[field AUT-09] [field AUT-06] (${fault.slice(0, 6)}) at a refresh leaves the login what it was`, () =>
      Effect.gen(function*() {
        const { breaks, directory, store, world } = yield* opened
        const { http } = yield* authorize(world, { store })
        yield* http.post(mcpUrl)
        const before = files.json(directory).map((name) => readFileSync(join(directory, name), "utf8"))
        world.network.on(mcpUrl, refusing(world.network.secrets.of("access token")))
        breaks(fault)
        // Nobody can say that no other process spends the same token: so nobody does.
        assert.deepInclude(yield* reasonOf(http.post(mcpUrl)), { _tag: "StoreFailed", operation: "lock" })
        assert.strictEqual(world.network.at(tokenUrl).length, 1)
        assert.deepStrictEqual(
          files.json(directory).map((name) => readFileSync(join(directory, name), "utf8")),
          before
        )
        breaks(undefined)
        const later = yield* authorize(world, { store })
        assert.notStrictEqual((yield* later.http.post(mcpUrl)).status, 401)
        assert.deepStrictEqual(world.network.at(tokenUrl).map(({ form }) => form.get("grant_type")), [
          "authorization_code",
          "refresh_token"
        ])
      }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer)))
  }
})

describe("a store that somebody wrote to", () => {
  const stored = Effect.gen(function*() {
    const world = yield* opened
    const { http } = yield* authorize(world.world, { store: world.store })
    yield* http.post(mcpUrl)
    world.world.network.forget()
    return world
  })

  it.live("[ACL-25] and that cannot be read is told, is not lost, and is replaced by a login that is asked for", () =>
    Effect.gen(function*() {
      for (
        const text of [
          "",
          "{",
          "null",
          "\u0000\u0001",
          "{\"version\":2,\"key\":\"\",\"value\":\"\"}",
          "[".repeat(100_000)
        ]
      ) {
        const { directory, store, world } = yield* stored
        for (const name of files.json(directory)) writeFileSync(join(directory, name), text)
        const { http, oauth } = yield* authorize(world, { store })
        const reason = yield* reasonOf(http.post(mcpUrl))
        assert.deepInclude(reason, { _tag: "StoreFailed", operation: "read" })
        assert.isFalse(new AuthError.AuthError({ reason }).isFinal)
        assert.deepStrictEqual(world.network.seen, [])
        yield* oauth.login()
        // What could not be read is put aside, and the next start finds a login.
        assert.lengthOf(readdirSync(directory).filter((name) => name.endsWith(".corrupt")), 3)
        world.network.forget()
        const later = yield* authorize(world, { store })
        assert.notStrictEqual((yield* later.http.post(mcpUrl)).status, 401)
        assert.strictEqual(world.network.seen.length, 1)
        assert.deepStrictEqual(world.network.strays, [])
      }
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer), Effect.provide(Logger.layer([]))))

  it.live("[ACL-25] and whose entries are not what they should be is as good as empty", () =>
    Effect.gen(function*() {
      const values = [
        "{}",
        "null",
        "[]",
        "\"a\"",
        "{\"accessToken\":1,\"tokenType\":\"Bearer\",\"scopes\":[]}",
        "{\"__proto__\":{\"accessToken\":\"x\",\"tokenType\":\"Bearer\",\"scopes\":[]}}"
      ]
      const { store, world } = yield* stored
      for (const value of values) {
        yield* store.set(JSON.stringify(["tokens", issuer, mcpUrl]), Redacted.make(value))
        world.network.forget()
        const { http } = yield* authorize(world, { store })
        assert.notStrictEqual((yield* http.post(mcpUrl)).status, 401)
        const [first] = world.network.at(mcpUrl)
        assert.isUndefined(first?.headers["authorization"], value)
        assert.deepStrictEqual(world.network.strays, [])
      }
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer), Effect.provide(Logger.layer([]))))

  it.live("[ACL-13] [ACL-24] and that names another server, issuer or resource takes no token there", () =>
    Effect.gen(function*() {
      const { store, world } = yield* stored
      const bindings = [
        { issuer: evil, resource: mcpUrl, found: "resource" },
        { issuer, resource: `${evil}/mcp`, found: "resource" },
        { issuer: evil, resource: `${evil}/mcp`, found: "defaults" },
        { issuer, resource: mcpUrl, named: evil, found: "resource" }
      ]
      for (const binding of bindings) {
        yield* store.set(JSON.stringify(["server", mcpUrl]), Redacted.make(JSON.stringify(binding)))
        world.network.forget()
        world.network.on(mcpUrl, refusing(world.network.secrets.of("access token")))
        const { http } = yield* authorize(world, { store })
        yield* Effect.exit(http.post(mcpUrl))
        assert.deepStrictEqual([binding, world.network.strays], [binding, []])
      }
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer)))

  it.live.skipIf(process.platform === "win32")(
    "[ACL-25] has files that nobody else reads, from their first byte on",
    () =>
      Effect.gen(function*() {
        const { directory } = yield* stored
        assert.strictEqual(statSync(directory).mode & 0o777, 0o700)
        for (const name of readdirSync(directory)) {
          assert.strictEqual(statSync(join(directory, name)).mode & 0o777, 0o600, name)
        }
      }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )
})
