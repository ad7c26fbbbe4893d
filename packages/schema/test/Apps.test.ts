import { assert, describe, it } from "@effect/vitest"
import * as Apps from "../src/Apps.ts"

describe("tools", () => {
  it("[APP-04] without a word they are for the model and for pages", () => {
    assert.deepStrictEqual(Apps.ofTool({}), { page: undefined, forModel: true, forApp: true })
    assert.deepStrictEqual(Apps.ofTool({ _meta: Apps.toolMeta({ resourceUri: "ui://a/b" }) }), {
      page: "ui://a/b",
      forModel: true,
      forApp: true
    })
  })

  it("[APP-04] a visibility says for whom, and one that cannot be read is nobody's", () => {
    const of = (ui: unknown) => Apps.ofTool({ _meta: { ui } })
    assert.deepStrictEqual(of({ visibility: ["app"] }), { page: undefined, forModel: false, forApp: true })
    assert.deepStrictEqual(of({ visibility: ["model", "other"] }), { page: undefined, forModel: true, forApp: false })
    assert.deepStrictEqual(of({ visibility: "model" }), { page: undefined, forModel: false, forApp: false })
    assert.deepStrictEqual(of(7), { page: undefined, forModel: false, forApp: false })
  })

  it("[APP-01] a page is under ui://, by its present or its former name", () => {
    assert.isUndefined(Apps.ofTool({ _meta: { ui: { resourceUri: "https://a.example" } } }).page)
    assert.strictEqual(Apps.ofTool({ _meta: { "ui/resourceUri": "ui://a" } }).page, "ui://a")
    assert.strictEqual(
      Apps.ofTool({ _meta: { ui: { resourceUri: "ui://b" }, "ui/resourceUri": "ui://a" } }).page,
      "ui://b"
    )
  })
})

describe("pages", () => {
  it("[APP-03] what declares nothing reaches nothing", () => {
    assert.strictEqual(
      Apps.policy({}),
      "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
        "font-src 'self'; media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'self'"
    )
  })

  it("[APP-03] declared origins are added where they belong, and nothing that is no origin", () => {
    const csp = {
      connectDomains: [
        "https://api.example",
        "wss://live.example:8443",
        "https://x.example; script-src *",
        "'unsafe-eval'"
      ],
      resourceDomains: ["https://*.cdn.example", "*", "data:", "https://a.example https://b.example"],
      frameDomains: ["javascript:alert(1)"]
    }
    const policy = Apps.policy({ csp })
    assert.include(policy, "connect-src https://api.example wss://live.example:8443;")
    assert.include(policy, "script-src 'self' 'unsafe-inline' https://*.cdn.example;")
    assert.include(policy, "frame-src 'none';")
    assert.strictEqual(policy.split(";").length, 10)
  })

  it("what they would like is written as a frame has it", () => {
    assert.strictEqual(Apps.allow({}), "")
    assert.strictEqual(Apps.allow({ permissions: { clipboardWrite: {}, camera: {} } }), "camera; clipboard-write")
  })

  it("[EXT-08] what cannot be read is not said", () => {
    assert.deepStrictEqual(Apps.ofPage({ _meta: { ui: { csp: { connectDomains: "https://a.example" } } } }), {})
    assert.deepStrictEqual(Apps.ofPage({}), {})
    assert.deepStrictEqual(Apps.ofPage({ _meta: { ui: { prefersBorder: true, more: 1 } } }), {
      prefersBorder: true,
      more: 1
    })
  })

  it("[APP-01] [APP-02] their type is known however it is spaced", () => {
    assert.isTrue(Apps.isPageType("text/html; profile=\"mcp-app\""))
    assert.isFalse(Apps.isPageType("text/html"))
    assert.isFalse(Apps.isPageType(undefined))
    const shows = (settings: { readonly [key: string]: unknown }) =>
      Apps.shownBy({ extensions: { [Apps.id]: settings } })
    assert.isTrue(shows({ mimeTypes: ["text/plain", Apps.mimeType] }))
    assert.isFalse(shows({ mimeTypes: ["text/html"] }))
    assert.isFalse(shows({}))
    assert.isFalse(Apps.shownBy({}))
  })
})
