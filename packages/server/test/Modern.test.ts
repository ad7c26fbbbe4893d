import { assert, describe, it } from "@effect/vitest"
import { JsonRpc } from "@mcpfx/schema"
import * as Progress from "@mcpfx/session/Progress"
import { RequestContext } from "@mcpfx/session/RequestContext"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import { Duration, Effect, Fiber, Logger, Option, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { prompt, register, resource, text, tool } from "./protocol/fixtures.ts"
import { at, Client, connect, envelope, overHttp, serve, Wire } from "./protocol/harness.ts"

const modern = "2026-07-28"
const waits = (ended: Array<string>) =>
  tool("wait", () =>
    Effect.sleep("1 second").pipe(
      Effect.as(text("done")),
      Effect.ensuring(Effect.sync(() => ended.push("wait")))
    ))

const declaring = (clientCapabilities: object) =>
  envelope({ "io.modelcontextprotocol/clientCapabilities": clientCapabilities })

describe("what is known", () => {
  it.effect("[META-12] [STA-01] every request brings its client's capabilities and name, and leaves none behind", () =>
    Effect.gen(function*() {
      const registrations = register(
        tool(
          "who",
          () =>
            Effect.map(
              RequestContext,
              (context) =>
                text(JSON.stringify([context.clientCapabilities, context.clientInfo, context.sessionId, context.round]))
            )
        )
      )
      const client = new Client(yield* serve(registrations), "2025-11-25", new Wire())
      const who = (params: object) =>
        Effect.map(
          client.request("tools/call", { name: "who", ...params }),
          (sent) => JSON.parse(String(at(sent.result, "content", 0, "text")))
        )
      const info = { name: "probe", version: "0" }
      assert.deepStrictEqual(yield* who(declaring({ sampling: {} })), [{ sampling: {} }, info, null, 1])
      assert.deepStrictEqual(yield* who(envelope()), [{}, info, null, 1])
      assert.deepStrictEqual(
        yield* who({
          _meta: {
            "io.modelcontextprotocol/protocolVersion": modern,
            "io.modelcontextprotocol/clientCapabilities": {},
            "example.com/trace": "t"
          }
        }),
        [{}, null, null, 1]
      )
    }))

  it.effect("[STA-02] conversations interleave on one connection, each under its own identity", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(register(tool("who", () =>
        Effect.gen(function*() {
          const before = (yield* RequestContext).clientInfo?.name
          yield* Effect.sleep("1 second")
          const after = yield* RequestContext
          return text(JSON.stringify([before, after.clientInfo?.name, after.clientCapabilities]))
        }))))
      const client = new Client(endpoint, "2025-11-25", new Wire())
      const ask = (name: string, id: number, capabilities: object) =>
        client.start("tools/call", {
          name: "who",
          ...envelope({
            "io.modelcontextprotocol/clientInfo": { name, version: "0" },
            "io.modelcontextprotocol/clientCapabilities": capabilities
          })
        }, id)
      const first = ask("one", 1, {})
      yield* TestClock.adjust("500 millis")
      const second = ask("two", 2, { roots: {} })
      const third = ask("one", 3, {})
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(
        [first, second, third].map((sent) => JSON.parse(String(at(sent.result, "content", 0, "text")))),
        [["one", "one", {}], ["two", "two", { roots: {} }], ["one", "one", {}]]
      )
    }))

  it.effect("[CON-07] a hundred callers at a time each are themselves, also in fibers they start", () =>
    Effect.gen(function*() {
      const me = Effect.map(CurrentPrincipal, (principal) => Option.getOrThrow(principal).subject)
      const registrations = register(tool("me", () =>
        Effect.gen(function*() {
          const before = yield* me
          yield* Effect.sleep(Duration.millis(Number(before.slice(1)) % 7))
          const forked = yield* Effect.forkChild(me)
          return text(`${before} ${yield* Fiber.join(forked)}`)
        })))
      const endpoint = yield* serve(registrations)
      const all = Array.from({ length: 100 }, (_, i) => {
        const principal = { issuer: "https://as", subject: `u${i}`, scopes: [], claims: {} }
        return overHttp(endpoint, modern, { principal }).start("tools/call", { name: "me" })
      })
      yield* TestClock.adjust("10 millis")
      for (const [i, sent] of all.entries()) {
        assert.strictEqual(at(sent.result, "content", 0, "text"), `u${i} u${i}`)
      }
    }))
})

