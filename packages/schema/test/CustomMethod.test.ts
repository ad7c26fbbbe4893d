import { assert, describe, it } from "@effect/vitest"
import { Option, Result, Schema } from "effect"
import * as CustomMethod from "../src/CustomMethod.ts"
import * as Extension from "../src/Extension.ts"
import { InvalidContract } from "../src/InvalidContract.ts"
import * as Methods from "../src/Methods.ts"
import type { Version } from "../src/Revision.ts"
import * as Revisions from "../src/Revisions.ts"

const refusal = (make: () => unknown): string => {
  const made = Result.try({ try: make, catch: (thrown) => thrown })
  return Result.isFailure(made) && made.failure instanceof InvalidContract ? made.failure.message : "made"
}

const on = (version: Version) => Revisions.byVersion(version) ?? Revisions.newest

const Search = CustomMethod.request("com.example/search", {
  params: { query: Schema.String, since: Schema.DateFromString },
  result: { hits: Schema.Array(Schema.String) }
})

describe("a request", () => {
  it("is written and read by its schemas on every revision", () => {
    const since = new Date("2026-01-01T00:00:00.000Z")
    for (const revision of Revisions.all) {
      const codec = revision.request(Search)
      assert.isDefined(codec)
      if (codec === undefined) continue
      const wire = codec.encodeParams({ query: "hay", since })
      assert.deepStrictEqual(wire, { query: "hay", since: "2026-01-01T00:00:00.000Z" })
      assert.deepStrictEqual(Result.getOrThrow(codec.decodeParams({ ...wire, _meta: { a: 1 } })), {
        query: "hay",
        since
      })
      const result = codec.encodeResult({ hits: ["a"] })
      assert.strictEqual(result["resultType"], revision.era === "modern" ? "complete" : undefined)
      assert.deepStrictEqual(Result.getOrThrow(codec.decodeResult({ ...result, _meta: {} })), { hits: ["a"] })
    }
  })

  it("[EXT-08] says where params do not fit, not what stood there", () => {
    const read = on("2025-11-25").request(Search)?.decodeParams({ query: 7_654_321, since: "2026-01-01" })
    assert.isTrue(read !== undefined && Result.isFailure(read))
    if (read === undefined || Result.isSuccess(read)) return
    assert.include(read.failure.message(), "query")
    assert.notInclude(read.failure.message(), "7654321")
    const odd = on("2025-11-25").request(Search)?.decodeParams([])
    assert.isTrue(odd !== undefined && Result.isFailure(odd))
  })

  it("a result that ends in a way nobody described is none on 2026-07-28", () => {
    const codec = on("2026-07-28").request(Search)
    for (const [resultType, fits] of [["complete", true], [undefined, true], ["input_required", false]] as const) {
      const wire = resultType === undefined ? { hits: [] } : { hits: [], resultType }
      assert.strictEqual(codec !== undefined && Result.isSuccess(codec.decodeResult(wire)), fits)
    }
  })

  it("a schema that names `_meta` or `resultType` has them", () => {
    const Own = CustomMethod.request("com.example/own", {
      params: { _meta: Schema.optionalKey(Schema.Struct({ "com.example/key": Schema.Int })) },
      result: { resultType: Schema.Literals(["complete", "partial"]), _meta: Schema.optionalKey(Schema.Unknown) }
    })
    const codec = on("2026-07-28").request(Own)
    assert.isDefined(codec)
    if (codec === undefined) return
    assert.deepStrictEqual(Result.getOrThrow(codec.decodeParams({ _meta: { "com.example/key": 1, other: 2 } })), {
      _meta: { "com.example/key": 1 }
    })
    assert.deepStrictEqual(codec.encodeResult({ resultType: "partial" }), { resultType: "partial" })
    assert.isTrue(Result.isSuccess(codec.decodeResult({ resultType: "partial", _meta: { a: 1 } })))
  })

  it("strict and open schemas do not meet what the protocol adds", () => {
    const Open = CustomMethod.request("com.example/open", {
      params: Schema.Record(Schema.String, Schema.String),
      result: Schema.Record(Schema.String, Schema.Int)
    })
    const codec = on("2026-07-28").request(Open)
    assert.deepStrictEqual(codec?.decodeParams({ a: "b", _meta: {} }), Result.succeed({ a: "b" }))
    assert.deepStrictEqual(codec?.decodeResult({ a: 1, _meta: {}, resultType: "complete" }), Result.succeed({ a: 1 }))
  })

  it("without shapes it takes anything and gives nothing", () => {
    const Bare = CustomMethod.request("com.example/bare")
    const codec = on("2025-06-18").request(Bare)
    assert.deepStrictEqual(codec?.decodeParams(undefined), Result.succeed({}))
    assert.deepStrictEqual(codec?.encodeResult(undefined), {})
    assert.deepStrictEqual(codec?.decodeResult({ anything: 1 }), Result.succeed(undefined))
  })

  it("does not stand in for a method of the protocol", () => {
    for (const revision of Revisions.all) {
      assert.isUndefined(revision.requestByName(Search.name))
      assert.strictEqual(revision.request(Methods.ToolsList)?.name, "tools/list")
    }
  })
})

