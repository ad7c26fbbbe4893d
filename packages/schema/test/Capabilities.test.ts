import { assert, describe, it } from "@effect/vitest"
import * as Capabilities from "../src/Capabilities.ts"

const asks: ReadonlyArray<Capabilities.Ask> = [
  "elicitation.form",
  "elicitation.url",
  "sampling",
  "sampling.tools",
  "sampling.context",
  "roots"
]

describe("covers", () => {
  it("[CAP-05] elicitation without a mode is forms, with a mode it is that mode", () => {
    assert.isTrue(Capabilities.covers({ elicitation: {} }, "elicitation.form"))
    assert.isFalse(Capabilities.covers({ elicitation: {} }, "elicitation.url"))
    assert.isFalse(Capabilities.covers({ elicitation: { url: {} } }, "elicitation.form"))
    assert.isTrue(Capabilities.covers({ elicitation: { url: {} } }, "elicitation.url"))
    assert.isTrue(Capabilities.covers({ elicitation: { form: {}, url: {} } }, "elicitation.form"))
    assert.isFalse(Capabilities.covers({}, "elicitation.form"))
  })

  it("[CAP-06] tools and context in sampling are declared on their own", () => {
    assert.isTrue(Capabilities.covers({ sampling: {} }, "sampling"))
    assert.isFalse(Capabilities.covers({ sampling: {} }, "sampling.tools"))
    assert.isFalse(Capabilities.covers({ sampling: {} }, "sampling.context"))
    assert.isTrue(Capabilities.covers({ sampling: { tools: {} } }, "sampling.tools"))
  })

  it("[MRT-05] a client that declared nothing accepts nothing", () => {
    for (const ask of asks) assert.isFalse(Capabilities.covers({}, ask), ask)
  })
})

describe("required", () => {
  it("[META-13] names what is needed in one object, and a client that declares it is asked", () => {
    assert.deepStrictEqual(Capabilities.required(["sampling.tools", "elicitation.form", "elicitation.url", "roots"]), {
      sampling: { tools: {} },
      elicitation: { form: {}, url: {} },
      roots: {}
    })
    for (const ask of asks) assert.isTrue(Capabilities.covers(Capabilities.required([ask]), ask), ask)
    assert.isUndefined(Capabilities.missing(Capabilities.required(asks), asks))
  })

  it("[META-13] names only what is missing", () => {
    assert.deepStrictEqual(Capabilities.missing({ elicitation: {} }, ["elicitation.form", "sampling"]), {
      sampling: {}
    })
    assert.deepStrictEqual(Capabilities.missing({ sampling: {} }, ["sampling", "sampling.tools"]), {
      sampling: { tools: {} }
    })
  })

  it("[TKX-02] names an extension by its identifier", () => {
    const required = Capabilities.requiredExtension("io.modelcontextprotocol/tasks")
    assert.deepStrictEqual(required, { extensions: { "io.modelcontextprotocol/tasks": {} } })
    assert.isTrue(Capabilities.hasExtension(required, "io.modelcontextprotocol/tasks"))
    assert.isFalse(Capabilities.hasExtension({}, "io.modelcontextprotocol/tasks"))
    assert.isFalse(Capabilities.hasExtension({ extensions: {} }, "constructor"))
  })
})

describe("what is declared on a revision", () => {
  it("[CAP-05] a client that shows only pages declares no elicitation where there are only forms", () => {
    assert.deepStrictEqual(Capabilities.clientFor({ elicitation: { url: {} } }, "2025-06-18"), {})
    assert.deepStrictEqual(Capabilities.clientFor({ elicitation: { form: {}, url: {} } }, "2025-06-18"), {
      elicitation: {}
    })
  })

  it("[EXT-03] [field RPC-10] capabilities no revision knows, and extensions, are kept on all", () => {
    const client = { future: {}, extensions: { "a.b/c": {} } }
    for (const version of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const) {
      assert.strictEqual(Capabilities.clientFor(client, version), client)
      assert.strictEqual(Capabilities.serverFor(client, version), client)
    }
  })
})
