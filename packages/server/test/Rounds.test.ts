import { assert, describe, it } from "@effect/vitest"
import { Tool } from "@mcpfx/schema"
import { Input, ServerError } from "@mcpfx/server"
import * as McpServer from "@mcpfx/server/McpServer"
import { Deferred, Effect, Exit, Fiber, Latch, Schedule, Schema } from "effect"
import { at, Client, serve, Wire } from "./protocol/harness.ts"
import { accept, type Answer, everything, logged, play, settle } from "./support/asking.ts"

const modern = "2026-07-28"
const Ask = Tool.make("ask")
const Name = Schema.Struct({ name: Schema.String })
const name = Effect.map(Input.elicit("Who?", Name), (answer) => answer.name)
const bob = accept({ name: "Bob" })

const asking = (handler: Effect.Effect<string, McpServerFailure, Input.Services>) => McpServer.tool(Ask, () => handler)

type McpServerFailure = Effect.Error<typeof name>

/** Plays a handler with one who says Bob, and gives the text. */
const run = (handler: Effect.Effect<string, McpServerFailure, Input.Services>, answer: Answer = bob) =>
  Effect.flatMap(serve(asking(handler)), (endpoint) => play(endpoint, modern, "ask", answer))

describe("a question without an answer", () => {
  it.effect("[MRT-01, MRT-03, MRT-04] ends the round with what is asked and a state", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(asking(name))
      const client = new Client(endpoint, modern, new Wire())
      const sent = yield* client.request("tools/call", {
        name: "ask",
        _meta: { "io.modelcontextprotocol/clientCapabilities": everything }
      })
      assert.strictEqual(at(sent.result, "resultType"), "input_required")
      assert.isString(at(sent.result, "requestState"))
      const requests = at(sent.result, "inputRequests")
      const keys = Object.keys(typeof requests === "object" ? { ...requests } : {})
      assert.lengthOf(keys, 1)
      assert.match(String(keys[0]), /^elicit-[A-Za-z0-9_-]{10}-1$/)
      assert.deepStrictEqual(at(requests, String(keys[0])), {
        method: "elicitation/create",
        params: {
          mode: "form",
          message: "Who?",
          requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
        }
      })
      assert.deepStrictEqual(at(sent.result, "_meta", "io.modelcontextprotocol/serverInfo"), {
        name: "tester",
        version: "1.2.3"
      })
      assert.isUndefined(at(sent.result, "ttlMs"))
      assert.deepStrictEqual(sent.pushed, [])
    }))

  it.effect("never fails: no handler of failures, causes or exits takes it for an outcome", () =>
    Effect.gen(function*() {
      const taken: Array<string> = []
      const note = (what: string) => Effect.sync(() => void taken.push(what))
      const caught = name.pipe(
        Effect.tapError(() => note("error")),
        Effect.catch(() => Effect.as(note("catch"), "caught")),
        Effect.catchCause(() => Effect.as(note("catchCause"), "caught")),
        Effect.exit,
        Effect.flatMap((exit) => Exit.isSuccess(exit) ? Effect.succeed(exit.value) : Effect.as(note("exit"), "exit")),
        Effect.retry(Schedule.recurs(3)),
        Effect.orElseSucceed(() => "else")
      )
      const played = yield* run(caught)
      assert.strictEqual(played.text, "Bob")
      assert.strictEqual(played.all.length, 2)
      assert.deepStrictEqual(taken, [])
    }))

  it.effect("runs finalizers before the question is sent, and tells them why", () =>
    Effect.gen(function*() {
      const events: Array<string> = []
      const note = (what: string) => Effect.sync(() => void events.push(what))
      const handler = Effect.gen(function*() {
        yield* Effect.acquireRelease(note("acquire"), (_, exit) => note(`release ${Input.isSuspended(exit)}`))
        return yield* name.pipe(
          Effect.onInterrupt(() => note("onInterrupt")),
          Input.onCancel(note("onCancel")),
          Effect.onExit((exit) => note(`onExit ${Input.isSuspended(exit)}`))
        )
      })
      const endpoint = yield* serve(McpServer.tool(Ask, () => handler))
      const client = new Client(endpoint, modern, new Wire())
      const _meta = { "io.modelcontextprotocol/clientCapabilities": everything }
      const sent = yield* client.request("tools/call", { name: "ask", _meta })
      assert.strictEqual(at(sent.result, "resultType"), "input_required")
      assert.deepStrictEqual(events, ["acquire", "onInterrupt", "onExit true", "release true"])
      events.length = 0
      const played = yield* play(endpoint, modern, "ask", bob)
      assert.strictEqual(played.text, "Bob")
      assert.deepStrictEqual(events.slice(-3), ["acquire", "onExit false", "release false"])
    }))

  it.effect("a finalizer that takes long is waited for", () =>
    Effect.gen(function*() {
      const latch = Latch.makeUnsafe()
      const handler = Effect.onExit(name, () => latch.await)
      const client = new Client(yield* serve(asking(handler)), modern, new Wire())
      const _meta = { "io.modelcontextprotocol/clientCapabilities": everything }
      const sent = client.start("tools/call", { name: "ask", _meta })
      yield* settle
      assert.isFalse(sent.closed)
      yield* latch.open
      yield* Deferred.await(sent.done)
      assert.strictEqual(at(sent.result, "resultType"), "input_required")
    }))

  it.effect("a cancelled call is no suspended one", () =>
    Effect.gen(function*() {
      const events: Array<string> = []
      const slow = Effect.sleep("1 hour").pipe(
        Effect.as("done"),
        Effect.onExit((exit) => Effect.sync(() => void events.push(`suspended ${Input.isSuspended(exit)}`))),
        Input.onCancel(Effect.sync(() => void events.push("cancelled")))
      )
      const client = new Client(yield* serve(asking(slow)), modern, new Wire())
      client.start("tools/call", { name: "ask" }, 1)
      client.notify("notifications/cancelled", { requestId: 1 })
      yield* settle
      assert.deepStrictEqual(events, ["suspended false", "cancelled"])
    }))
})

