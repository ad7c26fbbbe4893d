import { assert, describe, it } from "@effect/vitest"
import { member } from "../src/answers.ts"
import * as Messages from "../src/messages.ts"
import { longText, resource } from "../src/texts.ts"

const templates: ReadonlyArray<readonly [string, Messages.Template]> = [
  ["add", Messages.add("2025-11-25")],
  ["add, modern", Messages.add("2026-07-28")],
  ["progress", Messages.progress("2025-11-25")],
  ["progress, modern", Messages.progress("2026-07-28")],
  ["ask", Messages.ask("2025-11-25")],
  ["ask, modern", Messages.ask("2026-07-28")],
  ["sleep", Messages.sleep(100)],
  ["touch", Messages.touch("2025-11-25")],
  ["echo", Messages.echo],
  ["list", Messages.list],
  ["read", Messages.read],
  ["subscribe", Messages.subscribe],
  ["listen", Messages.listen]
]

describe("what is sent", () => {
  for (const [title, template] of templates) {
    it(`is a request of its method and revision: ${title}`, () => {
      const message: unknown = JSON.parse(template.body(7))
      assert.strictEqual(member(message, "id"), 7)
      assert.strictEqual(member(message, "method"), template.method)
      const version = member(message, "params", "_meta", "io.modelcontextprotocol/protocolVersion")
      assert.strictEqual(version, template.version === "2026-07-28" ? template.version : undefined)
      if (template.method === "tools/call") assert.strictEqual(member(message, "params", "name"), template.name)
    })
  }

  it("echoes one MiB and reads the resource", () => {
    assert.strictEqual(longText.length, 2 ** 20)
    assert.strictEqual(member(JSON.parse(Messages.echo.body(1)), "params", "arguments", "text"), longText)
    assert.strictEqual(resource.text.length, 2 ** 16)
    assert.strictEqual(member(JSON.parse(Messages.read.body(1)), "params", "uri"), resource.uri)
  })

  it("says that the client can be asked where it is", () => {
    const capabilities = member(JSON.parse(Messages.initializeAs("elicitation")), "params", "capabilities")
    assert.deepStrictEqual(capabilities, { elicitation: { form: {} } })
    const modern = JSON.parse(Messages.ask("2026-07-28").body(1))
    assert.deepStrictEqual(
      member(modern, "params", "_meta", "io.modelcontextprotocol/clientCapabilities"),
      capabilities
    )
  })

  it("is the same call again with every answer and the state, in the round after", () => {
    const template = Messages.ask("2026-07-28")
    const message = JSON.parse(Messages.again(template, 8, { keys: ["a", "b"], state: "s\"" }))
    const answer = { action: "accept", content: { name: "Ada" } }
    assert.deepStrictEqual(member(message, "params", "inputResponses"), { a: answer, b: answer })
    assert.strictEqual(member(message, "params", "requestState"), "s\"")
    assert.strictEqual(member(message, "params", "name"), "ask")
    assert.notProperty(JSON.parse(Messages.again(template, 8, { keys: [], state: undefined })).params, "requestState")
  })
})
