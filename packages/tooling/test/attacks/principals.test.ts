/** Two people with good tokens of their own: what belongs to one is not there for the other, whatever he knows of it. */
import { assert, describe, it } from "@effect/vitest"
import { JsonRpc, Task } from "@mcpfx/schema"
import { TestPeer } from "@mcpfx/testing"
import { Effect, Predicate } from "effect"
import { bearer, modernHeaders, present } from "../../src/attacks/presented.ts"
import { make, mcpUrl, type World } from "../../src/attacks/world.ts"

const capabilities: JsonRpc.JsonObject = { elicitation: { form: {} }, extensions: { [Task.extensionId]: {} } }

/** Ada, her other client, and Eve, who all have logged in. */
const people = Effect.gen(function*() {
  const world = yield* make({ authority: { users: [{ id: "ada" }, { id: "eve" }] } })
  for (const clientId of ["app", "other"]) {
    yield* world.login.register({ clientId, redirectUris: ["http://127.0.0.1:8976/callback"] })
  }
  const tokenOf = (user: string, clientId: string) =>
    Effect.map(
      world.login.login({ clientId, scopes: ["sums"], resource: mcpUrl }, { user }),
      ({ access_token }) => access_token
    )
  return {
    world,
    ada: yield* tokenOf("ada", "app"),
    renewed: yield* tokenOf("ada", "app"),
    others: [yield* tokenOf("eve", "app"), yield* tokenOf("ada", "other"), yield* tokenOf("eve", "other")]
  }
})

const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce((inner: unknown, name) => Predicate.isObject(inner) ? Reflect.get(inner, name) : undefined, value)

/** The message of a body that is JSON, or the last one of a stream. */
const messageOf = (body: string): unknown => {
  const data = [...body.matchAll(/^data: (.+)$/gm)].at(-1)?.[1] ?? body
  return data === "" ? undefined : JSON.parse(data)
}

interface Legacy {
  readonly method?: "POST" | "GET" | "DELETE"
  readonly headers?: Readonly<Record<string, string>>
  readonly message?: JsonRpc.Outgoing
}

const version = { "mcp-protocol-version": "2025-11-25" }

const legacy = (world: World, { headers, message, method = "POST" }: Legacy) =>
  present(world, {
    method,
    headers: { "mcp-method": "", ...version, accept: "application/json, text/event-stream", ...headers },
    ...(message === undefined ? undefined : { message })
  })

/** A session of 2025-11-25. */
const session = Effect.fnUntraced(function*(world: World, token: string) {
  const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "c", version: "1" } }
  const opened = yield* legacy(world, { headers: bearer(token), message: JsonRpc.request(0, "initialize", params) })
  const within = { ...version, "mcp-session-id": opened.headers["mcp-session-id"] ?? "" }
  assert.isNotEmpty(within["mcp-session-id"])
  const ready = JsonRpc.notification("notifications/initialized")
  yield* legacy(world, { headers: { ...bearer(token), ...within }, message: ready })
  return within
})

const asked = (
  world: World,
  headers: Readonly<Record<string, string>>,
  method: string,
  params: JsonRpc.JsonObject = {}
) => legacy(world, { headers, message: JsonRpc.request(1, method, params) })

describe("2025-11-25", () => {
  it.effect("[SEC-06] a session id alone, or with the token of another, is no session", () =>
    Effect.gen(function*() {
      const { ada, others, renewed, world } = yield* people
      const within = yield* session(world, ada)
      for (const method of ["POST", "GET", "DELETE"] as const) {
        const nobody = yield* legacy(world, { method, headers: within })
        assert.deepStrictEqual([method, nobody.status, nobody.error], [method, 401, undefined])
        for (const token of others) {
          const answer = yield* legacy(world, {
            method,
            headers: { ...bearer(token), ...within, ...(method === "GET" ? { accept: "text/event-stream" } : {}) },
            message: JsonRpc.request(1, "ping")
          })
          assert.deepStrictEqual([method, answer.status], [method, 404])
        }
      }
      // It is where it was, for whom it was.
      assert.strictEqual((yield* asked(world, { ...bearer(renewed), ...within }, "ping")).status, 200)
    }))

  it.effect("[SEC-06] a session that somebody else opened is none to be pushed into", () =>
    Effect.gen(function*() {
      const { ada, others: [eve = ""], world } = yield* people
      const within = yield* session(world, eve)
      const call = yield* asked(world, { ...bearer(ada), ...within }, "tools/call", { name: "talk", arguments: {} })
      assert.strictEqual(call.status, 404)
    }))

  it.effect("[SEC-06] ids are long, and near ones are nothing", () =>
    Effect.gen(function*() {
      const { ada, world } = yield* people
      const { "mcp-session-id": id } = yield* session(world, ada)
      // 128 bits and more.
      assert.isAtLeast(id.length, 22)
      const near = [
        id.slice(0, -1),
        `${id}0`,
        id.toUpperCase() === id ? id.toLowerCase() : id.toUpperCase(),
        "",
        "../",
        "*"
      ]
      for (const guess of near) {
        const answer = yield* asked(world, { ...bearer(ada), ...version, "mcp-session-id": guess }, "ping")
        assert.include([400, 404], answer.status, guess)
      }
    }))

  it.effect("[SEC-06] a task is its owner's, and others cannot tell it from none", () =>
    Effect.gen(function*() {
      const { ada, others, world } = yield* people
      const mine = { ...bearer(ada), ...(yield* session(world, ada)) }
      const started = yield* asked(world, mine, "tools/call", { name: "job", arguments: {}, task: {} })
      const taskId = String(at(messageOf(started.body), "result", "task", "taskId"))
      for (const token of others) {
        const theirs = { ...bearer(token), ...(yield* session(world, token)) }
        for (const method of ["tasks/get", "tasks/cancel", "tasks/result"]) {
          const answer = messageOf((yield* asked(world, theirs, method, { taskId })).body)
          const none = messageOf((yield* asked(world, theirs, method, { taskId: "00000000" })).body)
          assert.strictEqual(at(answer, "error", "code"), -32602)
          const told = (value: unknown) => String(at(value, "error", "message")).replace(/\S*[0-9a-f]{8,}\S*/gi, "id")
          assert.strictEqual(told(answer), told(none))
        }
        assert.deepStrictEqual(at(messageOf((yield* asked(world, theirs, "tasks/list")).body), "result", "tasks"), [])
      }
      const still = messageOf((yield* asked(world, mine, "tasks/get", { taskId })).body)
      assert.strictEqual(at(still, "result", "status"), "working")
    }))

  it.effect("[SEC-06] [field CON-02] events are replayed to their owner alone", () =>
    Effect.gen(function*() {
      const { ada, others, world } = yield* people
      const within = yield* session(world, ada)
      const talked = yield* asked(world, { ...bearer(ada), ...within }, "tools/call", {
        name: "talk",
        arguments: {},
        _meta: { progressToken: "p" }
      })
      const event = /^id: (.+)$/m.exec(talked.body)?.[1] ?? ""
      assert.isNotEmpty(event)
      for (const token of others) {
        const stream = { accept: "text/event-stream", "last-event-id": event, ...bearer(token) }
        const foreign = yield* legacy(world, { method: "GET", headers: { ...stream, ...within } })
        assert.strictEqual(foreign.status, 404)
        const own = yield* legacy(world, { method: "GET", headers: { ...stream, ...(yield* session(world, token)) } })
        assert.strictEqual(own.status, 400)
        assert.notInclude(`${foreign.body}${own.body}`, "talked")
      }
    }))
})

