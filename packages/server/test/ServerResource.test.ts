import { assert, describe, it } from "@effect/vitest"
import { InvalidParams, ResourceNotFound } from "@mcpfx/schema/McpError"
import * as Resource from "@mcpfx/schema/ResourceContract"
import { Context, Effect, Exit, Layer, Schema } from "effect"
import * as fc from "fast-check"
import type { Registry } from "../src/Registry.ts"
import { AskTimeout, DuplicateEntry, ResultMismatch } from "../src/ServerError.ts"
import * as ServerResource from "../src/ServerResource.ts"
import { asRequest, defectOf, failsUnseen, offer } from "./support/registrations.ts"

const Note = Resource.make("note://one", { name: "one", mimeType: "text/plain; charset=utf-8" })
const Settings = Resource.make("app://settings", { name: "settings", content: Schema.Struct({ at: Schema.Date }) })
const Item = Resource.template("item://{id}{?lines}", {
  name: "item",
  mimeType: "text/markdown",
  params: { id: Schema.Int, lines: Schema.optionalKey(Schema.Int) }
})

const reading = <E>(registrations: Layer.Layer<never, E, Registry>, uri: string) =>
  Effect.scoped(Effect.flatMap(offer(registrations), ({ snapshot }) => {
    const read = snapshot().resource(uri)?.read(uri) ?? snapshot().templates[0]?.match(uri)
    return read === undefined ? Effect.die("no match") : asRequest(read)
  }))

class Db extends Context.Service<Db, { readonly name: string }>()("test/Db") {}

const mimeType = "text/plain; charset=utf-8"
const uri = "note://one"

