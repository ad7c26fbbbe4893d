import { assert, describe, it } from "@effect/vitest"
import * as Content from "@mcpfx/schema/Content"
import { InvalidParams, TooManyRequests } from "@mcpfx/schema/McpError"
import * as Prompt from "@mcpfx/schema/PromptContract"
import * as Resource from "@mcpfx/schema/ResourceContract"
import * as Tool from "@mcpfx/schema/ToolContract"
import { RequestContext } from "@mcpfx/session/RequestContext"
import { CurrentPrincipal, type Principal } from "@mcpfx/transport/Principal"
import { Context, Effect, Exit, Layer, Option, Schema } from "effect"
import * as Call from "../src/Call.ts"
import * as Middleware from "../src/Middleware.ts"
import { DuplicateEntry, ResultMismatch, type Unhandled } from "../src/ServerError.ts"
import * as ServerPrompt from "../src/ServerPrompt.ts"
import * as ServerResource from "../src/ServerResource.ts"
import * as ServerTool from "../src/ServerTool.ts"
import { asRequest, defectOf, offer, requestContext } from "./support/registrations.ts"

class User extends Context.Service<User, { readonly name: string }>()("test/User") {}
class Db extends Context.Service<Db, { readonly name: string }>()("test/Db") {}
class Denied extends Schema.TaggedError<Denied>("Denied")("Denied", { why: Schema.String }) {
  override get message(): string {
    return `denied: ${this.why}`
  }
}

const text = (value: string) => [Content.text(value)]
const ann: Principal = { issuer: "i", subject: "ann", scopes: [], claims: {} }

const Hello = Tool.make("hello", { input: { times: Schema.optionalKey(Schema.Int) } })
const HelloLive = ServerTool.tool(Hello, ({ times = 1 }) => Effect.map(User, ({ name }) => `hi ${name} ${times}`))

const WhoAmI = Middleware.make<User, Denied>()("user", (next, call) =>
  Effect.gen(function*() {
    const principal = yield* CurrentPrincipal
    if (Option.isNone(principal)) return yield* new Denied({ why: "nobody" })
    return yield* Effect.provideService(next(call), User, { name: principal.value.subject })
  }))

const asAnn = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, CurrentPrincipal, Option.some(ann))

