import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import fc from "fast-check"
import * as Capabilities from "../src/Capabilities.ts"
import { Implementation, isImplementation } from "../src/Implementation.ts"
import { isModernMeta } from "../src/internal/modernMeta.ts"
import * as Meta from "../src/Meta.ts"
import * as MetaKey from "../src/MetaKey.ts"
import * as TraceContext from "../src/TraceContext.ts"

const good = {
  [MetaKey.protocolVersion]: "2026-07-28",
  [MetaKey.clientCapabilities]: {},
  [MetaKey.clientInfo]: { name: "c", version: "1" },
  [MetaKey.logLevel]: "info"
}

const fault = (meta: object) => {
  const read = Meta.modernEnvelope({ _meta: meta })
  return Result.isFailure(read) ? `${read.failure.reason} ${read.failure.key}` : "none"
}

describe("modernEnvelope", () => {
  it("[META-07] reads what a modern request says about its sender", () => {
    assert.deepStrictEqual(Result.getOrThrow(Meta.modernEnvelope({ name: "t", _meta: good })), {
      protocolVersion: "2026-07-28",
      clientCapabilities: {},
      clientInfo: { name: "c", version: "1" },
      logLevel: "info"
    })
  })

  it("[VER-06] a request without any of its keys makes no claim", () => {
    for (const params of [undefined, null, 5, [], {}, { _meta: {} }, { _meta: { progressToken: 1 } }, { _meta: 5 }]) {
      assert.isUndefined(Result.getOrThrow(Meta.modernEnvelope(params)))
    }
  })

  it("[META-09] a claim without a required key is at fault, one without clientInfo is not", () => {
    for (const key of [MetaKey.protocolVersion, MetaKey.clientCapabilities]) {
      const { [key]: _, ...rest } = { ...good } as Record<string, unknown>
      assert.strictEqual(fault(rest), `missing ${key}`)
    }
    assert.strictEqual(fault({ [MetaKey.clientInfo]: good[MetaKey.clientInfo] }), `missing ${MetaKey.protocolVersion}`)
    const { [MetaKey.clientInfo]: _, ...anonymous } = good
    assert.strictEqual(fault(anonymous), "none")
  })

  it("[META-09] [LOG-05] a key with a wrong value is at fault", () => {
    assert.strictEqual(fault({ ...good, [MetaKey.protocolVersion]: 20260728 }), `invalid ${MetaKey.protocolVersion}`)
    assert.strictEqual(fault({ ...good, [MetaKey.protocolVersion]: null }), `invalid ${MetaKey.protocolVersion}`)
    assert.strictEqual(fault({ ...good, [MetaKey.clientCapabilities]: [] }), `invalid ${MetaKey.clientCapabilities}`)
    assert.strictEqual(
      fault({ ...good, [MetaKey.clientCapabilities]: { roots: true } }),
      `invalid ${MetaKey.clientCapabilities}`
    )
    assert.strictEqual(fault({ ...good, [MetaKey.clientInfo]: { name: "c" } }), `invalid ${MetaKey.clientInfo}`)
    assert.strictEqual(fault({ ...good, [MetaKey.logLevel]: "loud" }), `invalid ${MetaKey.logLevel}`)
  })

  it("[META-07] reads back what encodeEnvelope writes", () => {
    const envelope = {
      protocolVersion: "2026-07-28",
      clientCapabilities: { elicitation: { form: {} }, "example.com/x": 1 },
      clientInfo: undefined,
      logLevel: undefined
    }
    const written = Meta.encodeEnvelope(envelope)
    assert.deepStrictEqual(Object.keys(written), [MetaKey.protocolVersion, MetaKey.clientCapabilities])
    assert.deepStrictEqual(Result.getOrThrow(Meta.readEnvelope(written)), envelope)
  })

  it.prop("[CAP-02] the rule by hand for client capabilities is the schema's", [
    Schema.Record(
      Schema.Literals(["roots", "sampling", "elicitation", "tasks", "extensions", "experimental", "x"]),
      Schema.Json
    )
  ], ([capabilities]) => {
    assert.strictEqual(Capabilities.isClient(capabilities), Schema.is(Capabilities.Client)(capabilities))
  }, { arbitrary: { runs: 500 } })

  it("[CAP-02] what is known of a capability has its type, and the rest is free", () => {
    for (
      const [capabilities, wanted] of [
        [
          { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: { listChanged: true } },
          true
        ],
        [{ elicitation: { other: 1 }, unknown: 1 }, true],
        [{ elicitation: { form: 1 } }, false],
        [{ elicitation: { url: true } }, false],
        [{ sampling: { tools: [] } }, false],
        [{ sampling: { context: "" } }, false],
        [{ roots: { listChanged: {} } }, false],
        [{ extensions: { "com.example/x": 1 } }, false]
      ] as const
    ) {
      assert.strictEqual(Capabilities.isClient(capabilities), wanted, JSON.stringify(capabilities))
      assert.strictEqual(Schema.is(Capabilities.Client)(capabilities), wanted, JSON.stringify(capabilities))
    }
  })

  it.prop("[CAP-02] and accepts all that the schema generates", [Capabilities.Client], ([capabilities]) => {
    assert.isTrue(Capabilities.isClient(capabilities))
  })

  it.prop("[META-10] the rule by hand for identities is the schema's", [
    Schema.Record(Schema.Literals(["name", "version", "title", "description", "websiteUrl", "icons"]), Schema.Json)
  ], ([info]) => {
    assert.strictEqual(isImplementation(info), Schema.is(Implementation)(info))
  }, { arbitrary: { runs: 500 } })

  it("[PRG-01] a token in the envelope that is none makes the request's _meta invalid", () => {
    assert.isTrue(isModernMeta({ ...good, progressToken: 0 }))
    assert.isFalse(isModernMeta({ ...good, progressToken: 1.5 }))
    assert.isFalse(isModernMeta({ progressToken: 1 }))
  })
})

