import { assert, describe, it } from "@effect/vitest"
import { check, questionIn, roundIn } from "../src/answers.ts"
import * as Messages from "../src/messages.ts"
import { longText, resource } from "../src/texts.ts"

const result = (id: number, value: object) => ({ jsonrpc: "2.0", id, result: value })
const text = (id: number, value: string) => result(id, { content: [{ type: "text", text: value }] })
const step = (progress: number) => ({ jsonrpc: "2.0", method: "notifications/progress", params: { progress } })

const add = Messages.add("2025-11-25")

describe("an answer is refused", () => {
  const refused: ReadonlyArray<readonly [string, Messages.Template, ReadonlyArray<unknown>, RegExp]> = [
    ["where there is none", add, [], /no result/],
    ["of another request", add, [text(2, "2")], /no result/],
    ["that is an error", add, [{ jsonrpc: "2.0", id: 1, error: { code: -32603 } }], /no result/],
    ["of a tool that failed", add, [result(1, { isError: true, content: [] })], /failed/],
    ["that is another sum", add, [text(1, "3")], /sum/],
    ["with a text that was changed", Messages.echo, [text(1, longText.slice(1))], /text that was sent/],
    ["with a text that is cut", Messages.echo, [text(1, longText.slice(0, -1))], /text that was sent/],
    ["after two steps", Messages.progress("2025-11-25"), [step(1), step(2), text(1, "done")], /steps/],
    ["to nobody", Messages.ask("2025-11-25"), [text(1, "Hello, .")], /greeting/],
    ["with a tool too few", Messages.list, [result(1, { tools: Array.from({ length: 102 }) })], /103/],
    [
      "with another resource",
      Messages.read,
      [result(1, { contents: [{ uri: resource.uri, text: "short" }] })],
      /resource/
    ]
  ]
  for (const [what, template, messages, reason] of refused) {
    it(`${what}`, () => assert.throws(() => check(template, 1, messages), reason))
  }
})

describe("an answer is taken", () => {
  const taken: ReadonlyArray<readonly [string, Messages.Template, ReadonlyArray<unknown>]> = [
    ["with the sum", add, [text(1, "2")]],
    ["with the sum as JSON", add, [text(1, "\"2\"")]],
    ["with the text that was sent", Messages.echo, [text(1, longText)]],
    ["with that text as JSON", Messages.echo, [text(1, JSON.stringify(longText))]],
    ["after three steps", Messages.progress("2026-07-28"), [step(1), step(2), step(3), text(1, "done")]],
    ["to whom gave a name", Messages.ask("2025-11-25"), [text(1, "Hello, Ada.")]],
    ["with every tool", Messages.list, [result(1, { tools: Array.from({ length: 103 }) })]],
    ["with the resource", Messages.read, [result(1, { contents: [{ uri: resource.uri, text: resource.text }] })]]
  ]
  for (const [what, template, messages] of taken) it(`${what}`, () => check(template, 1, messages))
})

describe("a question", () => {
  it("is a request for elicitation, whatever its id is", () => {
    assert.strictEqual(questionIn({ id: 0, method: "elicitation/create" }), 0)
    assert.strictEqual(questionIn({ id: "a", method: "elicitation/create" }), "a")
    assert.isUndefined(questionIn({ id: 1, method: "ping" }))
    assert.isUndefined(questionIn(text(1, "elicitation/create")))
  })

  it("of 2026-07-28 is in the result, with the state that has to come back", () => {
    const asked = { resultType: "input_required", inputRequests: { a: {}, b: {} }, requestState: "s" }
    assert.deepStrictEqual(roundIn(result(1, asked)), { keys: ["a", "b"], state: "s" })
    assert.deepStrictEqual(roundIn(result(1, { resultType: "input_required" })), { keys: [], state: undefined })
    assert.isUndefined(roundIn(result(1, { resultType: "complete" })))
  })
})
