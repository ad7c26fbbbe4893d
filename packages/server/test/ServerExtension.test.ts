import { assert, describe, it } from "@effect/vitest"
import * as ClientExtension from "@mcpfx/client/ClientExtension"
import * as McpClient from "@mcpfx/client/McpClient"
import { type Capabilities, Codes, CustomMethod, Extension } from "@mcpfx/schema"
import { RequestContext } from "@mcpfx/session/RequestContext"
import * as TestServer from "@mcpfx/testing/TestServer"
import { Effect, Exit, Layer, Option, Result, Schema, Scope } from "effect"
import * as ChangeBus from "../src/ChangeBus.ts"
import * as Middleware from "../src/Middleware.ts"
import * as Registry from "../src/Registry.ts"
import { DuplicateEntry } from "../src/ServerError.ts"
import * as ServerExtension from "../src/ServerExtension.ts"
import { allVersions, legacyVersions } from "./protocol/harness.ts"

const Search = CustomMethod.request("com.example/search", {
  params: { query: Schema.String, since: Schema.DateFromString },
  result: { hits: Schema.Array(Schema.String) }
})

const id = "com.example/full-text"

const FullText = Extension.make(id, {
  serverSettings: { languages: Schema.Array(Schema.String) },
  clientSettings: { most: Schema.Int },
  requests: [Search]
})

const since = new Date("2026-01-01T00:00:00.000Z")

const FullTextLive = ServerExtension.layer(FullText, {
  settings: { languages: ["en"] },
  handlers: {
    "com.example/search": ({ query, since }) =>
      Effect.map(ServerExtension.required(FullText), ({ most }) => ({
        hits: [query, since.toISOString(), "more"].slice(0, most)
      }))
  }
})

const Speaking = ClientExtension.layer(FullText, { settings: { most: 2 } })

const asked = { query: "hay", since: "2026-01-01T00:00:00.000Z" }

/** What the server answers to a client that says `capabilities` of itself. */
const refused = (revision: (typeof allVersions)[number], capabilities: Capabilities.Client) =>
  Effect.gen(function*() {
    const client = yield* McpClient.McpClient
    const { reason } = yield* Effect.flip(client.requestRaw(Search.name, asked))
    return reason._tag === "Refused" ? { code: reason.code, data: reason.data } : reason._tag
  }).pipe(Effect.provide(TestServer.layer(FullTextLive, { revision, client: { capabilities } })))

const expected = (revision: (typeof allVersions)[number]) =>
  revision === "2026-07-28"
    ? { code: Codes.missingClientCapability, data: { requiredCapabilities: { extensions: { [id]: {} } } } }
    : { code: Codes.methodNotFound, data: undefined }

describe("an extension that both sides have", () => {
  for (const revision of allVersions) {
    it.effect(`[EXT-02] [EXT-03] ${revision}: is announced with its settings, and its requests are answered`, () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const { capabilities, extensions } = yield* client.server
        assert.deepStrictEqual(capabilities.extensions, { [id]: { languages: ["en"] } })
        assert.deepStrictEqual(extensions, [id])
        assert.deepStrictEqual(yield* ClientExtension.server(FullText), Option.some({ languages: ["en"] }))
        assert.deepStrictEqual(yield* client.request(Search, { query: "hay", since }), {
          hits: ["hay", "2026-01-01T00:00:00.000Z"]
        })
      }).pipe(Effect.provide(TestServer.layer(FullTextLive, { revision })), Effect.provide(Speaking)))
  }
})

describe("an extension that one side has", () => {
  for (const revision of allVersions) {
    it.effect(`[EXT-04] [EXT-06] ${revision}: its requests are refused where the client did not announce it`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* refused(revision, {}), expected(revision))
        assert.deepStrictEqual(
          yield* refused(revision, { extensions: { "com.example/other": {} } }),
          expected(revision)
        )
      }))

    it.effect(`[EXT-08] ${revision}: settings of a client that do not fit count as none`, () =>
      Effect.gen(function*() {
        const capabilities = { extensions: { [id]: { most: "many" } } }
        assert.deepStrictEqual(yield* refused(revision, capabilities), expected(revision))
      }))

    it.effect(`[EXT-04] ${revision}: is not asked for where the server did not announce it`, () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        assert.deepStrictEqual((yield* client.server).extensions, [])
        const { reason } = yield* Effect.flip(client.request(Search, { query: "hay", since }))
        assert.strictEqual(reason._tag, "NotOffered")
        assert.deepStrictEqual(yield* ClientExtension.server(FullText), Option.none())
      }).pipe(Effect.provide(TestServer.layer(Layer.empty, { revision })), Effect.provide(Speaking)))

    it.effect(`[EXT-08] ${revision}: settings of a server that do not fit count as none, and the place is named`, () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const { capabilities, extensions } = yield* client.server
        assert.deepStrictEqual(extensions, [])
        const read = Extension.ofServer(FullText, capabilities)
        assert.isTrue(Result.isFailure(read))
        if (Result.isFailure(read)) {
          assert.strictEqual(read.failure._tag, "InvalidSettings")
          assert.strictEqual(read.failure.extension, id)
          assert.include(read.failure.detail, "languages[0]")
        }
        const { reason } = yield* Effect.flip(client.request(Search, { query: "hay", since }))
        assert.strictEqual(reason._tag, "NotOffered")
      }).pipe(
        Effect.provide(
          TestServer.layer(Layer.empty, { revision, server: { extensions: { [id]: { languages: [7] } } } })
        ),
        Effect.provide(Speaking)
      ))
  }
})

