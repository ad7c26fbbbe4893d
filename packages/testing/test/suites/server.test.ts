/** The server suite: raw messages, as any client would send them, on every revision and transport. */
import { assert, describe, layer } from "@effect/vitest"
import { JsonRpc, Revisions } from "@mcpfx/schema"
import * as Matrix from "@mcpfx/tooling/matrix"
import { ClientTransport } from "@mcpfx/transport"
import { Context, Effect, Layer, Result } from "effect"
import { TestPeer } from "../../src/index.ts"
import { allCells, type Cell, since } from "./cells.ts"

/** A peer that has done what its revision wants before the first request. */
class Ready extends Context.Service<Ready, {
  readonly peer: TestPeer.TestPeer
  /** Sends a request as the revision has it. */
  readonly ask: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.Response>
  /** Its result; an error is a defect of the test. */
  readonly result: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject>
}>()("test/Ready") {}

const ready = (cell: Cell) =>
  Layer.effect(
    Ready,
    Effect.gen(function*() {
      const peer = yield* Effect.orDie(TestPeer.connect(yield* ClientTransport.ClientTransport))
      const modern = cell.revision === "2026-07-28"
      if (modern) yield* peer.link.agreed({ version: cell.revision, era: "modern" })
      else yield* Effect.orDie(peer.initialize(cell.revision))
      let id = 0
      const ask = (method: string, params: JsonRpc.JsonObject = {}) =>
        Effect.orDie(peer.request(++id, method, modern ? TestPeer.modern(params) : params))
      return {
        peer,
        ask,
        result: (method, params) =>
          Effect.flatMap(ask(method, params), (answer) =>
            JsonRpc.isFailure(answer) ? Effect.die(answer.error) : Effect.succeed(answer.result))
      }
    })
  ).pipe(Layer.provide(cell.layer))

const codeOf = (answer: JsonRpc.Response): number | undefined =>
  JsonRpc.isFailure(answer) ? answer.error.code : undefined

/** Every result has the shape that its revision gives its method. */
const fits = (cell: Cell, method: string, result: JsonRpc.JsonObject) => {
  const codec = Revisions.byVersion(cell.revision)?.requestByName(method)
  assert.isTrue(codec !== undefined && Result.isSuccess(codec.decodeResult(result)))
}

const suite = (cell: Cell) => {
  const modern = cell.revision === "2026-07-28"
  layer(ready(cell), { excludeTestServices: true, timeout: "60 seconds" })(
    `server, ${cell.revision}, ${cell.name}`,
    (it) => {
      Matrix.track({ suite: "server", revision: cell.revision, transport: cell.transport })

      it.effect("[RPC-05] repeats the id of a request, type and all", () =>
        Effect.gen(function*() {
          const { peer } = yield* Ready
          for (const id of ["a string", 4711, "4711"]) {
            const method = modern ? "server/discover" : "ping"
            const answer = yield* peer.request(id, method, modern ? TestPeer.modern() : undefined)
            assert.strictEqual(answer.id, id)
          }
        }))

      it.effect("[RPC-13, META-10] results say what their revision wants of them, and nothing else", () =>
        Effect.gen(function*() {
          const { result } = yield* Ready
          const lists = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]
          for (const method of lists) {
            const list = yield* result(method)
            fits(cell, method, list)
            assert.strictEqual(list["resultType"], modern ? "complete" : undefined)
            assert.strictEqual("ttlMs" in list, modern)
            assert.strictEqual("_meta" in list, modern)
          }
        }))

      it.effect("[PAG-04] pages its lists, and refuses a cursor it did not give", () =>
        Effect.gen(function*() {
          const { ask, result } = yield* Ready
          const first = yield* result("tools/list")
          assert.isString(first["nextCursor"])
          const second = yield* result("tools/list", { cursor: first["nextCursor"] })
          assert.isUndefined(second["nextCursor"])
          assert.strictEqual(codeOf(yield* ask("tools/list", { cursor: "made up" })), -32602)
        }))

      it.effect("[TOL-06, TOL-20] writes content that the revision knows", () =>
        Effect.gen(function*() {
          const { result } = yield* Ready
          const media = yield* result("tools/call", { name: "media" })
          const content = media["content"]
          const types = Array.isArray(content) ? content.map((block: { readonly type: string }) => block.type) : []
          assert.deepStrictEqual(types, [
            "text",
            "image",
            since(cell, "2025-03-26") ? "audio" : "text",
            since(cell, "2025-06-18") ? "resource_link" : "text"
          ])
        }))

      it.effect("serves the handler on the revision that was agreed", () =>
        Effect.gen(function*() {
          const { result } = yield* Ready
          const { content } = yield* result("tools/call", { name: "revision" })
          assert.deepStrictEqual(content, [{ type: "text", text: cell.revision }])
        }))

      it.effect("[field SCH-18] says nothing about a defect", () =>
        Effect.gen(function*() {
          const { ask } = yield* Ready
          const answer = yield* ask("tools/call", { name: "die" })
          assert.strictEqual(codeOf(answer), -32603)
          assert.notInclude(JSON.stringify(answer), "secret")
        }))

      it.effect("[RPC-24, PNG-03, RES-05, RES-06] refuses methods and resources that are not there", () =>
        Effect.gen(function*() {
          const { ask } = yield* Ready
          assert.strictEqual(codeOf(yield* ask("no/such/method")), -32601)
          const missing = yield* ask("resources/read", { uri: "app://users/9" })
          assert.strictEqual(codeOf(missing), modern ? -32602 : -32002)
          const other = modern ? "ping" : "subscriptions/listen"
          assert.strictEqual(codeOf(yield* ask(other, { notifications: {} })), -32601)
        }))

      it.effect("[field SCH-10] takes calls without arguments", () =>
        Effect.gen(function*() {
          const { result } = yield* Ready
          const { isError } = yield* result("tools/call", { name: "small-001" })
          assert.notStrictEqual(isError, true)
        }))

      it.effect("[field RPC-08] does not mind notifications it does not know", () =>
        Effect.gen(function*() {
          const { peer, result } = yield* Ready
          yield* Effect.ignore(peer.notify("notifications/unheard-of"))
          fits(cell, "prompts/get", yield* result("prompts/get", { name: "review", arguments: { language: "C" } }))
        }))

      it.effect("[CMP-03] completes, and refuses what there is nothing to complete of", () =>
        Effect.gen(function*() {
          const { ask, result } = yield* Ready
          const ref = { type: "ref/prompt", name: "review" }
          const { completion } = yield* result("completion/complete", {
            ref,
            argument: { name: "language", value: "" }
          })
          assert.deepInclude(completion, { values: ["Rust", "Ruby", "TypeScript"] })
          const unknown = { type: "ref/prompt", name: "nothing" }
          const refused = yield* ask("completion/complete", { ref: unknown, argument: { name: "x", value: "" } })
          assert.strictEqual(codeOf(refused), -32602)
        }))
    }
  )
}

describe("the server suite", () => {
  for (const cell of allCells) suite(cell)
})
