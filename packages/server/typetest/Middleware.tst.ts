import * as Tool from "@mcpfx/schema/ToolContract"
import { RequestContext } from "@mcpfx/session/RequestContext"
import { Context, Effect, Layer, Schema } from "effect"
import { expect, test } from "tstyche"
import * as Call from "../src/Call.ts"
import * as Middleware from "../src/Middleware.ts"
import type { Registry } from "../src/Registry.ts"
import type { DuplicateEntry, Unhandled } from "../src/ServerError.ts"
import * as ServerTool from "../src/ServerTool.ts"

class User extends Context.Service<User, { readonly name: string }>()("User") {}
class Tenant extends Context.Service<Tenant, { readonly id: string }>()("Tenant") {}
class Users extends Context.Service<Users, { readonly find: Effect.Effect<{ readonly name: string }> }>()("Users") {}
class Db extends Context.Service<Db, { readonly name: string }>()("Db") {}
class Denied extends Schema.TaggedError<Denied>("Denied")("Denied", { why: Schema.String }) {}

const Hello = Tool.make("hello", { input: { times: Schema.Int }, output: Schema.Finite })
const HelloLive = ServerTool.tool(Hello, () =>
  Effect.gen(function*() {
    yield* User
    yield* Tenant
    yield* Db
    return 1
  }))

const WhoAmI = Middleware.make<User, Denied>()("user", (next, call) =>
  Effect.gen(function*() {
    yield* RequestContext
    if (call.target.name === "secret") return yield* new Denied({ why: "secret" })
    return yield* Effect.provideService(next(call), User, { name: "ann" })
  }))

const OfUser = Middleware.make<Tenant>()(
  "tenant",
  (next, call) => Effect.flatMap(User, ({ name }) => Effect.provideService(next(call), Tenant, { id: name }))
)

test("what middleware provides is no longer required, and the rest still is", () => {
  expect(HelloLive).type.toBe<Layer.Layer<never, DuplicateEntry, Registry | User | Tenant | Db>>()
  expect(HelloLive.pipe(Middleware.apply(WhoAmI))).type.toBe<
    Layer.Layer<never, DuplicateEntry, Registry | Tenant | Db>
  >()
  expect(HelloLive.pipe(Middleware.apply(WhoAmI, OfUser))).type.toBe<
    Layer.Layer<never, DuplicateEntry, Registry | Db>
  >()
})

test("middleware gets what it requires from further out, not from further in", () => {
  expect(HelloLive.pipe(Middleware.apply(OfUser))).type.toBe<Layer.Layer<never, DuplicateEntry, Registry | User | Db>>()
  expect(HelloLive.pipe(Middleware.apply(OfUser, WhoAmI)))
    .type.toBe<Layer.Layer<never, DuplicateEntry, Registry | User | Db>>()
})

test("middleware that is built from services requires them of the layer, or has its own", () => {
  const Looked = Middleware.make<User>()(
    "looked",
    Effect.gen(function*() {
      const { find } = yield* Users
      const fn: Middleware.Fn<User, never, never> = (next, call) =>
        Effect.flatMap(find, (user) => Effect.provideService(next(call), User, user))
      return fn
    })
  )
  expect(HelloLive.pipe(Middleware.apply(Looked)))
    .type.toBe<Layer.Layer<never, DuplicateEntry, Registry | Tenant | Db | Users>>()
  const Own = Middleware.provide(Looked, Layer.mock(Users)({}))
  expect(HelloLive.pipe(Middleware.apply(Own))).type.toBe<Layer.Layer<never, DuplicateEntry, Registry | Tenant | Db>>()
})

test("middleware that does not provide what it says still requires it", () => {
  const Forgets = Middleware.make<User>()("forgets", (next, call) => next(call))
  expect(HelloLive.pipe(Middleware.apply(Forgets)))
    .type.toBe<Layer.Layer<never, DuplicateEntry, Registry | User | Tenant | Db>>()
})

test("middleware fails with what it declares, beside what it lets pass", () => {
  expect(Middleware.make<never, Denied>()).type.toBeCallableWith("x", () => Effect.fail(new Denied({ why: "x" })))
  expect(Middleware.make()).type.not.toBeCallableWith("x", () => Effect.fail(new Denied({ why: "x" })))
  Middleware.make()("x", (next, call) => {
    expect(next(call)).type.toBeAssignableTo<Effect.Effect<unknown, Unhandled, unknown>>()
    return next(call)
  })
})

test("a call of a contract has its types", () => {
  Middleware.make()("x", (next, call) => {
    if (Call.isToolCall(call, Hello)) expect(call.arguments).type.toBe<{ readonly times: number }>()
    return next(call)
  })
  Middleware.forTool()("x", Hello, (next, input) => {
    expect(input).type.toBe<{ readonly times: number }>()
    return Effect.map(next({ times: 2 }), (result) => {
      expect(result).type.toBe<ServerTool.Returned<number>>()
      return 3
    })
  })
  expect(Middleware.forTool()).type.not.toBeCallableWith("x", Hello, () => Effect.succeed("3"))
})
