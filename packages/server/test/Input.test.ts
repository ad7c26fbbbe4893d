import { assert, describe, it } from "@effect/vitest"
import { McpError, Prompt, Resource, Tool } from "@mcpfx/schema"
import { Input } from "@mcpfx/server"
import * as McpServer from "@mcpfx/server/McpServer"
import { Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { allVersions, at, Client, connect, type Json, overHttp, serve, type Version, Wire } from "./protocol/harness.ts"
import { accept, type Answer, everything, logged, type Options, play, settle } from "./support/asking.ts"

const Ask = Tool.make("ask")
type Failure = Effect.Error<ReturnType<typeof Input.elicit>>

const run = (
  version: Version,
  handler: Effect.Effect<string, Failure, Input.Services>,
  answer: Answer,
  options: Options = {}
) =>
  Effect.flatMap(
    serve(McpServer.tool(Ask, () => handler)),
    (endpoint) => play(endpoint, version, "ask", answer, options)
  )

const Confirm = Schema.Struct({ confirm: Schema.Boolean })
const confirm = Effect.map(Input.elicit("Sure?", Confirm), (answer) => `confirm ${answer.confirm}`)
const forms = allVersions.filter((version) => version >= "2025-06-18")
const pages = allVersions.filter((version) => version >= "2025-11-25")
const sampled: Json = { role: "assistant", content: { type: "text", text: "hi" }, model: "m", stopReason: "endTurn" }

describe("forms", () => {
  for (const version of forms) {
    it.live(`[ELI-05, ELI-09, ELI-10] ${version}: shown, answered, declined, cancelled, wrong`, () =>
      Effect.gen(function*() {
        const played = yield* run(version, confirm, accept({ confirm: true }))
        assert.strictEqual(played.text, "confirm true")
        assert.strictEqual(played.all.length, version === "2026-07-28" ? 2 : 1)
        assert.deepStrictEqual(at(played.asked[0]?.params, "requestedSchema"), {
          type: "object",
          properties: { confirm: { type: "boolean" } },
          required: ["confirm"]
        })
        assert.strictEqual(at(played.asked[0]?.params, "mode"), version === "2025-06-18" ? undefined : "form")
        const texts: Array<unknown> = []
        for (
          const answer of [{ action: "decline" }, { action: "cancel" }, { action: "accept", content: { confirm: 1 } }]
        ) {
          const { isError, text } = yield* run(version, confirm, () => answer)
          assert.isTrue(isError)
          texts.push(text)
        }
        assert.deepStrictEqual(texts, [
          "The user declined (elicitation.form)",
          "The user gave no answer (elicitation.form)",
          "The client's answer is not what was asked for (elicitation.form): confirm: Expected boolean"
        ])
        const caught = Effect.catchTag(confirm, "Declined", () => Effect.succeed("fine"))
        assert.strictEqual((yield* run(version, caught, () => ({ action: "decline" }))).text, "fine")
      }))

    it.live(`[ELI-05, ELI-06] ${version}: choices and defaults as the revision has them`, () =>
      Effect.gen(function*() {
        const schema = Schema.Struct({
          env: Input.choices({ p: "Production", t: "Test" }).annotate({ default: "t" }),
          tags: Schema.Array(Schema.Literals(["a", "b"])),
          on: Schema.optionalKey(Schema.Boolean.annotate({ default: true }))
        })
        const handler = Effect.map(Input.elicit("Which?", schema), ({ env, tags }) => `${env} ${tags.join("+")}`)
        const old = version === "2025-06-18"
        const played = yield* run(version, handler, accept({ env: "p", tags: old ? "a, b" : ["a", "b"] }))
        assert.strictEqual(played.text, "p a+b")
        const properties = at(played.asked[0]?.params, "requestedSchema", "properties")
        const titles = [{ const: "p", title: "Production" }, { const: "t", title: "Test" }]
        assert.deepStrictEqual(
          properties,
          old
            ? {
              env: { type: "string", enum: ["p", "t"], enumNames: ["Production", "Test"] },
              tags: { type: "string", enum: ["a", "b"] },
              on: { type: "boolean", default: true }
            }
            : {
              env: { type: "string", oneOf: titles, default: "t" },
              tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
              on: { type: "boolean", default: true }
            }
        )
      }))
  }

  for (const version of forms) {
    it.live(`[field SCH-23, field SCH-09] ${version}: content counts on accept alone, and defaults stand in for it`, () =>
      Effect.gen(function*() {
        const schema = Schema.Struct({
          n: Schema.optionalKey(Schema.Finite),
          on: Schema.Boolean.annotate({ default: true })
        })
        const handler = Effect.map(Input.elicit("?", schema), (answer) => JSON.stringify(answer))
        const texts = []
        for (
          const answer of [
            { action: "decline", content: null },
            { action: "decline", content: { n: "x" } },
            { action: "cancel" },
            { action: "accept", content: {} },
            { action: "accept" },
            { action: "accept", content: { n: "x" } }
          ]
        ) texts.push((yield* run(version, handler, () => answer)).text)
        assert.deepStrictEqual(texts, [
          "The user declined (elicitation.form)",
          "The user declined (elicitation.form)",
          "The user gave no answer (elicitation.form)",
          `{"on":true}`,
          `{"on":true}`,
          "The client's answer is not what was asked for (elicitation.form): n: Expected number"
        ])
      }))
  }

  it.effect("a schema that is no form is named as a defect", () =>
    Effect.gen(function*() {
      const nested = Input.elicit("?", Schema.Struct({ a: Schema.Struct({ b: Schema.String }) }))
      const { text, value } = yield* logged(run("2025-11-25", Effect.as(nested, ""), () => ({})))
      assert.strictEqual(value.sent.code, -32603)
      assert.include(text, `form "a": a form holds texts`)
    }))
})

describe("capabilities", () => {
  for (const version of allVersions) {
    it.live(`[ELI-02, MRT-05, META-13, SMP-04] ${version}: what was not declared is not asked`, () =>
      Effect.gen(function*() {
        const modern = version === "2026-07-28"
        const rows: ReadonlyArray<readonly [Effect.Effect<string, Failure, Input.Services>, Json, Json]> = [
          [confirm, {}, { elicitation: { form: {} } }],
          [confirm, { elicitation: { url: {} } }, { elicitation: { form: {} } }],
          [
            Effect.as(Input.elicitUrl({ message: "m", url: "https://a.example" }), ""),
            { elicitation: {} },
            { elicitation: { url: {} } }
          ],
          [Effect.as(Input.sample({ messages: [], maxTokens: 1 }), ""), {}, { sampling: {} }],
          [
            Effect.as(Input.sample({ messages: [], maxTokens: 1, tools: [] }), ""),
            { sampling: {} },
            { sampling: { tools: {} } }
          ],
          [Effect.as(Input.roots, ""), {}, { roots: {} }]
        ]
        for (const [handler, capabilities, requiredCapabilities] of rows) {
          // Pages were not told from forms then.
          if (version === "2025-06-18" && at(capabilities, "elicitation", "url") !== undefined) continue
          const played = yield* run(version, handler, () => ({}), { capabilities })
          assert.lengthOf(played.asked, 0)
          if (modern) assert.deepStrictEqual(at(played.sent.error, "data"), { requiredCapabilities })
          else assert.match(String(played.text), /^The client does not support /)
          assert.strictEqual(played.sent.code, modern ? -32021 : undefined)
        }
      }))
  }

  it.live("[STA-01] a stateless server of an older revision asks nothing", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(McpServer.tool(Ask, () => confirm), { sessions: "stateless" })
      const client = overHttp(endpoint, "2025-11-25", { protocolVersion: "2025-11-25" })
      const sent = yield* client.request("tools/call", { name: "ask" })
      assert.strictEqual(at(sent.result, "content", 0, "text"), "The client does not support elicitation.form")
      assert.deepStrictEqual(sent.pushed, [])
    }))
})

