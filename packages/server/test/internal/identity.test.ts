import { assert, describe, it } from "@effect/vitest"
import type { InputRequest } from "@mcpfx/schema/InputRequired"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as fc from "fast-check"
import * as Identity from "../../src/internal/identity.ts"
import { sha256 } from "../../src/internal/sha256.ts"

const request = (method: string, params: JsonRpc.JsonObject) => JsonRpc.request(1, method, params)

describe("the identity of a request", () => {
  const json = fc.jsonValue({ maxDepth: 2 })
  const some = fc.record({
    method: fc.constantFrom("tools/call", "prompts/get"),
    name: fc.string({ maxLength: 3 }),
    args: fc.dictionary(fc.string({ maxLength: 2 }), json, { maxKeys: 2 })
  })
  const of = ({ args, method, name }: { method: string; name: string; args: JsonRpc.JsonObject }) =>
    Identity.ofRequest(request(method, { name, arguments: args }))
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

  it("[MRT-07] is the same for equal requests alone", () => {
    fc.assert(fc.property(some, some, (one, other) => {
      const { deepStrictEqual, notDeepEqual } = assert
      if (of(one) === of(other)) deepStrictEqual(plain(one), plain(other))
      else notDeepEqual(plain(one), plain(other))
      assert.strictEqual(of(one), of({ ...one }))
    }))
  })

  it("does not depend on the order of arguments, nor on what else comes with a request", () => {
    const one = request("tools/call", { name: "a", arguments: { x: 1, y: [2, { p: 1, q: 2 }] } })
    const other = request("tools/call", {
      requestState: "s",
      arguments: { y: [2, { q: 2, p: 1 }], x: 1 },
      name: "a",
      _meta: {}
    })
    assert.strictEqual(Identity.ofRequest(one), Identity.ofRequest(other))
    assert.strictEqual(
      Identity.ofRequest(request("tools/call", { name: "a" })),
      Identity.ofRequest(request("tools/call", { name: "a", arguments: {} }))
    )
  })

  it("is a digest where the text is longer, and no text of a request is one", () => {
    const long = (letter: string) => request("tools/call", { name: "a", arguments: { text: letter.repeat(5000) } })
    assert.match(Identity.ofRequest(long("a")), /^[\w-]{43}$/)
    assert.notStrictEqual(Identity.ofRequest(long("a")), Identity.ofRequest(long("b")))
    assert.match(Identity.ofRequest(request("tools/call", { name: sha256("a") })), /^\[/)
    assert.notStrictEqual(
      Identity.ofRequest(request("prompts/get", { name: "a" })),
      Identity.ofRequest(request("resources/read", { uri: "a" }))
    )
  })
})

describe("the digest of a question", () => {
  const form = (message: string): InputRequest => ({
    method: "elicitation/create",
    params: { mode: "form", message, requestedSchema: { type: "object", properties: {} } }
  })
  const page = (elicitationId: string, url: string): InputRequest => ({
    method: "elicitation/create",
    params: { mode: "url", message: "m", url, elicitationId }
  })

  it("is that of what is asked, whether or not it was asked before", () => {
    const one = form("a")
    assert.strictEqual(Identity.ofQuestion(one), Identity.ofQuestion(form("a")))
    assert.strictEqual(Identity.ofQuestion(one), Identity.ofQuestion(one))
    assert.notStrictEqual(Identity.ofQuestion(one), Identity.ofQuestion(form("b")))
  })

  it("leaves out the id of a visit", () => {
    assert.strictEqual(Identity.ofQuestion(page("1", "https://a")), Identity.ofQuestion(page("2", "https://a")))
    assert.notStrictEqual(Identity.ofQuestion(page("1", "https://a")), Identity.ofQuestion(page("1", "https://b")))
  })
})
