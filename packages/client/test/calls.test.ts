import { assert, describe, it } from "@effect/vitest"
import { Descriptors, McpClient, type McpClientError } from "@mcpfx/client"
import { Codes, type JsonRpc, Prompt, Resource, Tool } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Deferred, Effect, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { calling, clientOf, legacy, modern, settle } from "./support/client.ts"

const { error, make, result, silence } = ScriptedServer

const reasonOf = <A, E, R>(effect: Effect.Effect<A, McpClientError.McpClientError | E, R>) =>
  Effect.map(
    Effect.flip(effect),
    (failure) => typeof failure === "object" && failure !== null && "reason" in failure ? failure.reason : failure
  )

describe("results", () => {
  it.effect("[field SCH-08] keeps what is known of a result when a block of it is not", () =>
    Effect.gen(function*() {
      const client = yield* calling({
        content: [
          { type: "text", text: "hi" },
          { type: "resource_link", uri: "demo://a", name: "a" },
          { type: "audio", data: "AAAA", mimeType: "audio/wav" },
          { type: "hologram", x: 1 }
        ]
      })
      const { content } = yield* client.callTool("t")
      assert.deepStrictEqual(content.map(({ type }) => type), ["text", "resource_link", "audio", "opaque"])
      assert.deepStrictEqual(content[3], { type: "opaque", block: { type: "hologram", x: 1 } })
    }))

  it.effect("[field SCH-14] takes absent content for none", () =>
    Effect.gen(function*() {
      const structured = yield* calling({ structuredContent: { n: 1 } })
      assert.deepStrictEqual(yield* structured.callTool("t"), { content: [], structuredContent: { n: 1 } })
      const empty = yield* calling({})
      assert.deepStrictEqual(yield* empty.callTool("t"), { content: [] })
    }))

  it.effect("[TOL-16] gives a result that says it is an error, since that is for the model to read", () =>
    Effect.gen(function*() {
      const client = yield* calling({ isError: true, content: [{ type: "text", text: "file not found" }] })
      assert.deepInclude(yield* client.callTool("t"), { isError: true })
    }))

  it.effect("[RPC-23] tells what the server said from what happened here", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({ "tools/call": error(-32602, "Unknown tool", { name: "t" }) }, { tools: {} }))
      const client = yield* clientOf(server)
      assert.deepInclude(yield* reasonOf(client.callTool("t")), {
        _tag: "Refused",
        code: -32602,
        message: "Unknown tool",
        data: { name: "t" }
      })
    }))

  it.effect("[RPC-15] refuses a result of a type that nobody knows", () =>
    Effect.gen(function*() {
      const server = yield* make(modern({ "tools/call": result({ resultType: "maybe", content: [] }) }, { tools: {} }))
      const client = yield* clientOf(server)
      assert.deepInclude(yield* reasonOf(client.callTool("t")), { _tag: "BadAnswer" })
    }))

  it.effect("[TOL-23] asks for no task, and refuses one that it did not ask for", () =>
    Effect.gen(function*() {
      const task = {
        taskId: "1",
        status: "working",
        createdAt: "2025-11-25T00:00:00Z",
        lastUpdatedAt: "2025-11-25T00:00:00Z",
        ttl: null
      }
      const server = yield* make(legacy({ "tools/call": result({ task }) }, {
        tools: {},
        tasks: { requests: { tools: { call: {} } } }
      }))
      const client = yield* clientOf(server)
      assert.strictEqual((yield* Effect.flip(client.callTool("t"))).reason._tag, "BadAnswer")
      const sent = yield* server.expect("tools/call")
      assert.deepInclude(sent, { params: { name: "t" } })
    }))
})

class Missing extends Schema.TaggedError<Missing>()("Missing", { path: Schema.String }) {}

const Size = Tool.make("size", {
  input: { path: Schema.String, since: Schema.optionalKey(Schema.DateFromString) },
  output: { bytes: Schema.Int },
  failure: Missing
})
const Any = Tool.make("any", { output: Schema.NullOr(Schema.Int) })

