import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Codes from "../src/Codes.ts"
import * as McpError from "../src/McpError.ts"
import * as Revisions from "../src/Revisions.ts"
import { faults } from "./support/official.ts"

const page = { mode: "url", message: "Sign in", url: "https://example.com", elicitationId: "e1" } as const

const all: ReadonlyArray<McpError.McpError> = [
  new McpError.ParseError(),
  new McpError.InvalidRequest({ detail: "jsonrpc must be \"2.0\"" }),
  new McpError.MethodNotFound({ method: "vendor/do" }),
  new McpError.InvalidParams({ detail: "name: Missing key" }),
  new McpError.InvalidParams({ detail: "name: Missing key", data: { at: "name" } }),
  new McpError.InvalidEnvelope({ key: "io.modelcontextprotocol/protocolVersion", reason: "missing" }),
  new McpError.InternalError(),
  new McpError.ResourceNotFound({ uri: "note:1" }),
  new McpError.ToolNotFound({ name: "nope" }),
  new McpError.PromptNotFound({ name: "nope" }),
  new McpError.TaskNotFound({ taskId: "t" }),
  new McpError.InvalidCursor(),
  new McpError.HeaderMismatch({ header: "Mcp-Name", detail: "differs from the body" }),
  new McpError.MissingClientCapability({ required: { sampling: {} } }),
  new McpError.UnsupportedVersion({ supported: ["2025-11-25"], requested: "1.0" }),
  new McpError.UrlElicitationRequired({ elicitations: [page] }),
  new McpError.UserRejected(),
  new McpError.TooManyRequests({ limit: "inFlight", retryAfter: 1 }),
  new McpError.TooManyRequests({ limit: "inFlight" }),
  new McpError.ResultTooLarge({ bytes: 10, limit: 5 }),
  new McpError.ServerShuttingDown(),
  new McpError.PeerError({ code: -32002, message: "gone", data: { uri: "note:1" } }),
  new McpError.PeerError({ code: -32042, message: "page" }),
  new McpError.PeerError({ code: -32050, message: "odd" }),
  new McpError.PeerError({ code: -32001, message: "odd" }),
  new McpError.PeerError({ code: 42, message: "own" })
]

const byTag = (tag: McpError.McpError["_tag"]): McpError.McpError => {
  const found = all.find((error) => error._tag === tag)
  if (found === undefined) throw new Error(tag)
  return found
}

