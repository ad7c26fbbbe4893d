import { assert, describe, it } from "@effect/vitest"
import * as Content from "@mcpfx/schema/Content"
import * as JsonSchema from "@mcpfx/schema/JsonSchema"
import { InvalidParams, MissingClientCapability, PeerError } from "@mcpfx/schema/McpError"
import * as Tool from "@mcpfx/schema/ToolContract"
import * as ToolResult from "@mcpfx/schema/ToolResult"
import { RequestContext } from "@mcpfx/session/RequestContext"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Option, Schema, Scope } from "effect"
import { TestClock } from "effect/testing"
import { InvalidArguments } from "../src/Entry.ts"
import { Registry } from "../src/Registry.ts"
import { CapabilityMissing, Declined, DuplicateEntry, ResultMismatch } from "../src/ServerError.ts"
import * as ServerTool from "../src/ServerTool.ts"
import { defectOf, failsUnseen, offer, requestContext } from "./support/registrations.ts"

const Add = Tool.make("add", {
  description: "Adds",
  input: { a: Schema.Finite, b: Schema.Finite },
  output: { sum: Schema.Finite }
})
const AddLive = ServerTool.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))

const Say = Tool.make("say", { input: { text: Schema.optionalKey(Schema.String) } })

class NotFound extends Schema.TaggedError<NotFound>("NotFound")("NotFound", { id: Schema.Int }) {
  override get message(): string {
    return `not found: ${this.id}`
  }
}

const text = (value: string) => [Content.text(value)]