describe("calls by contract", () => {
  it.effect("encodes arguments and decodes output", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({
        "tools/call": result({ content: [], structuredContent: { bytes: 7 } })
      }, { tools: {} }))
      const client = yield* clientOf(server)
      const output = yield* client.call(Size, { path: "/", since: new Date(0) })
      assert.deepStrictEqual(output, { bytes: 7 })
      assert.deepInclude(yield* server.expect("tools/call"), {
        params: { name: "size", arguments: { path: "/", since: "1970-01-01T00:00:00.000Z" } }
      })
    }))

  it.effect("fails with the failure of the contract, and with the whole result where there is none", () =>
    Effect.gen(function*() {
      const declared = yield* calling({
        isError: true,
        content: [{ type: "text", text: "no" }],
        _meta: { "io.mcpfx/failure": { _tag: "Missing", path: "/x" } }
      })
      assert.deepStrictEqual(yield* Effect.flip(declared.call(Size, { path: "/x" })), new Missing({ path: "/x" }))
      const other = yield* calling({ isError: true, content: [{ type: "text", text: "disk on fire" }] })
      const reason = yield* reasonOf(other.call(Size, { path: "/x" }))
      assert.deepInclude(reason, { _tag: "ToolFailed", tool: "size" })
      const foreign = yield* calling({ isError: true, content: [], _meta: { "io.mcpfx/failure": { _tag: "Other" } } })
      assert.deepInclude(yield* reasonOf(foreign.call(Size, { path: "/x" })), { _tag: "ToolFailed" })
    }))

  it.effect("sends nothing when arguments do not encode", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({}, { tools: {} }))
      const client = yield* clientOf(server)
      const reason = yield* reasonOf(client.call(Size, { path: "/", since: new Date(Number.NaN) }))
      assert.deepInclude(reason, { _tag: "BadInput" })
      assert.notInclude(server.methods(), "tools/call")
    }))

  it.effect("fails on output that does not fit the contract", () =>
    Effect.gen(function*() {
      const client = yield* calling({ content: [], structuredContent: { bytes: "many" } })
      const failure = yield* reasonOf(client.call(Size, { path: "/" }))
      assert.deepInclude(failure, { _tag: "BadOutput", tool: "size" })
      const none = yield* calling({ content: [{ type: "text", text: "not json" }] })
      assert.deepInclude(yield* reasonOf(none.call(Size, { path: "/" })), { _tag: "BadOutput" })
    }))

  it.effect("[TOL-06] takes null for output, and reads output from the text of older servers", () =>
    Effect.gen(function*() {
      const server = yield* make(modern({
        "tools/call": result({
          resultType: "complete",
          content: [{ type: "text", text: "5" }],
          structuredContent: null
        })
      }, { tools: {} }))
      assert.isNull(yield* (yield* clientOf(server)).call(Any))
      const old = yield* calling({ content: [{ type: "text", text: "5" }] })
      assert.strictEqual(yield* old.call(Any), 5)
    }))
})

const Config = Resource.make("app://config", { name: "config", content: Schema.Struct({ at: Schema.DateFromString }) })
const Log = Resource.template("log://{day}{?lines}", {
  name: "log",
  params: { day: Schema.Int, lines: Schema.optionalKey(Schema.Int) },
  content: Schema.Array(Schema.String)
})
const Photo = Resource.make("app://photo", { name: "photo", mimeType: "image/png" })
const Ask = Prompt.make("ask", { arguments: { what: Schema.String, times: Schema.optionalKey(Schema.Int) } })
const Plain = Prompt.make("plain")

