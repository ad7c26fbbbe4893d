import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpHeaders from "@mcpfx/transport/McpHeaders"
import { Result } from "effect"
import * as Headers from "effect/http/Headers"

const version = "2026-07-28"
const call = JsonRpc.request(1, "tools/call", { name: "add", arguments: {} })

const decoded = (value: string): string => Result.getOrElse(McpHeaders.decodeValue(value), (fault) => `!${fault}`)

describe("values", () => {
  it("[XH-09] leaves plain text as it is", () => {
    for (const text of ["", "us-west1", "two words", "=?x", "a=b?c", "{\"a\":1}", "https://example.com/a?b=c#d"]) {
      assert.strictEqual(McpHeaders.encodeValue(text), text)
      assert.strictEqual(decoded(text), text)
    }
  })

  it("[XH-09] wraps what a header cannot carry, and what looks wrapped", () => {
    assert.strictEqual(McpHeaders.encodeValue("Hello, 世界"), "=?base64?SGVsbG8sIOS4lueVjA==?=")
    for (
      const text of ["é", " a", "a ", "\ta", "a\nb", "a\r", "\u007f", "=?base64?YQ==?=", "=?BASE64?x", "a\tb", " "]
    ) {
      const value = McpHeaders.encodeValue(text)
      assert.match(value, /^=\?base64\?[A-Za-z0-9+/]*=*\?=$/)
      assert.strictEqual(decoded(value), text)
    }
  })

  it("[HTTP-58] strips white space around a value before looking at it", () => {
    assert.strictEqual(decoded(" \t add \t"), "add")
    assert.strictEqual(decoded(" =?base64?YQ==?= "), "a")
  })

  it("[HTTP-58] says what is wrong with a value that is broken", () => {
    for (const payload of ["YQ", "YQ=", "Y===", "Y Q=", "Y-_=", "YQ==YQ==", "/w=="]) {
      assert.strictEqual(decoded(`=?base64?${payload}?=`), "!undecodable", payload)
    }
    assert.strictEqual(decoded("=?base64?="), "!undecodable")
    assert.strictEqual(decoded("caf\u00e9"), "!illegal")
    assert.strictEqual(decoded("a\u0000b"), "!illegal")
  })

  it("[HTTP-58] takes half a sentinel for plain text", () => {
    assert.strictEqual(decoded("=?base64?YQ=="), "=?base64?YQ==")
    assert.strictEqual(decoded("YQ==?="), "YQ==?=")
    assert.strictEqual(decoded("=?base64??="), "")
  })
})

describe("mirrors", () => {
  it("[HTTP-50] [HTTP-55] [HTTP-56] repeats version, method and name", () => {
    assert.deepStrictEqual(McpHeaders.mirror(call, version), {
      "mcp-protocol-version": version,
      "mcp-method": "tools/call",
      "mcp-name": "add"
    })
    assert.deepStrictEqual(McpHeaders.mirror(JsonRpc.request(1, "tools/list"), version), {
      "mcp-protocol-version": version,
      "mcp-method": "tools/list"
    })
  })

  it("[HTTP-56] [TKX-11] knows which member each method is named by", () => {
    const named = (method: string, params: JsonRpc.JsonObject): string | undefined =>
      McpHeaders.mirror({ method, params }, version)["mcp-name"]
    assert.strictEqual(named("prompts/get", { name: "p", uri: "u" }), "p")
    assert.strictEqual(named("resources/read", { name: "n", uri: "file:///é" }), "=?base64?ZmlsZTovLy/DqQ==?=")
    assert.strictEqual(named("tasks/get", { taskId: "t" }), "t")
    assert.strictEqual(named("tasks/cancel", { taskId: "t" }), "t")
    assert.strictEqual(named("tasks/update", { taskId: "t" }), "t")
    assert.isUndefined(named("tools/list", { name: "n" }))
    assert.isUndefined(named("tools/call", { name: 5 }))
    assert.isUndefined(named("constructor", { name: "n" }))
  })

  it("[HTTP-58] accepts what it writes", () => {
    for (
      const message of [call, JsonRpc.request(1, "tools/call", { name: " ä " }), JsonRpc.request("x", "tools/list")]
    ) {
      const headers = Headers.fromInput(McpHeaders.mirror(message, version))
      assert.isUndefined(McpHeaders.checkVersion(headers, version))
      assert.isUndefined(McpHeaders.checkMirrors(headers, message))
    }
  })

  it("[HTTP-50] refuses a version that is missing, another or doubled", () => {
    assert.deepStrictEqual(McpHeaders.checkVersion({}, version), { header: "mcp-protocol-version", reason: "missing" })
    const mismatch = { header: "mcp-protocol-version", reason: "mismatch" }
    assert.deepStrictEqual(McpHeaders.checkVersion({ "mcp-protocol-version": "2025-11-25" }, version), mismatch)
    assert.deepStrictEqual(
      McpHeaders.checkVersion({ "mcp-protocol-version": `${version}, ${version}` }, version),
      mismatch
    )
  })

  it("[HTTP-58] refuses a method or name that is missing, another, undecodable or illegal", () => {
    const check = (headers: Record<string, string>): McpHeaders.HeaderFault | undefined =>
      McpHeaders.checkMirrors(Headers.fromInput(headers), call)
    const method = { "Mcp-Method": "tools/call" }
    assert.deepStrictEqual(check({}), { header: "mcp-method", reason: "missing" })
    assert.deepStrictEqual(check({ "Mcp-Method": "tools/list" }), { header: "mcp-method", reason: "mismatch" })
    assert.deepStrictEqual(check(method), { header: "mcp-name", reason: "missing" })
    assert.deepStrictEqual(check({ ...method, "Mcp-Name": "sub" }), { header: "mcp-name", reason: "mismatch" })
    assert.deepStrictEqual(check({ ...method, "Mcp-Name": "=?base64?YQ?=" }), {
      header: "mcp-name",
      reason: "undecodable"
    })
    assert.deepStrictEqual(check({ ...method, "Mcp-Name": "\u00e4" }), { header: "mcp-name", reason: "illegal" })
    assert.isUndefined(check({ ...method, "Mcp-Name": "=?base64?YWRk?=" }))
  })

  it("[HTTP-60] compares header names without case and values with it", () => {
    const headers = Headers.fromInput({ "MCP-METHOD": " tools/call ", "mCp-NaMe": "add" })
    assert.isUndefined(McpHeaders.checkMirrors(headers, call))
    assert.deepStrictEqual(McpHeaders.checkMirrors({ "mcp-method": "tools/call", "mcp-name": "Add" }, call), {
      header: "mcp-name",
      reason: "mismatch"
    })
  })

  it("describes a fault without its value", () => {
    assert.strictEqual(
      McpHeaders.describe({ header: "mcp-name", reason: "mismatch" }),
      "Header mcp-name does not match the body"
    )
  })
})