describe("2026-07-28", () => {
  const call = (world: World, token: string | undefined, method: string, params: JsonRpc.JsonObject, name: string) =>
    Effect.map(
      present(world, {
        headers: { ...modernHeaders(method, name), ...(token === undefined ? undefined : bearer(token)) },
        message: JsonRpc.request(1, method, TestPeer.modern(params, { capabilities }))
      }),
      ({ body, status }) => ({ status, message: messageOf(body) })
    )

  it.effect("[SEC-07] a sealed state opens for its owner alone, and lets nobody in", () =>
    Effect.gen(function*() {
      const { ada, others, renewed, world } = yield* people
      const ask = (token: string | undefined, more: JsonRpc.JsonObject = {}) =>
        call(world, token, "tools/call", { name: "ask", arguments: {}, ...more }, "ask")
      const { message } = yield* ask(ada)
      const requests = at(message, "result", "inputRequests")
      const [key = ""] = Predicate.isObject(requests) ? Object.keys(requests) : []
      const requestState = String(at(message, "result", "requestState"))
      const retry = (state: string): JsonRpc.JsonObject => ({
        requestState: state,
        inputResponses: { [key]: { action: "accept", content: { yes: true } } }
      })
      assert.strictEqual((yield* ask(undefined, retry(requestState))).status, 401)
      const refusals = new Set<unknown>()
      const middle = Math.floor(requestState.length / 2)
      const changed = requestState[middle] === "A" ? "B" : "A"
      const tampered = requestState.slice(0, middle) + changed + requestState.slice(middle + 1)
      const tries = [
        ...others.map((token) => [token, requestState] as const),
        [ada, tampered] as const,
        [ada, requestState.slice(0, -4)] as const,
        [ada, "x"] as const
      ]
      for (const [token, state] of tries) {
        const refused = yield* ask(token, retry(state))
        assert.strictEqual(at(refused.message, "error", "code"), -32602)
        refusals.add(JSON.stringify(at(refused.message, "error")))
      }
      // One answer for all: what is wrong is nobody's business.
      assert.strictEqual(refusals.size, 1)
      const done = yield* ask(renewed, retry(requestState))
      assert.deepInclude(at(done.message, "result", "content"), { type: "text", text: "yes" })
    }))

  it.effect("[SEC-07] a task is its owner's", () =>
    Effect.gen(function*() {
      const { ada, others, renewed, world } = yield* people
      const started = yield* call(world, ada, "tools/call", { name: "job", arguments: {} }, "job")
      const taskId = String(at(started.message, "result", "taskId"))
      for (const method of ["tasks/get", "tasks/cancel"]) {
        for (const token of others) {
          const { message } = yield* call(world, token, method, { taskId }, taskId)
          assert.strictEqual(at(message, "error", "code"), -32602)
        }
        assert.strictEqual((yield* call(world, undefined, method, { taskId }, taskId)).status, 401)
      }
      const { message } = yield* call(world, renewed, "tasks/get", { taskId }, taskId)
      assert.strictEqual(at(message, "result", "status"), "working")
    }))

  it.effect("[SEC-07] a session id of somebody is nothing here", () =>
    Effect.gen(function*() {
      const { ada, others: [eve = ""], world } = yield* people
      const within = yield* session(world, ada)
      const answer = yield* present(world, { headers: { "mcp-session-id": within["mcp-session-id"] } })
      assert.strictEqual(answer.status, 401)
      const hers = yield* present(world, { headers: { ...bearer(eve), "mcp-session-id": within["mcp-session-id"] } })
      // It is not looked at: the request is her own.
      assert.strictEqual(hers.status, 200)
    }))
})