describe("before the first byte", () => {
  const asking = register(
    tool("sample", () => Effect.succeed(text("")), { asks: ["sampling"] }),
    tool("tools", () => Effect.succeed(text("")), { asks: ["sampling.tools", "elicitation.url"] }),
    prompt("form", () => Effect.succeed({ messages: [] }), { asks: ["elicitation.form"] }),
    resource("demo://roots", Effect.succeed({ contents: [] }), { asks: ["roots"] })
  )

  it.effect("[META-13] what the client cannot be asked is -32021 with status 400 and what is missing", () =>
    Effect.gen(function*() {
      const client = new Client(yield* serve(asking), "2025-11-25", new Wire())
      const ask = (method: string, params: object, capabilities: object) =>
        client.start(method, { ...params, ...declaring(capabilities) })
      const refused = ask("tools/call", { name: "sample" }, {})
      assert.strictEqual(refused.code, -32021)
      assert.strictEqual(refused.rejected?.httpStatus, 400)
      assert.deepStrictEqual(at(refused.error, "data"), { requiredCapabilities: { sampling: {} } })
      assert.deepStrictEqual(
        at(ask("tools/call", { name: "tools" }, { sampling: {} }).error, "data", "requiredCapabilities"),
        { sampling: { tools: {} }, elicitation: { url: {} } }
      )
      assert.strictEqual(ask("prompts/get", { name: "form" }, { elicitation: { url: {} } }).code, -32021)
      assert.strictEqual(ask("resources/read", { uri: "demo://roots" }, {}).code, -32021)
      assert.isUndefined(ask("tools/call", { name: "sample" }, { sampling: {} }).code)
      assert.isUndefined(ask("prompts/get", { name: "form" }, { elicitation: {} }).code)
      assert.isUndefined(ask("resources/read", { uri: "demo://roots" }, { roots: {} }).code)
    }))

  it.effect("[META-13] older revisions find out when they ask", () =>
    Effect.gen(function*() {
      const client = connect(yield* serve(asking), "2025-11-25")
      assert.isUndefined(client.start("tools/call", { name: "sample" }).code)
    }))

  const annotated = register(tool("where", () => Effect.succeed(text("")), {
    headerParams: [
      { path: ["region"], header: "Region", type: "string" },
      { path: ["a", "n"], header: "N", type: "integer" }
    ]
  }))

  it.effect("[XH-11] [XH-12] [SCH-27] headers that repeat arguments have to be there and agree, over HTTP alone", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(annotated)
      const call = (args: object, headers: Record<string, string>) =>
        overHttp(endpoint, modern, { headers }).start("tools/call", { name: "where", arguments: args })
      assert.isUndefined(call({ region: "eu", a: { n: 42 } }, { "mcp-param-region": "eu", "mcp-param-n": "42.0" }).code)
      assert.isUndefined(call({ region: null }, {}).code)
      assert.isUndefined(call({}, { "mcp-param-other": "x" }).code)
      for (
        const [args, headers] of [
          [{ region: "eu" }, {}],
          [{ region: "eu" }, { "mcp-param-region": "us" }],
          [{ region: "eu" }, { "mcp-param-region": "EU" }],
          [{ region: "é" }, { "mcp-param-region": "=?base64?$$?=" }],
          [{ a: { n: 42 } }, { "mcp-param-n": "41" }]
        ] as const
      ) {
        const sent = call(args, headers)
        assert.deepStrictEqual([sent.code, sent.rejected?.httpStatus], [-32020, 400], JSON.stringify([args, headers]))
      }
      const stdio = new Client(endpoint, modern, new Wire())
      assert.isUndefined(stdio.start("tools/call", { name: "where", arguments: { region: "eu" } }).code)
      assert.isUndefined(
        connect(endpoint, "2025-11-25").start("tools/call", { name: "where", arguments: { region: "eu" } }).code
      )
    }))

  for (const version of ["2025-11-25", modern] as const) {
    it.effect(`[ARS-09] [ARS-10] ${version}: a token without a scope is 403, and told all scopes there are to ask for`, () =>
      Effect.gen(function*() {
        const endpoint = yield* serve(register(
          tool("free", () => Effect.succeed(text("free"))),
          tool("admin", () => Effect.succeed(text("admin")), { scopes: ["read", "write"] })
        ))
        const call = Effect.fnUntraced(function*(scopes: ReadonlyArray<string> | undefined, name: string) {
          const principal = scopes && { issuer: "https://as", subject: "ada", scopes, claims: {} }
          const client = overHttp(endpoint, version, { principal })
          client.hello()
          return yield* client.request("tools/call", { name })
        })
        for (const scopes of [undefined, ["read"]]) {
          const refused = yield* call(scopes, "admin")
          assert.strictEqual(refused.rejected?.httpStatus, 403)
          assert.strictEqual(
            refused.rejected?.headers["www-authenticate"],
            "Bearer error=\"insufficient_scope\", scope=\"read write\""
          )
          assert.isUndefined((yield* call(scopes, "free")).code)
        }
        assert.isUndefined((yield* call(["write", "read"], "admin")).code)
        // A local process has no token, and nobody else speaks to it.
        assert.isUndefined(connect(endpoint, version).start("tools/call", { name: "admin" }).code)
      }))
  }

  it.effect("the limit of requests in flight counts for each caller over HTTP", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(register(waits([])), { limits: { requestsInFlight: 1 } })
      const client = (subject: string) =>
        overHttp(endpoint, modern, { principal: { issuer: "https://as", subject, scopes: [], claims: {} } })
      client("ada").start("tools/call", { name: "wait" })
      const refused = client("ada").start("tools/call", { name: "wait" })
      assert.deepStrictEqual([refused.code, refused.rejected?.httpStatus], [-32603, 503])
      const other = client("bob").start("tools/call", { name: "wait" })
      yield* TestClock.adjust("1 second")
      assert.strictEqual(at(other.result, "content", 0, "text"), "done")
      assert.isUndefined(client("ada").start("tools/call", { name: "wait" }).code)
    }))
})