describe("several fibers", () => {
  it.effect("Input.all asks everything in one round, at once", () =>
    Effect.gen(function*() {
      const both = Input.all({
        who: name,
        sample: Input.sample({ messages: [], maxTokens: 10 }),
        roots: Input.roots
      })
      const handler = Effect.map(both, ({ roots, sample, who }) => `${who} ${sample.model} ${roots.length}`)
      const played = yield* run(handler, ({ method }) =>
        method === "roots/list"
          ? { roots: [{ uri: "file:///a" }] }
          : method === "sampling/createMessage"
          ? { role: "assistant", content: { type: "text", text: "hi" }, model: "m" }
          : { action: "accept", content: { name: "Bob" } })
      assert.strictEqual(played.text, "Bob m 1")
      assert.strictEqual(played.all.length, 2)
      assert.deepStrictEqual(played.asked.map(({ method }) => method).sort(), [
        "elicitation/create",
        "roots/list",
        "sampling/createMessage"
      ])
    }))

  it.effect("Input.all: one decline gives up the rest", () =>
    Effect.gen(function*() {
      const both = Input.all([name, Input.elicit("And?", Name)])
      const played = yield* run(
        Effect.map(both, () => "both"),
        ({ params }) => at(params, "message") === "Who?" ? { action: "decline" } : undefined
      )
      assert.isTrue(played.isError)
      assert.strictEqual(played.text, "The user declined (elicitation.form)")
    }))

  it.live("questions of fibers of one's own go into one round, a moment after the last", () =>
    Effect.gen(function*() {
      const handler = Effect.map(
        Effect.all([name, Effect.andThen(Effect.sleep(3), Input.elicit("And?", Name))], { concurrency: 2 }),
        ([first, second]) => `${first} ${second.name}`
      )
      const played = yield* run(handler)
      assert.strictEqual(played.text, "Bob Bob")
      assert.strictEqual(played.all.length, 2)
      assert.lengthOf(played.asked, 2)
    }))

  it.live("a fiber that goes on is interrupted, with its finalizers, before the round ends", () =>
    Effect.gen(function*() {
      const ended: Array<string> = []
      const handler = Effect.gen(function*() {
        yield* Effect.forkChild(
          Effect.ensuring(Effect.sleep("1 hour"), Effect.sync(() => void ended.push("child"))),
          { startImmediately: true }
        )
        yield* Effect.forkScoped(
          Effect.ensuring(Effect.sleep("1 hour"), Effect.sync(() => void ended.push("scoped"))),
          { startImmediately: true }
        )
        return yield* name
      })
      const client = new Client(yield* serve(McpServer.tool(Ask, () => handler)), modern, new Wire())
      const _meta = { "io.modelcontextprotocol/clientCapabilities": everything }
      const sent = yield* client.request("tools/call", { name: "ask", _meta })
      assert.strictEqual(at(sent.result, "resultType"), "input_required")
      assert.deepStrictEqual(ended.sort(), ["child", "scoped"])
    }))

  it.live("a question in a child that is joined", () =>
    Effect.gen(function*() {
      const handler = Effect.flatMap(Effect.forkChild(name), Fiber.join)
      assert.strictEqual((yield* run(handler)).text, "Bob")
      const scoped = Effect.scoped(Effect.flatMap(Effect.forkScoped(name), Fiber.join))
      assert.strictEqual((yield* run(scoped)).text, "Bob")
    }))

  it.live("a question in the background of a handler that ends is not asked", () =>
    Effect.gen(function*() {
      const child = Effect.andThen(
        Effect.forkChild(name, { startImmediately: true }),
        Effect.as(Effect.sleep(2), "done")
      )
      assert.strictEqual((yield* run(child)).text, "done")
      const scoped = McpServer.tool(
        Ask,
        () => Effect.andThen(Effect.forkScoped(name, { startImmediately: true }), Effect.as(Effect.sleep(2), "done"))
      )
      assert.strictEqual((yield* play(yield* serve(scoped), modern, "ask", bob)).text, "done")
    }))

  it.live("a race, and a deadline, that the question outlives", () =>
    Effect.gen(function*() {
      const raced = Effect.race(name, Effect.as(Effect.sleep("1 hour"), "late"))
      assert.strictEqual((yield* run(raced)).text, "Bob")
      const timed = Effect.timeoutOrElse(name, { duration: "1 hour", orElse: () => Effect.succeed("late") })
      assert.strictEqual((yield* run(timed)).text, "Bob")
    }))

  it.live("a question that loses a race before it was sent is named as a defect", () =>
    Effect.gen(function*() {
      const raced = Effect.race(
        Input.elicit("Who?", Name, { key: "who" }),
        Effect.delay(Effect.succeed({ name: "x" }), 2)
      )
      const { text, value } = yield* logged(run(Effect.map(raced, (one) => one.name)))
      assert.strictEqual(value.sent.code, -32603)
      assert.include(text, "AskLost")
      assert.include(text, `"who"`)
    }))

  it.effect("a question in an uninterruptible region is named as a defect", () =>
    Effect.gen(function*() {
      const handler = Effect.uninterruptible(Input.elicit("Who?", Name, { key: "who" }))
      const { text, value } = yield* logged(run(Effect.map(handler, (one) => one.name)))
      assert.strictEqual(value.sent.code, -32603)
      assert.include(text, "AskMisplaced")
    }))

  it.live("an uninterruptible wait for a child that asks does not hang", () =>
    Effect.gen(function*() {
      const handler = Effect.flatMap(Effect.forkChild(name), (fiber) => Effect.uninterruptible(Fiber.join(fiber)))
      assert.strictEqual((yield* run(handler)).text, "Bob")
    }))
})

