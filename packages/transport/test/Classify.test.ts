import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Headers from "effect/http/Headers"
import * as Classify from "../src/Classify.ts"

const versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
const dual = Classify.make(versions)
const modernOnly = Classify.make(["2026-07-28"])

const meta = (version: unknown, rest: JsonRpc.JsonObject = { "io.modelcontextprotocol/clientCapabilities": {} }) => ({
  _meta: { "io.modelcontextprotocol/protocolVersion": version, ...rest }
})
const list = (params?: JsonRpc.JsonObject) => JsonRpc.request(1, "tools/list", params)
const call = (name: string) => JsonRpc.request(1, "tools/call", { name, ...meta("2026-07-28") })
const modern = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list" }

const judge = (
  message: JsonRpc.Message,
  headers: Record<string, string> = {},
  classifier: Classify.Classifier = dual
): string => {
  const found = classifier.message(message, Headers.fromInput(headers))
  switch (found._tag) {
    case "Modern":
      return `modern ${found.version}`
    case "Legacy":
      return `legacy ${found.version ?? "unknown"}`
    case "Rejected":
      return `${found.httpStatus} ${found.error.code}`
  }
}

describe("requests", () => {
  it("[HTTP-50] a modern request with the headers that repeat it is modern", () => {
    assert.strictEqual(judge(list(meta("2026-07-28")), modern), "modern 2026-07-28")
    const found = dual.message(list(meta("2026-07-28")), Headers.fromInput(modern))
    assert.deepStrictEqual(found._tag === "Modern" ? found.envelope?.clientCapabilities : undefined, {})
  })

  it("[HTTP-50] the version header has to say what the body says", () => {
    assert.strictEqual(
      judge(list(meta("2026-07-28")), { ...modern, "MCP-Protocol-Version": "2025-11-25" }),
      "400 -32020"
    )
    assert.strictEqual(judge(list(meta("2099-01-01")), modern), "400 -32020")
  })

  it("[HTTP-54] a modern body without a version header is refused", () => {
    assert.strictEqual(judge(list(meta("2026-07-28")), { "mcp-method": "tools/list" }), "400 -32020")
    assert.strictEqual(judge(list(), {}, modernOnly), "400 -32020")
  })

  it("[HTTP-44] [HTTP-54] a legacy body without a version header is served where older revisions are", () => {
    assert.strictEqual(judge(list()), "legacy unknown")
    assert.strictEqual(judge(list({ _meta: { progressToken: 1 } })), "legacy unknown")
  })

  it("[META-09] a modern header without an envelope in the body is refused", () => {
    assert.strictEqual(judge(list(), modern), "400 -32602")
    assert.strictEqual(judge(list({ _meta: {} }), modern), "400 -32602")
    assert.strictEqual(judge(list({ _meta: {} }), modern, modernOnly), "400 -32602")
  })

  it("[META-09] an envelope that lacks a required key is refused", () => {
    assert.strictEqual(judge(list(meta("2026-07-28", {})), modern), "400 -32602")
    const nameless = { _meta: { "io.modelcontextprotocol/clientCapabilities": {} } }
    assert.strictEqual(judge(list(nameless), modern), "400 -32602")
  })

  it("[HTTP-52] an unknown version is refused with the versions that are served", () => {
    const rejected = dual.message(
      list(meta("2099-01-01")),
      Headers.fromInput({ ...modern, "mcp-protocol-version": "2099-01-01" })
    )
    assert.strictEqual(rejected._tag, "Rejected")
    if (rejected._tag !== "Rejected") return
    assert.strictEqual(rejected.httpStatus, 400)
    assert.strictEqual(rejected.error.code, -32022)
    assert.deepStrictEqual(rejected.error.data, { supported: versions, requested: "2099-01-01" })
  })

  it("[VER-01] a version with sessions cannot be asked for in the modern way", () => {
    assert.strictEqual(
      judge(list(meta("2025-11-25")), { ...modern, "mcp-protocol-version": "2025-11-25" }),
      "400 -32022"
    )
  })

  it("[HTTP-58] the method header has to be there and right", () => {
    const { "Mcp-Method": _, ...without } = modern
    assert.strictEqual(judge(list(meta("2026-07-28")), without), "400 -32020")
    assert.strictEqual(judge(list(meta("2026-07-28")), { ...modern, "Mcp-Method": "tools/call" }), "400 -32020")
    assert.strictEqual(judge(list(meta("2026-07-28")), { ...modern, "Mcp-Method": "Tools/List" }), "400 -32020")
  })

  it("[HTTP-56] the name header is compared decoded and without the white space around it", () => {
    const named = (name: string) => ({ ...modern, "Mcp-Method": "tools/call", "Mcp-Name": name })
    assert.strictEqual(judge(call("add"), named(" add ")), "modern 2026-07-28")
    assert.strictEqual(judge(call("café"), named("=?base64?Y2Fmw6k=?=")), "modern 2026-07-28")
    assert.strictEqual(judge(call("add"), named("=?base64?###?=")), "400 -32020")
    assert.strictEqual(judge(call("add"), named("sub")), "400 -32020")
    assert.strictEqual(judge(call("add"), { ...modern, "Mcp-Method": "tools/call" }), "400 -32020")
  })

  it("[HTTP-60] names of headers compare in any case", () => {
    assert.strictEqual(
      judge(list(meta("2026-07-28")), { "mcp-PROTOCOL-version": "2026-07-28", "MCP-METHOD": "tools/list" }),
      "modern 2026-07-28"
    )
  })

  it("tells the first of several faults: version header, envelope, version, mirrors", () => {
    const wrong = { "mcp-protocol-version": "2025-06-18", "mcp-method": "x" }
    assert.strictEqual(judge(list(meta("2099-01-01", {})), wrong), "400 -32020")
    const noMirror = { "mcp-protocol-version": "2099-01-01", "mcp-method": "x" }
    assert.strictEqual(judge(list(meta("2099-01-01", {})), noMirror), "400 -32602")
    assert.strictEqual(judge(list(meta("2099-01-01")), noMirror), "400 -32022")
    assert.strictEqual(judge(list(meta("2026-07-28")), { ...modern, "mcp-method": "x" }), "400 -32020")
  })

  it("[HTTP-45] a legacy header that is no version served is refused", () => {
    assert.strictEqual(judge(list(), { "mcp-protocol-version": "2025-06-18" }), "legacy 2025-06-18")
    for (const version of ["1999-01-01", "2025-06-18, 2025-06-18", "garbage", "2025-06-18 "]) {
      assert.strictEqual(judge(list(), { "mcp-protocol-version": version }), "400 -32602", version)
    }
  })

  it("[field LIF-02] the header of initialize is not judged", () => {
    const initialize = JsonRpc.request(1, "initialize", { protocolVersion: "2099-01-01" })
    for (const version of ["2099-01-01", "2026-07-28", "garbage"]) {
      assert.strictEqual(judge(initialize, { "mcp-protocol-version": version }), "legacy unknown")
    }
    assert.strictEqual(judge(initialize), "legacy unknown")
  })

  it("[VER-08] an endpoint without sessions answers initialize with what it serves", () => {
    const rejected = modernOnly.message(
      JsonRpc.request(1, "initialize", { protocolVersion: "2025-11-25" }),
      Headers.empty
    )
    assert.deepStrictEqual(rejected._tag === "Rejected" ? rejected.error : undefined, {
      code: -32022,
      message: "Unsupported protocol version",
      data: { supported: ["2026-07-28"], requested: "2025-11-25" }
    })
    assert.strictEqual(judge(list(), { "mcp-protocol-version": "2025-11-25" }, modernOnly), "400 -32022")
  })
})

