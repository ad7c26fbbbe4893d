import { assert, it } from "@effect/vitest"
import { ModelSampling, TerminalForm } from "@mcpfx/client"
import { Codes, type JsonRpc } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { type Cause, Effect, FileSystem, Layer, Option, Path, Queue, Ref, Stream, Terminal } from "effect"
import { LanguageModel } from "effect/ai"
import { ask, connected, speaking } from "./support/asks.ts"

const method = "elicitation/create"

/** A terminal on which these keys are pressed, and what it shows. */
const terminal = Effect.fnUntraced(function*(...keys: ReadonlyArray<string>) {
  const shown = yield* Ref.make("")
  const queue = yield* Queue.unbounded<Terminal.UserInput, Cause.Done>()
  const named = new Set(["return", "up", "down", "space", "backspace"])
  const key = (name: string) => ({ name, ctrl: false, meta: false, shift: false })
  for (const press of keys) {
    if (named.has(press)) {
      yield* Queue.offer(queue, { input: Option.none(), key: key(press) })
    } else {
      for (const letter of press) yield* Queue.offer(queue, { input: Option.some(letter), key: key(letter) })
    }
  }
  yield* Queue.end(queue)
  const service = Terminal.make({
    columns: Effect.succeed(80),
    rows: Effect.succeed(24),
    size: Effect.die("no size"),
    readInput: Effect.succeed(queue),
    readLine: Effect.fail(new Terminal.QuitError({})),
    display: (text) => Ref.update(shown, (all) => all + text)
  })
  const layer = Layer.mergeAll(Layer.succeed(Terminal.Terminal, service), FileSystem.layerNoop({}), Path.layer)
  return { layer, shown: Ref.get(shown) }
})

const asked = Effect.fnUntraced(function*(params: JsonRpc.JsonObject, ...keys: ReadonlyArray<string>) {
  const server = yield* ScriptedServer.make(speaking("2025-11-25"))
  const { layer, shown } = yield* terminal(...keys)
  yield* connected(server, Layer.provide(TerminalForm.layer, layer))
  const answer = yield* ask(server, method, params)
  return { answer, shown: yield* shown }
})

const form = (properties: JsonRpc.JsonObject, required: ReadonlyArray<string> = []): JsonRpc.JsonObject => ({
  message: "Who are you?",
  requestedSchema: { type: "object", properties, required }
})

it.effect("[ELI-08] a form is filled in field by field, shown again, and sent", () =>
  Effect.gen(function*() {
    const { answer, shown } = yield* asked(
      form({
        name: { type: "string", title: "Your name", minLength: 2 },
        age: { type: "integer" },
        size: { type: "string", oneOf: [{ const: "s", title: "Small" }, { const: "l", title: "Large" }], default: "l" },
        ok: { type: "boolean" },
        tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
        note: { type: "string" }
      }, ["name", "age", "size", "ok"]),
      "return",
      "A",
      "return",
      "da",
      "return",
      "36",
      "return",
      "return",
      "down",
      "return",
      "down",
      "down",
      "down",
      "space",
      "return",
      "return",
      "return"
    )
    assert.deepStrictEqual(answer, {
      result: { action: "accept", content: { name: "Ada", age: 36, size: "l", ok: false, tags: ["b"] } }
    })
    assert.include(shown, "scripted (scripted) asks:\nWho are you?")
    assert.include(shown, "Your name")
    assert.include(shown, "Expected at least 2 characters")
    assert.include(shown, "  size: l")
  }))

it.effect("[ELI-08] a form can be changed before it is sent: what was typed stands already", () =>
  Effect.gen(function*() {
    const { answer } = yield* asked(
      form({ name: { type: "string", default: "Ada" } }, ["name"]),
      "return",
      " L",
      "return",
      "down",
      "return",
      " M",
      "return",
      "return"
    )
    assert.deepStrictEqual(answer, { result: { action: "accept", content: { name: "Ada L M" } } })
  }))

