import type { InvalidParams, PeerError } from "@mcpfx/schema/McpError"
import * as Tool from "@mcpfx/schema/ToolContract"
import * as ToolResult from "@mcpfx/schema/ToolResult"
import { RequestContext } from "@mcpfx/session/RequestContext"
import { Context, Effect, Layer, Schema } from "effect"
import { expect, test } from "tstyche"
import type { Registry } from "../src/Registry.ts"
import type { Declined, DuplicateEntry } from "../src/ServerError.ts"
import * as ServerTool from "../src/ServerTool.ts"

class Db extends Context.Service<Db, { readonly get: (id: number) => Effect.Effect<string> }>()("Db") {}
class NotFound extends Schema.TaggedError<NotFound>("NotFound")("NotFound", { id: Schema.Int }) {}
class Other extends Schema.TaggedError<Other>("Other")("Other", { what: Schema.String }) {}

const Add = Tool.make("add", { input: { a: Schema.Finite, b: Schema.Finite }, output: { sum: Schema.Finite } })
const Find = Tool.make("find", { input: { id: Schema.Int }, output: { name: Schema.String }, failure: NotFound })
const Say = Tool.make("say", { input: { at: Schema.Date } })

test("a handler gets the decoded input of its contract", () => {
  ServerTool.tool(Add, (input) => {
    expect(input).type.toBe<{ readonly a: number; readonly b: number }>()
    return Effect.succeed({ sum: input.a })
  })
  ServerTool.tool(Say, ({ at }) => {
    expect(at).type.toBe<Date>()
    return Effect.void
  })
  expect(ServerTool.tool).type.not.toBeCallableWith(Add, (_: { readonly a: string }) => Effect.succeed({ sum: 1 }))
})

test("a tool needs a registry, and nothing of a request", () => {
  const live = ServerTool.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))
  expect(live).type.toBe<Layer.Layer<never, DuplicateEntry, Registry>>()
  const asking = ServerTool.tool(Say, () =>
    Effect.gen(function*() {
      yield* RequestContext
      yield* Effect.addFinalizer(() => Effect.void)
    }))
  expect(asking).type.toBe<Layer.Layer<never, DuplicateEntry, Registry>>()
})

test("a service that a handler needs is one that its layer needs", () => {
  const live = ServerTool.tool(Find, ({ id }) =>
    Effect.gen(function*() {
      const db = yield* Db
      return { name: yield* db.get(id) }
    }))
  expect(live).type.toBe<Layer.Layer<never, DuplicateEntry, Registry | Db>>()
  expect(live).type.not.toBeAssignableTo<Layer.Layer<never, DuplicateEntry, Registry>>()
  const provided = Layer.provide(live, Layer.mock(Db)({}))
  expect(provided).type.toBe<Layer.Layer<never, DuplicateEntry, Registry>>()
})

test("with an output, a handler returns its type or a result with it", () => {
  expect(ServerTool.tool).type.toBeCallableWith(
    Add,
    () => Effect.succeed(ToolResult.result({ structured: { sum: 1 } }))
  )
  expect(ServerTool.tool).type.not.toBeCallableWith(Add, () => Effect.succeed({ sum: "1" }))
  expect(ServerTool.tool).type.not.toBeCallableWith(Add, () => Effect.succeed("1"))
  expect(ServerTool.tool).type.not.toBeCallableWith(Add, () => Effect.void)
  expect(ServerTool.tool).type.not.toBeCallableWith(
    Add,
    () => Effect.succeed(ToolResult.result({ structured: { total: 1 } }))
  )
})

test("without an output, a handler returns content or nothing", () => {
  expect(ServerTool.tool).type.toBeCallableWith(Say, () => Effect.void)
  expect(ServerTool.tool).type.toBeCallableWith(Say, () => Effect.succeed("hi"))
  expect(ServerTool.tool).type.toBeCallableWith(
    Say,
    () => Effect.succeed(["hi", { type: "text" as const, text: "ho" }])
  )
  expect(ServerTool.tool).type.toBeCallableWith(Say, () => Effect.succeed(ToolResult.result({ content: "hi" })))
  expect(ServerTool.tool).type.not.toBeCallableWith(Say, () => Effect.succeed({ sum: 1 }))
  expect(ServerTool.tool).type.not.toBeCallableWith(Say, () => Effect.succeed(1))
})

test("a handler fails with what its contract declares, what asking fails with, or a protocol error", () => {
  expect(ServerTool.tool).type.toBeCallableWith(Find, () => Effect.fail(new NotFound({ id: 1 })))
  expect(ServerTool.tool).type.not.toBeCallableWith(Find, () => Effect.fail(new Other({ what: "x" })))
  expect(ServerTool.tool).type.not.toBeCallableWith(Add, () => Effect.fail(new NotFound({ id: 1 })))
  expect(ServerTool.tool).type.not.toBeCallableWith(Add, () => Effect.fail("no"))
  expect<ServerTool.Failed<NotFound>>().type.toBeAssignableFrom<NotFound | Declined | InvalidParams>()
  expect<ServerTool.Failed<NotFound>>().type.not.toBeAssignableFrom<PeerError>()
})

test("options are of their own types", () => {
  expect(ServerTool.tool).type.toBeCallableWith(Say, () => Effect.void, { concurrency: 2, scopes: ["a"] })
  expect(ServerTool.tool).type.not.toBeCallableWith(Say, () => Effect.void, { concurrency: "2" })
})