describe("members of _meta", () => {
  it("[PRG-01] [field PRG-03] 0 and \"\" are progress tokens; fractions, null and objects are not", () => {
    for (const token of [0, "", 7, "p", -1]) {
      assert.strictEqual(Meta.progressToken({ _meta: { progressToken: token } }), token)
    }
    for (const token of [1.5, null, {}, true, 2 ** 60]) {
      assert.isUndefined(Meta.progressToken({ _meta: { progressToken: token } }))
    }
    assert.isUndefined(Meta.progressToken(undefined))
  })

  it("[SUB-05] the subscription id keeps its type", () => {
    assert.strictEqual(Meta.subscriptionId({ _meta: { [MetaKey.subscriptionId]: 1 } }), 1)
    assert.strictEqual(Meta.subscriptionId({ _meta: { [MetaKey.subscriptionId]: "1" } }), "1")
    assert.isUndefined(Meta.subscriptionId({ _meta: { [MetaKey.subscriptionId]: null } }))
  })

  it("[META-10] a server's identity is read, a wrong one is none", () => {
    assert.deepStrictEqual(Meta.serverInfo({ _meta: { [MetaKey.serverInfo]: { name: "s", version: "1" } } }), {
      name: "s",
      version: "1"
    })
    assert.isUndefined(Meta.serverInfo({ _meta: { [MetaKey.serverInfo]: { name: "s" } } }))
    assert.isUndefined(Meta.serverInfo({}))
  })

  it("[TKL-06] the related task is read", () => {
    assert.strictEqual(Meta.relatedTask({ _meta: { [MetaKey.relatedTask]: { taskId: "t" } } }), "t")
    assert.isUndefined(Meta.relatedTask({ _meta: { [MetaKey.relatedTask]: "t" } }))
  })

  it("[PRG-09] [META-16] merging keeps the user's keys", () => {
    assert.deepStrictEqual(
      Meta.merge({ name: "t", _meta: { "example.com/a": 1, progressToken: 1 } }, { progressToken: 2 }),
      {
        name: "t",
        _meta: { "example.com/a": 1, progressToken: 2 }
      }
    )
    assert.deepStrictEqual(Meta.merge({}, { a: 1 }), { _meta: { a: 1 } })
  })
})

