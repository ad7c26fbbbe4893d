import { assert, describe, it } from "@effect/vitest"
import * as Completion from "../src/Completion.ts"
import * as Content from "../src/Content.ts"
import * as Elicitation from "../src/Elicitation.ts"
import * as Logging from "../src/Logging.ts"
import * as Methods from "../src/Methods.ts"
import * as Outcome from "../src/Outcome.ts"
import * as Revisions from "../src/Revisions.ts"
import * as Sampling from "../src/Sampling.ts"
import * as Task from "../src/Task.ts"

describe("logging", () => {
  it("[LOG-07] has the eight levels of RFC 5424, each above the one before", () => {
    assert.strictEqual(Logging.levels.length, 8)
    Logging.levels.forEach((level, index) => {
      assert.strictEqual(Logging.severity(level), index)
      assert.isTrue(Logging.isLevel(level))
      assert.isTrue(Logging.passes(level, level))
      if (index > 0) assert.isFalse(Logging.passes(Logging.levels[index - 1] ?? level, level))
    })
    for (const other of ["warn", "", "trace", "constructor", 3, null]) assert.isFalse(Logging.isLevel(other))
  })
})

describe("completion", () => {
  it("[CMP-02] [SCH-25] a hundred values are offered, more are counted", () => {
    const values = Array.from({ length: 150 }, (_, index) => `v${index}`)
    assert.deepStrictEqual(Completion.offer(values.slice(0, 100)), { completion: { values: values.slice(0, 100) } })
    assert.deepStrictEqual(Completion.offer(values), {
      completion: { values: values.slice(0, 100), total: 150, hasMore: true }
    })
  })

  it("[CMP-02] [SCH-25] on every revision no more are written, and a total that is known is kept", () => {
    const values = Array.from({ length: 101 }, () => "v")
    for (const revision of Revisions.all) {
      const written = revision.request(Methods.CompletionComplete)?.encodeResult({ completion: { values, total: 500 } })
      assert.deepStrictEqual<unknown>(written?.["completion"], { values: values.slice(1), total: 500, hasMore: true })
    }
  })
})

describe("content", () => {
  it("[PRM-04] [TOL-20] constructors give the blocks of the protocol", () => {
    assert.deepStrictEqual(Content.text("a"), { type: "text", text: "a" })
    assert.deepStrictEqual(Content.image("aGk=", "image/png"), { type: "image", data: "aGk=", mimeType: "image/png" })
    assert.deepStrictEqual(Content.audio("aGk=", "audio/wav"), { type: "audio", data: "aGk=", mimeType: "audio/wav" })
    assert.deepStrictEqual(Content.embedded({ uri: "a:b", text: "t" }), {
      type: "resource",
      resource: { uri: "a:b", text: "t" }
    })
    assert.deepStrictEqual(Content.resourceLink({ uri: "a:b", name: "n" }), {
      type: "resource_link",
      uri: "a:b",
      name: "n"
    })
    assert.isTrue(Content.isText(Content.text("a")))
    assert.isFalse(Content.isText(Content.audio("", "")))
  })

  it("[SMP-07] the blocks of a message are an array, however many there are", () => {
    assert.deepStrictEqual(Sampling.blocks({ content: Content.text("a") }), [Content.text("a")])
    const many = [Content.text("a"), Content.text("b")]
    assert.strictEqual(Sampling.blocks({ content: many }), many)
    const picture = Content.image("", "image/png")
    assert.strictEqual(Sampling.text({ content: [Content.text("a"), picture, Content.text("b")] }), "ab")
  })

  it("[SMP-07] a result with several blocks becomes one text before 2025-11-25, and what is no text stands alone", () => {
    for (const revision of Revisions.all.slice(0, 3)) {
      const sampling = revision.request(Methods.SamplingCreateMessage)
      const base = { role: "assistant", model: "m" } as const
      assert.deepStrictEqual<unknown>(
        sampling?.encodeResult({
          ...base,
          content: [Content.text("a"), Content.image("", ""), Content.text("b")]
        })["content"],
        Content.text("ab")
      )
      assert.deepStrictEqual<unknown>(
        sampling?.encodeResult({ ...base, content: [Content.image("aGk=", "image/png")] })["content"],
        Content.image("aGk=", "image/png")
      )
      assert.deepStrictEqual<unknown>(sampling?.encodeResult({ ...base, content: [] })["content"], Content.text(""))
    }
  })
})

