import { assert, describe, it } from "@effect/vitest"
import { Option, Result, Schema } from "effect"
import { InvalidContract } from "../src/InvalidContract.ts"
import * as Resource from "../src/ResourceContract.ts"

const checkDefect = (run: () => unknown, name: string, reason: RegExp) => {
  const thrown = Result.getOrThrow(Result.flip(Result.try(run)))
  assert.instanceOf(thrown, InvalidContract)
  assert.strictEqual(thrown.name, name)
  assert.match(thrown.reason, reason)
}

const Settings = Schema.Struct({ theme: Schema.Literals(["light", "dark"]), since: Schema.Date })

describe("make", () => {
  it("[RES-13] throws a defect for what is no URI", () => {
    for (const uri of ["", "not a uri", "/a", "demo://a b", "demo://%zz", "demo:"]) {
      checkDefect(() => Resource.make(uri, { name: "x" }), uri, /./)
    }
  })

  it("reads and writes content as the JSON text of a value", () => {
    const contract = Resource.make("app://settings", { name: "settings", content: Settings })
    const text = "{\"theme\":\"dark\",\"since\":\"1970-01-01T00:00:00.000Z\"}"
    assert.deepStrictEqual(contract.encodeContent({ theme: "dark", since: new Date(0) }), Result.succeed(text))
    assert.deepStrictEqual(contract.decodeContent(text), Result.succeed({ theme: "dark", since: new Date(0) }))
    const fault = Result.getOrThrow(Result.flip(contract.decodeContent("{\"theme\":\"red\"}")))
    assert.strictEqual(fault.side, "content")
    assert.match(fault.message(), /^theme: .*; since: is missing$/)
    assert.strictEqual(Result.getOrThrow(Result.flip(contract.decodeContent("{"))).message(), "it is not JSON")
    assert.isTrue(contract.hasContent)
    assert.strictEqual(contract.mimeType, "application/json")
    assert.isTrue(Result.isFailure(Resource.make("app://x", { name: "x" }).decodeContent("{}")))
  })

  it("[field RES-07] lists what is there, MIME types with parameters as they are", () => {
    assert.deepStrictEqual(Resource.toDescriptor(Resource.make("app://x", { name: "x" })), {
      uri: "app://x",
      name: "x"
    })
    const options = {
      name: "x",
      title: "T",
      description: "D",
      mimeType: "text/html;profile=mcp-app",
      size: 0,
      annotations: { priority: 1 },
      icons: [{ src: "data:image/png;base64,AAAA" }]
    }
    const full = Resource.make("app://x", { ...options, meta: { a: 1 }, asks: ["roots"], scopes: ["read"] })
    assert.deepStrictEqual(Resource.toDescriptor(full), { uri: "app://x", ...options, _meta: { a: 1 } })
    assert.deepStrictEqual([full.asks, full.scopes], [["roots"], ["read"]])
    assert.isTrue(Resource.isContract(full))
    assert.isFalse(Resource.isTemplateContract(full))
  })
})

const Note = Resource.template("notes://{owner}/{id}{?lines,tag*}", {
  name: "note",
  params: {
    owner: Schema.String,
    id: Schema.Int,
    lines: Schema.optionalKey(Schema.Int),
    tag: Schema.Array(Schema.Literals(["a", "b"]))
  }
})

