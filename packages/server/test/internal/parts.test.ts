import { assert, describe, it } from "@effect/vitest"
import type { Update } from "@mcpfx/server/ChangeBus"
import { Cause, Duration, Effect, Fiber, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import * as Coalesce from "../../src/internal/coalesce.ts"
import { jsonSafe } from "../../src/internal/jsonSafe.ts"
import { Meter } from "../../src/internal/meter.ts"
import { covering } from "../../src/internal/uriSet.ts"

const resource = (uri: string): Update => ({ kind: "resource", uri })

const coalescer = Effect.fnUntraced(function*(capacity = 10, slow: Duration.Input = 0) {
  const scope = yield* Scope.Scope
  const sent: Array<string> = []
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const stream = { open: true }
  const { offer, resume } = Coalesce.make({
    window: Duration.millis(100),
    capacity,
    collapse: (change) => change.kind === "resource" ? resource("demo://above") : change,
    send: (change) =>
      Effect.andThen(
        Duration.toMillis(slow) === 0 ? Effect.void : Effect.sleep(slow),
        Effect.sync(() => {
          if (stream.open) sent.push(change.kind === "resource" ? change.uri : change.kind)
          return stream.open
        })
      ),
    run: (pump) => void Fiber.runIn(run(pump), scope)
  })
  return { offer, resume, sent, stream }
})

describe("coalesce", () => {
  it.effect("[field SUB-02] the first change goes out at once, a storm after it as one, the last is never lost", () =>
    Effect.gen(function*() {
      const { offer, sent } = yield* coalescer()
      offer({ kind: "tools" })
      assert.deepStrictEqual(sent, ["tools"])
      for (let i = 0; i < 200; i++) offer({ kind: "tools" })
      assert.deepStrictEqual(sent, ["tools"])
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(sent, ["tools", "tools"])
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(sent.length, 2)
      offer({ kind: "tools" })
      assert.strictEqual(sent.length, 3)
    }))

  it.effect("[field SUB-05] changes at 0, 10 and 20 ms: the trailing edge comes", () =>
    Effect.gen(function*() {
      const { offer, sent } = yield* coalescer()
      for (let i = 0; i < 3; i++) {
        offer({ kind: "prompts" })
        yield* TestClock.adjust("10 millis")
      }
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(sent, ["prompts", "prompts"])
    }))

  it.effect("different changes do not stand for each other, and past the capacity what is above stands for all", () =>
    Effect.gen(function*() {
      const { offer, sent } = yield* coalescer(2)
      offer({ kind: "tools" })
      for (const uri of ["demo://a", "demo://b", "demo://a", "demo://c", "demo://d"]) offer(resource(uri))
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(sent, ["tools", "demo://a", "demo://b", "demo://above"])
    }))

  it.effect("what changes while a slow stream is written to goes out after it", () =>
    Effect.gen(function*() {
      const { offer, sent } = yield* coalescer(10, "1 second")
      offer(resource("demo://a"))
      yield* TestClock.adjust("500 millis")
      offer(resource("demo://a"))
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(sent, ["demo://a"])
      yield* TestClock.adjust("1100 millis")
      assert.deepStrictEqual(sent, ["demo://a", "demo://a"])
    }))

  it.effect("[SUB-05] without a stream each change is kept once, within the capacity, for the stream that comes", () =>
    Effect.gen(function*() {
      const { offer, resume, sent, stream } = yield* coalescer(3)
      stream.open = false
      for (let i = 0; i < 100; i++) {
        for (const uri of ["demo://a", "demo://b", `demo://${i}`]) offer(resource(uri))
        offer({ kind: "tools" })
        yield* TestClock.adjust("10 millis")
      }
      resume()
      assert.deepStrictEqual(sent, [])
      stream.open = true
      resume()
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(sent, ["demo://a", "demo://b", "demo://0", "tools", "demo://above"])
    }))

  it.effect("[SUB-05] a stream that comes while a change fails on the one before gets it", () =>
    Effect.gen(function*() {
      const { offer, resume, sent, stream } = yield* coalescer(10, "1 second")
      stream.open = false
      offer(resource("demo://a"))
      yield* TestClock.adjust("500 millis")
      resume()
      yield* TestClock.adjust("500 millis")
      stream.open = true
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(sent, ["demo://a"])
    }))
})

describe("covering", () => {
  it("[SUB-11] what lies below a subscribed URI counts as it, what only begins like it does not", () => {
    const subscribed = new Set(["demo://a", "demo://dir/", "file:///x/y"])
    assert.strictEqual(covering(subscribed, "demo://a"), "demo://a")
    assert.strictEqual(covering(subscribed, "demo://a/b/c"), "demo://a")
    assert.strictEqual(covering(subscribed, "demo://a?x=1"), "demo://a")
    assert.strictEqual(covering(subscribed, "demo://a#x"), "demo://a")
    assert.strictEqual(covering(subscribed, "demo://dir/file"), "demo://dir/")
    assert.strictEqual(covering(subscribed, "file:///x/y/z"), "file:///x/y")
    for (const uri of ["demo://ab", "demo://b", "demo://dir", "file:///x", "file:///x/yz", "", "a"]) {
      assert.isUndefined(covering(subscribed, uri), uri)
    }
  })

  it("agrees with looking at each subscription in turn", () => {
    const segment = fc.constantFrom("a", "b", "ab", "")
    const uri = fc.array(segment, { maxLength: 4 }).map((parts) => `demo://${parts.join("/")}`)
    fc.assert(fc.property(fc.array(uri), uri, (subscribed, changed) => {
      const slow = subscribed.some((each) =>
        each === changed || (changed.startsWith(each) && (each.endsWith("/") || changed[each.length] === "/"))
      )
      assert.strictEqual(covering(new Set(subscribed), changed) !== undefined, slow)
    }))
  })
})

describe("jsonSafe", () => {
  it("[LOG-06] keeps JSON as it is and secrets, errors and causes out", () => {
    const value = { a: [1, "x", true, null], b: { c: 1.5 } }
    assert.deepStrictEqual(jsonSafe(value, 1000), value)
    assert.strictEqual(jsonSafe(new TypeError("password abc"), 1000), "TypeError")
    assert.strictEqual(jsonSafe(Cause.die(new Error("password abc")), 1000), "Cause")
    const text = JSON.stringify(jsonSafe({ token: Redacted.make("abc"), error: new Error("abc") }, 1000))
    assert.notInclude(text, "abc")
  })

  it("[LOG-07] makes JSON of anything", () => {
    const loop: Record<string, unknown> = { n: 1n, s: Symbol("s"), f: () => 1, u: undefined, nan: Number.NaN }
    loop["self"] = loop
    loop["map"] = new Map([["k", new Set([1])]])
    loop["__proto__x"] = 1
    const safe = jsonSafe(loop, 1000)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(safe)), {
      n: "1",
      s: "Symbol(s)",
      nan: "NaN",
      self: "[…]",
      map: [["k", [1]]],
      __proto__x: 1
    })
    const trap = new Proxy({}, {
      ownKeys: () => {
        throw new Error("no")
      }
    })
    assert.strictEqual(jsonSafe(trap, 1000), "[unreadable]")
    assert.isNull(jsonSafe(undefined, 1000))
  })

  it("[LOG-06] is never longer than it may be", () => {
    assert.strictEqual(jsonSafe("x".repeat(50), 10), `${"x".repeat(10)}…`)
    fc.assert(fc.property(fc.anything(), (value) => JSON.stringify(jsonSafe(value, 200)).length <= 500))
  })
})

describe("Meter", () => {
  it("[LOG-06] lets a burst through, then so much a second", () => {
    const meter = new Meter(3, 2)
    const taken = (now: number) => Array.from({ length: 5 }, () => meter.take(now)).filter(Boolean).length
    assert.strictEqual(taken(0), 3)
    assert.strictEqual(taken(0), 0)
    assert.strictEqual(taken(1000), 2)
    assert.strictEqual(taken(60_000), 3)
    // A clock that goes back gives nothing away.
    assert.strictEqual(taken(0), 0)
  })
})