describe("ServerTool", () => {
  it.effect("lists the contract", () =>
    Effect.gen(function*() {
      const { snapshot } = yield* offer(AddLive)
      assert.deepStrictEqual(snapshot().tool("add")?.descriptor, Tool.toDescriptor(Add))
    }))

  it.effect("[TOL-08] gives structured content and a text of its JSON", () =>
    Effect.gen(function*() {
      const { call } = yield* offer(AddLive)
      assert.deepStrictEqual(yield* call("add", { a: 1, b: 2 }), {
        content: [{ type: "text", text: "{\"sum\":3}" }],
        structuredContent: { sum: 3 }
      })
    }))

  it.effect("answers on the caller's stack when the handler has its answer at once", () =>
    Effect.gen(function*() {
      const { snapshot } = yield* offer(AddLive)
      const run = snapshot().tool("add")?.run({ name: "add", arguments: { a: 1, b: 2 } })
      assert.isDefined(run)
      const fiber = Effect.runForkWith(
        Context.make(RequestContext, requestContext()).pipe(
          Context.add(Scope.Scope, yield* Scope.make())
        )
      )(run)
      assert.isDefined(fiber.pollUnsafe())
    }))

  describe("arguments", () => {
    it.effect("[SCH-10] [SCH-06] takes absent and null arguments for an empty object", () =>
      Effect.gen(function*() {
        const { call } = yield* offer(ServerTool.tool(Tool.make("now"), (args) => Effect.succeed(JSON.stringify(args))))
        for (const args of [undefined, null, {}]) {
          assert.deepStrictEqual((yield* call("now", args)).content, text("{}"))
        }
      }))

    it.effect("[SCH-10] [TOL-14] [TOL-21] refuses arguments that do not fit, with the places, when it is asked for them", () =>
      Effect.gen(function*() {
        let handled = false
        const { call } = yield* offer(ServerTool.tool(Add, () => {
          handled = true
          return Effect.succeed({ sum: 0 })
        }))
        for (const args of [undefined, {}, { a: 1, b: "2" }, [], "{}"]) {
          const error = yield* Effect.flip(call("add", args))
          assert.instanceOf(error, InvalidArguments)
          assert.match(error.describe(), /^(a|b|arguments|Expected|.*object)/)
        }
        const error = yield* Effect.flip(call("add", { a: 1, b: "2" }))
        assert.isTrue(error instanceof InvalidArguments && error.describe().startsWith("b: "))
        assert.isFalse(handled)
      }))

    it.effect("[SCH-11] names an optional argument that came as null", () =>
      Effect.gen(function*() {
        const { call } = yield* offer(ServerTool.tool(Say, () => Effect.void))
        const error = yield* Effect.flip(call("say", { text: null }))
        assert.isTrue(error instanceof InvalidArguments && error.describe().startsWith("text: "))
      }))

    it.effect("[SCH-20] never parses a text that looks like JSON", () =>
      Effect.gen(function*() {
        const seen: Array<unknown> = []
        const { call } = yield* offer(ServerTool.tool(Say, (args) => Effect.sync(() => void seen.push(args.text))))
        const texts = ["123", "[1]", "null", "1e5", "{}"]
        for (const one of texts) yield* call("say", { text: one })
        assert.deepStrictEqual(seen, texts)
      }))

    it.effect("[SCH-13] gives the handler decoded values and writes encoded ones", () =>
      Effect.gen(function*() {
        const At = Tool.make("at", {
          input: { at: Schema.DateTimeUtc },
          output: { next: Schema.Date, due: Schema.NullOr(Schema.Date) }
        })
        const { call } = yield* offer(
          ServerTool.tool(At, ({ at }) => Effect.succeed({ next: new Date(at.epochMilliseconds + 1000), due: null }))
        )
        const result = yield* call("at", { at: "1970-01-01T00:00:00.000Z" })
        assert.deepStrictEqual(result.structuredContent, { next: "1970-01-01T00:00:01.000Z", due: null })
      }))
  })

  describe("schemas from elsewhere", () => {
    const Point = Tool.make("point", {
      input: JsonSchema.foreign({ type: "object", required: ["x"], properties: { x: { type: "integer" } } }),
      output: JsonSchema.foreign({ type: "object", required: ["n"], properties: { n: { type: "integer" } } })
    })

    it.effect("[SCH-04] are checked, and what fits arrives unchanged", () =>
      Effect.gen(function*() {
        const { call, snapshot } = yield* offer(
          ServerTool.tool(Point, (args) => Effect.succeed({ n: args["x"], extra: args }))
        )
        assert.strictEqual(snapshot().tool("point")?.descriptor.inputSchema, Point.foreignInput?.json)
        const good = yield* call("point", { x: 1, y: null })
        assert.deepStrictEqual(good.structuredContent, { n: 1, extra: { x: 1, y: null } })
        for (const args of [undefined, { x: 1.5 }, { y: 1 }]) {
          const error = yield* Effect.flip(call("point", args))
          assert.isTrue(error instanceof InvalidArguments && error.describe().includes("x"))
        }
      }))

    it.effect("[SCH-02] keep an output that does not fit from the caller", () =>
      Effect.gen(function*() {
        const { call } = yield* offer(ServerTool.tool(Point, () => Effect.succeed({ n: "secret" })))
        const defect = defectOf(yield* Effect.exit(call("point", { x: 1 })))
        assert.instanceOf(defect, ResultMismatch)
        assert.notInclude(defect.message, "secret")
      }))

    it.effect("[SCH-22] are not offered when nothing could be checked against them, and nothing is fetched", () =>
      Effect.gen(function*() {
        for (const ref of ["http://127.0.0.1:9/x.json", "#/$defs/nowhere"]) {
          const Bad = Tool.make("bad", {
            input: JsonSchema.foreign({ type: "object", properties: { a: { $ref: ref } } })
          })
          const exit = yield* Effect.exit(offer(ServerTool.tool(Bad, () => Effect.void)))
          assert.match(String(defectOf(exit)), /bad/)
        }
      }))
  })

  describe("results", () => {
    const returning = (value: ServerTool.Returned<never>) =>
      Effect.scoped(Effect.flatMap(
        offer(ServerTool.tool(Say, () => Effect.succeed(value))),
        ({ call }) => call("say")
      ))

    it.effect("[SCH-17] takes a text, a block, several of either, or nothing for content", () =>
      Effect.gen(function*() {
        const image = Content.image("AAAA", "image/png")
        assert.deepStrictEqual(yield* returning("hi"), { content: text("hi") })
        assert.deepStrictEqual(yield* returning(image), { content: [image] })
        assert.deepStrictEqual(yield* returning(["hi", image]), { content: [...text("hi"), image] })
        assert.deepStrictEqual(yield* returning([]), { content: [] })
        assert.deepStrictEqual(yield* returning(undefined), { content: [] })
        assert.deepStrictEqual(yield* returning(ToolResult.result({ content: "no", isError: true, meta: { x: 1 } })), {
          content: text("no"),
          isError: true,
          _meta: { x: 1 }
        })
      }))

    it.effect("[SCH-15] keeps every JSON value of an output, falsy ones too", () =>
      Effect.gen(function*() {
        for (const value of [0, false, "", null, [1, 2], "x"]) {
          const Any = Tool.make("any", { output: Schema.Json })
          const { call } = yield* offer(ServerTool.tool(Any, () => Effect.succeed(value)))
          const result = yield* call("any")
          assert.deepStrictEqual(result, { content: text(JSON.stringify(value)), structuredContent: value })
        }
      }))

    it.effect("gives content, _meta and structured output of Tool.result together", () =>
      Effect.gen(function*() {
        const { call } = yield* offer(ServerTool.tool(Add, ({ a, b }) =>
          Effect.succeed(ToolResult.result({ structured: { sum: a + b }, content: "three", meta: { x: 1 } }))))
        assert.deepStrictEqual(yield* call("add", { a: 1, b: 2 }), {
          content: text("three"),
          structuredContent: { sum: 3 },
          _meta: { x: 1 }
        })
      }))

    it.effect("[SCH-01] passes a result that says it is an error without structured content", () =>
      Effect.gen(function*() {
        const { call } = yield* offer(
          ServerTool.tool(Add, () => Effect.succeed(ToolResult.result({ content: "quota", isError: true })))
        )
        assert.deepStrictEqual(yield* call("add", { a: 1, b: 2 }), { content: text("quota"), isError: true })
      }))

    it.effect("[SCH-02] makes a defect of an output that is missing or does not fit, and passes nothing on", () =>
      Effect.gen(function*() {
        const Wrong = Tool.make("wrong", { input: { how: Schema.String }, output: Schema.Struct({ n: Schema.Int }) })
        const { call } = yield* offer(
          ServerTool.tool(Wrong, ({ how }) =>
            Effect.succeed<ServerTool.Returned<{ readonly n: number }>>(
              how === "missing" ? ToolResult.result({ content: "secret" }) : { n: 1.5 }
            ))
        )
        for (const how of ["missing", "wrong"]) {
          const defect = defectOf(yield* Effect.exit(call("wrong", { how })))
          assert.instanceOf(defect, ResultMismatch)
          assert.strictEqual(defect.name, "wrong")
          assert.notInclude(defect.message, "1.5")
        }
      }))

    it.effect("tells a value from Tool.result by its class and never by its shape", () =>
      Effect.gen(function*() {
        const Shape = Tool.make("shape", {
          output: Schema.Struct({ content: Schema.Array(Schema.String), isError: Schema.Boolean })
        })
        const { call } = yield* offer(
          ServerTool.tool(Shape, () => Effect.succeed({ content: ["a"], isError: true }))
        )
        const result = yield* call("shape")
        assert.deepStrictEqual(result.structuredContent, { content: ["a"], isError: true })
        assert.isUndefined(result.isError)
      }))
  })

  describe("failures", () => {
    const Find = Tool.make("find", { input: { id: Schema.Int }, output: { name: Schema.String }, failure: NotFound })

    it.effect("[SCH-18] [SCH-01] shows the declared failure: its message, and its encoding in _meta", () =>
      Effect.gen(function*() {
        const { call } = yield* offer(ServerTool.tool(Find, ({ id }) => Effect.fail(new NotFound({ id }))))
        const result = yield* call("find", { id: 7 })
        assert.deepStrictEqual(result, {
          content: text("not found: 7"),
          isError: true,
          _meta: { "io.mcpfx/failure": { _tag: "NotFound", id: 7 } }
        })
        const decoded = Find.decodeFailure(result["_meta"]?.["io.mcpfx/failure"])
        assert.deepStrictEqual(decoded, Find.decodeFailure({ _tag: "NotFound", id: 7 }))
      }))

    it.effect("[field PRG-13] is one result of a tool that took too long, and what it does later is nobody's business", () =>
      Effect.gen(function*() {
        class TooSlow extends Schema.TaggedError<TooSlow>("TooSlow")("TooSlow", {}) {}
        const Slow = Tool.make("slow", { failure: TooSlow })
        const unhandled: Array<unknown> = []
        const listener = (reason: unknown): void => void unhandled.push(reason)
        yield* Effect.acquireRelease(
          Effect.sync(() => process.on("unhandledRejection", listener)),
          () => Effect.sync(() => process.off("unhandledRejection", listener))
        )
        let fail: (reason: Error) => void = () => {}
        const { call } = yield* offer(
          ServerTool.tool(
            Slow,
            () =>
              Effect.promise(() => new Promise<string>((_, reject) => void (fail = reject))).pipe(
                Effect.timeoutOrElse({ duration: "50 millis", orElse: () => Effect.fail(new TooSlow()) })
              )
          )
        )
        const fiber = yield* Effect.forkChild(call("slow"), { startImmediately: true })
        yield* TestClock.adjust("50 millis")
        assert.isTrue((yield* Fiber.join(fiber)).isError)
        fail(new Error("too late"))
        // Rejections that nobody handles are told between two turns of the event loop.
        yield* Effect.promise(() => new Promise((resolve) => void setImmediate(resolve)))
        assert.deepStrictEqual(unhandled, [])
      }))

    it.effect("gives the JSON of a failure that has no message", () =>
      Effect.gen(function*() {
        const Plain = Tool.make("plain", { failure: Schema.TaggedStruct("Quota", { left: Schema.Int }) })
        const { call } = yield* offer(
          ServerTool.tool(Plain, () => Effect.fail({ _tag: "Quota" as const, left: 0 }))
        )
        assert.deepStrictEqual((yield* call("plain")).content, text("{\"_tag\":\"Quota\",\"left\":0}"))
      }))

    it.effect("[SCH-18] leaves a defect a defect, thrown or not", () =>
      Effect.gen(function*() {
        const error = new Error("db password abc")
        for (
          const handler of [() => Effect.die(error), () => {
            throw error
          }]
        ) {
          const { call } = yield* offer(ServerTool.tool(Say, handler))
          assert.strictEqual(defectOf(yield* Effect.exit(call("say"))), error)
        }
      }))

    it.effect("[SCH-18] makes a defect of an error that the contract does not declare, however it got there", () =>
      Effect.gen(function*() {
        const { call } = yield* offer(ServerTool.tool(Find, () => failsUnseen("secret")))
        assert.strictEqual(defectOf(yield* Effect.exit(call("find", { id: 1 }))), "secret")
      }))

    it.effect("passes protocol errors on, but not those of other peers", () =>
      Effect.gen(function*() {
        const { call } = yield* offer(
          ServerTool.tool(Say, () => Effect.fail(new InvalidParams({ detail: "not today" })))
        )
        assert.deepStrictEqual(yield* Effect.flip(call("say")), new InvalidParams({ detail: "not today" }))
        const leaking = yield* offer(
          ServerTool.tool(Say, () => failsUnseen(new PeerError({ code: -1, message: "secret" })))
        )
        assert.instanceOf(defectOf(yield* Effect.exit(leaking.call("say"))), PeerError)
      }))

    it.effect("[META-13] tells what became of asking the client", () =>
      Effect.gen(function*() {
        const declined = yield* offer(
          ServerTool.tool(Say, () => Effect.fail(new Declined({ ask: "elicitation.form" })))
        )
        assert.strictEqual((yield* declined.call("say")).isError, true)
        const missing = yield* offer(
          ServerTool.tool(Say, () => Effect.fail(new CapabilityMissing({ ask: "elicitation.url" })))
        )
        assert.strictEqual((yield* missing.call("say", {}, { version: "2025-11-25" })).isError, true)
        const refused = yield* Effect.flip(missing.call("say", {}, { version: "2026-07-28" }))
        assert.instanceOf(refused, MissingClientCapability)
        assert.deepStrictEqual(refused.required, { elicitation: { url: {} } })
      }))
  })

  describe("options", () => {
    it.effect("lets as many calls run as its concurrency says", () =>
      Effect.gen(function*() {
        const gate = yield* Deferred.make<void>()
        let [running, most] = [0, 0]
        const Slow = ServerTool.tool(Tool.make("slow"), () =>
          Effect.gen(function*() {
            most = Math.max(most, ++running)
            yield* Deferred.await(gate)
            running--
          }), { concurrency: 2 })
        const { call } = yield* offer(Slow)
        const calls = yield* Effect.forEach(Array.from({ length: 5 }), () => Effect.forkChild(call("slow")))
        yield* Effect.yieldNow
        assert.strictEqual(running, 2)
        yield* Deferred.succeed(gate, undefined)
        yield* Effect.forEach(calls, Fiber.join)
        assert.strictEqual(most, 2)
      }))

    it.effect("gives the endpoint what it checks before admission", () =>
      Effect.gen(function*() {
        const Deploy = Tool.make("deploy", { asks: ["elicitation.form", "sampling.tools"], scopes: ["a"], task: "may" })
        const { snapshot } = yield* offer(ServerTool.tool(Deploy, () => Effect.void, {
          scopes: ["b", "a"],
          visible: ({ facts }) => Option.isSome(facts.principal)
        }))
        const entry = snapshot().tool("deploy")
        assert.deepStrictEqual(entry?.asks, ["elicitation.form", "sampling.tools"])
        assert.deepStrictEqual(entry?.scopes, ["a", "b"])
        assert.strictEqual(entry?.visible?.(requestContext()), false)
        assert.strictEqual(entry?.descriptor.execution?.taskSupport, "optional")
      }))

    it.effect("refuses a concurrency that is none", () =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(offer(ServerTool.tool(Say, () => Effect.void, { concurrency: 0 })))
        assert.match(String(defectOf(exit)), /concurrency/)
      }))
  })

  it.effect("refuses two tools of one name, and takes a layer used twice for one", () =>
    Effect.gen(function*() {
      const other = ServerTool.tool(Add, () => Effect.succeed({ sum: 0 }))
      const exit = yield* Effect.exit(offer(Layer.mergeAll(AddLive, other)))
      assert.deepStrictEqual(exit, Exit.fail(new DuplicateEntry({ kind: "tool", name: "add" })))
      const { snapshot } = yield* offer(Layer.mergeAll(AddLive, AddLive))
      assert.strictEqual(snapshot().tools.length, 1)
    }))

  it.effect("leaves nothing behind when its layer closes", () =>
    Effect.gen(function*() {
      const { registry } = yield* offer(Layer.empty)
      yield* Effect.scoped(Effect.gen(function*() {
        yield* Effect.provideService(Layer.build(AddLive), Registry, registry)
        assert.strictEqual(registry.snapshot().tools.length, 1)
      }))
      assert.strictEqual(registry.snapshot().tools.length, 0)
    }))
})