describe("toWire", () => {
  it("[RPC-06] every failure has a case here", () => {
    assert.deepStrictEqual(
      [...new Set(all.map((error) => error._tag))].sort(),
      McpError.McpError.members.map((member) => member.fields._tag.schema.literal).sort()
    )
  })

  for (const revision of Revisions.all) {
    it(`[RPC-19] [RPC-20] [RPC-21] on ${revision.version} only codes that it may emit are written, as one sentence`, () => {
      for (const error of all) {
        const { code, data, message } = McpError.toWire(error, revision)
        const text = `${error._tag} ${code}`
        assert.isTrue(Codes.mayEmit(code, revision.version), text)
        assert.isFalse(/\n| at .*:\d+|node_modules/.test(message), text)
        assert.deepStrictEqual(
          faults(revision.version, revision.ordinal < 3 ? "JSONRPCError" : "JSONRPCErrorResponse", {
            jsonrpc: "2.0",
            id: 1,
            error: { code, message, ...(data === undefined ? {} : { data }) }
          }),
          [],
          text
        )
      }
    })
  }

  it("[RES-05] [RES-06] a missing resource has the code of its era and says which", () => {
    const error = byTag("ResourceNotFound")
    for (const revision of Revisions.all) {
      const wire = McpError.toWire(error, revision)
      assert.strictEqual(wire.code, revision.era === "modern" ? -32602 : -32002)
      assert.deepStrictEqual(wire.data, { uri: "note:1" })
    }
  })

  it("[META-13] the message names what is missing, extensions by their own names", () => {
    const required = { sampling: {}, extensions: { "com.example/tasks": {} } }
    const { message } = McpError.toWire(new McpError.MissingClientCapability({ required }), Revisions.newest)
    assert.match(message, /: sampling, com\.example\/tasks$/)
  })

  it("[META-13] a missing capability is -32021 with what is required, -32602 before", () => {
    const error = byTag("MissingClientCapability")
    const wire = McpError.toWire(error, Revisions.newest)
    assert.strictEqual(wire.code, -32021)
    assert.deepStrictEqual(wire.data, { requiredCapabilities: { sampling: {} } })
    assert.deepStrictEqual(
      faults("2026-07-28", "MissingRequiredClientCapabilityError", { jsonrpc: "2.0", id: 1, error: wire }),
      []
    )
    assert.strictEqual(McpError.toWire(error, Revisions.newestLegacy).code, -32602)
  })

  it("[VER-01] [LIF-13] an unsupported version says what is supported and what was asked for", () => {
    const error = byTag("UnsupportedVersion")
    const wire = McpError.toWire(error, Revisions.newest)
    assert.strictEqual(wire.code, -32022)
    assert.deepStrictEqual(
      faults("2026-07-28", "UnsupportedProtocolVersionError", { jsonrpc: "2.0", id: 1, error: wire }),
      []
    )
    const legacy = McpError.toWire(error, Revisions.newestLegacy)
    assert.strictEqual(legacy.code, -32602)
    assert.deepStrictEqual(legacy.data, { supported: ["2025-11-25"], requested: "1.0" })
  })

  it("[HTTP-58] a header that differs is -32020, an invalid request before", () => {
    const wire = McpError.toWire(byTag("HeaderMismatch"), Revisions.newest)
    assert.deepStrictEqual(faults("2026-07-28", "HeaderMismatchError", { jsonrpc: "2.0", id: 1, error: wire }), [])
    assert.strictEqual(McpError.toWire(byTag("HeaderMismatch"), Revisions.newestLegacy).code, -32600)
  })

  it("[ELI-18] a page to visit is -32042 with its elicitations on 2025-11-25 alone", () => {
    const error = byTag("UrlElicitationRequired")
    const wire = McpError.toWire(error, Revisions.newestLegacy)
    assert.deepStrictEqual(
      faults("2025-11-25", "URLElicitationRequiredError", { jsonrpc: "2.0", id: 1, error: wire }),
      []
    )
    for (const revision of Revisions.all.filter((one) => one.version !== "2025-11-25")) {
      const other = McpError.toWire(error, revision)
      assert.strictEqual(other.code, -32603)
      assert.isUndefined(other.data)
    }
  })

  it("[SMP-09] a refusal by the user is -1 up to 2025-11-25", () => {
    assert.strictEqual(McpError.toWire(byTag("UserRejected"), Revisions.newestLegacy).code, -1)
  })

  it("[RPC-06] what broke here is not told", () => {
    assert.deepStrictEqual(McpError.toWire(new McpError.InternalError(), Revisions.newest), {
      code: -32603,
      message: "Internal error"
    })
  })

  it("[RPC-19] relayed errors keep code, message and data where they may", () => {
    const relayed = (code: number) =>
      McpError.toWire(new McpError.PeerError({ code, message: "m", data: 1 }), Revisions.newest)
    assert.deepStrictEqual(relayed(42), { code: 42, message: "m", data: 1 })
    assert.deepStrictEqual(relayed(-32002), { code: -32602, message: "m", data: 1 })
    assert.deepStrictEqual(relayed(-32042), { code: -32603, message: "m", data: 1 })
    assert.deepStrictEqual(relayed(-32050), { code: -32603, message: "m", data: 1 })
  })
})

describe("httpStatus", () => {
  it("[META-09] [RPC-24] [HTTP-53] statuses of 2026-07-28", () => {
    const statuses: Readonly<Record<string, number>> = {
      ParseError: 400,
      InvalidRequest: 400,
      InvalidEnvelope: 400,
      HeaderMismatch: 400,
      MissingClientCapability: 400,
      UnsupportedVersion: 400,
      MethodNotFound: 404,
      TooManyRequests: 503,
      ServerShuttingDown: 503
    }
    for (const error of all) assert.strictEqual(McpError.httpStatus(error), statuses[error._tag] ?? 200, error._tag)
  })

  it("[META-13] agrees with the table of codes", () => {
    for (
      const tag of [
        "HeaderMismatch",
        "MissingClientCapability",
        "UnsupportedVersion",
        "MethodNotFound",
        "ParseError"
      ] as const
    ) {
      const error = byTag(tag)
      assert.strictEqual(
        Codes.byCode(McpError.toWire(error, Revisions.newest).code)?.httpStatus,
        McpError.httpStatus(error)
      )
    }
  })
})

