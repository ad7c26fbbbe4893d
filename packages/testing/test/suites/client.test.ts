/** The client suite: the same client, on every revision and transport. */
import { assert, describe, layer } from "@effect/vitest"
import { McpClient, Negotiation } from "@mcpfx/client"
import * as Matrix from "@mcpfx/tooling/matrix"
import { Effect, Fiber, Layer, Stream } from "effect"
import { type Cell, cells, since } from "./cells.ts"
import { Add, Count, Log, Refuse, Sleep, Stopped } from "./registrations.ts"

const clientOf = (cell: Cell) =>
  McpClient.layer({ revisions: [cell.revision], connectTimeout: "20 seconds", probeTimeout: "20 seconds" }).pipe(
    Layer.provide(cell.layer),
    Layer.provide(Layer.sync(Negotiation.CurrentEraCache, () => Negotiation.makeEraCache()))
  )

const suite = (cell: Cell) => {
  layer(clientOf(cell), { excludeTestServices: true, timeout: "60 seconds" })(
    `client, ${cell.revision}, ${cell.transport}`,
    (it) => {
      Matrix.track({ suite: "client", revision: cell.revision, transport: cell.transport })

      it.effect("[LIF-03, LIF-05, VER-05] agrees on the revision and learns what is offered", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const server = yield* client.server
          assert.strictEqual(server.revision.version, cell.revision)
          assert.strictEqual(server.info?.name, "suite")
          assert.strictEqual(server.instructions, "Use it well.")
          assert.hasAnyKeys(server.capabilities, ["tools"])
          yield* client.ping
        }))

      it.effect("[TOL-03, PAG-02, field PAG-03] lists every tool, over all pages, sorted", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const names = (yield* client.tools).map(({ name }) => name)
          assert.isAbove(names.length, 103)
          assert.deepStrictEqual(names, names.toSorted())
          const add = (yield* client.tools).find(({ name }) => name === "add")
          assert.strictEqual(add?.title, since(cell, "2025-06-18") ? "Adding" : undefined)
          assert.strictEqual(add?.outputSchema !== undefined, since(cell, "2025-06-18"))
        }))

      it.effect("[TOL-08] calls a tool by its contract", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          assert.deepStrictEqual(yield* client.call(Add, { a: 1, b: 2 }), { sum: 3 })
          const raw = yield* client.callTool("add", { a: 1, b: 2 })
          assert.deepStrictEqual(raw.content, [{ type: "text", text: "{\"sum\":3}" }])
          assert.deepStrictEqual(raw.structuredContent, since(cell, "2025-06-18") ? { sum: 3 } : undefined)
        }))

      it.effect("[TOL-16] gets a declared failure back, typed", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const failure = yield* Effect.flip(client.call(Refuse, { why: "because" }))
          assert.strictEqual(failure._tag, "Refusal")
        }))

      it.effect("[TOL-13, TOL-14] tells unknown tools from wrong arguments, by the rule of the revision", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const unknown = yield* Effect.flip(client.callTool("nothing"))
          assert.deepInclude(unknown.reason, { _tag: "Refused", code: -32602 })
          const wrong = yield* Effect.result(client.callTool("add", { a: "one" }))
          if (since(cell, "2025-11-25")) {
            assert.isTrue(wrong._tag === "Success" && wrong.success.isError === true)
          } else {
            assert.isTrue(wrong._tag === "Failure")
          }
        }))

      it.effect("[PRG-01, PRG-02] hears of progress, in order, before the answer", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const heard: Array<number> = []
          yield* client.call(Count, { to: 3 }, {
            onProgress: ({ progress }) => Effect.sync(() => heard.push(progress))
          })
          assert.deepStrictEqual(heard, [1, 2, 3])
        }))

      it.effect("[CAN-01, CAN-02, CAN-03] cancels a call by interrupting it", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const key = `${cell.revision}/${cell.transport}`
          const call = yield* Effect.forkChild(client.call(Sleep, { key }), { startImmediately: true })
          // Another call in between shows that the first one has arrived.
          yield* client.call(Add, { a: 0, b: 0 })
          yield* Fiber.interrupt(call)
          const stopped = yield* client.call(Stopped, { key }).pipe(
            Effect.repeat({ until: ({ stopped }) => stopped, times: 200 })
          )
          assert.isTrue(stopped.stopped)
        }))

      it.effect("[RES-14] reads texts, bytes and members of templates", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const motd = yield* client.readResource("app://motd")
          assert.deepInclude(motd.contents[0], { uri: "app://motd", mimeType: "text/plain", text: "Be kind." })
          const pixel = yield* client.readResource("app://pixel")
          assert.deepInclude(pixel.contents[0], { blob: "AQID" })
          const user = yield* client.readResource("app://users/1")
          assert.deepInclude(user.contents[0], { text: "Ada" })
          assert.strictEqual((yield* client.resources).length, 2)
          assert.strictEqual((yield* client.resourceTemplates).length, 1)
        }))

      it.effect("[RES-05, RES-06, RES-07] knows a resource that is not there", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const { reason } = yield* Effect.flip(client.readResource("app://users/9"))
          assert.deepInclude(reason, { _tag: "ResourceNotFound", uri: "app://users/9" })
        }))

      it.effect("[PRM-01, PRM-03] gets prompts, and hears which argument is missing", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          assert.strictEqual((yield* client.prompts)[0]?.name, "review")
          const { messages } = yield* client.getPrompt("review", { language: "Rust" })
          assert.strictEqual(messages.length, 2)
          const { message } = yield* Effect.flip(client.getPrompt("review", {}))
          assert.include(message, "language")
        }))

      it.effect("[CMP-01, CMP-02] completes arguments and variables", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const language = yield* client.complete({ type: "ref/prompt", name: "review" }, {
            name: "language",
            value: "Ru"
          })
          assert.deepStrictEqual(language.values, ["Rust", "Ruby"])
          const id = yield* client.complete({ type: "ref/resource", uri: "app://users/{id}" }, {
            name: "id",
            value: "1"
          })
          assert.deepStrictEqual(id.values, ["1", "10"])
        }))

      it.effect("[LOG-02, LOG-03, LOG-07] hears log messages once it has asked for them", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          yield* client.setLogLevel("info")
          const first = yield* Effect.forkChild(Stream.runHead(client.logs), { startImmediately: true })
          yield* client.call(Log, { text: "hello" })
          const message = yield* Fiber.join(first)
          assert.deepInclude(message._tag === "Some" ? message.value : {}, { level: "notice", data: "hello" })
        }))

      it.effect("[SUB-02, RES-03, TOL-04] hears of changes, with one call on every revision", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const { changes } = yield* client.subscribe({ tools: true, uris: ["app://motd"] })
          const heard = yield* Effect.forkChild(
            Stream.runCollect(Stream.takeUntil(changes, ({ kind }) => kind === "tools")),
            { startImmediately: true }
          )
          yield* client.callTool("touch", { uri: "app://motd" })
          yield* client.callTool("offer", { name: "new-tool" })
          const kinds = new Set((yield* Fiber.join(heard)).map(({ kind }) => kind))
          assert.isTrue(kinds.has("tools"))
        }).pipe(Effect.scoped))

      it.effect("[field CON-07] keeps a hundred calls at once apart", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const sums = yield* Effect.forEach(
            Array.from({ length: 100 }, (_, index) => index),
            (index) => client.call(Add, { a: index, b: index }),
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(sums.map(({ sum }) => sum), Array.from({ length: 100 }, (_, index) => index * 2))
        }))
    }
  )
}

describe("the client suite", () => {
  for (const cell of cells) suite(cell)
})
