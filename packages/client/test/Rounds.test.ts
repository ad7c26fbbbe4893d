import { assert, it } from "@effect/vitest"
import { AskContext, ClientElicitation, McpClient } from "@mcpfx/client"
import { JsonRpc, type Progress } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Ref, Stream } from "effect"
import { TestClock } from "effect/testing"
import { asking, connected, said, sentTo } from "./support/asks.ts"
import { settle } from "./support/client.ts"
import { elicit, Handlers, reasonOf, serving, turns } from "./support/rounds.ts"

it.effect("rounds have an end: ten, or what the option says", () =>
  Effect.gen(function*() {
    for (const maxRounds of [undefined, 0, 3]) {
      const server = yield* serving({ "tools/call": asking({ who: elicit }) })
      const client = yield* connected(server, Handlers, { maxRounds })
      assert.deepInclude(yield* reasonOf(client.callTool("x")), {
        _tag: "TooManyRounds",
        rounds: maxRounds ?? 10,
        option: "maxRounds"
      })
      assert.strictEqual(sentTo(server, "tools/call").length, (maxRounds ?? 10) + 1)
    }
  }))

it.effect("[MRT-11] nothing but state is sent again: at once, then slower and slower", () =>
  Effect.gen(function*() {
    const times = yield* Ref.make<ReadonlyArray<number>>([])
    const server = yield* serving({
      "tools/call": () =>
        Effect.clockWith((clock) =>
          Effect.as(
            Ref.update(times, (all) => [...all, clock.currentTimeMillisUnsafe()]),
            asking(undefined, "busy")
          )
        )
    })
    const client = yield* connected(server, Layer.empty, { maxRounds: 4 })
    const fiber = yield* Effect.forkChild(Effect.flip(client.callTool("x")))
    for (let step = 0; step < 30; step++) {
      yield* settle
      yield* TestClock.adjust("50 millis")
    }
    assert.deepInclude((yield* Fiber.join(fiber)).reason, { _tag: "TooManyRounds" })
    const [start = 0, ...rest] = yield* Ref.get(times)
    assert.deepStrictEqual(rest.map((time) => time - start), [0, 100, 300, 700])
    const [, second] = sentTo(server, "tools/call")
    assert.deepStrictEqual(second?.params, { name: "x", requestState: "busy" })
  }))

it.effect("[PRG-02] progress of all rounds is one stream that never goes back", () =>
  Effect.gen(function*() {
    const report = (
      request: JsonRpc.Request,
      server: ScriptedServer.ScriptedServer,
      ...values: ReadonlyArray<number>
    ) =>
      Effect.forEach(values, (progress) => {
        const meta = request.params?.["_meta"]
        const progressToken = JsonRpc.isJsonObject(meta) ? meta["progressToken"] : undefined
        return Effect.orDie(server.notify("notifications/progress", { progressToken, progress }))
      })
    let turn = 0
    const server = yield* serving({
      "tools/call": (request, server) =>
        turn++ === 0
          ? Effect.as(report(request, server, 1, 2), asking({ who: elicit }))
          : Effect.as(report(request, server, 1, 2, 3), said("done"))
    })
    const client = yield* connected(server, Handlers)
    const events = yield* Stream.runCollect(
      McpClient.progress((onProgress) => client.callTool("x", {}, { onProgress }))
    )
    const reports = events.flatMap((event): ReadonlyArray<Progress.Params> =>
      event._tag === "Progress" ? [event.progress] : []
    )
    assert.deepStrictEqual(reports.map(({ progress }) => progress), [1, 2, 3])
    assert.strictEqual(new Set(reports.map(({ progressToken }) => progressToken)).size, 1)
  }))

it.effect("[LIF-14] one deadline holds for all rounds and for what lies between them", () =>
  Effect.gen(function*() {
    const stopped = yield* Deferred.make<void>()
    const forms = ClientElicitation.layerForm(() =>
      Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))
    )
    const server = yield* serving({ "tools/call": asking({ who: elicit }) })
    const client = yield* connected(server, forms)
    const fiber = yield* Effect.forkChild(Effect.flip(client.callTool("x", {}, { maxTimeout: "2 minutes" })))
    yield* settle
    yield* TestClock.adjust("119 seconds")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 second")
    assert.deepInclude((yield* Fiber.join(fiber)).reason, { _tag: "TimedOut", millis: 120_000 })
    yield* Deferred.await(stopped)
  }))

