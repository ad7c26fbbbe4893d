import { assert, describe, it } from "@effect/vitest"
import * as Content from "@mcpfx/schema/Content"
import * as Tool from "@mcpfx/schema/ToolContract"
import { RequestContext } from "@mcpfx/session/RequestContext"
import { Context, Effect, Layer, Option } from "effect"
import * as ServerTool from "../../src/ServerTool.ts"
import { asRequest, offer } from "../support/registrations.ts"

class Db extends Context.Service<Db, { readonly name: string }>()("test/Db") {}

const text = (value: string) => [Content.text(value)]

describe("services of a handler", () => {
  const Name = Tool.make("name")
  const NameLive = ServerTool.tool(Name, () => Effect.map(Db, ({ name }) => name))

  it.effect("come from the layer, whatever the request has under the same key", () =>
    Effect.gen(function*() {
      const { call } = yield* offer(Layer.provide(NameLive, Layer.succeed(Db, { name: "mine" })))
      assert.deepStrictEqual((yield* call("name")).content, text("mine"))
    }).pipe(Effect.provideService(Db, { name: "theirs" })))

  it.effect("come from the endpoint when the layer has none of its own", () =>
    Effect.gen(function*() {
      const { call } = yield* offer(NameLive)
      assert.deepStrictEqual((yield* call("name")).content, text("outer"))
    }).pipe(Effect.provideService(Db, { name: "outer" })))

  it.effect("come from the layer when the request comes from elsewhere and brings others", () =>
    Effect.gen(function*() {
      const { snapshot } = yield* Effect.provideService(offer(NameLive), Db, { name: "outer" })
      const run = snapshot().tool("name")?.run({ name: "name" })
      assert.isDefined(run)
      assert.deepStrictEqual((yield* asRequest(run)).content, text("outer"))
      assert.deepStrictEqual(
        (yield* Effect.provideService(asRequest(run), Db, { name: "other" })).content,
        text("outer")
      )
    }))

  it.effect("come from a layer with more of them than are added one by one", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 12 }, (_, i) => Context.Service<never, number>(`test/Many${i}`))
      const Sum = ServerTool.tool(Tool.make("sum"), () =>
        Effect.map(Effect.all(many), (all) => String(all.reduce((sum, one) => sum + one, 0))))
      const context = many.reduce((all, key, i) =>
        Context.add(all, key, i), Context.empty())
      const { call } = yield* offer(Layer.provide(Sum, Layer.succeedContext(context)))
      assert.deepStrictEqual((yield* call("sum")).content, text("66"))
    }))

  it.effect("of the request win: its context, its scope, and references it set", () =>
    Effect.gen(function*() {
      const Tenant = Context.Reference<string>("test/Tenant", { defaultValue: () => "default" })
      const closed: Array<string> = []
      const Facts = ServerTool.tool(Tool.make("facts"), () =>
        Effect.gen(function*() {
          yield* Effect.addFinalizer(() => Effect.sync(() => void closed.push("closed")))
          return `${(yield* RequestContext).revision.version} ${yield* Tenant}`
        }))
      const build = Effect.provideService(offer(Facts), Tenant, "at build time")
      const { call } = yield* build
      const asked = Effect.provideService(call("facts", {}, { version: "2026-07-28" }), Tenant, "of the request")
      assert.deepStrictEqual((yield* asked).content, text("2026-07-28 of the request"))
      assert.deepStrictEqual(closed, ["closed"])
    }))

  it.effect("do not include the clock, log level or spans of the moment in which the layer was built", () =>
    Effect.gen(function*() {
      const Spans = ServerTool.tool(
        Tool.make("spans"),
        () =>
          Effect.map(
            Effect.option(Effect.currentSpan),
            (span) => Option.match(span, { onNone: () => "none", onSome: ({ name }) => name })
          )
      )
      const { call } = yield* offer(Spans.pipe(Layer.withSpan("building")))
      assert.deepStrictEqual((yield* call("spans")).content, text("none"))
      assert.deepStrictEqual((yield* Effect.withSpan(call("spans"), "request")).content, text("request"))
    }))
})
