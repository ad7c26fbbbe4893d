import { assert, describe, it } from "@effect/vitest"
import * as Content from "@mcpfx/schema/Content"
import * as JsonSchema from "@mcpfx/schema/JsonSchema"
import { RequestContext } from "@mcpfx/session/RequestContext"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Result, Schema } from "effect"
import { AiError, Prompt, Tool, Toolkit as AiToolkit } from "effect/ai"
import { InvalidArguments } from "../src/Entry.ts"
import * as Middleware from "../src/Middleware.ts"
import { DuplicateEntry } from "../src/ServerError.ts"
import * as Toolkit from "../src/Toolkit.ts"
import { defectOf, failsUnseen, offer, requestContext } from "./support/registrations.ts"

class Db extends Context.Service<Db, { readonly name: string }>()("test/Db") {}
class NotFound extends Schema.TaggedError<NotFound>("NotFound")("NotFound", { id: Schema.Int }) {
  override get message(): string {
    return `not found: ${this.id}`
  }
}

const text = (value: string) => [Content.text(value)]

const Weather = Tool.make("weather", {
  description: "Tells the weather",
  parameters: Schema.Struct({ city: Schema.String, days: Schema.optionalKey(Schema.Int) }),
  success: Schema.Struct({ at: Schema.Date, rain: Schema.Boolean })
})
  .annotate(Tool.Title, "Weather")
  .annotate(Tool.Readonly, true)
  .annotate(Tool.Meta, { x: 1 })

const rain = { at: new Date(0), rain: true }

