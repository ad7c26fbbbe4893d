import { type ListenerError, NodeListener } from "@mcpfx/node"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Config, Context, Effect, type FileSystem, Layer, type Path, Schema, type Scope } from "effect"
import { HttpRouter, type HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import { describe, expect, test } from "tstyche"

class Database extends Context.Service<Database, { readonly query: Effect.Effect<string> }>()("Database") {}
class User extends Context.Service<User, { readonly name: string }>()("User") {}
class Broken extends Schema.TaggedError<Broken>()("Broken", {}) {}

const text = HttpServerResponse.text
type Listening = ListenerError.CannotListen | ListenerError.Exposed
type Served<A, E, R> = Layer.Layer<A | HttpServer.HttpServer, E | Listening, R>

const plain = HttpRouter.add("GET", "/", text("x"))
const needing = HttpRouter.add("GET", "/", Effect.map(Effect.flatMap(Database, ({ query }) => query), text))
const failing = HttpRouter.add("GET", "/", Effect.fail(new Broken()))
const building = Layer.merge(plain, Layer.effectDiscard(Effect.fail(new Broken())))
const reading = HttpRouter.add(
  "POST",
  "/",
  Effect.as(Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ multipart }) => multipart), text("x"))
)
const Login = HttpRouter.middleware<{ provides: User }>()(
  Effect.succeed((effect) => Effect.provideService(effect, User, { name: "ada" }))
)
const personal = HttpRouter.add("GET", "/", Effect.map(User, ({ name }) => text(name)))

describe("a layer of routes", () => {
  test("needs nothing more where they need but the router", () => {
    expect(NodeListener.layer(plain)).type.toBe<Served<never, never, never>>()
    expect(NodeListener.layer(plain, { port: 3000, host: "::1", drainTimeout: "1 second" })).type.toBe<
      Served<never, never, never>
    >()
  })

  test("needs what their handlers need", () => {
    expect(NodeListener.layer(needing)).type.toBe<Served<never, never, Database>>()
    expect(Layer.provide(NodeListener.layer(needing), Layer.succeed(Database, { query: Effect.succeed("") })))
      .type.toBe<Served<never, never, never>>()
    expect(NodeListener.layer(reading)).type.toBe<Served<never, never, FileSystem.FileSystem | Path.Path>>()
  })

  test("needs nothing that a middleware of theirs provides, and does not run without it", () => {
    expect(NodeListener.layer(Layer.provide(personal, Login.layer))).type.toBe<Served<never, never, never>>()
    expect(NodeListener.layer(personal)).type.toBe<Served<never, never, User>>()
  })

  test("fails as the building of them does, and as listening does; not as their handlers do", () => {
    expect(NodeListener.layer(building)).type.toBe<Served<never, Broken, never>>()
    expect(NodeListener.layer(failing)).type.toBe<Served<never, never, never>>()
  })
})

describe("a middleware around every request", () => {
  const options = { middleware: (effect) => Effect.provideService(effect, User, { name: "ada" }) } satisfies Pick<
    NodeListener.RouteOptions<Layer.Services<typeof personal>, unknown, unknown>,
    "middleware"
  >

  test("takes off what it provides, and asks for what it needs", () => {
    expect(NodeListener.layer(personal, options)).type.toBe<Served<never, never, never>>()
    expect(
      NodeListener.layer(plain, {
        middleware: (effect) => Effect.tap(effect, () => Effect.flatMap(Database, ({ query }) => query))
      })
    ).type.toBe<Served<never, never, Database>>()
  })

  test("has the request and its scope, which nobody need provide", () => {
    expect(
      NodeListener.layer(plain, {
        middleware: (effect) =>
          Effect.andThen(
            Effect.flatMap(HttpServerRequest.HttpServerRequest, () => Effect.addFinalizer(() => Effect.void)),
            effect
          )
      })
    ).type.toBe<Served<never, never, never>>()
  })

  test("is one", () => {
    expect(NodeListener.layer).type.not.toBeCallableWith(plain, { middleware: Effect.succeed(text("x")) })
    expect(NodeListener.layer).type.not.toBeCallableWith(plain, { middleware: () => "x" })
  })
})

describe("an MCP endpoint", () => {
  const Query = McpServer.tool(Tool.make("query"), () => Effect.flatMap(Database, ({ query }) => query))
  const routes = McpServer.layerHttp(Query, { name: "t", version: "1" })

  test("needs what its tools need, and fails as it does", () => {
    expect<Layer.Services<ReturnType<typeof served>>>().type.toBe<Database>()
    expect<Extract<Layer.Error<ReturnType<typeof served>>, Listening>>().type.toBe<Listening>()
    expect<Layer.Error<typeof routes>>().type.toBeAssignableTo<Layer.Error<ReturnType<typeof served>>>()
  })

  const served = () => NodeListener.layer(routes)

  test("without what it needs is no program", () => {
    expect(Effect.runPromise).type.not.toBeCallableWith(Layer.launch(served()))
    expect(Effect.runPromise).type.toBeCallableWith(
      Layer.launch(Layer.provide(served(), Layer.succeed(Database, { query: Effect.succeed("") })))
    )
  })
})

describe("the others", () => {
  test("options from configuration can be wrong", () => {
    expect(NodeListener.layerConfig(needing, Config.all({ port: Config.Port("PORT") }))).type.toBe<
      Served<never, Config.ConfigError, Database>
    >()
    expect(NodeListener.layerConfig(plain, { port: Config.Port("PORT"), host: Config.String("HOST") })).type.toBe<
      Served<never, Config.ConfigError, never>
    >()
    expect(NodeListener.layerConfig).type.not.toBeCallableWith(plain, { port: Config.String("PORT") })
  })

  test("a server alone fails where it cannot listen, and exposes nothing", () => {
    expect(NodeListener.layerServer()).type.toBe<Layer.Layer<HttpServer.HttpServer, ListenerError.CannotListen>>()
    expect(NodeListener.layerServer).type.not.toBeCallableWith({ middleware: () => Effect.succeed(text("x")) })
  })

  test("a listener listens nowhere: it lives as long as its scope", () => {
    expect(NodeListener.make(needing)).type.toBe<Effect.Effect<NodeListener.Listener, never, Database | Scope.Scope>>()
    expect(NodeListener.make(building)).type.toBe<Effect.Effect<NodeListener.Listener, Broken, Scope.Scope>>()
    expect(NodeListener.make).type.not.toBeCallableWith(plain, { port: 3000 })
    expect(createServer).type.toBeCallableWith(Effect.runSync(Effect.scoped(NodeListener.make(plain))))
  })
})