describe("notifications", () => {
  const cancelled = JsonRpc.notification("notifications/cancelled", { requestId: 1 })

  it("[HTTP-67] the method header is not asked for", () => {
    assert.strictEqual(judge(cancelled, { "mcp-protocol-version": "2026-07-28" }), "modern 2026-07-28")
    assert.strictEqual(
      judge(cancelled, { "mcp-protocol-version": "2026-07-28", "mcp-method": "other" }),
      "modern 2026-07-28"
    )
  })

  it("the version header decides the era, and must not contradict the body", () => {
    assert.strictEqual(judge(cancelled), "legacy unknown")
    assert.strictEqual(judge(cancelled, { "mcp-protocol-version": "2025-06-18" }), "legacy 2025-06-18")
    assert.strictEqual(judge(cancelled, { "mcp-protocol-version": "2099-01-01" }), "400 -32022")
    assert.strictEqual(judge(cancelled, { "mcp-protocol-version": "nonsense" }), "400 -32602")
    const claimed = JsonRpc.notification("notifications/cancelled", { requestId: 1, ...meta("2026-07-28") })
    assert.strictEqual(judge(claimed), "400 -32020")
    assert.strictEqual(judge(claimed, { "mcp-protocol-version": "2025-06-18" }), "400 -32020")
    assert.strictEqual(judge(claimed, { "mcp-protocol-version": "2026-07-28" }), "modern 2026-07-28")
    assert.strictEqual(judge(cancelled, {}, modernOnly), "400 -32020")
  })
})

describe("responses", () => {
  it("[RPC-18] no responses are taken on revisions without sessions", () => {
    const response: JsonRpc.Response = { jsonrpc: "2.0", id: 1, result: {} }
    assert.strictEqual(judge(response, { "mcp-protocol-version": "2026-07-28" }), "400 -32600")
    assert.strictEqual(judge(response, { "mcp-protocol-version": "2025-06-18" }), "legacy 2025-06-18")
    assert.strictEqual(judge(response), "legacy unknown")
    assert.strictEqual(judge(response, { "mcp-protocol-version": "nonsense" }), "400 -32602")
  })
})

describe("eraOf", () => {
  it("orders versions by date, known or not", () => {
    assert.strictEqual(Classify.eraOf("2024-11-05"), "legacy")
    assert.strictEqual(Classify.eraOf("2026-07-27"), "legacy")
    assert.strictEqual(Classify.eraOf("2026-07-28"), "modern")
    assert.strictEqual(Classify.eraOf("2030-01-01"), "modern")
    assert.strictEqual(Classify.eraOf("draft"), undefined)
  })
})