describe("params", () => {
  const annotations: ReadonlyArray<McpHeaders.ParamAnnotation> = [
    { path: ["region"], header: "Region", type: "string" },
    { path: ["limits", "count"], header: "Count", type: "integer" },
    { path: ["dry"], header: "Dry-Run", type: "boolean" }
  ]
  const args = { region: "eu west", limits: { count: 42 }, dry: false, other: "x" }
  const headers = { "mcp-param-region": "eu west", "mcp-param-count": "42", "mcp-param-dry-run": "false" }

  it("[XH-08] reads each value at its path", () => {
    assert.deepStrictEqual(McpHeaders.mirrorParams(annotations, args), headers)
  })

  it("[XH-08] writes no header for what is absent, null or no plain value", () => {
    assert.deepStrictEqual(McpHeaders.mirrorParams(annotations, { region: null, limits: "x", dry: [true] }), {})
    assert.deepStrictEqual(McpHeaders.mirrorParams(annotations, undefined), {})
    assert.deepStrictEqual(McpHeaders.mirrorParams(annotations, { region: "" }), { "mcp-param-region": "" })
  })

  it("[XH-08] does not read what an object inherits", () => {
    const inherited = [{ path: ["constructor", "name"], header: "X", type: "string" }] as const
    assert.deepStrictEqual(McpHeaders.mirrorParams(inherited, {}), {})
    assert.deepStrictEqual(McpHeaders.mirrorParams(annotations, Object.create({ region: "inherited" })), {})
  })

  it("[XH-09] writes numbers in decimal and wraps text that is not plain", () => {
    assert.deepStrictEqual(
      McpHeaders.mirrorParams(annotations, { region: "ü", limits: { count: -9007199254740991 }, dry: true }),
      { "mcp-param-region": "=?base64?w7w=?=", "mcp-param-count": "-9007199254740991", "mcp-param-dry-run": "true" }
    )
    assert.deepStrictEqual(McpHeaders.mirrorParams(annotations, { limits: { count: 1e21 } }), {})
  })

  it("[XH-11] refuses headers that are missing, differ or are illegal", () => {
    const check = (changed: Record<string, string | undefined>): McpHeaders.HeaderFault | undefined =>
      McpHeaders.checkParams({ ...headers, ...changed }, annotations, args)
    assert.isUndefined(check({}))
    assert.deepStrictEqual(check({ "mcp-param-region": undefined }), { header: "mcp-param-region", reason: "missing" })
    assert.deepStrictEqual(check({ "mcp-param-region": "us" }), { header: "mcp-param-region", reason: "mismatch" })
    assert.deepStrictEqual(check({ "mcp-param-region": "\u00fc" }), { header: "mcp-param-region", reason: "illegal" })
    assert.deepStrictEqual(check({ "mcp-param-count": "=?base64?!?=" }), {
      header: "mcp-param-count",
      reason: "undecodable"
    })
    assert.deepStrictEqual(check({ "mcp-param-dry-run": "False" }), { header: "mcp-param-dry-run", reason: "mismatch" })
  })

  it("[HTTP-60] compares integers as numbers, and nothing else", () => {
    const count = (value: string): string =>
      McpHeaders.checkParams({ ...headers, "mcp-param-count": value }, annotations, args)?.reason ?? "same"
    assert.deepStrictEqual(
      ["42.0", "4.2e1", "042", " 42 ", "43", "0x2a", "", "42 0", "Infinity"].map(count),
      ["same", "same", "same", "same", "mismatch", "mismatch", "mismatch", "mismatch", "mismatch"]
    )
    const text = [{ path: ["v"], header: "V", type: "string" }] as const
    assert.strictEqual(McpHeaders.checkParams({ "mcp-param-v": "42.0" }, text, { v: "42" })?.reason, "mismatch")
    assert.strictEqual(McpHeaders.checkParams({ "mcp-param-v": "EU" }, text, { v: "eu" })?.reason, "mismatch")
  })

  it("[XH-12] expects no header for what is absent or null", () => {
    assert.isUndefined(McpHeaders.checkParams({}, annotations, { region: null }))
    assert.isUndefined(McpHeaders.checkParams({}, annotations, undefined))
  })

  it("[XH-15] leaves headers alone that nothing is annotated with", () => {
    assert.isUndefined(McpHeaders.checkParams({ ...headers, "mcp-param-zone": "\u00e4" }, annotations, args))
  })
})
