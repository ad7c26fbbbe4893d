import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, layer } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { ClientTransport } from "@mcpfx/transport/ClientTransport"
import type { Endpoint } from "@mcpfx/transport/Endpoint"
import * as Limits from "@mcpfx/transport/Limits"
import type { Link } from "@mcpfx/transport/Link"
import * as StdioClient from "@mcpfx/transport/StdioClient"
import { Deferred, Duration, Effect, Exit, Fiber, Redacted, Scope, Stream } from "effect"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { admitted, endpoint } from "./support/scripted.ts"

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))
const peer = (...argv: ReadonlyArray<string>): ReadonlyArray<string> => [process.execPath, fixture("peer.mjs"), ...argv]

/** A client that knows which answer belongs to which request. */
const caller = () => {
  const pending = new Map<JsonRpc.RequestId, Deferred.Deferred<unknown>>()
  const other: Array<JsonRpc.Message> = []
  const client = endpoint(({ fault, message, outlet }) => {
    const waiting = JsonRpc.isResponse(message) && message.id !== undefined && message.id !== null
      ? pending.get(message.id)
      : undefined
    if (waiting !== undefined && JsonRpc.isResponse(message)) {
      const answer = JsonRpc.isFailure(message) ? message.error : message.result
      Deferred.doneUnsafe(waiting, Exit.succeed(fault === undefined ? answer : { fault }))
    }
    if (waiting === undefined) other.push(message)
    if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.success(message.id, { heard: message.method }))
    return admitted
  })
  const call = Effect.fnUntraced(function*(
    link: Link,
    id: JsonRpc.RequestId,
    params: JsonRpc.JsonObject = {},
    method = "call"
  ) {
    const waiting = yield* Deferred.make<unknown>()
    pending.set(id, waiting)
    yield* link.send(JsonRpc.request(id, method, params))
    return yield* Effect.raceFirst(Deferred.await(waiting), Effect.flatMap(link.closed, Effect.fail))
  })
  return { client, call, other }
}

const connect = (
  client: Endpoint["Service"],
  mode: string,
  options: Omit<StdioClient.Options, "command"> = {}
) => StdioClient.connect(client, { command: peer(mode), ...options })

/** Whether a process runs; one that has ended and waits to be collected does not. */
const isAlive = (pid: unknown): boolean =>
  spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim().replace(/^Z.*/, "") !== ""

const member = (value: unknown, key: string): unknown => JsonRpc.isJsonObject(value) ? value[key] : undefined

/** Short waits, so that the tests of stubborn children are quick. */
const hasty = Limits.layer({ childGrace: Duration.millis(300) })

