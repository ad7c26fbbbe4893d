import { assert, describe, it } from "@effect/vitest"
import * as ClientExtension from "@mcpfx/client/ClientExtension"
import * as McpClient from "@mcpfx/client/McpClient"
import { Codes, CustomMethod, Extension, McpError } from "@mcpfx/schema"
import { RequestContext } from "@mcpfx/session/RequestContext"
import * as TestServer from "@mcpfx/testing/TestServer"
import { Context, Deferred, Effect, Fiber, Layer, Option, Schema, Stream } from "effect"
import * as Call from "../src/Call.ts"
import * as McpServer from "../src/McpServer.ts"
import * as Middleware from "../src/Middleware.ts"
import { DuplicateEntry } from "../src/ServerError.ts"
import * as ServerExtension from "../src/ServerExtension.ts"
import { allVersions, legacyVersions } from "./protocol/harness.ts"

const Twice = CustomMethod.request("com.example/twice", { params: { n: Schema.Int }, result: { n: Schema.Int } })
const TwiceLive = McpServer.method(Twice, ({ n }) => Effect.succeed({ n: 2 * n }))

describe("a request of one's own", () => {
  for (const revision of allVersions) {
    it.effect(`${revision}: is answered, beside the protocol's own`, () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        assert.deepStrictEqual(yield* client.request(Twice, { n: 21 }), { n: 42 })
        const raw = yield* client.requestRaw(Twice.name, { n: 1, more: true })
        assert.strictEqual(raw["n"], 2)
        assert.strictEqual(raw["resultType"], revision === "2026-07-28" ? "complete" : undefined)
        yield* client.ping
      }).pipe(Effect.provide(TestServer.layer(TwiceLive, { revision }))))

    it.effect(`[EXT-08] ${revision}: params that do not fit are refused, here before they are sent and there`, () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const here = yield* Effect.flip(client.request(Twice, { n: 1.5 }))
        assert.strictEqual(here.reason._tag, "BadInput")
        const there = yield* Effect.flip(client.requestRaw(Twice.name, { n: "1" }))
        assert.strictEqual(there.reason._tag === "Refused" ? there.reason.code : 0, Codes.invalidParams)
        assert.include(there.message, "n:")
      }).pipe(Effect.provide(TestServer.layer(TwiceLive, { revision }))))

    it.effect(`[RPC-24] ${revision}: where it is not registered it is not there`, () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const { reason } = yield* Effect.flip(client.request(Twice, { n: 1 }))
        assert.strictEqual(reason._tag === "Refused" ? reason.code : 0, Codes.methodNotFound)
      }).pipe(Effect.provide(TestServer.layer(Layer.empty, { revision }))))
  }

  for (const revision of ["2025-11-25", "2026-07-28"] as const) {
    it.effect(`${revision}: may be refused by its handler; what does not fit never leaves it`, () => {
      const Odd = CustomMethod.request("com.example/odd", { result: { n: Schema.Int } })
      const Refusing = CustomMethod.request("com.example/refusing")
      const live = Layer.mergeAll(
        McpServer.method(Odd, () => Effect.succeed({ n: 0.5 })),
        McpServer.method(Refusing, () => Effect.fail(new McpError.InvalidParams({ detail: "not today" })))
      )
      return Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const odd = yield* Effect.flip(client.request(Odd, {}))
        assert.strictEqual(odd.reason._tag === "Refused" ? odd.reason.code : 0, Codes.internalError)
        const refusing = yield* Effect.flip(client.request(Refusing, {}))
        assert.strictEqual(refusing.reason._tag === "Refused" ? refusing.reason.code : 0, Codes.invalidParams)
        assert.include(refusing.message, "not today")
      }).pipe(Effect.provide(TestServer.layer(live, { revision })))
    })
  }

  it.effect("two of one name are refused", () =>
    Effect.gen(function*() {
      const twin = McpServer.method(Twice, ({ n }) => Effect.succeed({ n }))
      const error = yield* Effect.flip(Effect.scoped(Layer.build(TestServer.layer(Layer.mergeAll(TwiceLive, twin)))))
      assert.deepStrictEqual(error, new DuplicateEntry({ kind: "method", name: Twice.name }))
    }))

  it.effect("its handler has the services of its layer and the facts of its request", () => {
    class Greeting extends Context.Service<Greeting, string>()("Greeting") {}
    const Greet = CustomMethod.request("com.example/greet", { result: { text: Schema.String, token: Schema.Unknown } })
    const live = McpServer.method(Greet, () =>
      Effect.gen(function*() {
        const { meta } = yield* RequestContext
        return { text: yield* Greeting, token: meta["com.example/key"] }
      })).pipe(Layer.provide(Layer.succeed(Greeting, "hello")))
    return Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      assert.deepStrictEqual(yield* client.request(Greet, {}, { meta: { "com.example/key": 7 } }), {
        text: "hello",
        token: 7
      })
    }).pipe(Effect.provide(TestServer.layer(live)))
  })
})

