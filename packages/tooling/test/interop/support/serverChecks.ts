/** What our client has to get from a server of another make. */
import { assert } from "@effect/vitest"
import type { McpClient } from "@mcpfx/client"
import { Effect, Fiber, Stream } from "effect"
import { Add, Fail, Greet, Motd, Note, Status, Steps, Where } from "../../../src/interop/contract.ts"
import * as Offer from "../../../src/interop/offer.ts"
import { textsIn } from "../../../src/interop/peerClient.ts"
import type { Check, Running } from "./cell.ts"
import { word } from "./server.ts"

type Client = McpClient.McpClient["Service"]

/** A client, and how to end its connection. */
export interface Connected {
  readonly client: Client
  readonly close: () => Promise<void>
}

type Test = (client: Client, cell: Running) => Effect.Effect<void, unknown>

const check = (title: string, run: Test, applies?: Check<Connected>["applies"]): Check<Connected> => ({
  title,
  run: ({ client }, cell) => Effect.runPromise(Effect.timeout(run(client, cell), "15 seconds")),
  ...(applies === undefined ? {} : { applies })
})

/** The state of `wait`; before 2025-06-18 it is only in the text. */
const statusOf = (client: Client) =>
  Effect.map(
    client.callTool(Status.name),
    ({ content }): { readonly waiting: number; readonly cancelled: number } => JSON.parse(textsIn(content))
  )

const until = Effect.fnUntraced(function*(client: Client, waiting: number) {
  for (let tries = 0; tries < 400; tries++) {
    const status = yield* statusOf(client)
    if (status.waiting === waiting) return status
    yield* Effect.sleep("20 millis")
  }
  return assert.fail(`${waiting} waiting calls did not come true`)
})

const cancels: Test = Effect.fnUntraced(function*(client) {
  const before = yield* statusOf(client)
  const call = yield* Effect.forkChild(client.callTool("wait"))
  yield* until(client, before.waiting + 1)
  yield* Fiber.interrupt(call)
  const after = yield* until(client, before.waiting)
  assert.strictEqual(after.cancelled, before.cancelled + 1)
})

const watches: Test = (client) =>
  Effect.scoped(Effect.gen(function*() {
    const { changes, honoured } = yield* client.subscribe({ tools: true, uris: [Offer.motd.uri] })
    const { capabilities } = yield* client.server
    const uris = capabilities.resources?.subscribe === true ? [Offer.motd.uri] : []
    assert.deepInclude(honoured(), { tools: true, uris })
    const heard: Array<string> = []
    const reading = yield* Effect.forkChild(Stream.runForEach(changes, (change) =>
      Effect.sync(() =>
        heard.push(change.kind === "resource" ? change.uri : change.kind)
      )))
    const before = yield* client.tools
    yield* client.callTool("grow")
    yield* hears(heard, "tools")
    const grown = yield* client.tools
    assert.notStrictEqual(grown.length, before.length)
    yield* client.callTool("touch")
    for (const uri of uris) {
      yield* hears(heard, uri)
    }
    yield* Fiber.interrupt(reading)
  }))

const hears = Effect.fnUntraced(function*(heard: ReadonlyArray<unknown>, what: unknown) {
  for (let tries = 0; tries < 400; tries++) {
    if (heard.includes(what)) return
    yield* Effect.sleep("20 millis")
  }
  assert.fail(`never heard of ${String(what)}`)
})

const progressOf = (tool: string): Test =>
  Effect.fnUntraced(function*(client) {
    const heard: Array<number> = []
    yield* client.callTool(tool, {}, { onProgress: ({ progress }) => Effect.sync(() => heard.push(progress)) })
    assert.deepStrictEqual(heard, [...Offer.steps])
  })

const logs: Test = Effect.fnUntraced(function*(client) {
  const heard: Array<unknown> = []
  const reading = yield* Effect.forkChild(
    Stream.runForEach(client.logs, ({ data }) => Effect.sync(() => heard.push(data))),
    { startImmediately: true }
  )
  yield* client.setLogLevel("info")
  yield* client.callTool("say")
  yield* hears(heard, Offer.said)
  yield* Fiber.interrupt(reading)
})

