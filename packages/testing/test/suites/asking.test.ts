/** The asking suite: handlers that ask, written once, through the client on every revision and transport. */
import { assert, describe, layer } from "@effect/vitest"
import { ClientElicitation, ClientRoots, ClientSampling, McpClient, Negotiation } from "@mcpfx/client"
import { McpError } from "@mcpfx/schema"
import * as Matrix from "@mcpfx/tooling/matrix"
import { Effect, Layer } from "effect"
import { info, registrations } from "./askingRegistrations.ts"
import { type Cell, cellsOf, since } from "./cells.ts"

/** Answers by what is asked. */
const forms = ClientElicitation.layerForm(({ message }) =>
  Effect.succeed(
    message === "decline"
      ? ClientElicitation.decline
      : message === "cancel"
      ? ClientElicitation.cancel
      : ClientElicitation.accept({ name: "Bob" })
  )
)
const pages = ClientElicitation.layerUrl(() => Effect.succeed(ClientElicitation.visit))
const model = ClientSampling.layer(({ messages }) =>
  JSON.stringify(messages).includes("reject")
    ? Effect.fail(new McpError.UserRejected())
    : Effect.succeed({ role: "assistant", content: { type: "text", text: "a" }, model: "model" })
)
const roots = ClientRoots.layer([{ uri: "file:///home" }])

const clientOf = (cell: Cell) =>
  McpClient.layer({ revisions: [cell.revision], connectTimeout: "20 seconds", probeTimeout: "20 seconds" }).pipe(
    Layer.provide([forms, pages, model, roots]),
    Layer.provide(cell.layer),
    Layer.provide(Layer.sync(Negotiation.CurrentEraCache, () => Negotiation.makeEraCache()))
  )

const textOf = Effect.fnUntraced(function*(name: string) {
  const client = yield* McpClient.McpClient
  const { content } = yield* client.callTool(name)
  const [first] = content
  return first?.type === "text" ? first.text : undefined
})

const suite = (cell: Cell) => {
  const modern = cell.revision === "2026-07-28"
  const asks = since(cell, "2025-06-18")
  layer(clientOf(cell), { excludeTestServices: true, timeout: "60 seconds" })(
    `asking, ${cell.revision}, ${cell.transport}`,
    (it) => {
      Matrix.track({ suite: "asking", revision: cell.revision, transport: cell.transport })

      it.effect("[ELI-09, ELI-10] a form is filled in, declined, cancelled", () =>
        Effect.gen(function*() {
          if (!asks) {
            assert.strictEqual(yield* textOf("ask"), "The client does not support elicitation.form")
            return
          }
          assert.strictEqual(yield* textOf("ask"), "Bob")
          assert.strictEqual(yield* textOf("declined"), "they declined")
          assert.strictEqual(yield* textOf("cancelled"), "they cancelled")
          assert.strictEqual(yield* textOf("uncaught"), "The user declined (elicitation.form)")
        }))

      it.effect("[SMP-09, ROO-05] the model and the directories are asked beside a form", () =>
        Effect.gen(function*() {
          if (asks) assert.strictEqual(yield* textOf("all"), "Bob model file:///home")
          // On 2026-07-28 a user who rejects never lets the handler run again.
          const rejected = yield* Effect.result(textOf("rejected"))
          if (modern) assert.isTrue(rejected._tag === "Failure")
          else assert.isTrue(rejected._tag === "Success" && rejected.success === "they rejected it")
        }))

      if (!asks) return

      it.effect("catch, catchCause, exit and retry see answers and nothing else", () =>
        Effect.gen(function*() {
          assert.strictEqual(yield* textOf("caught"), "Bob")
          assert.strictEqual(yield* textOf("events"), "")
        }))

      it.effect("races, deadlines, children and parallel questions end as they read", () =>
        Effect.gen(function*() {
          assert.strictEqual(yield* textOf("race"), "Bob")
          assert.strictEqual(yield* textOf("timeout"), "Bob")
          assert.strictEqual(yield* textOf("child"), "Bob")
          assert.strictEqual(yield* textOf("parallel"), "Bob Bob")
          assert.strictEqual(yield* textOf("background"), "Bob child")
        }))

      it.effect("resources are acquired for each pass and released with it; a suspension is no cancellation", () =>
        Effect.gen(function*() {
          assert.strictEqual(yield* textOf("resources"), "Bob")
          const pass = "acquire,open,close,release"
          assert.strictEqual(yield* textOf("events"), modern ? `${pass},${pass}` : pass)
          assert.strictEqual(yield* textOf("interrupted"), "Bob")
          assert.strictEqual(yield* textOf("events"), modern ? "interrupted" : "")
        }))

      it.effect("a question in an uninterruptible region is asked up to 2025-11-25, a defect after", () =>
        Effect.gen(function*() {
          const outcome = yield* Effect.result(textOf("uninterruptible"))
          if (modern) assert.isTrue(outcome._tag === "Failure")
          else assert.isTrue(outcome._tag === "Success" && outcome.success === "Bob")
        }))

      it.effect("[PRG-02] steps are done once, and progress is one stream, over all questions", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const seen: Array<number> = []
          const { content } = yield* client.callTool("twice", {}, {
            onProgress: ({ progress }) => Effect.sync(() => void seen.push(progress))
          })
          assert.deepStrictEqual(content, [{ type: "text", text: "id Bob Bob" }])
          assert.deepStrictEqual(seen, [1, 2, 3])
          assert.strictEqual(yield* textOf("events"), "started")
        }))

      it.effect("[MRT-02] prompts and resources ask, too", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const { messages } = yield* client.getPrompt("greeting")
          assert.deepStrictEqual(messages[0]?.content, { type: "text", text: "Hello, Bob." })
          const { contents } = yield* client.readResource("app://note")
          assert.deepInclude(contents[0], { text: "For Bob." })
        }))

      it.effect("[ELI-12] pages are visited from 2025-11-25 on", () =>
        Effect.gen(function*() {
          const text = yield* textOf("page")
          assert.strictEqual(
            text,
            since(cell, "2025-11-25") ? "visited" : "The client does not support elicitation.url"
          )
        }))
    }
  )
}

describe("asking", () => {
  for (const cell of cellsOf({ registrations, info, program: "./askingServer.ts" })) suite(cell)
})