describe("Toolkit", () => {
  it.effect("lists names, descriptions, titles, hints, Meta and schemas", () =>
    Effect.gen(function*() {
      const tools = AiToolkit.make(Weather, Tool.make("noop"))
      const { snapshot } = yield* offer(
        Toolkit.toolkit(tools).pipe(
          Layer.provide(tools.toLayer({ weather: () => Effect.succeed(rain), noop: () => Effect.void }))
        )
      )
      assert.deepStrictEqual(snapshot().tools.map(({ descriptor }) => descriptor), [
        { name: "noop", inputSchema: { type: "object", additionalProperties: false } },
        {
          name: "weather",
          title: "Weather",
          description: "Tells the weather",
          inputSchema: Result.getOrThrow(JsonSchema.rootObject(JsonSchema.fromSchema(Weather.parametersSchema))),
          outputSchema: JsonSchema.fromSchema(Weather.successSchema),
          annotations: { title: "Weather", readOnlyHint: true },
          _meta: { x: 1 }
        }
      ])
    }))

  it.effect("gives structured content and its text, and a text without quotes", () =>
    Effect.gen(function*() {
      const Say = Tool.make("say", { parameters: Schema.Struct({ text: Schema.String }), success: Schema.String })
      const tools = AiToolkit.make(
        Weather,
        Say,
        Tool.make("noop"),
        Tool.make("list", { success: Schema.Array(Schema.Int) })
      )
      const { call } = yield* offer(
        Toolkit.toolkit(tools).pipe(Layer.provide(tools.toLayer({
          weather: () => Effect.succeed(rain),
          say: ({ text }) => Effect.succeed(`said ${text}`),
          noop: () => Effect.void,
          list: () => Effect.succeed([1, 2])
        })))
      )
      const json = { at: "1970-01-01T00:00:00.000Z", rain: true }
      assert.deepStrictEqual(yield* call("weather", { city: "Rome" }), {
        content: text(JSON.stringify(json)),
        structuredContent: json
      })
      assert.deepStrictEqual(yield* call("say", { text: "2" }), {
        content: text("said 2"),
        structuredContent: "said 2"
      })
      assert.deepStrictEqual(yield* call("list"), { content: text("[1,2]"), structuredContent: [1, 2] })
      assert.deepStrictEqual(yield* call("noop"), { content: [] })
    }))

  it.effect("[SCH-10] refuses arguments that do not fit, with the places", () =>
    Effect.gen(function*() {
      const tools = AiToolkit.make(Weather)
      const { call } = yield* offer(
        Toolkit.toolkit(tools).pipe(
          Layer.provide(tools.toLayer({ weather: () => Effect.succeed(rain) }))
        )
      )
      const error = yield* Effect.flip(call("weather", { days: "x" }))
      assert.instanceOf(error, InvalidArguments)
      assert.match(error.describe(), /city: is missing; days: /)
    }))

  it.effect("takes members that are not named, but not those of a strict tool", () =>
    Effect.gen(function*() {
      const parameters = Schema.Struct({ a: Schema.Int })
      const tools = AiToolkit.make(
        Tool.make("loose", { parameters }),
        Tool.make("strict", { parameters }).annotate(Tool.Strict, true)
      )
      const seen: Array<unknown> = []
      const note = (args: unknown) => Effect.sync(() => void seen.push(args))
      const { call, snapshot } = yield* offer(
        Toolkit.toolkit(tools).pipe(
          Layer.provide(tools.toLayer({ loose: note, strict: note }))
        )
      )
      yield* call("loose", { a: 1, b: 2 })
      assert.deepStrictEqual(seen, [{ a: 1 }])
      assert.instanceOf(yield* Effect.flip(call("strict", { a: 1, b: 2 })), InvalidArguments)
      assert.strictEqual(snapshot().tool("strict")?.descriptor.inputSchema["additionalProperties"], false)
    }))

  it.effect("[SCH-04] checks the arguments of dynamic tools against their JSON Schema", () =>
    Effect.gen(function*() {
      const Dynamic = Tool.dynamic("dynamic", {
        parameters: { type: "object", required: ["x"], properties: { x: { type: "integer" } } },
        success: Schema.Unknown
      })
      const tools = AiToolkit.make(Dynamic)
      const { call, snapshot } = yield* offer(
        Toolkit.toolkit(tools).pipe(
          Layer.provide(tools.toLayer({ dynamic: (args) => Effect.succeed(args) }))
        )
      )
      assert.deepStrictEqual(snapshot().tool("dynamic")?.descriptor.inputSchema["required"], ["x"])
      assert.deepStrictEqual((yield* call("dynamic", { x: 1 })).content, text("{\"x\":1}"))
      assert.instanceOf(yield* Effect.flip(call("dynamic", { x: "1" })), InvalidArguments)
    }))

  it.effect("[SCH-18] shows declared failures in both modes", () =>
    Effect.gen(function*() {
      const tools = AiToolkit.make(
        Tool.make("throws", { failure: NotFound, failureMode: "error" }),
        Tool.make("returns", { failure: NotFound, failureMode: "return" }),
        Tool.make("plain", { failure: Schema.String })
      )
      const { call } = yield* offer(
        Toolkit.toolkit(tools).pipe(Layer.provide(tools.toLayer({
          throws: () => Effect.fail(new NotFound({ id: 7 })),
          returns: () => Effect.fail(new NotFound({ id: 7 })),
          plain: () => Effect.fail("no")
        })))
      )
      const expected = {
        content: text("not found: 7"),
        isError: true,
        _meta: { "io.mcpfx/failure": { _tag: "NotFound", id: 7 } }
      }
      assert.deepStrictEqual(yield* call("throws"), expected)
      assert.deepStrictEqual(yield* call("returns"), expected)
      assert.deepStrictEqual((yield* call("plain")).content, text("no"))
    }))

  it.effect("shows an AiError of a tool that returns its failures, and of no other", () =>
    Effect.gen(function*() {
      const error = AiError.make({
        module: "m",
        method: "f",
        reason: new AiError.InvalidToolResultError({ toolName: "t", description: "odd" })
      })
      const tools = AiToolkit.make(Tool.make("throws"), Tool.make("returns", { failureMode: "return" }))
      const { call } = yield* offer(
        Toolkit.toolkit(tools).pipe(
          Layer.provide(tools.toLayer({ throws: () => Effect.fail(error), returns: () => Effect.fail(error) }))
        )
      )
      const shown = yield* call("returns")
      assert.deepStrictEqual([shown.isError, shown.content], [true, text(error.message)])
      assert.strictEqual(defectOf(yield* Effect.exit(call("throws"))), error)
    }))

  it.effect("[SCH-02] [SCH-18] leaves everything else a defect", () =>
    Effect.gen(function*() {
      const tools = AiToolkit.make(
        Tool.make("dies"),
        Tool.make("hidden"),
        Tool.make("wrong", { success: Schema.Int })
      )
      const { call } = yield* offer(
        Toolkit.toolkit(tools).pipe(Layer.provide(tools.toLayer({
          dies: () => Effect.die("secret"),
          hidden: () => failsUnseen("secret"),
          wrong: () => Effect.succeed(1.5)
        })))
      )
      assert.strictEqual(defectOf(yield* Effect.exit(call("dies"))), "secret")
      assert.strictEqual(defectOf(yield* Effect.exit(call("hidden"))), "secret")
      assert.deepInclude(defectOf(yield* Effect.exit(call("wrong"))), { _tag: "ResultMismatch", name: "wrong" })
    }))

  it.effect("shows what a tool makes of its result for models", () =>
    Effect.gen(function*() {
      const Draw = Tool.make("draw", {
        success: Schema.Struct({ bytes: Schema.Int }),
        toModelOutput: ({ bytes }) => [
          Prompt.textPart({ text: `${bytes} bytes` }),
          Prompt.filePart({ mediaType: "image/png", data: new Uint8Array([1]) }),
          Prompt.filePart({ mediaType: "application/pdf", fileName: "a b.pdf", data: "AQ==" }),
          Prompt.filePart({ mediaType: "text/html", data: new URL("https://example.com/x") })
        ]
      })
      const tools = AiToolkit.make(Draw)
      const { call } = yield* offer(
        Toolkit.toolkit(tools).pipe(
          Layer.provide(tools.toLayer({ draw: () => Effect.succeed({ bytes: 1 }) }))
        )
      )
      assert.deepStrictEqual(yield* call("draw"), {
        content: [
          Content.text("1 bytes"),
          Content.image("AQ==", "image/png"),
          Content.embedded({ uri: "file:///a%20b.pdf", mimeType: "application/pdf", blob: "AQ==" }),
          { type: "resource_link", uri: "https://example.com/x", name: "https://example.com/x", mimeType: "text/html" }
        ],
        structuredContent: { bytes: 1 }
      })
    }))

  it.effect("gives handlers the services of their own layer, declared dependencies, and the request", () =>
    Effect.gen(function*() {
      class Own extends Context.Service<Own, { readonly name: string }>()("test/Own") {}
      const tools = AiToolkit.make(Tool.make("names", { success: Schema.String, dependencies: [Db, RequestContext] }))
      const handlers = tools.toLayer(Effect.map(Own, (own) => ({
        names: () =>
          Effect.gen(function*() {
            return `${own.name} ${(yield* Db).name} ${(yield* RequestContext).revision.version}`
          })
      })))
      const { call } = yield* offer(
        Toolkit.toolkit(tools).pipe(
          Layer.provide(Layer.provide(handlers, Layer.succeed(Own, { name: "own" }))),
          Layer.provide(Layer.succeed(Db, { name: "db" }))
        )
      )
      assert.deepStrictEqual((yield* call("names")).content, text("own db 2025-11-25"))
    }))

  it.effect("runs inside middleware, which sees decoded arguments", () =>
    Effect.gen(function*() {
      const At = Tool.make("at", { parameters: Schema.Struct({ at: Schema.Date }), success: Schema.String })
      const tools = AiToolkit.make(At)
      const seen: Array<unknown> = []
      const Look = Middleware.make()("look", (next, call) =>
        Effect.suspend(() => {
          if (call.kind === "tool" && call.contract === At) seen.push(call.arguments)
          return next(call)
        }))
      const { call } = yield* offer(
        Toolkit.toolkit(tools).pipe(
          Layer.provide(tools.toLayer({ at: ({ at }) => Effect.succeed(at.toISOString()) })),
          Middleware.apply(Look)
        )
      )
      assert.deepStrictEqual(
        (yield* call("at", { at: "1970-01-01T00:00:00Z" })).content,
        text("1970-01-01T00:00:00.000Z")
      )
      assert.deepStrictEqual(seen, [{ at: new Date(0) }])
    }))

  it.effect("holds each tool to its concurrency, scopes and visibility", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let running = 0
      const tools = AiToolkit.make(Tool.make("slow"))
      const { call, snapshot } = yield* offer(
        Toolkit.toolkit(tools, {
          concurrency: 1,
          scopes: ["s"],
          visible: (_, name) => name !== "slow"
        }).pipe(
          Layer.provide(tools.toLayer({ slow: () => Effect.suspend(() => (running++, Deferred.await(gate))) }))
        )
      )
      const fibers = yield* Effect.forEach([1, 2], () => Effect.forkChild(call("slow")))
      yield* Effect.yieldNow
      assert.strictEqual(running, 1)
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.forEach(fibers, Fiber.join)
      assert.strictEqual(running, 2)
      assert.deepStrictEqual(snapshot().tool("slow")?.scopes, ["s"])
      assert.strictEqual(snapshot().tool("slow")?.visible?.(requestContext()), false)
    }))

  it.effect("refuses two tools of one name and names that are none", () =>
    Effect.gen(function*() {
      const one = AiToolkit.make(Tool.make("same"))
      const two = AiToolkit.make(Tool.make("same"))
      const exit = yield* Effect.exit(offer(Layer.mergeAll(
        Toolkit.toolkit(one).pipe(Layer.provide(one.toLayer({ same: () => Effect.void }))),
        Toolkit.toolkit(two).pipe(Layer.provide(two.toLayer({ same: () => Effect.void })))
      )))
      assert.deepStrictEqual(exit, Exit.fail(new DuplicateEntry({ kind: "tool", name: "same" })))
      const odd = AiToolkit.make(Tool.make("odd name"))
      const refused = yield* Effect.exit(offer(
        Toolkit.toolkit(odd).pipe(Layer.provide(odd.toLayer({ "odd name": () => Effect.void })))
      ))
      assert.match(String(defectOf(refused)), /odd name/)
    }))
})