describe("states and outcomes", () => {
  it("[TKL-03] three states of a task are its last", () => {
    assert.deepStrictEqual(Task.Status.literals.filter(Task.isTerminal), ["completed", "failed", "cancelled"])
  })

  it("[ELI-03] a request is for a page only when it says so", () => {
    assert.isTrue(Elicitation.isUrl({ mode: "url", message: "m", url: "https://example.com" }))
    assert.isFalse(Elicitation.isUrl({ message: "m", requestedSchema: { type: "object", properties: {} } }))
  })

  it("[ELI-09] only an accepted form is written with content", () => {
    for (const revision of Revisions.all.slice(2)) {
      const elicitation = revision.request(Methods.ElicitationCreate) ?? revision.input(Methods.ElicitationCreate)
      assert.deepStrictEqual<unknown>(elicitation?.encodeResult({ action: "cancel", content: { a: 1 } }), {
        action: "cancel"
      })
    }
  })

  it("[SCH-21] outcomes are told apart by resultType alone", () => {
    assert.isTrue(Outcome.isInputRequired({ resultType: "input_required" }))
    assert.isFalse(Outcome.isInputRequired({ resultType: "complete", content: [] }))
    assert.isFalse(Outcome.isTask({ action: "accept" }))
  })
})

describe("icons", () => {
  const icons = [{
    src: "https://example.com/i.png",
    mimeType: "image/png",
    sizes: ["48x48", "any"],
    theme: "dark"
  }] as const
  const named = { name: "n", icons }
  const tool = { ...named, inputSchema: { type: "object" } } as const

  it("[ICO-04] stand on everything that has a name from 2025-11-25 on, and are left out before", () => {
    for (const revision of Revisions.all) {
      const lists: ReadonlyArray<unknown> = [
        revision.request(Methods.ToolsList)?.encodeResult({ tools: [tool] })["tools"],
        revision.request(Methods.PromptsList)?.encodeResult({ prompts: [named] })["prompts"],
        revision.request(Methods.ResourcesList)?.encodeResult({ resources: [{ ...named, uri: "a:b" }] })["resources"],
        revision.request(Methods.ResourcesTemplatesList)?.encodeResult({
          resourceTemplates: [{ ...named, uriTemplate: "a:{b}" }]
        })["resourceTemplates"],
        [
          revision.request(Methods.Initialize)?.encodeParams({
            protocolVersion: revision.version,
            capabilities: {},
            clientInfo: { ...named, version: "1" }
          })?.["clientInfo"] ?? { icons }
        ]
      ]
      for (const list of lists) {
        const [only] = Array.isArray(list) ? list : []
        const has = revision.version >= "2025-11-25"
        assert.deepStrictEqual(Object(only).icons, has ? icons : undefined, revision.version)
      }
    }
  })

  it("[ICO-04] a source is asked for, and a theme is one of two", () => {
    const read = (icon: object) =>
      Revisions.newestLegacy.request(Methods.ToolsList)?.decodeResult({ tools: [{ ...tool, icons: [icon] }] })._tag
    assert.strictEqual(read({ src: "data:image/png;base64,AAAA" }), "Success")
    for (const bad of [{}, { src: 5 }, { src: "x", theme: "blue" }, { src: "x", sizes: "48x48" }]) {
      assert.strictEqual(read(bad), "Failure", JSON.stringify(bad))
    }
  })
})

describe("writing", () => {
  it("[LIF-18] gives back the very object when nothing has to change", () => {
    const params = { name: "t", arguments: { a: [1, { b: null }] } }
    const result = { content: [Content.text("a")], isError: false, structuredContent: { a: 1 } }
    for (const revision of Revisions.all) {
      const call = revision.request(Methods.ToolsCall)
      assert.strictEqual<unknown>(call?.encodeParams(params), params)
      const modern = { ...result, resultType: "complete" } as const
      if (revision.ordinal >= 2) {
        const exact = revision.era === "modern" ? modern : result
        assert.strictEqual<unknown>(call?.encodeResult(exact), exact)
      }
    }
  })

  it("[field RPC-10] keeps members that no revision knows", () => {
    for (const revision of Revisions.all) {
      const list = revision.request(Methods.ToolsList)
      const written = list?.encodeResult({ tools: [], "x-own": 1, _meta: { "example.com/a": 1 } })
      assert.strictEqual(written?.["x-own"], 1)
      assert.deepStrictEqual(written?.["_meta"], { "example.com/a": 1 })
    }
  })

  it("[field RPC-10] and takes names like __proto__ for what they are", () => {
    const hostile: unknown = JSON.parse("{\"content\":[],\"resultType\":\"complete\",\"__proto__\":{\"polluted\":1}}")
    for (const revision of Revisions.all) {
      const written = revision.requestByName("tools/call")?.encodeResult(hostile)
      assert.strictEqual(Object.getPrototypeOf(written), Object.prototype)
      assert.isTrue(JSON.stringify(written).includes("\"__proto__\""))
    }
  })
})