layer(NodeServices.layer, { excludeTestServices: true })("StdioClient", (it) => {
  describe("messages", () => {
    it.effect("[STD-01] talks to a child process", () =>
      Effect.gen(function*() {
        const { call, client } = caller()
        const link = yield* connect(client, "echo")
        assert.deepStrictEqual(yield* call(link, 1, { t: "é\n🎉" }), { t: "é\n🎉" })
        assert.deepStrictEqual(yield* call(link, "2"), {})
        assert.isTrue(isAlive(link.pid))
      }))

    it.effect("[FRM-03] skips a banner, reports it, and completes the handshake", () =>
      Effect.gen(function*() {
        const { call, client } = caller()
        const junk: Array<StdioClient.Junk> = []
        const link = yield* connect(client, "banner", { onJunk: (line) => junk.push(line) })
        assert.deepStrictEqual(yield* call(link, 1, { a: 1 }), { a: 1 })
        assert.deepStrictEqual(junk.map((line) => line.text), ["Server ready on stdio", "[info] loaded 3 tools"])
      }))

    it.effect("[FRM-03] skips a line that a banner is glued to, and lives on", () =>
      Effect.gen(function*() {
        const { call, client, other } = caller()
        const junk: Array<StdioClient.Junk> = []
        const link = yield* connect(client, "glued", { onJunk: (line) => junk.push(line) })
        yield* link.send(JsonRpc.request(1, "call", {}))
        assert.deepStrictEqual(yield* call(link, 2), {})
        assert.deepStrictEqual(junk.map((line) => line.text.slice(0, 6)), ["ready{"])
        assert.deepStrictEqual(other, [])
      }))

    it.effect("[FRM-06] needs nobody to listen to junk", () =>
      Effect.gen(function*() {
        const { call, client } = caller()
        assert.deepStrictEqual(yield* call(yield* connect(client, "banner"), 1), {})
      }))

    it.effect("[FRM-01] reads CRLF and blank lines", () =>
      Effect.gen(function*() {
        const { call, client } = caller()
        const junk: Array<StdioClient.Junk> = []
        const link = yield* connect(client, "crlf", { onJunk: (line) => junk.push(line) })
        assert.deepStrictEqual(yield* call(link, 1, { a: 1 }), { a: 1 })
        assert.deepStrictEqual(junk, [])
      }))

    it.effect("[FRM-02] reads an answer that comes byte by byte", () =>
      Effect.gen(function*() {
        const { call, client } = caller()
        assert.deepStrictEqual(yield* call(yield* connect(client, "bytewise"), 7, { t: "é—🎉" }), { t: "é—🎉" })
      }))

    it.effect("answers what the server asks", () =>
      Effect.gen(function*() {
        const heard = yield* Deferred.make<JsonRpc.Message>()
        const client = endpoint(({ message, outlet }) => {
          if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.success(message.id, { roots: [] }))
          else Deferred.doneUnsafe(heard, Exit.succeed(message))
          return admitted
        })
        const link = yield* connect(client, "asks")
        yield* link.send(JsonRpc.notification("go"))
        const message = yield* Deferred.await(heard)
        assert.deepStrictEqual(member(message, "params"), { jsonrpc: "2.0", id: "ask", result: { roots: [] } })
      }))

    it.effect("[FRM-14] fails the exchange whose answer is too large, and no other", () =>
      Effect.gen(function*() {
        const { call, client } = caller()
        const link = yield* connect(client, "large")
        const fault = member(yield* call(link, 1, { bytes: 5000 }), "fault")
        assert.deepInclude(fault, { _tag: "MessageTooLarge", limit: 4000 })
        assert.deepStrictEqual(yield* call(link, 2, { bytes: 3 }), { text: "xxx" })
      }).pipe(Effect.provide(Limits.layer({ clientMessageIn: 4000 }))))

    it.effect("[RPC-23] fails the exchange whose answer is no message at once, and no other", () =>
      Effect.gen(function*() {
        const junk: Array<StdioClient.Junk> = []
        const { call, client } = caller()
        const link = yield* connect(client, "spoilt", { onJunk: (line) => void junk.push(line) })
        assert.deepStrictEqual(yield* call(link, 1, { how: "null" }), { fault: "result must be an object" })
        assert.deepStrictEqual(yield* call(link, 2, { how: "both" }), {
          fault: "a response has either result or error"
        })
        assert.deepStrictEqual(yield* call(link, 3, { how: "neither" }), {
          fault: "a message has a method, a result or an error"
        })
        assert.deepStrictEqual(yield* call(link, 4, { how: "deep" }), { fault: "nested deeper than 128" })
        assert.strictEqual(junk.length, 4)
        // A line of a log may have an id too.
        assert.deepStrictEqual(yield* call(link, 5, { how: "log" }), { ok: true })
      }))

    it.effect("[FRM-14] [FRM-17] takes an answer of 8 MiB whole", () =>
      Effect.gen(function*() {
        const { call, client } = caller()
        const answer = yield* call(yield* connect(client, "large"), 1, { bytes: 8 * 1_048_576 })
        assert.strictEqual(String(member(answer, "text")).length, 8 * 1_048_576)
      }))

    it.effect("[FRM-18] sends 50 requests of 20 KB to a child that is slow to read", () =>
      Effect.gen(function*() {
        const { call, client } = caller()
        const warnings: Array<string> = []
        const onWarning = (warning: Error) => void warnings.push(warning.name)
        process.on("warning", onWarning)
        const link = yield* connect(client, "sleepy")
        yield* Effect.forEach(
          Array.from({ length: 50 }, (_, id) => id),
          (id) => call(link, id, { text: "x".repeat(20_000) }),
          { concurrency: "unbounded", discard: true }
        )
        process.off("warning", onWarning)
        assert.deepStrictEqual(warnings, [])
      }).pipe(Effect.provide(Limits.layer({ outgoingMessages: 8 }))))
  })

  describe("standard error", () => {
    it.effect("[FRM-12] [STD-04] drains it, and keeps only the end", () =>
      Effect.gen(function*() {
        const { call, client } = caller()
        let heard = 0
        const link = yield* connect(client, "noisy", {
          onStderr: (text) => {
            heard += text.length
          }
        })
        yield* call(link, 1)
        yield* call(link, 2)
        yield* Effect.sleep("50 millis")
        assert.strictEqual(heard, 2 * 256 * 1024)
      }))

    it.effect("[STD-04] offers it as a stream", () =>
      Effect.gen(function*() {
        const { call, client } = caller()
        const link = yield* connect(client, "noisy")
        const text = yield* Effect.forkChild(Stream.mkString(Stream.take(link.stderr, 1)))
        yield* call(link, 1)
        assert.match(yield* Fiber.join(text), /^n+\n/)
      }))
  })

  describe("death", () => {
    it.effect("[FRM-08] hands over what a dying child wrote, then fails with its exit code and last words", () =>
      Effect.gen(function*() {
        const { call, client } = caller()
        const link = yield* connect(client, "dies")
        assert.deepStrictEqual(yield* call(link, 1), {})
        const closed = yield* link.closed
        assert.deepInclude(closed, {
          _tag: "TransportClosed",
          reason: "The server exited with code 3",
          exitCode: 3,
          stderr: "fatal: no database\n"
        })
        const failure = yield* Effect.flip(link.send(JsonRpc.notification("notifications/initialized")))
        assert.strictEqual(failure, closed)
      }))

    it.effect("[FRM-08] fails typed when the child exits before it reads", () =>
      Effect.gen(function*() {
        const { call, client } = caller()
        const rejections: Array<unknown> = []
        const onRejection = (cause: unknown) => void rejections.push(cause)
        process.on("unhandledRejection", onRejection)
        process.on("uncaughtException", onRejection)
        const link = yield* connect(client, "exits at once")
        const failure = yield* Effect.flip(call(link, 1, { text: "x".repeat(1_000_000) }))
        assert.deepInclude(failure, { _tag: "TransportClosed", exitCode: 4, stderr: "fatal: no config\n" })
        yield* Effect.sleep("50 millis")
        process.off("unhandledRejection", onRejection)
        process.off("uncaughtException", onRejection)
        assert.deepStrictEqual(rejections, [])
      }))

    it.effect("[FRM-08] names the signal that ended the child", () =>
      Effect.gen(function*() {
        const { call, client } = caller()
        const failure = yield* Effect.flip(call(yield* connect(client, "is killed"), 1))
        assert.deepInclude(failure, { _tag: "TransportClosed", reason: "The server was ended by SIGKILL" })
      }))

    it.effect("[STD-08] ends the connection when the server closes its output, whether it exits or not", () =>
      Effect.gen(function*() {
        const { call, client } = caller()
        const failure = yield* Effect.flip(call(yield* connect(client, "closes stdout"), 1))
        assert.deepInclude(failure, { reason: "The server closed its standard streams" })
      }).pipe(Effect.provide(hasty)))

    it.effect("[FRM-08] fails typed when the program is not there", () =>
      Effect.gen(function*() {
        const failure = yield* Effect.flip(StdioClient.connect(caller().client, { command: ["no-such-program-here"] }))
        assert.deepInclude(failure, { _tag: "SpawnFailed", command: "no-such-program-here" })
        const empty = yield* Effect.flip(StdioClient.connect(caller().client, { command: [] }))
        assert.strictEqual(empty._tag, "SpawnFailed")
        const nowhere = yield* Effect.flip(connect(caller().client, "echo", { cwd: "/no/such/folder" }))
        assert.strictEqual(nowhere._tag, "SpawnFailed")
      }))
  })

  describe("stop", () => {
    /** Connects in a scope of its own and gives what there is to know once that has closed. */
    const stopped = Effect.fnUntraced(function*(mode: string, options: Omit<StdioClient.Options, "command"> = {}) {
      const { call, client } = caller()
      const scope = yield* Scope.make()
      const link = yield* Scope.provide(connect(client, mode, options), scope)
      const answer = yield* call(link, 1)
      const started = performance.now()
      yield* Scope.close(scope, Exit.void)
      return { link, answer, took: performance.now() - started }
    })

    it.effect("[STD-08] closes the child's input, and needs no signal for one that ends", () =>
      Effect.gen(function*() {
        const { link, took } = yield* stopped("echo")
        assert.isFalse(isAlive(link.pid))
        assert.isBelow(took, 1500)
        const closed = yield* link.closed
        assert.strictEqual(closed._tag, "TransportClosed")
      }))

    it.effect("[STD-08] sends TERM to one that does not end", () =>
      Effect.gen(function*() {
        const { link, took } = yield* stopped("ends on TERM").pipe(Effect.provide(hasty))
        assert.isFalse(isAlive(link.pid))
        assert.isAbove(took, 250)
      }))

    it.effect("[FRM-11] kills one that ignores that too, and what it started", () =>
      Effect.gen(function*() {
        const { answer, link, took } = yield* stopped("stubborn").pipe(Effect.provide(hasty))
        assert.isNumber(member(answer, "grandchild"))
        assert.isFalse(isAlive(link.pid))
        assert.isFalse(isAlive(member(answer, "grandchild")))
        assert.isAbove(took, 550)
        assert.isBelow(took, 3000)
      }))

    it.effect("[FRM-11] ends what an orderly child left behind", () =>
      Effect.gen(function*() {
        const { answer, link } = yield* stopped("orphans").pipe(Effect.provide(hasty))
        assert.isFalse(isAlive(link.pid))
        assert.isFalse(isAlive(member(answer, "grandchild")))
      }))

    it.effect("[FRM-11] leaves no child behind when it is interrupted at any point of connecting", () =>
      Effect.gen(function*() {
        for (const delay of [0, 1, 3, 10, 30]) {
          const { client } = caller()
          let pid: number | undefined = undefined
          const fiber = yield* Effect.forkChild(Effect.scoped(Effect.gen(function*() {
            const link = yield* connect(client, "ends on TERM")
            pid = link.pid
            yield* Effect.never
          })))
          yield* Effect.sleep(delay)
          yield* Fiber.interrupt(fiber)
          assert.isFalse(isAlive(pid))
        }
        const processes = spawnSync("ps", ["-eo", "ppid,args"], { encoding: "utf8" }).stdout.split("\n")
        const mine = processes.filter((line) => line.trim().startsWith(`${process.pid} `) && line.includes("peer.mjs"))
        assert.deepStrictEqual(mine, [])
      }).pipe(Effect.provide(hasty)))

    it.effect("[SHT-06] fails who still waits for an answer", () =>
      Effect.gen(function*() {
        const { call, client } = caller()
        const scope = yield* Scope.make()
        const link = yield* Scope.provide(connect(client, "reports"), scope)
        const waiting = yield* Effect.forkChild(Effect.flip(call(link, 1)))
        yield* Effect.sleep("100 millis")
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual((yield* Fiber.join(waiting))._tag, "TransportClosed")
        assert.strictEqual((yield* Effect.flip(link.send(JsonRpc.notification("n"))))._tag, "TransportClosed")
      }))
  })

  describe("environment", () => {
    const environment = Effect.fnUntraced(function*(options: Omit<StdioClient.Options, "command">) {
      const { call, client } = caller()
      return yield* call(yield* connect(client, "environment", options), 1)
    })

    it.effect("gives the child a few variables of its own, and no secrets", () =>
      Effect.gen(function*() {
        process.env["MCPFX_TEST_SECRET"] = "s3cret"
        const { env } = yield* Effect.map(
          environment({ env: { A: "1", B: Redacted.make("2") } }),
          (answer) => ({ env: member(answer, "env") })
        )
        delete process.env["MCPFX_TEST_SECRET"]
        assert.strictEqual(member(env, "PATH"), process.env["PATH"])
        assert.strictEqual(member(env, "HOME"), process.env["HOME"])
        assert.deepStrictEqual([member(env, "A"), member(env, "B")], ["1", "2"])
        assert.isUndefined(member(env, "MCPFX_TEST_SECRET"))
      }))

    it.effect("gives it everything when asked to", () =>
      Effect.gen(function*() {
        process.env["MCPFX_TEST_OPEN"] = "open"
        const answer = yield* environment({ inheritEnv: true, env: { A: "1" } })
        delete process.env["MCPFX_TEST_OPEN"]
        assert.strictEqual(member(member(answer, "env"), "MCPFX_TEST_OPEN"), "open")
        assert.strictEqual(member(member(answer, "env"), "A"), "1")
      }))

    it.effect("starts it where asked to, and passes arguments as they are", () =>
      Effect.gen(function*() {
        const { call, client } = caller()
        const link = yield* StdioClient.connect(client, {
          command: peer("environment", "a b", "$HOME", "'\""),
          cwd: fixture("")
        })
        const answer = yield* call(link, 1)
        assert.strictEqual(`${String(member(answer, "cwd"))}/`, fixture(""))
        assert.deepStrictEqual(member(answer, "argv"), ["a b", "$HOME", "'\""])
      }))
  })

  describe("layer", () => {
    it.effect("[VER-15] names its target by the command line, without secrets", () =>
      Effect.gen(function*() {
        const transport = yield* ClientTransport
        assert.strictEqual(transport.kind, "stdio")
        assert.strictEqual(transport.target, "node server.js <redacted>")
      }).pipe(Effect.provide(
        StdioClient.layer({ command: ["node", "server.js", Redacted.make("t0ken")] })
      )))

    it.effect("starts a child for each connection", () =>
      Effect.gen(function*() {
        const transport = yield* ClientTransport
        const { call, client } = caller()
        const first = yield* transport.connect(client)
        const second = yield* transport.connect(client)
        assert.deepStrictEqual(yield* call(first, 1, { n: 1 }), { n: 1 })
        assert.deepStrictEqual(yield* call(second, 2, { n: 2 }), { n: 2 })
        assert.notStrictEqual(first.id, second.id)
      }).pipe(Effect.provide(StdioClient.layer({ command: peer("echo") }))))
  })

  describe("the server of this package", () => {
    const server = (...argv: ReadonlyArray<string>) => ({ command: [process.execPath, fixture("server.mjs"), ...argv] })

    it.effect("[STD-01] [FRM-18] answers 5,000 requests that are sent at once", () =>
      Effect.gen(function*() {
        const { call, client } = caller()
        const link = yield* StdioClient.connect(client, server())
        const text = "é".repeat(500)
        const answers = yield* Effect.forEach(
          Array.from({ length: 5000 }, (_, id) => id),
          (id) => Effect.forkChild(call(link, id, { id, text }, "echo"))
        ).pipe(Effect.flatMap(Effect.forEach(Fiber.join)))
        assert.deepStrictEqual(
          answers.map((answer) => member(answer, "id")),
          Array.from({ length: 5000 }, (_, id) => id)
        )
      }))
  })
})