describe("middleware", () => {
  const limited = (most: number) =>
    Middleware.make<never, McpError.InvalidParams>()(
      "limited",
      (next, call) =>
        Call.isMethodCall(call, Twice) && call.params.n > most
          ? Effect.fail(new McpError.InvalidParams({ detail: "too many" }))
          : next(Call.isMethodCall(call, Twice) ? { ...call, params: { n: call.params.n + 1 } } : call)
    )

  for (const revision of ["2025-11-25", "2026-07-28"] as const) {
    it.effect(`${revision}: sees and changes requests of one's own as all others`, () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        assert.deepStrictEqual(yield* client.request(Twice, { n: 1 }), { n: 4 })
        const { reason } = yield* Effect.flip(client.request(Twice, { n: 11 }))
        assert.strictEqual(reason._tag === "Refused" ? reason.message : "", "too many")
      }).pipe(Effect.provide(TestServer.layer(TwiceLive.pipe(Middleware.apply(limited(10))), { revision }))))
  }

  it.effect("what it makes of params and results is checked", () => {
    const odd = Middleware.make()(
      "odd",
      (next, call) => call.kind === "method" ? next({ ...call, params: { n: "one" } }) : next(call)
    )
    const rounded = Middleware.make()("rounded", () => Effect.succeed({ n: "two" }))
    return Effect.gen(function*() {
      for (const middleware of [odd, rounded]) {
        const code = yield* Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const { reason } = yield* Effect.flip(client.request(Twice, { n: 1 }))
          return reason._tag === "Refused" ? reason.code : 0
        }).pipe(Effect.provide(TestServer.layer(TwiceLive.pipe(Middleware.apply(middleware)))))
        assert.strictEqual(code, Codes.internalError)
      }
    })
  })
})

describe("a notification of one's own", () => {
  const Here = CustomMethod.notification("com.example/here", { params: { at: Schema.String }, sender: "client" })
  const Step = CustomMethod.notification("com.example/step", { params: { n: Schema.Int } })
  const Walk = CustomMethod.request("com.example/walk", { params: { steps: Schema.Int } })
  const WalkLive = McpServer.method(Walk, ({ steps }) =>
    Effect.gen(function*() {
      const { notify } = yield* RequestContext
      for (let n = 1; n <= steps; n++) yield* notify(Step, { n })
    }))

  for (const revision of legacyVersions) {
    it.effect(`${revision}: of a client is heard, unless it cannot be read`, () =>
      Effect.gen(function*() {
        const heard = yield* Deferred.make<string>()
        const live = McpServer.notification(Here, ({ at }) => Effect.asVoid(Deferred.succeed(heard, at)))
        const at = yield* Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          yield* client.notifyRaw(Here.name, { at: 7 })
          yield* client.notifyRaw("com.example/unknown", {})
          yield* ClientExtension.notify(Here, { at: "home" })
          return yield* Deferred.await(heard)
        }).pipe(Effect.provide(TestServer.layer(live, { revision })))
        assert.strictEqual(at, "home")
      }))
  }

  it.effect("2026-07-28: is not there for clients", () =>
    Effect.gen(function*() {
      const { reason } = yield* Effect.flip(ClientExtension.notify(Here, { at: "home" }))
      assert.strictEqual(reason._tag, "NotOffered")
    }).pipe(Effect.provide(TestServer.layer(McpServer.notification(Here, () => Effect.void)))))

  for (const revision of allVersions) {
    it.effect(`${revision}: of a handler goes out on the stream of its request`, () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const steps = yield* client.notifications(Step).pipe(
          Stream.take(2),
          Stream.runCollect,
          Effect.forkChild({ startImmediately: true })
        )
        yield* client.request(Walk, { steps: 2 })
        assert.deepStrictEqual(yield* Fiber.join(steps), [{ n: 1 }, { n: 2 }])
      }).pipe(Effect.provide(TestServer.layer(WalkLive, { revision }))))
  }
})