describe("keys of _meta", () => {
  it("[META-01] valid and invalid spellings", () => {
    for (const key of ["a", "A1", "a.b-c_d", "com.example/a", "io.x-y.z/n", "a/b", "progressToken", "0"]) {
      assert.isTrue(MetaKey.isValid(key), key)
    }
    for (
      const key of [
        "",
        "/",
        "a/",
        "/a",
        "1a/b",
        "a-/b",
        ".a/b",
        "a..b/c",
        "a/b/c",
        "-a",
        "a-",
        "a b",
        "é",
        "a\n",
        "com.example/"
      ]
    ) {
      assert.isFalse(MetaKey.isValid(key), JSON.stringify(key))
    }
  })

  it("[META-04] [META-03] no key of our own lies in a space that any revision reserves", () => {
    const reservedEver = (key: string) => {
      const labels = key.slice(0, Math.max(0, key.indexOf("/"))).split(".")
      return MetaKey.isReserved(key) ||
        labels.slice(0, -1).some((label) => label === "modelcontextprotocol" || label === "mcp")
    }
    const own = Object.values(MetaKey).filter((key) => typeof key === "string").filter((key) => !reservedEver(key))
    assert.deepStrictEqual(own, [MetaKey.failure])
    assert.isTrue(own.every(MetaKey.isExtensionId))
    assert.isTrue(reservedEver("com.mcp.tools/x") && reservedEver("mcp.dev/x"))
  })

  it("[META-03] prefixes whose second label is the protocol's are reserved, and bare names with a meaning", () => {
    for (
      const key of [
        "io.modelcontextprotocol/x",
        "dev.mcp/",
        "com.mcp.tools/a",
        "org.modelcontextprotocol.api/b",
        "traceparent",
        "baggage"
      ]
    ) {
      assert.isTrue(MetaKey.isReserved(key), key)
    }
    for (const key of ["com.example.mcp/x", "mcp/x", "modelcontextprotocol/x", "com.example/x", "mine"]) {
      assert.isFalse(MetaKey.isReserved(key), key)
    }
    assert.isFalse(MetaKey.isReserved(MetaKey.failure))
  })

  it("[EXT-01] the name of an extension has a prefix", () => {
    assert.isTrue(MetaKey.isExtensionId("io.modelcontextprotocol/tasks"))
    assert.isFalse(MetaKey.isExtensionId("tasks"))
    assert.isFalse(MetaKey.isExtensionId("io.modelcontextprotocol/"))
  })
})

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length }).filter((s) =>
    !/^0+$/.test(s)
  )

describe("trace context", () => {
  it("[META-15] what is written is read back", () => {
    fc.assert(fc.property(hex(32), hex(16), fc.boolean(), (traceId, spanId, sampled) => {
      const context = { traceId, spanId, sampled, tracestate: "a=1,b@c=2", baggage: "user=ada;x,k=%20v" }
      assert.deepStrictEqual(Meta.trace({ _meta: TraceContext.toMeta(context) }), context)
    }))
  })

  it("[META-15] an invalid traceparent is no trace", () => {
    const id = "0af7651916cd43dd8448eb211c80319c"
    const span = "b7ad6b7169203331"
    for (
      const traceparent of [
        undefined,
        5,
        "",
        `00-${id}-${span}`,
        `00-${id}-${span}-01-more`,
        `ff-${id}-${span}-01`,
        `00-${"0".repeat(32)}-${span}-01`,
        `00-${id}-${"0".repeat(16)}-01`,
        `00-${id.toUpperCase()}-${span}-01`,
        `00-${id}-${span}-01\n`
      ]
    ) {
      assert.isUndefined(Meta.trace({ _meta: { traceparent } }), String(traceparent))
    }
    assert.strictEqual(Meta.trace({ _meta: { traceparent: `cc-${id}-${span}-00-later` } })?.sampled, false)
  })

  it("[META-15] an invalid tracestate or baggage is left out, the trace stays", () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    for (
      const tracestate of [
        "",
        "a",
        "A=1",
        "a=1,a=2",
        "a=é",
        `${Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(",")}`
      ]
    ) {
      const trace = Meta.trace({ _meta: { traceparent, tracestate, baggage: "a=1" } })
      assert.isUndefined(trace?.tracestate, tracestate)
      assert.strictEqual(trace?.baggage, "a=1")
    }
    for (const baggage of ["", "a", "=1", "a=b c", "a=\"b\"", `a=${"x".repeat(9000)}`, "a=1,,b=2"]) {
      assert.isUndefined(Meta.trace({ _meta: { traceparent, baggage } })?.baggage, baggage.slice(0, 20))
    }
  })
})
