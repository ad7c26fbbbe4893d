import { assert, it } from "@effect/vitest"
import { AskContext, ClientElicitation } from "@mcpfx/client"
import type { ClientElicitation as Elicitation } from "@mcpfx/client"
import { Codes, type JsonRpc } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Cause, Context, Deferred, Effect, Layer, Ref } from "effect"
import { ask, connected, declaredTo, speaking, stateful } from "./support/asks.ts"

const form = (properties: JsonRpc.JsonObject, required?: ReadonlyArray<string>): JsonRpc.JsonObject => ({
  message: "Tell me",
  requestedSchema: { type: "object", properties, ...(required === undefined ? undefined : { required }) }
})

const answering = (answer: Elicitation.FormAnswer) => ClientElicitation.layerForm(() => Effect.succeed(answer))
const method = "elicitation/create"

const withForms = stateful.filter((version) => version >= "2025-06-18")

for (const version of withForms) {
  it.effect(`[ELI-09] forms are answered on ${version}`, () =>
    Effect.gen(function*() {
      const server = yield* ScriptedServer.make(speaking(version))
      const shown = yield* Ref.make<ReadonlyArray<string>>([])
      yield* connected(
        server,
        ClientElicitation.layerForm(({ message, requestedSchema }) =>
          Effect.as(
            Ref.set(shown, [message, ...Object.keys(requestedSchema.properties)]),
            ClientElicitation.accept({ name: "Ada", age: 36 })
          )
        ),
        { revisions: [version] }
      )
      const answer = yield* ask(server, method, form({ name: { type: "string" }, age: { type: "integer" } }, ["name"]))
      assert.deepStrictEqual(answer, { result: { action: "accept", content: { name: "Ada", age: 36 } } })
      assert.deepStrictEqual(yield* Ref.get(shown), ["Tell me", "name", "age"])
      assert.deepStrictEqual(declaredTo(server), { elicitation: version === "2025-06-18" ? {} : { form: {} } })
    }))
}

for (const version of stateful.filter((version) => version < "2025-06-18")) {
  it.effect(`[CAP-02] ${version} knows no elicitation: none is declared, none is answered`, () =>
    Effect.gen(function*() {
      const server = yield* ScriptedServer.make(speaking(version))
      yield* connected(server, answering(ClientElicitation.accept()), { revisions: [version] })
      assert.deepStrictEqual(declaredTo(server), {})
      const { error } = yield* ask(server, method, form({}))
      assert.strictEqual(error?.code, Codes.methodNotFound)
    }))
}

const legacy = Effect.suspend(() => ScriptedServer.make(speaking("2025-11-25")))

it.effect("[field LIF-13] without a handler nothing is declared, and the server hears -32601", () =>
  Effect.gen(function*() {
    const server = yield* legacy
    yield* connected(server, Layer.empty, {
      capabilities: { elicitation: {}, sampling: {}, roots: {}, experimental: { "example.com/x": {} } }
    })
    assert.deepStrictEqual(declaredTo(server), { experimental: { "example.com/x": {} } })
    for (const method of ["elicitation/create", "sampling/createMessage", "roots/list", "other/method"]) {
      const { error } = yield* ask(server, method, {}, method)
      assert.strictEqual(error?.code, Codes.methodNotFound)
    }
  }))

it.effect("[ELI-03] a missing mode is a form, and a mode that was not declared is -32602", () =>
  Effect.gen(function*() {
    const server = yield* legacy
    yield* connected(server, answering(ClientElicitation.decline))
    assert.deepStrictEqual(yield* ask(server, method, form({}), 1), { result: { action: "decline" } })
    assert.deepStrictEqual(yield* ask(server, method, { mode: "form", ...form({}) }, 2), {
      result: { action: "decline" }
    })
    const page = { mode: "url", message: "Go", url: "https://example.com/", elicitationId: "1" }
    const { error } = yield* ask(server, method, page, 3)
    assert.strictEqual(error?.code, Codes.invalidParams)
  }))

it.effect("[CAP-05] a client that shows only pages refuses forms, and on 2025-06-18 declares nothing", () =>
  Effect.gen(function*() {
    const pages = ClientElicitation.layerUrl(() => Effect.succeed(ClientElicitation.visit))
    const server = yield* legacy
    yield* connected(server, pages)
    assert.deepStrictEqual(declaredTo(server), { elicitation: { url: {} } })
    assert.strictEqual((yield* ask(server, method, form({}))).error?.code, Codes.invalidParams)
    const old = yield* ScriptedServer.make(speaking("2025-06-18"))
    yield* connected(old, pages, { revisions: ["2025-06-18"] })
    assert.deepStrictEqual(declaredTo(old), {})
    assert.strictEqual((yield* ask(old, method, form({}))).error?.code, Codes.methodNotFound)
  }))