export const serverChecks: ReadonlyArray<Check<Connected>> = [
  check("agrees on the revision", (client, { revision }) =>
    Effect.map(client.server, (server) => {
      assert.strictEqual(server.revision.version, revision)
      assert.strictEqual(server.info?.name, Offer.info.name)
    })),
  check("lists tools, resources, templates and prompts", (client) =>
    Effect.gen(function*() {
      const names = (yield* client.tools).map(({ name }) => name)
      const tools = names.filter((name) => !Offer.isLate(name) && !Offer.isAsk(name))
      assert.deepStrictEqual(tools.toSorted(), Offer.toolNames)
      assert.deepStrictEqual((yield* client.resources).map(({ uri }) => uri), [Offer.motd.uri])
      assert.deepStrictEqual((yield* client.resourceTemplates).map(({ name }) => name), [Offer.note.name])
      assert.deepStrictEqual((yield* client.prompts).map(({ name }) => name), [Offer.greet.name])
    })),
  check(
    "calls by contract and gets structured output",
    (client) => Effect.map(client.call(Add, { a: 1, b: 2 }), (output) => assert.deepStrictEqual(output, { sum: 3 }))
  ),
  check(
    "calls by name and gets the whole result",
    (client, { revision }) =>
      Effect.map(client.callTool("add", { a: 1, b: 2 }), (result) => {
        assert.deepStrictEqual(JSON.parse(textsIn(result.content)), { sum: 3 })
        if (revision >= "2025-06-18") assert.deepStrictEqual(result.structuredContent, { sum: 3 })
      })
  ),
  check("gets the error of a tool as a result, and typed by contract", (client) =>
    Effect.gen(function*() {
      const { content, isError } = yield* client.callTool("fail")
      assert.deepStrictEqual({ isError, text: textsIn(content) }, { isError: true, text: Offer.failure })
      assert.strictEqual((yield* Effect.flip(client.call(Fail))).reason._tag, "ToolFailed")
    })),
  check(
    "gets an error for a tool that is not there",
    (client) =>
      Effect.map(Effect.flip(client.callTool("nowhere")), ({ reason }) => {
        assert.deepInclude(reason, { _tag: "Refused", code: -32602 })
      })
  ),
  check(
    "gets arguments that do not fit refused",
    (client) =>
      Effect.map(Effect.result(client.callTool("add", { a: "one" })), (outcome) => {
        if (outcome._tag === "Success") assert.isTrue(outcome.success.isError)
        else assert.deepInclude(outcome.failure.reason, { _tag: "Refused", code: -32602 })
      })
  ),
  check("reads a resource and a member of a template", (client) =>
    Effect.gen(function*() {
      assert.strictEqual(textsIn((yield* client.read(Motd)).contents), Offer.motd.text)
      assert.strictEqual(textsIn((yield* client.readResource(Offer.motd.uri)).contents), Offer.motd.text)
      assert.strictEqual(textsIn((yield* client.read(Note, { name: "ada" })).contents), Offer.noteText("ada"))
    })),
  check(
    "learns that a resource is not there",
    (client) =>
      Effect.map(Effect.flip(client.readResource("memo://nowhere")), ({ reason }) => {
        assert.strictEqual(reason._tag, "ResourceNotFound")
      })
  ),
  check(
    "gets a prompt",
    (client) =>
      Effect.map(
        client.prompt(Greet, { who: "Ada" }),
        ({ messages }) => assert.strictEqual(textsIn(messages), Offer.greeting("Ada"))
      )
  ),
  check("completes for prompts and templates", (client) =>
    Effect.gen(function*() {
      const ofPrompt = yield* client.complete({ type: "ref/prompt", name: Greet.name }, { name: "who", value: "a" })
      assert.deepStrictEqual(ofPrompt.values, ["ada", "alan"])
      const uri = (yield* client.resourceTemplates)[0]?.uriTemplate ?? ""
      const ofTemplate = yield* client.complete({ type: "ref/resource", uri }, { name: "name", value: "al" })
      assert.deepStrictEqual(ofTemplate.values, ["alan"])
    })),
  check("hears progress", progressOf(Steps.name)),
  check("hears progress that comes together with the answer", progressOf("burst")),
  check("hears a log message", logs),
  check("cancels a call by interruption", cancels),
  check("finds the server alive", (client) => client.ping),
  check("sends many calls at once and gets each its own answer", (client) =>
    Effect.gen(function*() {
      const numbers = Array.from({ length: 20 }, (_, b) => b)
      const sums = yield* Effect.forEach(numbers, (b) => client.call(Add, { a: 100, b }), { concurrency: "unbounded" })
      assert.deepStrictEqual(sums, numbers.map((b) => ({ sum: 100 + b })))
    })),
  check(
    "runs the server in the folder and the environment it is told",
    (client, { folder }) =>
      Effect.map(client.call(Where), (where) => assert.deepStrictEqual(where, { cwd: folder, word })),
    ({ transport }) => transport === "stdio"
  ),
  check("hears of changes to a list and to a resource", watches)
]

/** What is enough to see that a revision was found. */
export const foundServer: ReadonlyArray<Check<Connected>> = serverChecks.slice(0, 3)

/** What a tool says of the answer that it asked for. */
const told = (client: Client, tool: string, expected: string) =>
  Effect.map(client.callTool(tool), ({ content, isError = false }) => {
    assert.deepStrictEqual({ isError, text: textsIn(content) }, { isError: false, text: expected })
  })

/** What our client is asked by a server. */
export const askChecks: ReadonlyArray<Check<Connected>> = [
  check(
    "fills in a form that a tool asks for, and declines another",
    (client) =>
      Effect.andThen(
        told(client, Offer.asks.name.name, Offer.hello(Offer.answers.name)),
        told(client, Offer.asks.again.name, Offer.declined)
      ),
    ({ revision }) => revision >= "2025-06-18"
  ),
  check("answers for its model when a tool asks", (client) => told(client, Offer.asks.model.name, Offer.answers.text)),
  check("tells a tool its roots", (client) => told(client, Offer.asks.roots.name, Offer.answers.root))
]