describe("resources and prompts by contract", () => {
  const contents = (text: string) =>
    Effect.flatMap(
      make(legacy({
        "resources/read": ({ params }) =>
          result({ contents: [{ uri: params?.["uri"], mimeType: "application/json; charset=utf-8", text }] })
      }, { resources: {} })),
      (server) => Effect.map(clientOf(server), (client) => ({ client, server }))
    )

  it.effect("[field RES-07] decodes the content of a resource, whatever its media type says", () =>
    Effect.gen(function*() {
      const { client } = yield* contents("{\"at\":\"1970-01-01T00:00:00.000Z\"}")
      assert.deepStrictEqual(yield* client.read(Config), { at: new Date(0) })
    }))

  it.effect("expands the URI of a member of a template", () =>
    Effect.gen(function*() {
      const { client, server } = yield* contents("[\"a\",\"b\"]")
      assert.deepStrictEqual(yield* client.read(Log, { day: 7, lines: 2 }, { timeout: "1 second" }), ["a", "b"])
      assert.deepInclude(yield* server.expect("resources/read"), { params: { uri: "log://7?lines=2" } })
    }))

  it.effect("gives the whole result where the contract has no content", () =>
    Effect.gen(function*() {
      const { client } = yield* contents("?")
      const { contents: [first] } = yield* client.read(Photo)
      assert.deepInclude(first, { text: "?" })
    }))

  it.effect("fails on content that does not fit, and on what is not there", () =>
    Effect.gen(function*() {
      const { client } = yield* contents("{}")
      const reason = yield* reasonOf(client.read(Config))
      assert.deepInclude(reason, { _tag: "BadAnswer" })
      const server = yield* make(legacy({ "resources/read": result({ contents: [] }) }, { resources: {} }))
      const empty = yield* clientOf(server)
      assert.deepInclude(yield* reasonOf(empty.read(Config)), { detail: "config: the resource has no text" })
    }))

  it.effect("[RES-07] knows a resource that is not there by any code, and no other failure by it", () =>
    Effect.gen(function*() {
      const reading = (reply: ScriptedServer.Reply) =>
        Effect.flatMap(
          make(modern({ "resources/read": reply }, { resources: {} })),
          (server) => Effect.flatMap(clientOf(server), (client) => reasonOf(client.readResource("a://1")))
        )
      const gone = { _tag: "ResourceNotFound", uri: "a://1" } as const
      assert.deepInclude(yield* reading(error(Codes.resourceNotFound, "Not found")), gone)
      assert.deepInclude(yield* reading(error(Codes.invalidParams, "Not found", { uri: "a://1" })), gone)
      assert.deepInclude(yield* reading(error(Codes.invalidParams, "Bad")), { _tag: "Refused", code: -32602 })
    }))

  it.effect("sends the arguments of a prompt as strings", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({
        "prompts/get": result({ messages: [{ role: "user", content: { type: "text", text: "?" } }] })
      }, { prompts: {} }))
      const client = yield* clientOf(server)
      assert.lengthOf((yield* client.prompt(Ask, { what: "why", times: 3 })).messages, 1)
      assert.deepInclude(yield* server.expect("prompts/get"), {
        params: { name: "ask", arguments: { what: "why", times: "3" } }
      })
      yield* client.prompt(Plain)
      assert.deepInclude(yield* server.expect("prompts/get"), { params: { name: "plain" } })
    }))

  it.effect("[CMP-04] sends the arguments that stand already with what is to be completed", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({
        "completion/complete": result({ completion: { values: ["x"], hasMore: true } })
      }, { completions: {} }))
      const client = yield* clientOf(server)
      const completion = yield* client.complete(
        { type: "ref/prompt", name: "p" },
        { name: "city", value: "R" },
        { country: "IT" }
      )
      assert.deepStrictEqual(completion, { values: ["x"], hasMore: true })
      assert.deepInclude(yield* server.expect("completion/complete"), {
        params: {
          ref: { type: "ref/prompt", name: "p" },
          argument: { name: "city", value: "R" },
          context: { arguments: { country: "IT" } }
        }
      })
    }))
})