describe("what becomes of the others", () => {
  const decline: Answer = ({ params }) => at(params, "message") === "Who?" ? { action: "decline" } : undefined

  it.live("a failure beside a question stands", () =>
    Effect.gen(function*() {
      const failing = Effect.delay(Effect.fail(new ServerError.Declined({ ask: "roots" })), 1)
      const played = yield* run(Effect.map(Effect.all([name, failing], { concurrency: 2 }), () => "both"))
      assert.strictEqual(played.text, "The user declined (roots)")
    }))

  it.live("Input.all: questions within questions are given up with the rest, and the handler may go on", () =>
    Effect.gen(function*() {
      const deep = Effect.timeoutOrElse(Effect.as(Input.all([Input.elicit("And?", Name)]), "deep"), {
        duration: "1 hour",
        orElse: () => Effect.succeed("late")
      })
      const handler = Input.all([name, deep]).pipe(
        Effect.map(() => "all"),
        Effect.catchTag("Declined", () => Effect.succeed("went on"))
      )
      assert.strictEqual((yield* run(handler, decline)).text, "went on")
    }))

  it.live("a question that nobody waits for any more does not outlive its request", () =>
    Effect.gen(function*() {
      const ended: Array<string> = []
      const detached = Effect.forkDetach(Effect.onExit(name, () => Effect.sync(() => void ended.push("ended"))), {
        startImmediately: true
      })
      const played = yield* run(Effect.andThen(detached, Effect.as(Effect.sleep(3), "done")))
      assert.strictEqual(played.text, "done")
      yield* settle
      assert.deepStrictEqual(ended, ["ended"])
    }))
})