describe("a stream of its own", () => {
  it.effect("[HTTP-62] [HTP-27] a client that leaves stops the work, and nothing is sent any more", () =>
    Effect.gen(function*() {
      const ended: Array<string> = []
      const endpoint = yield* serve(register(waits(ended)))
      const sent = overHttp(endpoint, modern).start("tools/call", { name: "wait" })
      sent.disconnect()
      assert.deepStrictEqual(ended, ["wait"])
      assert.isUndefined(sent.answer)
      assert.strictEqual(endpoint.health().inFlight, 0)
    }))

  it.effect("[RPC-04] over HTTP equal ids of different clients have nothing to do with each other", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(register(waits([])))
      const [a, b] = [overHttp(endpoint, modern), overHttp(endpoint, modern)]
      const sent = [a.start("tools/call", { name: "wait" }, 1), b.start("tools/call", { name: "wait" }, 1)]
      a.notify("notifications/cancelled", { requestId: 1 })
      yield* TestClock.adjust("1 second")
      for (const each of sent) assert.strictEqual(at(each.result, "content", 0, "text"), "done")
    }))

  it.effect("[PRG-02] [PRG-06] [field PRG-02] [field PRG-03] progress goes out on the request's stream under its token, and only if one was given", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(register(tool("work", () =>
        Effect.as(
          Effect.andThen(Progress.report({ progress: 1, total: 2 }), Progress.report({ progress: 1 })),
          text("")
        ))))
      for (const wire of [new Wire(), undefined]) {
        const client = new Client(endpoint, modern, wire)
        for (const progressToken of [0, "", "0", "abc"]) {
          const sent = client.start("tools/call", { name: "work", _meta: { progressToken } })
          assert.deepStrictEqual(sent.pushed, [
            { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1, total: 2 } }
          ])
        }
        assert.deepStrictEqual(client.start("tools/call", { name: "work" }).pushed, [])
      }
    }))

  it.effect("[STD-14] [PRG-03] once it is cancelled or answered nothing is sent about a request", () =>
    Effect.gen(function*() {
      const late: Array<Effect.Effect<void>> = []
      const endpoint = yield* serve(register(
        tool("stubborn", () =>
          Effect.gen(function*() {
            const context = yield* RequestContext
            late.push(context.progress?.report({ progress: 2 }) ?? Effect.void)
            yield* Effect.onInterrupt(Effect.never, () => Progress.report({ progress: 1 }))
            return text("")
          })),
        tool("quick", () =>
          Effect.map(RequestContext, (context) => {
            late.push(context.progress?.report({ progress: 2 }) ?? Effect.void)
            return text("")
          }))
      ))
      const client = new Client(endpoint, modern, new Wire())
      const cancelled = client.start("tools/call", { name: "stubborn", _meta: { progressToken: 1 } }, 1)
      client.notify("notifications/cancelled", { requestId: 1 })
      const answered = client.start("tools/call", { name: "quick", _meta: { progressToken: 2 } }, 2)
      assert.strictEqual(late.length, 2)
      yield* Effect.all(late)
      assert.deepStrictEqual([cancelled.pushed, answered.pushed], [[], []])
    }))

  it.effect("[RPC-17] nothing can be asked on the stream", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(
        register(tool("ask", () => Effect.map(RequestContext, (context) => text(String(context.asker === undefined)))))
      )
      const sent = connect(endpoint, modern).start("tools/call", { name: "ask" })
      assert.strictEqual(at(sent.result, "content", 0, "text"), "true")
    }))

  it.effect("[HTTP-67] notifications and responses over HTTP are taken and change nothing", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(register())
      const facts = {
        ...overHttp(endpoint, modern).facts(),
        classified: { _tag: "Modern", version: modern, envelope: undefined }
      } as const
      const outlet = { answer: () => {}, end: () => {}, push: () => Effect.void }
      yield* endpoint.endpoint.handle({ message: JsonRpc.notification("notifications/cancelled"), facts, outlet })
    }))
})