describe("extensions that nobody here knows", () => {
  for (const revision of allVersions) {
    it.effect(`[EXT-02] [EXT-03] ${revision}: are left as they came, on both sides`, () => {
      const theirs = { "com.example/strange": { deep: { list: [1, null, "x"] } } }
      const Echo = CustomMethod.request("com.example/echo", { result: { extensions: Schema.Unknown } })
      const EchoLive = ServerExtension.layer(Extension.make("com.example/echo", { requests: [Echo] }), {
        handlers: {
          "com.example/echo": () =>
            Effect.map(RequestContext, ({ clientCapabilities }) => ({ extensions: clientCapabilities.extensions }))
        }
      })
      const both = { ...theirs, "com.example/echo": {} }
      return Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        assert.deepStrictEqual((yield* client.server).capabilities.extensions, both)
        assert.deepStrictEqual(yield* client.request(Echo, {}), { extensions: both })
      }).pipe(
        Effect.provide(TestServer.layer(EchoLive, {
          revision,
          server: { extensions: theirs },
          client: { capabilities: { extensions: both } }
        }))
      )
    })
  }
})

describe("an extension of newer revisions", () => {
  const Late = CustomMethod.request("com.example/late", { since: "2026-07-28" })
  const Newer = Extension.make("com.example/newer", { requests: [Late], since: "2026-07-28" })
  const NewerLive = ServerExtension.layer(Newer, { handlers: { "com.example/late": () => Effect.void } })

  for (const revision of legacyVersions) {
    it.effect(`[EXT-02] ${revision}: is not there`, () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        assert.isUndefined((yield* client.server).capabilities.extensions)
        const raw = yield* Effect.flip(client.requestRaw("com.example/late"))
        assert.strictEqual(raw.reason._tag === "Refused" ? raw.reason.code : 0, Codes.methodNotFound)
      }).pipe(
        Effect.provide(TestServer.layer(NewerLive, { revision })),
        Effect.provide(ClientExtension.layer(Newer))
      ))
  }

  it.effect("[EXT-02] 2026-07-28: is there", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      assert.deepStrictEqual((yield* client.server).extensions, ["com.example/newer"])
      assert.isUndefined(yield* client.request(Late, {}))
    }).pipe(Effect.provide(TestServer.layer(NewerLive)), Effect.provide(ClientExtension.layer(Newer))))
})

describe("registration", () => {
  const registry = Layer.provideMerge(Registry.layer, ChangeBus.layerMemory)

  it.effect("[EXT-06] what a layer offers goes with it", () =>
    Effect.gen(function*() {
      const { snapshot } = yield* Registry.Registry
      const before = snapshot().version
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(FullTextLive, scope)
      assert.deepStrictEqual(snapshot().extensions.map(({ name }) => name), [id])
      assert.isDefined(snapshot().method(Search.name))
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(snapshot().extensions, [])
      assert.isUndefined(snapshot().method(Search.name))
      assert.isAbove(snapshot().version, before)
    }).pipe(Effect.provide(registry)))

  it.effect("[EXT-01] two extensions of one identifier are refused", () =>
    Effect.gen(function*() {
      const twin = ServerExtension.layer(Extension.make(id))
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(Layer.mergeAll(twin, Layer.fresh(FullTextLive)))))
      assert.isTrue(Exit.isFailure(exit))
      const error = yield* Effect.flip(Effect.scoped(Layer.build(Layer.mergeAll(twin, Layer.fresh(FullTextLive)))))
      assert.deepStrictEqual(error, new DuplicateEntry({ kind: "extension", name: id }))
    }).pipe(Effect.provide(registry)))

  it.effect("[EXT-02] settings that do not fit are a mistake of the program, and named", () =>
    Effect.gen(function*() {
      const Odd = Extension.make("com.example/odd", { serverSettings: { n: Schema.Int } })
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(ServerExtension.layer(Odd, { settings: { n: 1.5 } }))))
      assert.include(String(exit), "com.example/odd")
    }).pipe(Effect.provide(registry)))
})

describe("middleware", () => {
  for (const revision of ["2025-11-25", "2026-07-28"] as const) {
    it.effect(`[RPC-24] ${revision}: a hidden method is not there`, () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const { reason } = yield* Effect.flip(client.request(Search, { query: "hay", since }))
        assert.strictEqual(reason._tag === "Refused" ? reason.code : 0, Codes.methodNotFound)
      }).pipe(
        Effect.provide(
          TestServer.layer(FullTextLive.pipe(Middleware.apply(Middleware.visibility(() => false))), { revision })
        ),
        Effect.provide(Speaking)
      ))
  }
})
