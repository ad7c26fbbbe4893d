import { assert, describe, it } from "@effect/vitest"
import { Codes, CustomMethod, Extension, McpError } from "@mcpfx/schema"
import * as McpServer from "@mcpfx/server/McpServer"
import * as ServerExtension from "@mcpfx/server/ServerExtension"
import { RequestContext } from "@mcpfx/session/RequestContext"
import * as TestServer from "@mcpfx/testing/TestServer"
import { Context, Deferred, Effect, Layer, Schema } from "effect"
import { AskContext } from "../src/AskContext.ts"
import * as ClientExtension from "../src/ClientExtension.ts"
import * as McpClient from "../src/McpClient.ts"

const legacyVersions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const
const allVersions = [...legacyVersions, "2026-07-28"] as const

const Where = CustomMethod.request("com.example/where", {
  params: { precise: Schema.Boolean },
  result: { place: Schema.String },
  sender: "server"
})
const Moved = CustomMethod.notification("com.example/moved", { params: { to: Schema.String } })
const Place = Extension.make("com.example/place", { requests: [Where], notifications: [Moved] })

/** A method whose handler asks the client something of its own, and tells it something. */
const Ask = CustomMethod.request("com.example/ask", {
  params: { precise: Schema.Unknown },
  result: { answer: Schema.String }
})
const AskLive = McpServer.method(Ask, ({ precise }) =>
  Effect.gen(function*() {
    const { asker, notify } = yield* RequestContext
    yield* notify(Moved, { to: "sea" })
    if (asker === undefined) return { answer: "nobody to ask" }
    const asked = asker.request(Where, { precise: precise === true })
    return yield* Effect.match(asked, {
      onFailure: (error) => ({ answer: error._tag === "PeerError" ? `${error.code} ${error.message}` : error._tag }),
      onSuccess: ({ place }) => ({ answer: place })
    })
  }))

const Server = Layer.merge(AskLive, ServerExtension.layer(Place))

class Atlas extends Context.Service<Atlas, { readonly home: string }>()("Atlas") {}

const PlaceLive = ClientExtension.layer(Place, {
  handlers: {
    "com.example/where": ({ precise }) =>
      precise
        ? Effect.fail(new McpError.InvalidParams({ detail: "not that precisely" }))
        : Effect.gen(function*() {
          const { method, server } = yield* AskContext
          return { place: `${(yield* Atlas).home} (${method} of ${server.info?.name})` }
        })
  }
}).pipe(Layer.provide(Layer.succeed(Atlas, { home: "Rome" })))

const ask = (precise: unknown) =>
  Effect.gen(function*() {
    const client = yield* McpClient.McpClient
    return (yield* client.request(Ask, { precise })).answer
  })

describe("requests of the server", () => {
  for (const revision of legacyVersions) {
    it.effect(`[EXT-04] ${revision}: are answered, with the services of the layer and the facts of the ask`, () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* ask(false), "Rome (com.example/where of test)")
        assert.strictEqual(yield* ask(true), `${Codes.invalidParams} not that precisely`)
      }).pipe(Effect.provide(TestServer.layer(Server, { revision })), Effect.provide(PlaceLive)))

    it.effect(`[EXT-04] ${revision}: of an extension that the server did not announce are refused`, () =>
      Effect.gen(function*() {
        assert.include(yield* ask(false), `${Codes.methodNotFound}`)
      }).pipe(Effect.provide(TestServer.layer(AskLive, { revision })), Effect.provide(PlaceLive)))

    it.effect(`[ROO-03] ${revision}: without a handler are refused`, () =>
      Effect.gen(function*() {
        assert.include(yield* ask(false), `${Codes.methodNotFound}`)
      }).pipe(Effect.provide(TestServer.layer(Server, { revision }))))
  }

  it.effect("[RPC-17] 2026-07-28: are not there", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* ask(false), "nobody to ask")
    }).pipe(Effect.provide(TestServer.layer(Server)), Effect.provide(PlaceLive)))

  it.effect("of no extension are answered as well", () => {
    const own = ClientExtension.method(Where, () => Effect.succeed({ place: "here" }))
    return Effect.gen(function*() {
      assert.strictEqual(yield* ask(false), "here")
    }).pipe(Effect.provide(TestServer.layer(AskLive, { revision: "2025-11-25" })), Effect.provide(own))
  })

  it.effect("an answer that does not fit is a fault of the handler, and not sent", () => {
    const Odd = CustomMethod.request("com.example/where", { result: { place: Schema.Int }, sender: "server" })
    const own = ClientExtension.method(Odd, () => Effect.succeed({ place: 0.5 }))
    return Effect.gen(function*() {
      assert.include(yield* ask(false), `${Codes.internalError}`)
    }).pipe(Effect.provide(TestServer.layer(AskLive, { revision: "2025-11-25" })), Effect.provide(own))
  })
})

describe("notifications of the server", () => {
  for (const revision of allVersions) {
    it.effect(`${revision}: are heard by the listeners of the extension`, () =>
      Effect.gen(function*() {
        const heard = yield* Deferred.make<string>()
        const listening = ClientExtension.layer(Place, {
          handlers: { "com.example/where": () => Effect.succeed({ place: "" }) },
          listeners: { "com.example/moved": ({ to }) => Effect.asVoid(Deferred.succeed(heard, to)) }
        })
        yield* Effect.andThen(ask(false), Deferred.await(heard)).pipe(
          Effect.provide(TestServer.layer(Server, { revision })),
          Effect.provide(listening)
        )
        assert.strictEqual(yield* Deferred.await(heard), "sea")
      }))
  }

  it.effect("a listener that breaks hears the next one", () =>
    Effect.gen(function*() {
      const heard = yield* Deferred.make<number>()
      let count = 0
      const listening = ClientExtension.layer(Place, {
        handlers: { "com.example/where": () => Effect.succeed({ place: "" }) },
        listeners: {
          "com.example/moved": () =>
            Effect.suspend(() => ++count === 1 ? Effect.die("broken") : Effect.asVoid(Deferred.succeed(heard, count)))
        }
      })
      yield* Effect.andThen(Effect.andThen(ask(false), ask(false)), Deferred.await(heard)).pipe(
        Effect.provide(TestServer.layer(Server)),
        Effect.provide(listening)
      )
      assert.strictEqual(count, 2)
    }))
})

describe("layers", () => {
  it.effect("[EXT-02] of many extensions stand side by side", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      assert.deepStrictEqual([...(yield* client.server).extensions].sort(), ["com.example/a", "com.example/b"])
    }).pipe(
      Effect.provide(
        TestServer.layer(Layer.empty, { server: { extensions: { "com.example/a": {}, "com.example/b": {} } } })
      ),
      Effect.provide(Layer.mergeAll(
        ClientExtension.layer(Extension.make("com.example/a")),
        ClientExtension.layer(Extension.make("com.example/b")),
        ClientExtension.layer(Extension.make("com.example/c"))
      ))
    ))
})