it.effect("[ELI-03] params that are none are -32602, and the session lives on", () =>
  Effect.gen(function*() {
    const server = yield* legacy
    yield* connected(server, answering(ClientElicitation.accept()))
    const bad: ReadonlyArray<JsonRpc.JsonObject | undefined> = [
      undefined,
      {},
      { message: "no schema" },
      { message: 1, requestedSchema: { type: "object", properties: {} } },
      form({ nested: { type: "object", properties: {} } }),
      { mode: "carrier-pigeon", ...form({}) },
      { mode: "url", message: "no address", elicitationId: "1" },
      { message: "x", requestedSchema: { type: "object", properties: [] } }
    ]
    for (const [index, params] of bad.entries()) {
      const { error } = yield* ask(server, method, params, index)
      assert.strictEqual(error?.code, Codes.invalidParams, JSON.stringify(params))
    }
    assert.deepStrictEqual(yield* ask(server, method, form({}), "good"), { result: { action: "accept", content: {} } })
  }))

const withDefaults = form({
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive"], default: "active" },
  verified: { type: "boolean", default: true },
  tags: { type: "array", items: { anyOf: [{ const: "a", title: "A" }, { const: "b", title: "B" }] }, default: ["a"] },
  nickname: { type: "string" }
}, ["name", "age", "score", "status", "verified"])

it.effect("[ELI-05] [field SCH-23] defaults stand for what was left out, and only on accept", () =>
  Effect.gen(function*() {
    const server = yield* legacy
    const next = yield* Ref.make<Elicitation.FormAnswer>(ClientElicitation.accept({ age: 5 }))
    yield* connected(server, ClientElicitation.layerForm(() => Ref.get(next)))
    assert.deepStrictEqual((yield* ask(server, method, withDefaults, 1)).result, {
      action: "accept",
      content: { name: "John Doe", age: 5, score: 95.5, status: "active", verified: true, tags: ["a"] }
    })
    yield* Ref.set(next, ClientElicitation.decline)
    assert.deepStrictEqual((yield* ask(server, method, withDefaults, 2)).result, { action: "decline" })
    yield* Ref.set(next, ClientElicitation.cancel)
    assert.deepStrictEqual((yield* ask(server, method, withDefaults, 3)).result, { action: "cancel" })
  }))

it.effect("[ELI-05] a default that breaks its own rules is left out", () =>
  Effect.gen(function*() {
    const server = yield* legacy
    yield* connected(server, answering(ClientElicitation.accept()))
    const { result } = yield* ask(server, method, form({ n: { type: "integer", minimum: 5, default: 1 } }))
    assert.deepStrictEqual(result, { action: "accept", content: {} })
  }))

const unfit: ReadonlyArray<readonly [JsonRpc.JsonObject, Elicitation.Content]> = [
  [form({ n: { type: "integer" } }), { n: "x" }],
  [form({ n: { type: "integer" } }), { n: 1.5 }],
  [form({ n: { type: "number", maximum: 3 } }), { n: 4 }],
  [form({ mail: { type: "string", format: "email" } }), { mail: "nobody" }],
  [form({ day: { type: "string", format: "date" } }), { day: "tomorrow" }],
  [form({ name: { type: "string", minLength: 2 } }), { name: "x" }],
  [form({ one: { type: "string", enum: ["a", "b"] } }), { one: "c" }],
  [form({ one: { type: "string", oneOf: [{ const: "a", title: "A" }] } }), { one: "A" }],
  [form({ some: { type: "array", items: { type: "string", enum: ["a"] }, maxItems: 0 } }), { some: ["a"] }],
  [form({ some: { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } } }), { some: ["b"] }],
  [form({ needed: { type: "string" } }, ["needed"]), {}],
  [form({}), { secret: "not asked for" }]
]

it.effect("[ELI-10] content that does not fit its form is not sent: -32603", () =>
  Effect.gen(function*() {
    for (const [params, content] of unfit) {
      const server = yield* legacy
      yield* connected(server, answering(ClientElicitation.accept(content)))
      const answer = yield* ask(server, method, params)
      assert.deepStrictEqual(
        answer,
        { error: { code: Codes.internalError, message: "Internal error" } },
        JSON.stringify(params)
      )
    }
  }))

