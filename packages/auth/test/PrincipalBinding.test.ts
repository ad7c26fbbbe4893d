/** What belongs to one caller is not there for another, though both have good tokens. */
import { assert, describe, it } from "@effect/vitest"
import { ResourceServer, TokenVerifierJwt } from "@mcpfx/auth"
import { type JsonRpc, Task, Tool } from "@mcpfx/schema"
import { Input, McpServer } from "@mcpfx/server"
import { Progress } from "@mcpfx/session"
import * as EventStore from "@mcpfx/transport/EventStore"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import { Effect, Fiber, Layer, Option, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { bearer, jsonOf, modern, post, serve, session } from "./support/protecting.ts"
import { issuer, makeKey, resource, sign } from "./support/signing.ts"

const one = await makeKey("one")
const two = await makeKey("two")

const subject = Effect.map(CurrentPrincipal, Option.match({ onNone: () => "nobody", onSome: ({ subject }) => subject }))

const Registrations = Layer.mergeAll(
  McpServer.tool(Tool.make("who", { input: { turns: Schema.Int } }), ({ turns }) =>
    Effect.gen(function*() {
      const before = yield* subject
      const fiber = yield* Effect.forkChild(Effect.andThen(Effect.repeat(Effect.yieldNow, { times: turns }), subject))
      return [before, yield* Fiber.join(fiber), yield* subject].join(" ")
    })),
  McpServer.tool(
    Tool.make("ask", { input: {}, asks: ["elicitation.form"] }),
    () => Effect.map(Input.elicit("Sure?", Schema.Struct({ yes: Schema.Boolean })), ({ yes }) => yes ? "yes" : "no")
  ),
  McpServer.tool(Tool.make("job", { input: {}, task: "may" }), () => Effect.as(Effect.sleep("1 hour"), "done")),
  McpServer.tool(Tool.make("talk", { input: {} }), () => Effect.as(Progress.report({ progress: 1 }), "talked"))
)

const Server = ResourceServer.layer({ resource }, (protect) =>
  McpServer.layerHttp(Registrations, {
    name: "t",
    version: "1",
    allowedHosts: "any",
    middleware: protect,
    requestState: { keys: [Redacted.make("0123456789abcdef0123456789abcdef")] }
  })).pipe(
    Layer.provide(TokenVerifierJwt.layerKeys({
      issuers: [{ issuer, keys: [one.jwk] }, { issuer: "https://two.example", keys: [two.jwk] }]
    })),
    Layer.provide(Layer.fresh(EventStore.layerMemory))
  )

/** Ada, with an older and a newer token, and all who are not Ada: by subject, by client, by issuer. */
const callers = Effect.gen(function*() {
  return {
    ada: yield* sign(one),
    renewed: yield* sign(one, { iat: 1, exp: 7200, scope: "other" }),
    others: [
      yield* sign(one, { sub: "eve" }),
      yield* sign(one, { client_id: "another" }),
      yield* sign(one, { client_id: undefined }),
      yield* sign(two, { iss: "https://two.example" })
    ]
  }
})

const capabilities: JsonRpc.JsonObject = { elicitation: { form: {} }, extensions: { [Task.extensionId]: {} } }

describe("2025-11-25", () => {
  it.effect("[SEC-06] a session is its caller's own, and a token comes with each request", () =>
    Effect.gen(function*() {
      const { ada, others, renewed } = yield* callers
      const send = yield* serve(Server)
      const { request, within } = yield* session(send, ada)
      assert.strictEqual((yield* send("POST", "/mcp", { ...post, ...within }, "{}")).status, 401)
      for (const token of others) {
        assert.strictEqual((yield* request("ping", {}, token)).status, 404)
        for (const method of ["GET", "DELETE"]) {
          const response = yield* send(method, "/mcp", { accept: "text/event-stream", ...bearer(token), ...within })
          assert.strictEqual(response.status, 404)
        }
      }
      assert.strictEqual((yield* request("ping", {}, renewed)).status, 200)
    }))

  it.effect("[SEC-06] a task is its caller's own", () =>
    Effect.gen(function*() {
      const { ada, others, renewed } = yield* callers
      const send = yield* serve(Server)
      const mine = yield* session(send, ada, "2025-11-25", capabilities)
      const started = yield* jsonOf(yield* mine.request("tools/call", { name: "job", arguments: {}, task: {} }))
      const taskId: string = started.result.task.taskId
      for (const token of others) {
        const theirs = yield* session(send, token, "2025-11-25", capabilities)
        for (const method of ["tasks/get", "tasks/cancel", "tasks/result"]) {
          assert.strictEqual((yield* jsonOf(yield* theirs.request(method, { taskId }))).error.code, -32602, method)
        }
        assert.deepStrictEqual((yield* jsonOf(yield* theirs.request("tasks/list"))).result.tasks, [])
      }
      const again = yield* session(send, renewed, "2025-11-25", capabilities)
      assert.strictEqual((yield* jsonOf(yield* again.request("tasks/get", { taskId }))).result.status, "working")
    }))

  it.effect("[SEC-06] [field CON-02] an event stream is its caller's own", () =>
    Effect.gen(function*() {
      const { ada, others, renewed } = yield* callers
      const send = yield* serve(Server)
      const mine = yield* session(send, ada)
      const talked = yield* mine.request("tools/call", { name: "talk", arguments: {}, _meta: { progressToken: "p" } })
      const [, event = ""] = /^id: (.+)$/m.exec(yield* Effect.promise(() => talked.text())) ?? []
      assert.isNotEmpty(event)
      const resume = (token: string, within: Readonly<Record<string, string>>) =>
        send("GET", "/mcp", { accept: "text/event-stream", ...bearer(token), ...within, "last-event-id": event })
      for (const token of others) {
        const theirs = yield* session(send, token)
        assert.strictEqual((yield* resume(token, mine.within)).status, 404)
        assert.strictEqual((yield* resume(token, theirs.within)).status, 400)
      }
      assert.match(
        yield* Effect.flatMap(resume(renewed, mine.within), (response) => Effect.promise(() => response.text())),
        /talked/
      )
    }))
})

describe("2026-07-28", () => {
  it.effect("[SEC-07] a sealed state is its caller's own, and no token itself", () =>
    Effect.gen(function*() {
      const { ada, others, renewed } = yield* callers
      const send = yield* serve(Server)
      const call = (token: string | undefined, more: JsonRpc.JsonObject = {}) => {
        const { body, headers } = modern("tools/call", { name: "ask", arguments: {}, ...more }, "ask", capabilities)
        return send("POST", "/mcp", { ...headers, ...(token === undefined ? undefined : bearer(token)) }, body)
      }
      const { result } = yield* jsonOf(yield* call(ada))
      const [[key = ""] = []] = [Object.keys(result.inputRequests)]
      const retry = {
        requestState: result.requestState,
        inputResponses: { [key]: { action: "accept", content: { yes: true } } }
      }
      assert.strictEqual((yield* call(undefined, retry)).status, 401)
      for (const token of others) assert.strictEqual((yield* jsonOf(yield* call(token, retry))).error.code, -32602)
      assert.strictEqual((yield* jsonOf(yield* call(renewed, retry))).result.content[0].text, "yes")
    }))

  it.effect("[SEC-07] a task is its caller's own", () =>
    Effect.gen(function*() {
      const { ada, others, renewed } = yield* callers
      const send = yield* serve(Server)
      const call = (token: string, method: string, params: JsonRpc.JsonObject, name: string) => {
        const { body, headers } = modern(method, params, name, capabilities)
        return Effect.flatMap(send("POST", "/mcp", { ...headers, ...bearer(token) }, body), jsonOf)
      }
      const started = yield* call(ada, "tools/call", { name: "job", arguments: {} }, "job")
      const taskId: string = started.result.taskId
      for (const token of others) {
        for (const method of ["tasks/get", "tasks/cancel"]) {
          assert.strictEqual((yield* call(token, method, { taskId }, taskId)).error.code, -32602)
        }
      }
      assert.strictEqual((yield* call(renewed, "tasks/get", { taskId }, taskId)).result.status, "working")
    }))

  it.effect("[field CON-07] a hundred callers at once, each with a token, are themselves, also in fibers they start", () =>
    Effect.gen(function*() {
      const send = yield* serve(Server)
      const tokens = yield* Effect.forEach(Array.from({ length: 100 }), (_, n) => sign(one, { sub: `u${n}` }))
      const texts = yield* Effect.forEach(tokens, (token, n) => {
        const { body, headers } = modern("tools/call", { name: "who", arguments: { turns: n % 7 } }, "who")
        const answer = Effect.flatMap(send("POST", "/mcp", { ...headers, ...bearer(token) }, body), jsonOf)
        return Effect.map(answer, ({ result }): string => result.content[0].text)
      }, { concurrency: "unbounded" })
      assert.deepStrictEqual(texts, tokens.map((_, n) => `u${n} u${n} u${n}`))
    }))

  it.effect("[ARS-06] a token that ends is not good for the next request, whatever it began", () =>
    Effect.gen(function*() {
      const { ada } = yield* callers
      const send = yield* serve(Server)
      const { request } = yield* session(send, ada)
      assert.strictEqual((yield* request("ping")).status, 200)
      yield* TestClock.adjust("61 minutes")
      assert.strictEqual((yield* request("ping")).status, 401)
    }))
})