describe("pages", () => {
  for (const version of pages) {
    it.live(`[ELI-12, ELI-18] ${version}: a page is visited, and the client told when it is over`, () =>
      Effect.gen(function*() {
        const handler = Effect.gen(function*() {
          const page = yield* Input.elicitUrl({ message: "Log in", url: "https://a.example/login?x=1" })
          yield* page.complete
          return page.elicitationId
        })
        const played = yield* run(version, handler, () => ({ action: "accept" }))
        const { elicitationId, ...params } = Object(played.asked[0]?.params)
        assert.deepStrictEqual(params, { mode: "url", message: "Log in", url: "https://a.example/login?x=1" })
        const notices = played.sent.pushed.filter(({ method }) => method === "notifications/elicitation/complete")
        if (version === "2026-07-28") {
          assert.isUndefined(elicitationId)
          assert.lengthOf(notices, 0)
        } else {
          assert.strictEqual(elicitationId, played.text)
          assert.deepStrictEqual(notices.map(({ params }) => params), [{ elicitationId }])
        }
        const declined = yield* run(version, handler, () => ({ action: "decline" }))
        assert.strictEqual(declined.text, "The user declined (elicitation.url)")
      }))
  }

  it.live("[ELI-18] the notice finds the client also when the request is over", () =>
    Effect.gen(function*() {
      let complete: Effect.Effect<void> = Effect.void
      const handler = Effect.map(Input.elicitUrl({ message: "m", url: "https://a.example" }), (page) => {
        complete = page.complete
        return page.elicitationId
      })
      const endpoint = yield* serve(McpServer.tool(Ask, () => handler))
      const wire = new Wire()
      const client = new Client(endpoint, "2025-11-25", wire)
      client.hello(everything)
      const sent = client.start("tools/call", { name: "ask" })
      yield* settle
      client.raw({ jsonrpc: "2.0", id: sent.pushed[0]?.["id"], result: { action: "accept" } })
      yield* settle
      yield* complete
      yield* settle
      const elicitationId = at(sent.result, "content", 0, "text")
      assert.deepStrictEqual(wire.unsolicited.map(({ method, params }) => [method, params]), [
        ["notifications/elicitation/complete", { elicitationId }]
      ])
    }))

  it.effect("[ELI-12] an address that is no page is a defect", () =>
    Effect.gen(function*() {
      for (const url of ["javascript:alert(1)", "file:///etc/passwd", "not a url"]) {
        const handler = Effect.as(Input.elicitUrl({ message: "m", url }), "")
        const { text, value } = yield* logged(run("2025-11-25", handler, () => ({})))
        assert.strictEqual(value.sent.code, -32603)
        assert.include(text, "a page has an http(s) address")
      }
    }))

  it.live("[ELI-18] a handler can refuse with the pages to visit first", () =>
    Effect.gen(function*() {
      const elicitations = [{ mode: "url", message: "m", url: "https://a.example", elicitationId: "1" }] as const
      const refusing = McpServer.tool(Ask, () => Effect.fail(new McpError.UrlElicitationRequired({ elicitations })))
      const sent = yield* connect(yield* serve(refusing), "2025-11-25").request("tools/call", { name: "ask" })
      assert.deepStrictEqual([sent.code, at(sent.error, "data")], [-32042, { elicitations }])
    }))
})