it.effect("[LIF-14] the deadline cuts a later round, and the server hears of it", () =>
  Effect.gen(function*() {
    const server = yield* serving({ "tools/call": turns(asking({ who: elicit }), ScriptedServer.silence) })
    const forms = ClientElicitation.layerForm(() => Effect.delay(Effect.succeed(ClientElicitation.cancel), "3 seconds"))
    const client = yield* connected(server, forms, { timeout: "5 minutes", maxTimeout: "10 seconds" })
    const fiber = yield* Effect.forkChild(Effect.flip(client.callTool("x")))
    yield* settle
    yield* TestClock.adjust("3 seconds")
    yield* settle
    yield* TestClock.adjust("7 seconds")
    assert.deepInclude((yield* Fiber.join(fiber)).reason, { _tag: "TimedOut", millis: 10_000 })
    const [, second] = sentTo(server, "tools/call")
    const notice = yield* server.expect("notifications/cancelled")
    assert.deepInclude(notice, { params: { requestId: second?.id, reason: "cancelled" } })
  }))

it.effect("[CAN-01] interrupting the call interrupts its handler", () =>
  Effect.gen(function*() {
    const started = yield* Deferred.make<void>()
    const stopped = yield* Deferred.make<void>()
    const forms = ClientElicitation.layerForm(() =>
      Effect.onInterrupt(
        Effect.andThen(Deferred.succeed(started, undefined), Effect.never),
        () => Deferred.succeed(stopped, undefined)
      )
    )
    const server = yield* serving({ "tools/call": asking({ who: elicit }) })
    const client = yield* connected(server, forms)
    const fiber = yield* Effect.forkChild(client.callTool("x"))
    yield* Deferred.await(started)
    yield* Fiber.interrupt(fiber)
    yield* Deferred.await(stopped)
    assert.strictEqual(sentTo(server, "tools/call").length, 1)
  }))

it.effect("[ELI-10] a handler that breaks, or answers what was not asked, fails the call and never the program", () =>
  Effect.gen(function*() {
    const broken = [
      Effect.die(new Error("broken")),
      Effect.succeed(ClientElicitation.accept({ other: 1 })),
      Effect.interrupt
    ]
    for (const answer of broken) {
      const server = yield* serving({ "tools/call": asking({ who: elicit }) })
      const client = yield* connected(server, ClientElicitation.layerForm(() => answer))
      const exit = yield* Effect.exit(client.callTool("x"))
      assert.isTrue(Exit.isFailure(exit))
      if (!Exit.isFailure(exit)) continue
      assert.include(Cause.pretty(exit.cause), "the handler of elicitation/create failed")
      assert.strictEqual(sentTo(server, "tools/call").length, 1)
    }
  }))

it.effect("[ELI-08] handlers are told which request asks, and in which round", () =>
  Effect.gen(function*() {
    const seen = yield* Ref.make<ReadonlyArray<unknown>>([])
    const forms = ClientElicitation.layerForm(() =>
      Effect.gen(function*() {
        const { during, method, revision, round, server } = yield* AskContext.AskContext
        yield* Ref.update(seen, (all) => [...all, [server.info?.name, revision, method, during, round]])
        return ClientElicitation.accept({})
      })
    )
    const server = yield* serving({
      "prompts/get": turns(
        asking({ a: elicit }),
        asking({ a: elicit }),
        ScriptedServer.result({ resultType: "complete", messages: [] })
      )
    })
    const client = yield* connected(server, forms)
    yield* client.getPrompt("p")
    assert.deepStrictEqual(yield* Ref.get(seen), [
      ["scripted", "2026-07-28", "elicitation/create", "prompts/get", 1],
      ["scripted", "2026-07-28", "elicitation/create", "prompts/get", 2]
    ])
  }))