describe("Middleware", () => {
  it.effect("provides services to handlers, for the request alone", () =>
    Effect.gen(function*() {
      const { call } = yield* offer(HelloLive.pipe(Middleware.apply(WhoAmI)))
      assert.deepStrictEqual((yield* asAnn(call("hello", { times: 2 }))).content, text("hi ann 2"))
    }))

  it.effect("wins over a service that the layer has under the same key", () =>
    Effect.gen(function*() {
      const { call } = yield* offer(
        HelloLive.pipe(Layer.provide(Layer.succeed(User, { name: "static" })), Middleware.apply(WhoAmI))
      )
      assert.deepStrictEqual((yield* asAnn(call("hello"))).content, text("hi ann 1"))
    }))

  it.effect("shows what it fails with as a result of a tool, and refuses prompts and resources with it", () =>
    Effect.gen(function*() {
      const prompt = ServerPrompt.prompt(Prompt.make("p"), () => Effect.succeed("x"))
      const resource = ServerResource.resource(Resource.make("a:b", { name: "b" }), "x")
      const { call, snapshot } = yield* offer(
        Layer.mergeAll(HelloLive, prompt, resource).pipe(Middleware.apply(WhoAmI))
      )
      assert.deepStrictEqual(yield* call("hello"), { content: text("denied: nobody"), isError: true })
      const got = snapshot().prompt("p")?.get({ name: "p" })
      const read = snapshot().resource("a:b")?.read("a:b")
      assert.isTrue(got !== undefined && read !== undefined)
      if (got === undefined || read === undefined) return
      const refused = new InvalidParams({ detail: "denied: nobody" })
      assert.deepStrictEqual(yield* Effect.flip(asRequest(got)), refused)
      assert.deepStrictEqual(yield* Effect.flip(asRequest(read)), refused)
    }))

  it.effect("sends a protocol error as it is", () =>
    Effect.gen(function*() {
      const Busy = Middleware.make<never, TooManyRequests>()("busy", () =>
        Effect.fail(new TooManyRequests({ limit: "calls" })))
      const { call } = yield* offer(
        ServerTool.tool(Hello, () =>
          Effect.void).pipe(Middleware.apply(Busy))
      )
      assert.deepStrictEqual(yield* Effect.flip(call("hello")), new TooManyRequests({ limit: "calls" }))
    }))

  it.effect("runs the first of a list outermost, and layers further out around layers further in", () =>
    Effect.gen(function*() {
      const steps: Array<string> = []
      const step = (id: string) =>
        Middleware.make()(id, (next, call) =>
          Effect.suspend(() => {
            steps.push(`> ${id}`)
            return Effect.ensuring(next(call), Effect.sync(() => steps.push(`< ${id}`)))
          }))
      const tool = ServerTool.tool(Hello, () => Effect.sync(() => void steps.push("handler")))
      const { call } = yield* offer(tool.pipe(
        Middleware.apply(step("c"), step("d")),
        Middleware.apply(step("a"), step("b"))
      ))
      yield* call("hello")
      assert.deepStrictEqual(steps, ["> a", "> b", "> c", "> d", "handler", "< d", "< c", "< b", "< a"])
    }))

  it.effect("runs once where it was laid twice", () =>
    Effect.gen(function*() {
      let runs = 0
      const Count = Middleware.make()("count", (next, call) => Effect.suspend(() => (runs++, next(call))))
      const tool = ServerTool.tool(Hello, () => Effect.void)
      const { call } = yield* offer(tool.pipe(Middleware.apply(Count), Middleware.apply(Count)))
      yield* call("hello")
      assert.strictEqual(runs, 1)
    }))

  it.effect("gets services from middleware further out", () =>
    Effect.gen(function*() {
      const Greeting = Middleware.make<Db>()("greeting", (next, call) =>
        Effect.flatMap(User, ({ name }) =>
          Effect.provideService(next(call), Db, { name: `db of ${name}` })))
      const tool = ServerTool.tool(Hello, () =>
        Effect.map(Db, ({ name }) => name))
      const { call } = yield* offer(tool.pipe(Middleware.apply(WhoAmI, Greeting)))
      assert.deepStrictEqual((yield* asAnn(call("hello"))).content, text("db of ann"))
    }))

  it.effect("sees decoded arguments and the result before it is written, and changes both", () =>
    Effect.gen(function*() {
      const Later = Tool.make("later", { input: { at: Schema.DateTimeUtc }, output: { day: Schema.Date } })
      const Shift = Middleware.forTool()("shift", Later, (next, { at }, call) =>
        Effect.map(next({ at }), (result) => {
          assert.deepStrictEqual(call.params.arguments, { at: "1970-01-01T00:00:00.000Z" })
          return "day" in result ? { day: new Date(result.day.getTime() + 1) } : result
        }))
      const Ten = Middleware.make()(
        "ten",
        (next, call) => Call.isToolCall(call, Hello) ? next({ ...call, arguments: { times: 10 } }) : next(call)
      )
      const { call } = yield* offer(
        Layer.mergeAll(
          ServerTool.tool(Later, ({ at }) => Effect.succeed({ day: new Date(at.epochMilliseconds) })),
          ServerTool.tool(Hello, ({ times }) => Effect.succeed(`${times}`))
        ).pipe(Middleware.apply(Shift, Ten))
      )
      const later = yield* call("later", { at: "1970-01-01T00:00:00.000Z" })
      assert.deepStrictEqual(later.structuredContent, { day: "1970-01-01T00:00:00.001Z" })
      assert.deepStrictEqual((yield* call("hello", { times: 1 })).content, text("10"))
    }))

  it.effect("cannot give a handler what its contract does not take, nor the caller what it does not give", () =>
    Effect.gen(function*() {
      const wrong = (change: unknown) =>
        Middleware.make()(
          "wrong",
          (next, call) => call.kind === "tool" ? next({ ...call, arguments: change }) : next(call)
        )
      const Hidden = Middleware.make()("hidden", () => Effect.succeed({ secret: 1 }))
      const tool = ServerTool.tool(Hello, () => Effect.void)
      for (const broken of [wrong({ times: 1.5 }), wrong("x"), Hidden]) {
        const { call } = yield* offer(tool.pipe(Middleware.apply(broken)))
        const defect = defectOf(yield* Effect.exit(call("hello", { times: 1 })))
        assert.instanceOf(defect, ResultMismatch)
      }
    }))

  it.effect("meets the handler's failure, and lets it pass or makes a result of it", () =>
    Effect.gen(function*() {
      const Fails = Tool.make("fails", { failure: Denied })
      const met: Array<Unhandled> = []
      const Look = Middleware.make()("look", (next, call) =>
        Effect.tapError(next(call), (failure) => Effect.sync(() => met.push(failure))))
      const Save = Middleware.make()("save", (next, call) =>
        Effect.catch(next(call), (failure) =>
          failure.error instanceof Denied ? Effect.succeed("saved") : Effect.fail(failure)))
      const tool = ServerTool.tool(Fails, () =>
        Effect.fail(new Denied({ why: "no" })))
      const looked = yield* offer(tool.pipe(Middleware.apply(Look)))
      assert.deepStrictEqual(yield* looked.call("fails"), {
        content: text("denied: no"),
        isError: true,
        _meta: { "io.mcpfx/failure": { _tag: "Denied", why: "no" } }
      })
      assert.deepStrictEqual(met.map(({ error, from }) => [error, from]), [[new Denied({ why: "no" }), undefined]])
      const saved = yield* offer(tool.pipe(Middleware.apply(Save)))
      assert.deepStrictEqual((yield* saved.call("fails")).content, text("saved"))
    }))

  it.effect("runs around prompts, reads and completions as well", () =>
    Effect.gen(function*() {
      const seen: Array<Call.Call> = []
      const Look = Middleware.make()("look", (next, call) => Effect.suspend(() => (seen.push(call), next(call))))
      const Ask = Prompt.make("ask", { arguments: { n: Schema.Int } })
      const Item = Resource.template("item://{id}", { name: "item", params: { id: Schema.Int } })
      const { snapshot } = yield* offer(
        Layer.mergeAll(
          ServerPrompt.prompt(Ask, ({ n }) => Effect.succeed(`${n}`), { complete: { n: ["1", "2"] } }),
          ServerResource.template(Item, ({ id }) => Effect.succeed(`${id}`))
        ).pipe(Middleware.apply(Look))
      )
      const prompt = snapshot().prompt("ask")
      const read = snapshot().template("item://{id}")?.match("item://7")
      const complete = prompt?.completions.get("n")
      if (prompt === undefined || read === undefined || complete === undefined) return assert.fail("not registered")
      yield* asRequest(prompt.get({ name: "ask", arguments: { n: "1" } }))
      yield* asRequest(read)
      yield* asRequest(complete("1", { other: "x" }))
      assert.deepStrictEqual(
        seen.map((call) => [call.kind, call.target.name]),
        [["prompt", "ask"], ["resource", "item://{id}"], ["completion", "ask"]]
      )
      const [first, second, third] = seen
      assert.isTrue(first !== undefined && Call.isPromptGet(first, Ask) && first.arguments.n === 1)
      assert.isTrue(second !== undefined && Call.isTemplateRead(second, Item) && second.variables.id === 7)
      assert.deepInclude(third, { argument: "n", value: "1", siblings: { other: "x" } })
    }))

  describe("services of its own layer", () => {
    const Own = Middleware.make()("own", (next, call) => Effect.flatMap(Db, () => next(call)))
    const Read = ServerTool.tool(
      Hello,
      () =>
        Effect.map(
          Effect.serviceOption(Db),
          (db) => Option.match(db, { onNone: () => "none", onSome: ({ name }) => name })
        )
    )
    const mine = Layer.succeed(Db, { name: "the middleware's" })

    it.effect("are not seen by the handler", () =>
      Effect.gen(function*() {
        const { call } = yield* offer(Read.pipe(Middleware.apply(Own), Layer.provide(mine)))
        assert.deepStrictEqual((yield* call("hello")).content, text("the middleware's"))
        const apart = yield* offer(
          Layer.provide(Read, Layer.succeed(Db, { name: "the handler's" })).pipe(
            Middleware.apply(Own),
            Layer.provide(mine)
          )
        )
        assert.deepStrictEqual((yield* apart.call("hello")).content, text("the handler's"))
      }))

    it.effect("do not hide those of the endpoint from the handler", () =>
      Effect.gen(function*() {
        const Sealed = Middleware.provide(Own, mine)
        const { call } = yield* offer(Read.pipe(Middleware.apply(Sealed)))
        assert.deepStrictEqual((yield* call("hello")).content, text("the endpoint's"))
      }).pipe(Effect.provideService(Db, { name: "the endpoint's" })))

    it.effect("are gone where the endpoint has none", () =>
      Effect.gen(function*() {
        const Sealed = Middleware.provide(Own, mine)
        const { call } = yield* offer(Read.pipe(Middleware.apply(Sealed)))
        assert.deepStrictEqual((yield* call("hello")).content, text("none"))
      }))
  })

  it.effect("is built once for all it is laid around, and closed with the endpoint", () =>
    Effect.gen(function*() {
      const events: Array<string> = []
      const Built = Middleware.make()(
        "built",
        Effect.gen(function*() {
          events.push("open")
          yield* Effect.addFinalizer(() => Effect.sync(() => events.push("close")))
          const pass: Middleware.Fn<never, never, never> = (next, call) => next(call)
          return pass
        })
      )
      const group = (name: string) => ServerTool.tool(Tool.make(name), () => Effect.void).pipe(Middleware.apply(Built))
      yield* Effect.scoped(offer(Layer.mergeAll(group("a"), group("b"))))
      assert.deepStrictEqual(events, ["open", "close"])
    }))

  it.effect("does not let a registration slip by that is used both inside and outside of it", () =>
    Effect.gen(function*() {
      const tool = ServerTool.tool(Hello, () => Effect.void)
      const exit = yield* Effect.exit(offer(Layer.mergeAll(tool, tool.pipe(Middleware.apply(WhoAmI)))))
      assert.deepStrictEqual(exit, Exit.fail(new DuplicateEntry({ kind: "tool", name: "hello" })))
      const { snapshot } = yield* offer(
        Layer.mergeAll(tool.pipe(Middleware.apply(WhoAmI)), tool.pipe(Middleware.apply(WhoAmI)))
      )
      assert.strictEqual(snapshot().tools.length, 1)
    }))

  it.effect("[SCH-19] hides what a check does not show, and asks every check", () =>
    Effect.gen(function*() {
      const asked: Array<Call.Target> = []
      const SignedIn = Middleware.visibility((context, target) => {
        asked.push(target)
        return Option.isSome(context.facts.principal)
      })
      const { snapshot } = yield* offer(
        ServerTool.tool(Hello, () => Effect.void, { visible: ({ revision }) => revision.era === "modern" }).pipe(
          Middleware.apply(SignedIn)
        )
      )
      const visible = snapshot().tool("hello")?.visible
      assert.strictEqual(visible?.(requestContext({ version: "2026-07-28" })), false)
      assert.strictEqual(visible?.(requestContext({ version: "2025-11-25", principal: ann })), false)
      assert.strictEqual(visible?.(requestContext({ version: "2026-07-28", principal: ann })), true)
      assert.deepStrictEqual(asked[0], { kind: "tool", name: "hello" })
    }))

  it.effect("may read the facts of the request", () =>
    Effect.gen(function*() {
      const Facts = Middleware.make<User>()("facts", (next, call) =>
        Effect.flatMap(RequestContext, ({ revision }) =>
          Effect.provideService(next(call), User, { name: revision.version })))
      const { call } = yield* offer(HelloLive.pipe(Middleware.apply(Facts)))
      assert.deepStrictEqual((yield* call("hello", {}, { version: "2024-11-05" })).content, text("hi 2024-11-05 1"))
    }))
})