describe("the model and the directories", () => {
  for (const version of allVersions) {
    it.live(`[SMP-04, SMP-08, ROO-05] ${version}: are asked`, () =>
      Effect.gen(function*() {
        const handler = Effect.gen(function*() {
          const { content } = yield* Input.sample({
            messages: [{ role: "user", content: { type: "text", text: "q" } }],
            maxTokens: 10,
            includeContext: "allServers"
          })
          const roots = yield* Input.roots
          return JSON.stringify([content, roots])
        })
        const answer: Answer = ({ method }) => method === "roots/list" ? { roots: [{ uri: "file:///a" }] } : sampled
        const played = yield* run(version, handler, answer, { capabilities: { sampling: {}, roots: {} } })
        assert.deepStrictEqual(JSON.parse(String(played.text)), [{ type: "text", text: "hi" }, [{ uri: "file:///a" }]])
        assert.deepStrictEqual(played.asked.map(({ method }) => method), ["sampling/createMessage", "roots/list"])
        const context = at(played.asked[0]?.params, "includeContext")
        assert.strictEqual(context, version < "2025-11-25" ? "allServers" : undefined)
      }))
  }

  it.effect("[SMP-05] a call of a tool that has no result is a defect, and not sent", () =>
    Effect.gen(function*() {
      const messages = [
        { role: "assistant", content: { type: "tool_use", id: "1", name: "clock", input: {} } }
      ] as const
      const { text, value } = yield* logged(
        run("2025-11-25", Effect.as(Input.sample({ messages, maxTokens: 1 }), ""), () => sampled)
      )
      assert.strictEqual(value.sent.code, -32603)
      assert.lengthOf(value.asked, 0)
      assert.include(text, "the last call of a tool has no result")
    }))

  it.live("[SMP-09] a user who rejects has declined; other errors are no answer", () =>
    Effect.gen(function*() {
      const handler = Effect.as(Input.sample({ messages: [], maxTokens: 1 }), "")
      const endpoint = yield* serve(McpServer.tool(Ask, () => handler))
      const answered = Effect.fnUntraced(function*(error: Json) {
        const client = new Client(endpoint, "2025-11-25", new Wire())
        client.hello(everything)
        const sent = client.start("tools/call", { name: "ask" })
        yield* settle
        client.raw({ jsonrpc: "2.0", id: sent.pushed[0]?.["id"], error })
        yield* settle
        return at(sent.result, "content", 0, "text")
      })
      assert.strictEqual(yield* answered({ code: -1, message: "no" }), "The user declined (sampling)")
      assert.strictEqual(yield* answered({ code: -32601, message: "?" }), "The client does not support sampling")
      assert.strictEqual(yield* answered({ code: -32603, message: "secret" }), "The client did not answer (sampling)")
    }))
})