describe("template", () => {
  it("[RES-04] matches by the names in the template and decodes them", () => {
    const found = Option.getOrThrow(Note.match("notes://ann/7?tag=a&lines=10&tag=b"))
    assert.deepStrictEqual(found, { owner: "ann", id: "7", lines: "10", tag: ["a", "b"] })
    assert.deepStrictEqual(
      Note.decodeParams(found),
      Result.succeed({ owner: "ann", id: 7, lines: 10, tag: ["a", "b"] })
    )
    assert.isTrue(Option.isNone(Note.match("notes://ann")))
    assert.deepStrictEqual(Note.variables.map(({ name }) => name), ["owner", "id", "lines", "tag"])
  })

  it("gives an empty list where a URI leaves a list out", () => {
    assert.deepStrictEqual(
      Note.decodeParams(Option.getOrThrow(Note.match("notes://ann/7"))),
      Result.succeed({ owner: "ann", id: 7, tag: [] })
    )
  })

  it("names the variable whose value does not fit", () => {
    const fault = Result.getOrThrow(Result.flip(Note.decodeParams({ owner: "ann", id: "x", tag: ["c"] })))
    assert.match(fault.message(), /^id: .*; tag\[0\]: /)
    assert.strictEqual(fault.name, "notes://{owner}/{id}{?lines,tag*}")
  })

  it("[RES-08] expands to the URI that matches", () => {
    const params = { owner: "ann b", id: 7, lines: 10, tag: ["a", "b"] as const }
    const uri = Result.getOrThrow(Note.expand(params))
    assert.strictEqual(uri, "notes://ann%20b/7?lines=10&tag=a&tag=b")
    assert.deepStrictEqual(Note.decodeParams(Option.getOrThrow(Note.match(uri))), Result.succeed(params))
    assert.deepStrictEqual(Note.expand({ owner: "x", id: 1, tag: [] }), Result.succeed("notes://x/1"))
  })

  it("[RES-08] [RES-09] fails to expand what would not be read back, and names the variable", () => {
    for (const owner of ["a/b", "..", ".", "", "a\\b", "a\u0000"]) {
      const fault = Result.getOrThrow(Result.flip(Note.expand({ owner, id: 1, tag: [] })))
      assert.strictEqual(fault._tag, "InvalidValue")
      assert.strictEqual(fault._tag === "InvalidValue" && fault.variable, "owner", owner)
    }
    const Pair = Resource.template("d://{a}-{b}", { name: "pair", params: { a: Schema.String, b: Schema.String } })
    assert.deepStrictEqual(Pair.expand({ a: "x", b: "y-z" }), Result.succeed("d://x-y-z"))
    const fault = Result.getOrThrow(Result.flip(Pair.expand({ a: "x-y", b: "z" })))
    assert.strictEqual(fault._tag === "InvalidValue" && fault.variable, "a")
    assert.isTrue(Result.isFailure(Pair.expand({ a: "\ud800", b: "z" })))
  })

  it("[RES-08] carries separators where that was asked for", () => {
    const Query = Resource.template("demo://q/{term}", {
      name: "q",
      params: { term: Schema.String },
      separators: "decode"
    })
    const uri = Result.getOrThrow(Query.expand({ term: "a/b?c#d&e=f+g%" }))
    assert.deepStrictEqual(Query.match(uri), Option.some({ term: "a/b?c#d&e=f+g%" }))
  })

  it("[RES-10] [SCH-22] throws a defect for a template that could never be read", () => {
    const text = Schema.String
    checkDefect(
      () => Resource.template("d://{a}{b}", { name: "x", params: { a: text, b: text } }),
      "d://{a}{b}",
      /nothing stands between/
    )
    checkDefect(() => Resource.template("d://{a-b}", { name: "x", params: { "a-b": text } }), "d://{a-b}", /at 5/)
    checkDefect(() => Resource.template("d://{a:3}", { name: "x", params: { a: text } }), "d://{a:3}", /prefix/)
  })

  it("[RES-04] throws a defect where params and template do not name the same, or differ in shape", () => {
    const widen = (source: string): string => source
    const text = Schema.String
    checkDefect(() => Resource.template(widen("d://{a}"), { name: "x", params: {} }), "d://{a}", /say nothing of "a"/)
    checkDefect(
      () => Resource.template(widen("d://{a}"), { name: "x", params: { a: text, b: text } }),
      "d://{a}",
      /no variable "b"/
    )
    checkDefect(() => Resource.template("d://{a*}", { name: "x", params: { a: text } }), "d://{a*}", /list of strings/)
    checkDefect(
      () => Resource.template("d://{a}", { name: "x", params: { a: Schema.Array(text) } }),
      "d://{a}",
      /as a string/
    )
    checkDefect(
      () => Resource.template("d://{a}", { name: "x", params: { a: Schema.Struct({ b: text }) } }),
      "d://{a}",
      /as a string/
    )
  })

  it("lists what is there", () => {
    assert.deepStrictEqual(Resource.toTemplateDescriptor(Note), {
      uriTemplate: "notes://{owner}/{id}{?lines,tag*}",
      name: "note"
    })
    const full = Resource.template("d://{a}", {
      name: "x",
      title: "T",
      description: "D",
      params: { a: Schema.String },
      content: Settings,
      annotations: { audience: ["user"] },
      icons: [],
      meta: { a: 1 }
    })
    assert.deepStrictEqual(Resource.toTemplateDescriptor(full), {
      uriTemplate: "d://{a}",
      name: "x",
      title: "T",
      description: "D",
      mimeType: "application/json",
      annotations: { audience: ["user"] },
      icons: [],
      _meta: { a: 1 }
    })
    assert.isTrue(Resource.isTemplateContract(full))
    assert.isFalse(Resource.isContract(full))
  })
})