it.effect("[ELI-10] a handler that dies is -32603, and the next question is answered", () =>
  Effect.gen(function*() {
    const server = yield* legacy
    const times = yield* Ref.make(0)
    yield* connected(
      server,
      ClientElicitation.layerForm(() =>
        Effect.flatMap(Ref.getAndUpdate(times, (n) => n + 1), (n) => {
          if (n === 0) throw new Error("on the stack")
          return n === 1 ? Effect.die("in the fiber") : Effect.succeed(ClientElicitation.decline)
        })
      )
    )
    assert.strictEqual((yield* ask(server, method, form({}), 1)).error?.code, Codes.internalError)
    assert.strictEqual((yield* ask(server, method, form({}), 2)).error?.code, Codes.internalError)
    assert.deepStrictEqual((yield* ask(server, method, form({}), 3)).result, { action: "decline" })
  }))

class Desk extends Context.Service<Desk, { readonly name: string }>()("Desk") {}

it.effect("[ELI-08] handlers know who asks, and run with the services of their layer and a scope of their own", () =>
  Effect.gen(function*() {
    const server = yield* legacy
    const seen = yield* Ref.make<ReadonlyArray<unknown>>([])
    const note = (entry: unknown) => Ref.update(seen, (all) => [...all, entry])
    yield* connected(
      server,
      ClientElicitation.layerForm(() =>
        Effect.gen(function*() {
          const { during, method, revision, round, server } = yield* AskContext.AskContext
          yield* note([server.target, server.info?.name, revision, method, during, round, (yield* Desk).name])
          yield* Effect.addFinalizer(() => note("closed"))
          return ClientElicitation.cancel
        })
      ).pipe(Layer.provide(Layer.succeed(Desk, { name: "front" })))
    )
    yield* ask(server, method, form({}))
    assert.deepStrictEqual(yield* Ref.get(seen), [
      ["scripted", "scripted", "2025-11-25", method, undefined, 1, "front"],
      "closed"
    ])
  }))

it.effect("[CAN-04] a question that the server takes back interrupts its handler", () =>
  Effect.gen(function*() {
    const server = yield* legacy
    const started = yield* Deferred.make<void>()
    const stopped = yield* Deferred.make<void>()
    yield* connected(
      server,
      ClientElicitation.layerForm(() =>
        Effect.andThen(Deferred.succeed(started, undefined), Effect.never).pipe(
          Effect.onExit((exit) =>
            exit._tag === "Failure" && Cause.hasInterruptsOnly(exit.cause)
              ? Deferred.succeed(stopped, undefined)
              : Effect.void
          )
        )
      )
    )
    yield* server.send({ jsonrpc: "2.0", id: "slow", method, params: form({}) })
    yield* Deferred.await(started)
    yield* server.notify("notifications/cancelled", { requestId: "slow" })
    yield* Deferred.await(stopped)
    assert.deepStrictEqual(server.received().filter((message) => "id" in message && message.id === "slow"), [])
  }))

it.effect("[ELI-14] pages are handed over with their host apart, and nothing but http reaches the handler", () =>
  Effect.gen(function*() {
    const server = yield* legacy
    const seen = yield* Ref.make<ReadonlyArray<unknown>>([])
    yield* connected(
      server,
      ClientElicitation.layerUrl(({ elicitationId, message, site }) =>
        Effect.as(
          Ref.set(seen, [message, site.host, site.warnings, elicitationId]),
          ClientElicitation.visit
        )
      )
    )
    const page = { mode: "url", message: "Sign in", url: "https://auth.example.com/x?y=1", elicitationId: "e1" }
    assert.deepStrictEqual(yield* ask(server, method, page, 1), { result: { action: "accept" } })
    assert.deepStrictEqual(yield* Ref.get(seen), ["Sign in", "auth.example.com", [], "e1"])
    for (const url of ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "not an address", ""]) {
      const { error } = yield* ask(server, method, { ...page, url }, url)
      assert.strictEqual(error?.code, Codes.invalidParams, url)
    }
  }))

it.effect("[CAP-02] both modes are declared where both have handlers", () =>
  Effect.gen(function*() {
    const server = yield* ScriptedServer.make(speaking("2026-07-28"))
    yield* connected(
      server,
      Layer.mergeAll(
        answering(ClientElicitation.cancel),
        ClientElicitation.layerUrl(() => Effect.succeed(ClientElicitation.cancel))
      )
    )
    assert.deepStrictEqual(declaredTo(server), { elicitation: { form: {}, url: {} } })
  }))