describe("announcements", () => {
  const Moved = CustomMethod.notification("com.example/moved", {
    params: { ship: Schema.String, x: Schema.Finite },
    listen: { filter: "com.example/ships", topic: "ship" }
  })
  const Sailed = CustomMethod.notification("com.example/sailed", { params: { x: Schema.Finite } })
  const Fleet = Extension.make("com.example/fleet", { notifications: [Moved] })

  /** A method that has everybody told. */
  const Sail = CustomMethod.request("com.example/sail", { params: { ship: Schema.String, x: Schema.Finite } })
  const SailLive = McpServer.method(
    Sail,
    (params) => Effect.andThen(McpServer.announce(Moved, params), McpServer.announce(Sailed, { x: params.x }))
  )

  const Live = Layer.mergeAll(McpServer.announcement(Moved), McpServer.announcement(Sailed), SailLive)

  for (const revision of allVersions) {
    it.effect(`[SUB-01] [SUB-02] ${revision}: reach those who want them, by topic`, () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const { honoured } = yield* client.subscribe({
          announcements: { "com.example/ships": ["Ida"], "com.example/sailed": true, "com.example/unknown": true }
        })
        if (revision === "2026-07-28") {
          assert.deepStrictEqual(honoured().announcements, {
            "com.example/ships": ["Ida"],
            "com.example/sailed": true
          })
        }
        const moved = yield* client.notifications(Moved).pipe(
          Stream.take(revision === "2026-07-28" ? 2 : 3),
          Stream.runCollect,
          Effect.forkChild({ startImmediately: true })
        )
        const sailed = yield* client.notifications(Sailed).pipe(
          Stream.take(3),
          Stream.runCollect,
          Effect.forkChild({ startImmediately: true })
        )
        yield* client.request(Sail, { ship: "Ida", x: 1 })
        yield* client.request(Sail, { ship: "Eva", x: 2 })
        yield* client.request(Sail, { ship: "Ida", x: 3 })
        const all = [{ ship: "Ida", x: 1 }, { ship: "Eva", x: 2 }, { ship: "Ida", x: 3 }]
        assert.deepStrictEqual(
          yield* Fiber.join(moved),
          revision === "2026-07-28" ? all.filter(({ ship }) => ship === "Ida") : all
        )
        assert.deepStrictEqual(yield* Fiber.join(sailed), [{ x: 1 }, { x: 2 }, { x: 3 }])
      }).pipe(Effect.provide(TestServer.layer(Live, { revision }))))
  }

  it.effect("[SUB-01] 2026-07-28: what nobody asked for is not sent", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      yield* client.subscribe({ announcements: { "com.example/sailed": true } })
      let heard = 0
      yield* Effect.forkChild(Stream.runForEach(client.notifications(Moved), () => Effect.sync(() => heard++)), {
        startImmediately: true
      })
      const sailed = yield* client.notifications(Sailed).pipe(
        Stream.take(1),
        Stream.runDrain,
        Effect.forkChild({ startImmediately: true })
      )
      yield* client.request(Sail, { ship: "Ida", x: 1 })
      yield* Fiber.join(sailed)
      assert.strictEqual(heard, 0)
    }).pipe(Effect.provide(TestServer.layer(Live))))

  const FleetLive = Layer.mergeAll(ServerExtension.layer(Fleet), McpServer.announcement(Sailed), SailLive)

  for (const revision of allVersions) {
    it.effect(`[EXT-04] [SUB-01] ${revision}: of an extension reach only clients that speak it`, () => {
      const heard = Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        yield* client.subscribe({ announcements: { "com.example/ships": ["Ida"], "com.example/sailed": true } })
        let moved = 0
        yield* Effect.forkChild(Stream.runForEach(client.notifications(Moved), () => Effect.sync(() => moved++)), {
          startImmediately: true
        })
        const sailed = yield* client.notifications(Sailed).pipe(
          Stream.take(1),
          Stream.runDrain,
          Effect.forkChild({ startImmediately: true })
        )
        yield* client.request(Sail, { ship: "Ida", x: 1 })
        yield* Fiber.join(sailed)
        return moved
      })
      const served = Effect.provide(heard, TestServer.layer(FleetLive, { revision }))
      return Effect.gen(function*() {
        assert.strictEqual(yield* served, 0)
        assert.strictEqual(yield* Effect.provide(served, ClientExtension.layer(Fleet)), 1)
      })
    })
  }

  it.effect("2026-07-28: as a stream that asks for itself, and stops asking", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const x = yield* Deferred.make<number>()
      const hearing = yield* Effect.forkChild(
        Stream.runForEach(ClientExtension.listen(Moved, ["Ida"]), (moved) => Deferred.succeed(x, moved.x)),
        { startImmediately: true }
      )
      const sailing = client.request(Sail, { ship: "Ida", x: 5 }).pipe(Effect.andThen(Effect.yieldNow), Effect.forever)
      assert.strictEqual(yield* Effect.raceFirst(Deferred.await(x), sailing), 5)
      yield* Fiber.interrupt(hearing)
    }).pipe(Effect.provide(TestServer.layer(Live))))

  it.effect("those for one principal do not reach another", () =>
    Effect.gen(function*() {
      const somebody = { issuer: "https://as.example", subject: "ada", scopes: [], claims: {} }
      const Whisper = CustomMethod.request("com.example/whisper")
      const live = Layer.mergeAll(
        McpServer.announcement(Sailed),
        McpServer.method(Whisper, () =>
          Effect.andThen(
            McpServer.announce(Sailed, { x: 1 }, { principal: Option.some(somebody) }),
            McpServer.announce(Sailed, { x: 2 }, { principal: Option.none() })
          ))
      )
      for (const revision of allVersions) {
        const heard = yield* Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          yield* client.subscribe({ announcements: { "com.example/sailed": true } })
          const first = yield* client.notifications(Sailed).pipe(
            Stream.take(1),
            Stream.runCollect,
            Effect.forkChild({ startImmediately: true })
          )
          yield* client.request(Whisper, {})
          return yield* Fiber.join(first)
        }).pipe(Effect.provide(TestServer.layer(live, { revision })))
        assert.deepStrictEqual(heard, [{ x: 2 }])
      }
    }))
})