describe("up to 2025-11-25", () => {
  const asked = Effect.fnUntraced(function*(handler: Effect.Effect<string, Failure, Input.Services>) {
    const client = new Client(yield* serve(McpServer.tool(Ask, () => handler)), "2025-11-25", new Wire())
    client.hello(everything)
    const sent = client.start("tools/call", { name: "ask" }, 7)
    yield* Effect.yieldNow
    return { client, sent }
  })

  it.effect("[LIF-14] a client that does not answer is waited for 10 minutes, or as long as is said, and told", () =>
    Effect.gen(function*() {
      for (
        const [handler, millis] of [
          [confirm, 600_000],
          [Effect.map(Input.elicit("?", Confirm, { timeout: "1 hour" }), String), 3_600_000]
        ] as const
      ) {
        const { sent } = yield* asked(handler)
        yield* TestClock.adjust(millis - 1)
        assert.isFalse(sent.closed)
        yield* TestClock.adjust(1)
        yield* Effect.yieldNow
        const text = `The client did not answer within ${millis} ms (elicitation.form)`
        assert.strictEqual(at(sent.result, "content", 0, "text"), text)
        assert.strictEqual(sent.pushed.at(-1)?.["method"], "notifications/cancelled")
      }
    }))

  it.effect("[CAN-03] a call that is cancelled takes back what it asked", () =>
    Effect.gen(function*() {
      const { client, sent } = yield* asked(confirm)
      client.notify("notifications/cancelled", { requestId: 7 })
      yield* Effect.yieldNow
      assert.deepStrictEqual(sent.pushed.map(({ method }) => method), ["elicitation/create", "notifications/cancelled"])
      assert.strictEqual(at(sent.pushed[1], "params", "requestId"), sent.pushed[0]?.["id"])
      assert.isUndefined(sent.answer)
    }))

  it.effect("Input.all asks at once, and takes the others back when one is declined", () =>
    Effect.gen(function*() {
      const { client, sent } = yield* asked(Effect.map(Input.all([confirm, Input.roots]), String))
      assert.deepStrictEqual(sent.pushed.map(({ method }) => method), ["elicitation/create", "roots/list"])
      client.raw({ jsonrpc: "2.0", id: sent.pushed[0]?.["id"], result: { action: "decline" } })
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      assert.strictEqual(sent.pushed[2]?.["method"], "notifications/cancelled")
      assert.strictEqual(at(sent.pushed[2], "params", "requestId"), sent.pushed[1]?.["id"])
      assert.strictEqual(at(sent.result, "isError"), true)
    }))
})

describe("prompts and resources", () => {
  const Greeting = Prompt.make("greeting")
  const Note = Resource.make("note:1", { name: "note" })
  const registrations = Layer.merge(
    McpServer.prompt(Greeting, () => confirm),
    McpServer.resource(Note, () => confirm, { cache: { ttlMs: 60_000, scope: "public" } })
  )
  for (const version of forms) {
    it.live(`[MRT-02, CCH-04, CCH-12] ${version}: ask as tools do`, () =>
      Effect.gen(function*() {
        const endpoint = yield* serve(registrations)
        const answer = accept({ confirm: true })
        const greeting = yield* play(endpoint, version, "greeting", answer, { method: "prompts/get" })
        assert.strictEqual(at(greeting.sent.result, "messages", 0, "content", "text"), "confirm true")
        const note = yield* play(endpoint, version, "note:1", answer, { method: "resources/read" })
        assert.strictEqual(at(note.sent.result, "contents", 0, "text"), "confirm true")
        if (version === "2026-07-28") {
          assert.deepStrictEqual([at(note.sent.result, "ttlMs"), at(note.sent.result, "cacheScope")], [0, "private"])
        }
        const refused = yield* play(endpoint, version, "greeting", () => ({ action: "decline" }), {
          method: "prompts/get"
        })
        assert.strictEqual(refused.sent.code, -32602)
        assert.include(String(at(refused.sent.error, "message")), "The user declined")
      }))
  }
})