describe("time", () => {
  const slow = (options = {}) =>
    Effect.flatMap(
      make(legacy({ "tools/call": silence }, { tools: {} })),
      (server) => Effect.map(clientOf(server, options), (client) => ({ client, server }))
    )
  const progressOf = (message: JsonRpc.Message) => {
    const meta = "params" in message ? message.params?.["_meta"] : undefined
    return typeof meta === "object" && meta !== null && "progressToken" in meta ? meta.progressToken : undefined
  }

  it.effect("[LIF-14] ends a call that is not answered, and tells the server", () =>
    Effect.gen(function*() {
      const { client, server } = yield* slow()
      const call = yield* Effect.forkChild(Effect.flip(client.callTool("t")))
      const sent = yield* server.expect("tools/call")
      yield* TestClock.adjust("60 seconds")
      const failure = yield* Fiber.join(call)
      assert.deepInclude(failure.reason, { _tag: "TimedOut", millis: 60_000 })
      assert.strictEqual(failure.message, "tools/call: no answer within 60000 ms")
      assert.deepInclude(yield* server.expect("notifications/cancelled"), {
        params: { requestId: "id" in sent ? sent.id : undefined, reason: "timeout" }
      })
    }))

  it.effect("[LIF-14] is that of the client for what has no options of its own", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({ "logging/setLevel": silence, "ping": silence }, { logging: {} }))
      const client = yield* clientOf(server, { timeout: "5 seconds" })
      const asks = [client.setLogLevel("info"), client.ping]
      const failures = yield* Effect.forkChild(Effect.all(asks.map(Effect.flip), { concurrency: "unbounded" }))
      yield* server.expect("ping")
      yield* TestClock.adjust("5 seconds")
      for (const { reason } of yield* Fiber.join(failures)) {
        assert.deepInclude(reason, { _tag: "TimedOut", millis: 5000 })
      }
    }))

  it.effect("[LIF-14] takes the time of the call before that of the client", () =>
    Effect.gen(function*() {
      const { client, server } = yield* slow({ timeout: "5 seconds" })
      const calls = yield* Effect.forkChild(
        Effect.all([reasonOf(client.callTool("a")), reasonOf(client.callTool("b", {}, { timeout: "1 second" }))], {
          concurrency: "unbounded"
        })
      )
      yield* Effect.all([server.expect("tools/call"), server.expect("tools/call")])
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual((yield* Fiber.join(calls)).map((reason) => "millis" in reason && reason.millis), [
        5000,
        1000
      ])
    }))

  it.effect("[field PRG-01] moves the deadline with progress, up to a hard end, also where nobody looks on", () =>
    Effect.gen(function*() {
      const { client, server } = yield* slow({ timeout: "300 millis", maxTimeout: "1 second" })
      const call = yield* Effect.forkChild(reasonOf(client.callTool("t")))
      const token = progressOf(yield* server.expect("tools/call"))
      assert.isDefined(token)
      for (let step = 1; step <= 9; step++) {
        yield* TestClock.adjust("100 millis")
        yield* server.notify("notifications/progress", { progressToken: token, progress: step })
        yield* settle
        assert.isUndefined(call.pollUnsafe(), `after ${step}00 ms`)
      }
      yield* TestClock.adjust("100 millis")
      assert.deepInclude(yield* Fiber.join(call), { _tag: "TimedOut", millis: 1000 })
    }))

  it.effect("[field PRG-02] asks for no progress that nobody wants", () =>
    Effect.gen(function*() {
      const { client, server } = yield* slow()
      const call = yield* Effect.forkChild(client.callTool("t"))
      assert.isUndefined(progressOf(yield* server.expect("tools/call")))
      yield* Fiber.interrupt(call)
    }))

  it.effect("[CAN-02, CAN-03] cancels on the server what is interrupted here", () =>
    Effect.gen(function*() {
      const { client, server } = yield* slow()
      const call = yield* Effect.forkChild(client.callTool("t"))
      const sent = yield* server.expect("tools/call")
      yield* Fiber.interrupt(call)
      assert.deepInclude(yield* server.expect("notifications/cancelled"), {
        params: { requestId: "id" in sent ? sent.id : undefined, reason: "cancelled" }
      })
    }))

  it.effect("[field PRG-12] sends nothing for what is interrupted before it began", () =>
    Effect.gen(function*() {
      const { client, server } = yield* slow()
      const call = yield* Effect.forkChild(client.callTool("t"))
      yield* Fiber.interrupt(call)
      yield* settle
      assert.notInclude(server.methods(), "tools/call")
    }))

  it.effect("[CAN-05, field PRG-08] leaves nothing behind of a thousand calls that were answered too late", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({
        "tools/call": () => Effect.as(Effect.sleep("50 millis"), result({ content: [] }))
      }, { tools: {} }))
      const client = yield* clientOf(server)
      const calls = yield* Effect.forkChild(Effect.forEach(
        Array.from({ length: 1000 }, (_, n) => `t${n}`),
        (name) => reasonOf(client.callTool(name, {}, { timeout: "5 millis" })),
        { concurrency: "unbounded" }
      ))
      yield* settle
      yield* TestClock.adjust("5 millis")
      const reasons = yield* Fiber.join(calls)
      assert.isTrue(reasons.every((reason) => "_tag" in reason && reason._tag === "TimedOut"))
      yield* TestClock.adjust("45 millis")
      yield* client.ping
    }))
})