describe("who sends what", () => {
  const Ask = CustomMethod.request("com.example/ask", { sender: "server" })
  const Either = CustomMethod.request("com.example/either", { sender: "both" })
  const Told = CustomMethod.notification("com.example/told")
  const Said = CustomMethod.notification("com.example/said", { sender: "client" })

  it("[RPC-17] on 2026-07-28 requests go to servers and notifications to clients", () => {
    const [older, newer] = [on("2025-11-25"), on("2026-07-28")]
    assert.strictEqual(older.request(Ask)?.sender, "server")
    assert.isUndefined(newer.request(Ask))
    assert.strictEqual(older.request(Either)?.sender, "both")
    assert.strictEqual(newer.request(Either)?.sender, "client")
    assert.strictEqual(newer.notification(Told)?.sender, "server")
    assert.strictEqual(older.notification(Said)?.sender, "client")
    assert.isUndefined(newer.notification(Said))
  })

  it("[EXT-02] what came with a revision is not there before", () => {
    const Late = CustomMethod.request("com.example/late", { since: "2025-11-25" })
    assert.deepStrictEqual(Revisions.all.map((revision) => revision.request(Late) !== undefined), [
      false,
      false,
      false,
      true,
      true
    ])
  })
})

describe("names", () => {
  it("[EXT-01] the protocol's, JSON-RPC's and empty ones are refused", () => {
    assert.include(refusal(() => CustomMethod.request("tools/call")), "tools/call")
    assert.include(refusal(() => CustomMethod.request("elicitation/create")), "2025-06-18")
    assert.include(refusal(() => CustomMethod.notification("notifications/progress")), "notifications/progress")
    assert.include(refusal(() => CustomMethod.request("rpc.discover")), "JSON-RPC")
    assert.include(refusal(() => CustomMethod.request("")), "not empty")
    const listen = { filter: "resourceSubscriptions" }
    assert.include(refusal(() => CustomMethod.notification("com.example/x", { listen })), "resourceSubscriptions")
    assert.include(refusal(() => CustomMethod.request("com.example/x", { params: Schema.Tuple([]) })), "object")
  })

  it("[TKX-10] a name that the protocol has given up may be taken from then on", () => {
    assert.include(refusal(() => CustomMethod.request("tasks/get")), "2025-11-25")
    assert.strictEqual(refusal(() => CustomMethod.request("tasks/get", { since: "2026-07-28" })), "made")
  })

  it("[EXT-01] identifiers of extensions have a prefix, and not one of the protocol's", () => {
    for (const id of ["thing", "com.example/", "/thing", "com..example/thing", "1com/thing"]) {
      assert.include(refusal(() => Extension.make(id)), "identifier")
    }
    for (const id of ["io.modelcontextprotocol/thing", "dev.mcp/thing", "com.mcp.tools/thing"]) {
      assert.include(refusal(() => Extension.make(id)), "belongs to the protocol")
    }
    assert.strictEqual(refusal(() => Extension.make("com.example.mcp/thing")), "made")
    assert.strictEqual(refusal(() => Extension.make("io.modelcontextprotocol/thing", { official: true })), "made")
    assert.include(refusal(() => Extension.make("com.example/twice", { requests: [Search, Search] })), "two methods")
  })
})

describe("settings", () => {
  const Sized = Extension.make("com.example/sized", { clientSettings: { most: Schema.Int } })

  it("[EXT-02] [EXT-08] are read by their schema, and what does not fit is named", () => {
    const read = (extensions: Readonly<Record<string, { readonly [key: string]: unknown }>> | undefined) =>
      Extension.ofClient(Sized, extensions === undefined ? {} : { extensions })
    assert.deepStrictEqual(read(undefined), Result.succeed(Option.none()))
    assert.deepStrictEqual(read({ "com.example/other": {} }), Result.succeed(Option.none()))
    const odd = read({ "com.example/sized": { most: "many" } })
    assert.isTrue(Result.isFailure(odd))
    if (Result.isFailure(odd)) {
      assert.strictEqual(odd.failure.side, "client")
      assert.include(odd.failure.message, "most")
      assert.notInclude(odd.failure.message, "many")
    }
  })

  it("an inherited name is no extension", () => {
    const capabilities = { extensions: {} }
    const named = { id: "constructor", client: Sized.client }
    assert.deepStrictEqual(Extension.ofClient(named, capabilities), Result.succeed(Option.none()))
  })
})