describe("ServerResource", () => {
  it.effect("lists the contracts", () =>
    Effect.gen(function*() {
      const { snapshot } = yield* offer(Layer.mergeAll(
        ServerResource.resource(Note, "x", { cache: { ttlMs: 5, scope: "public" } }),
        ServerResource.template(Item, () => Effect.succeed("x"))
      ))
      const { resources: [note], templates: [item] } = snapshot()
      assert.deepStrictEqual(note?.descriptor, Resource.toDescriptor(Note))
      assert.deepStrictEqual(note?.cache, { ttlMs: 5, scope: "public" })
      assert.deepStrictEqual(item?.descriptor, Resource.toTemplateDescriptor(Item))
    }))

  it.effect("[field RES-07] is read from a value, an effect or a function, with the type of the registration", () =>
    Effect.gen(function*() {
      const sources = ["hi", Effect.succeed("hi"), () => Effect.succeed("hi"), () => Effect.sync(() => "hi")]
      for (const source of sources) {
        const result = yield* reading(ServerResource.resource(Note, source), uri)
        assert.deepStrictEqual(result, { contents: [{ uri, mimeType, text: "hi" }] })
      }
    }))

  it.effect("[RES-09] [field RES-06] writes bytes in standard base64, padded and without a prefix", () =>
    Effect.gen(function*() {
      const bytes = new Uint8Array([0xfb, 0xff, 0xfe])
      const result = yield* reading(ServerResource.resource(Note, bytes), uri)
      assert.deepStrictEqual(result, { contents: [{ uri, mimeType, blob: "+//+" }] })
      const one = yield* reading(ServerResource.resource(Note, new Uint8Array([1])), uri)
      assert.deepStrictEqual(one.contents[0], { uri, mimeType, blob: "AQ==" })
    }))

  it.effect("[field RES-06] writes twenty megabytes", () =>
    Effect.gen(function*() {
      const result = yield* reading(ServerResource.resource(Note, new Uint8Array(20_000_000).fill(7)), uri)
      const [content] = result.contents
      assert.isTrue(content !== undefined && "blob" in content && content.blob.length === 26_666_668)
    }))

  it.effect("[RES-14] gives several contents, which keep what they say of themselves", () =>
    Effect.gen(function*() {
      const result = yield* reading(
        ServerResource.resource(Note, () =>
          Effect.succeed([
            "a",
            { uri: "note://two", text: "b", _meta: { x: 1 } },
            { mimeType: "image/png", blob: new Uint8Array([1]) },
            { blob: "AQ==" }
          ])),
        uri
      )
      assert.deepStrictEqual(result.contents, [
        { uri, mimeType, text: "a" },
        { uri: "note://two", mimeType, _meta: { x: 1 }, text: "b" },
        { uri, mimeType: "image/png", blob: "AQ==" },
        { uri, mimeType, blob: "AQ==" }
      ])
    }))

  it.effect("[CCH-01] gives cache hints and _meta of a result", () =>
    Effect.gen(function*() {
      const result = yield* reading(
        ServerResource.resource(
          Note,
          ServerResource.result({ contents: "hi", cache: { ttlMs: 9, scope: "public" }, meta: { x: 1 } })
        ),
        uri
      )
      assert.deepStrictEqual(result, {
        contents: [{ uri, mimeType, text: "hi" }],
        ttlMs: 9,
        cacheScope: "public",
        _meta: { x: 1 }
      })
    }))

  it.effect("writes a value of the contract's content as JSON", () =>
    Effect.gen(function*() {
      const value = { at: new Date(0) }
      const expected = [{
        uri: "app://settings",
        mimeType: "application/json",
        text: "{\"at\":\"1970-01-01T00:00:00.000Z\"}"
      }]
      for (const source of [value, ServerResource.result({ value })]) {
        assert.deepStrictEqual(
          (yield* reading(ServerResource.resource(Settings, source), "app://settings")).contents,
          expected
        )
      }
    }))

  it.effect("makes a defect of a value that does not fit, and of what is no contents", () =>
    Effect.gen(function*() {
      const wrong: unknown = { at: "secret" }
      const hidden: Effect.Effect<{ readonly at: Date }> = Effect.sync(() => JSON.parse(JSON.stringify(wrong)))
      const defect = defectOf(yield* Effect.exit(reading(ServerResource.resource(Settings, hidden), "app://settings")))
      assert.instanceOf(defect, ResultMismatch)
      assert.notInclude(defect.message, "secret")
      const nothing: Effect.Effect<string> = Effect.sync(() => JSON.parse("{}"))
      assert.instanceOf(
        defectOf(yield* Effect.exit(reading(ServerResource.resource(Note, nothing), uri))),
        ResultMismatch
      )
    }))

  it.effect("[RES-05] [field RES-05] never gives empty contents: nothing there is not found, and handlers may say so", () =>
    Effect.gen(function*() {
      const empty = yield* Effect.flip(reading(ServerResource.resource(Note, []), uri))
      assert.deepStrictEqual(empty, new ResourceNotFound({ uri }))
      const gone = yield* Effect.flip(
        reading(ServerResource.resource(Note, (uri) => Effect.fail(new ResourceNotFound({ uri }))), uri)
      )
      assert.deepStrictEqual(gone, new ResourceNotFound({ uri }))
    }))

  it.effect("refuses with what became of asking the client, and makes a defect of anything else", () =>
    Effect.gen(function*() {
      const late = new AskTimeout({ ask: "roots", millis: 5 })
      const refused = yield* Effect.flip(reading(ServerResource.resource(Note, Effect.fail(late)), uri))
      assert.deepStrictEqual(refused, new InvalidParams({ detail: late.message }))
      const failing = ServerResource.resource(Note, failsUnseen("secret"))
      assert.strictEqual(defectOf(yield* Effect.exit(reading(failing, uri))), "secret")
    }))

  describe("templates", () => {
    const ItemLive = ServerResource.template(Item, (params, uri) => Effect.succeed(`${JSON.stringify(params)} ${uri}`))

    it.effect("[field RES-01] [RES-08] give the handler decoded variables and the URI", () =>
      Effect.gen(function*() {
        const result = yield* reading(ItemLive, "item://7?lines=3")
        assert.deepStrictEqual(result.contents, [{
          uri: "item://7?lines=3",
          mimeType: "text/markdown",
          text: "{\"id\":7,\"lines\":3} item://7?lines=3"
        }])
        const City = Resource.template("city://{name}", { name: "city", params: { name: Schema.String } })
        const CityLive = ServerResource.template(City, ({ name }) => Effect.succeed(name))
        const [content] = (yield* reading(CityLive, "city://caf%C3%A9%20a+b")).contents
        assert.deepInclude(content, { text: "café a+b" })
      }))

    it.effect("[field RES-05] [field RES-01] do not match what does not decode, what is cut short or badly escaped", () =>
      Effect.gen(function*() {
        const { snapshot } = yield* offer(ItemLive)
        const match = snapshot().templates[0]?.match
        for (const bad of ["item://x", "item://7?lines=x", "item://7/8", "item://", "item://%zz", "other://7", ""]) {
          assert.isUndefined(match?.(bad), bad)
        }
        assert.isDefined(match?.("item://7"))
      }))

    it.effect("[RES-08] [law] read every value back that the contract has written", () =>
      Effect.gen(function*() {
        const Term = Resource.template("q://{term}", {
          name: "q",
          params: { term: Schema.String },
          separators: "decode"
        })
        const { snapshot } = yield* offer(ServerResource.template(Term, ({ term }) => Effect.succeed(term)))
        const match = snapshot().templates[0]?.match
        fc.assert(fc.property(fc.string({ unit: "grapheme" }), (term) => {
          const expanded = Term.expand({ term })
          fc.pre(expanded._tag === "Success")
          if (expanded._tag !== "Success") return
          const read = match?.(expanded.success)
          assert.isDefined(read)
          if (read === undefined) return
          assert.deepInclude(Effect.runSync(asRequest(read)).contents[0], { text: term, uri: expanded.success })
        }))
      }))

    it.effect("[RES-04] complete their variables by name", () =>
      Effect.gen(function*() {
        const { snapshot } = yield* offer(
          ServerResource.template(Item, () => Effect.succeed("x"), { complete: { id: ["7", "70", "8"] } })
        )
        const completions = snapshot().templates[0]?.completions
        assert.deepStrictEqual(Array.from(completions?.keys() ?? []), ["id"])
        const complete = completions?.get("id")
        if (complete === undefined) return assert.fail("no completion")
        assert.deepStrictEqual(yield* asRequest(complete("7", {})), { completion: { values: ["7", "70"] } })
      }))

    it.effect("take services from their layer, for reading and for completing", () =>
      Effect.gen(function*() {
        const named = Effect.map(Db, ({ name }) => name)
        const live = ServerResource.template(Item, () => named, {
          complete: { id: () => Effect.map(named, (name) => [name]) }
        })
        const { snapshot } = yield* offer(Layer.provide(live, Layer.succeed(Db, { name: "db" })))
        const entry = snapshot().templates[0]
        const [read, complete] = [entry?.match("item://7"), entry?.completions.get("id")]
        if (read === undefined || complete === undefined) return assert.fail("not registered")
        assert.deepInclude((yield* asRequest(read)).contents[0], { text: "db" })
        assert.deepStrictEqual((yield* asRequest(complete("", {}))).completion.values, ["db"])
      }))
  })

  it.effect("refuses two resources of one URI and two templates of one text", () =>
    Effect.gen(function*() {
      const twice = yield* Effect.exit(offer(Layer.mergeAll(
        ServerResource.resource(Note, "a"),
        ServerResource.resource(Note, "b")
      )))
      assert.deepStrictEqual(twice, Exit.fail(new DuplicateEntry({ kind: "resource", name: uri })))
      const templates = yield* Effect.exit(offer(Layer.mergeAll(
        ServerResource.template(Item, () => Effect.succeed("a")),
        ServerResource.template(Item, () => Effect.succeed("b"))
      )))
      assert.deepStrictEqual(
        templates,
        Exit.fail(new DuplicateEntry({ kind: "template", name: "item://{id}{?lines}" }))
      )
    }))
})
