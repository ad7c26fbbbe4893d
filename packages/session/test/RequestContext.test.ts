import { assert, describe, it } from "@effect/vitest"
import * as Methods from "@mcpfx/schema/Methods"
import * as RequestContext from "@mcpfx/session/RequestContext"
import { Effect } from "effect"
import { at, facts, handler, legacy, readyServer } from "./fixtures.ts"

describe("RequestContext", () => {
  it.effect("[CON-05] holds the facts of the request, what came in its _meta, and the way back", () =>
    Effect.gen(function*() {
      const seen: Array<RequestContext.RequestContext["Service"]> = []
      const bench = yield* readyServer({
        handler: handler({
          "tools/call": (_, context) => {
            seen.push(context)
            return Effect.as(context.notify(Methods.LoggingMessage, { level: "info", data: 1 }), {})
          }
        })
      })
      const stream = bench.ask("r", "tools/call", { _meta: { "a.b/c": 1, progressToken: 0 } })
      const context = seen[0]
      assert.deepInclude(context, {
        method: "tools/call",
        id: "r",
        revision: legacy,
        sessionId: "s1",
        facts,
        meta: { "a.b/c": 1, progressToken: 0 },
        progressToken: 0,
        round: 1
      })
      assert.deepStrictEqual(stream.pushed.map((message) => at(message, "method")), ["notifications/message"])
      // Once the request is over its stream is silent.
      if (context !== undefined) yield* context.notify(Methods.LoggingMessage, { level: "info", data: 2 })
      assert.strictEqual(stream.pushed.length, 1)
    }))

  it.effect("what the revision has no words for is not said", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({
        handler: handler({
          "tools/call": (_, context) =>
            Effect.as(context.notify(Methods.SubscriptionsAcknowledged, { notifications: {} }), {})
        })
      })
      assert.deepStrictEqual(bench.ask(1, "tools/call").pushed, [])
    }))

  it.effect("extend changes some members and keeps the others, the live ones too", () =>
    Effect.gen(function*() {
      const levels: Array<unknown> = []
      const bench = yield* readyServer({
        defaultLogLevel: "error",
        handler: handler({
          "tools/call": (_, context) => {
            const extended = RequestContext.extend(RequestContext.extend(context, { round: 2 }), {
              sessionId: undefined
            })
            levels.push(extended.logLevel, extended.round, extended.sessionId, extended.method, context.round)
            return Effect.as(extended.notify(Methods.LoggingMessage, { level: "info", data: 1 }), {})
          }
        })
      })
      const stream = bench.ask(1, "tools/call")
      assert.deepStrictEqual(levels, ["error", 2, undefined, "tools/call", 1])
      assert.strictEqual(stream.pushed.length, 1)
    }))
})