describe("progress", () => {
  const reporting = Effect.flatMap(
    make(legacy({
      "tools/call": ({ params }, server) =>
        Effect.gen(function*() {
          const meta = params?.["_meta"]
          const progressToken = typeof meta === "object" && meta !== null && "progressToken" in meta
            ? meta.progressToken
            : undefined
          for (
            const more of [{ progress: 0, total: 0 }, { progress: 5 }, { progress: 3 }, { progress: 1.5, total: 1 }]
          ) {
            yield* Effect.orDie(server.notify("notifications/progress", { progressToken, ...more }))
          }
          yield* Effect.orDie(server.notify("notifications/progress", { progressToken: "never", progress: 1 }))
          return result({ content: [{ type: "text", text: "done" }] })
        })
    }, { tools: {} })),
    (server) => Effect.map(clientOf(server), (client) => ({ client, server }))
  )

  it.effect("[field PRG-05, field PRG-04] comes as it was sent, in order, and its result last", () =>
    Effect.gen(function*() {
      const { client } = yield* reporting
      const events = yield* Stream.runCollect(
        McpClient.progress((onProgress) => client.callTool("t", {}, { onProgress }))
      )
      assert.deepStrictEqual(
        events.map((event) =>
          event._tag === "Result" ? event.result.content.length : [event.progress.progress, event.progress.total]
        ),
        [[0, 0], [5, undefined], [3, undefined], [1.5, 1], 1]
      )
    }))

  it.effect("[field PRG-09] goes along with members of _meta", () =>
    Effect.gen(function*() {
      const { client, server } = yield* reporting
      yield* client.callTool("t", {}, { meta: { "example.com/trace": "t" }, onProgress: () => Effect.void })
      const sent = yield* server.expect("tools/call")
      const meta = "params" in sent ? sent.params?.["_meta"] : undefined
      assert.deepStrictEqual(Object.keys(Object(meta)).sort(), ["example.com/trace", "progressToken"])
    }))

  it.effect("ends with the failure of the request", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({ "tools/call": error(-32000, "no") }, { tools: {} }))
      const client = yield* clientOf(server)
      const events = McpClient.progress((onProgress) => client.callTool("t", {}, { onProgress }))
      assert.deepInclude(yield* reasonOf(Stream.runDrain(events)), { _tag: "Refused" })
    }))

  it.effect("[CAN-02] cancels the request of a stream that is left early", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const server = yield* make(legacy({
        "tools/call": ({ params }, server) =>
          Effect.gen(function*() {
            const meta = params?.["_meta"]
            const progressToken = typeof meta === "object" && meta !== null && "progressToken" in meta
              ? meta.progressToken
              : undefined
            yield* Effect.orDie(server.notify("notifications/progress", { progressToken, progress: 1 }))
            yield* Deferred.succeed(started, undefined)
            return silence
          })
      }, { tools: {} }))
      const client = yield* clientOf(server)
      const events = McpClient.progress((onProgress) => client.callTool("t", {}, { onProgress }))
      assert.lengthOf(yield* Stream.runCollect(Stream.take(events, 1)), 1)
      yield* server.expect("notifications/cancelled")
    }))
})

describe("descriptors", () => {
  it("[TOL-19] are shown by title, else by the title among the annotations, else by name", () => {
    const { displayName } = Descriptors
    assert.strictEqual(displayName({ name: "a", title: "A", annotations: { title: "B" } }), "A")
    assert.strictEqual(displayName({ name: "a", title: "", annotations: { title: "B" } }), "B")
    assert.strictEqual(displayName({ name: "a", annotations: {} }), "a")
  })

  it("[TOL-17] count for the worse where they say nothing", () => {
    assert.deepStrictEqual(Descriptors.hints({}), {
      readOnly: false,
      destructive: true,
      idempotent: false,
      openWorld: true
    })
    assert.deepStrictEqual(
      Descriptors.hints({ annotations: { readOnlyHint: true, destructiveHint: true, openWorldHint: false } }),
      { readOnly: true, destructive: false, idempotent: true, openWorld: false }
    )
  })
})