describe("traces and scopes", () => {
  it.effect("[META-15] a handler's spans belong to the trace that _meta names", () =>
    Effect.gen(function*() {
      const spans: Array<Tracer.Span> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const endpoint = yield* Effect.provideService(
        serve(register(tool("traced", () => Effect.withSpan(Effect.succeed(text("")), "inside")))),
        Tracer.Tracer,
        tracer
      )
      const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
      yield* connect(endpoint, modern).request("tools/call", { name: "traced", _meta: { traceparent } })
      assert.deepStrictEqual(spans.map((span) => span.name), ["tools/call traced", "inside"])
      for (const span of spans) assert.strictEqual(span.traceId, "0af7651916cd43dd8448eb211c80319c")
    }))

  for (const version of ["2025-11-25", modern] as const) {
    it.effect(`[PRG-11] ${version}: what a request acquires is released before its answer`, () =>
      Effect.gen(function*() {
        const events: Array<string> = []
        const endpoint = yield* serve(register(tool("scoped", () =>
          Effect.as(
            Effect.acquireRelease(Effect.void, () =>
              Effect.andThen(Effect.sleep("1 second"), Effect.sync(() => void events.push("released")))),
            text("")
          ))))
        const sent = connect(endpoint, version).start("tools/call", { name: "scoped" })
        assert.isUndefined(sent.answer)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(events, ["released"])
        assert.isDefined(sent.result)
      }))

    it.effect(`[SCH-18] ${version}: a defect is logged once, with its cause`, () =>
      Effect.gen(function*() {
        const logged: Array<unknown> = []
        const logger = Logger.make((options) => void logged.push(options.cause.reasons.length))
        const endpoint = yield* Effect.provideService(
          serve(register(tool("boom", () => Effect.die(new Error("secret"))))),
          Logger.CurrentLoggers,
          new Set([logger])
        )
        const sent = yield* connect(endpoint, version).request("tools/call", { name: "boom" })
        assert.notInclude(JSON.stringify(sent.answer), "secret")
        assert.deepStrictEqual(logged, [1])
      }))

    it.effect(`[CON-07] ${version}: handlers wait for each other past the endpoint's limit of handlers at a time`, () =>
      Effect.gen(function*() {
        const endpoint = yield* serve(register(waits([])), { limits: { concurrency: 1 } })
        const client = connect(endpoint, version)
        const sent = [1, 2].map(() => client.start("tools/call", { name: "wait" }))
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(sent.map((each) => each.answer !== undefined), [true, false])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(sent.map((each) => each.answer !== undefined), [true, true])
      }))
  }
})