describe("fromWire", () => {
  it("[RES-07] a missing resource is known by either code", () => {
    for (const revision of Revisions.all) {
      const read = McpError.fromWire(McpError.toWire(byTag("ResourceNotFound"), revision))
      assert.isTrue(read._tag === "ResourceNotFound" && read.uri === "note:1")
    }
    assert.strictEqual(McpError.fromWire({ code: -32002, message: "gone" })._tag, "ResourceNotFound")
    assert.strictEqual(McpError.fromWire({ code: -32602, message: "bad" })._tag, "PeerError")
  })

  it("[RPC-23] errors with data that a program can act on get their class back", () => {
    for (const tag of ["MissingClientCapability", "UnsupportedVersion", "HeaderMismatch"] as const) {
      assert.strictEqual(McpError.fromWire(McpError.toWire(byTag(tag), Revisions.newest))._tag, tag)
    }
    assert.strictEqual(
      McpError.fromWire(McpError.toWire(byTag("UnsupportedVersion"), Revisions.newestLegacy))._tag,
      "UnsupportedVersion"
    )
    const pages = McpError.fromWire(McpError.toWire(byTag("UrlElicitationRequired"), Revisions.newestLegacy))
    assert.isTrue(pages._tag === "UrlElicitationRequired" && pages.elicitations[0]?.url === page.url)
    const unknown = McpError.fromWire({ code: -32601, message: "no" }, "vendor/do")
    assert.isTrue(unknown._tag === "MethodNotFound" && unknown.method === "vendor/do")
  })

  it("[RPC-23] all others keep code, message and data as they came", () => {
    for (
      const wire of [
        { code: -32001, message: "HeaderMismatch of a draft, or a time-out, or a lost session" },
        { code: -32021, message: "no data" },
        { code: -32022, message: "wrong data", data: { supported: "all" } },
        { code: -32042, message: "wrong data", data: { elicitations: [{}] } },
        { code: -32603, message: "boom", data: null },
        { code: -1, message: "no" },
        { code: -32601, message: "no" }
      ]
    ) {
      const read = McpError.fromWire(wire)
      assert.isTrue(read._tag === "PeerError")
      if (read._tag !== "PeerError") continue
      const { code, message } = read
      assert.deepStrictEqual({ code, message, ...("data" in wire ? { data: read.data } : {}) }, wire)
    }
  })

  it("[RPC-06] failures are told apart from other values, and survive their schema", () => {
    for (const error of all) {
      assert.isTrue(McpError.isMcpError(error))
      const encoded = Schema.encodeSync(McpError.McpError)(error)
      assert.strictEqual(Schema.decodeUnknownSync(McpError.McpError)(encoded)._tag, error._tag)
    }
    assert.isFalse(McpError.isMcpError(new Error("x")))
    assert.isFalse(McpError.isMcpError({ _tag: "InternalError" }))
  })

  it.effect("[RPC-06] can be yielded and caught by tag", () =>
    Effect.gen(function*() {
      const name = yield* Effect.gen(function*() {
        return yield* new McpError.ToolNotFound({ name: "nope" })
      }).pipe(Effect.catchTag("ToolNotFound", (error) => Effect.succeed(error.name)))
      assert.strictEqual(name, "nope")
    }))
})

describe("codes", () => {
  it("[RPC-21] own codes lie outside the ranges of the protocol", () => {
    assert.isTrue(Codes.mayEmit(1234, "2026-07-28"))
    for (const code of [-32000, -32019, -32020 - 5, -32099, -32500, -32768]) {
      assert.isFalse(Codes.mayEmit(code, "2026-07-28"), `${code}`)
    }
    assert.isFalse(Codes.mayEmit(-32050, "2025-11-25"))
    assert.isTrue(Codes.mayEmit(-32001, "2025-11-25"))
  })

  it("[RPC-20] no code is in the table twice", () => {
    assert.strictEqual(new Set(Codes.all.map(({ code }) => code)).size, Codes.all.length)
    assert.strictEqual(new Set(Codes.all.map(({ name }) => name)).size, Codes.all.length)
  })
})