it.effect("[ELI-08] the user can say no, not now, no at the end, and turn away", () =>
  Effect.gen(function*() {
    const one = form({ name: { type: "string" } })
    const ends: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
      [["down", "return"], "decline"],
      [["down", "down", "return"], "cancel"],
      [["return", "x", "return", "down", "down", "return"], "decline"],
      [["return", "x"], "cancel"],
      [[], "cancel"]
    ]
    for (const [keys, action] of ends) {
      assert.deepStrictEqual((yield* asked(one, ...keys)).answer, { result: { action } }, keys.join())
    }
  }))

it.effect("what the server says moves no cursor and turns no text round", () =>
  Effect.gen(function*() {
    const { shown } = yield* asked(
      {
        message: "Hi\u001b[2J\u001b]0;title\u0007\u202etxt\r\nthere\u009b1m",
        requestedSchema: {
          type: "object",
          properties: { a: { type: "string", title: "A\u001b[1A", description: "\u0008x\ny" } }
        }
      },
      "return",
      "v",
      "return",
      "return"
    )
    assert.include(shown, "Hi [2J ]0;title txt\nthere 1m")
    assert.include(shown, "A [1A (optional): x y")
    assert.notInclude(shown, "\u0007\u202e")
    assert.notInclude(shown, "\u001b[2J")
  }))

const page = (url: string): JsonRpc.JsonObject => ({ mode: "url", message: "Sign in", url, elicitationId: "1" })

it.effect("[ELI-14] a page is shown with its host and what is odd about it, and opened after a yes only", () =>
  Effect.gen(function*() {
    const opened = yield* Ref.make<ReadonlyArray<string>>([])
    for (
      const [keys, action] of [[["return"], "decline"], [["down", "return"], "accept"], [["down"], "cancel"]] as const
    ) {
      const server = yield* ScriptedServer.make(speaking("2025-11-25"))
      const { layer, shown } = yield* terminal(...keys)
      const pages = TerminalForm.layerUrl((href) => Ref.update(opened, (all) => [...all, href]))
      yield* connected(server, Layer.provide(pages, layer))
      const answer = yield* ask(server, method, page("http://bank.com@evil.example/x"))
      assert.deepStrictEqual(answer, { result: { action } })
      assert.include(yield* shown, "Site: evil.example")
      assert.include(yield* shown, "Page: http://bank.com@evil.example/x")
      assert.include(yield* shown, "Careful: It has a user name in front")
      assert.include(yield* shown, "Careful: It is not encrypted")
    }
    assert.deepStrictEqual(yield* Ref.get(opened), ["http://bank.com@evil.example/x"])
  }))

it.effect("[SMP-01] the model answers after a yes on the terminal", () =>
  Effect.gen(function*() {
    const model = Layer.effect(
      LanguageModel.LanguageModel,
      LanguageModel.make({
        generateText: () => Effect.succeed([{ type: "text", text: "42" }]),
        streamText: () => Stream.empty
      })
    )
    for (
      const [keys, code] of [[["return"], Codes.userRejected], [["down", "return"], undefined], [
        [],
        Codes.userRejected
      ]] as const
    ) {
      const server = yield* ScriptedServer.make(speaking("2025-11-25"))
      const { layer, shown } = yield* terminal(...keys)
      const handler = ModelSampling.layer({ consent: TerminalForm.consent, configure: (call) => call })
      yield* connected(server, Layer.provide(handler, Layer.mergeAll(layer, model)))
      const { error } = yield* ask(server, "sampling/createMessage", {
        messages: [{ role: "user", content: { type: "text", text: "How much?" } }],
        systemPrompt: "Be brief",
        maxTokens: 5
      })
      assert.strictEqual(error?.code, code)
      assert.include(yield* shown, "up to 5 tokens:\n  system: Be brief\n  user: How much?")
    }
  }))
