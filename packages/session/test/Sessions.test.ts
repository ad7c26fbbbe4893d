import { assert, describe, it, layer } from "@effect/vitest"
import * as Revisions from "@mcpfx/schema/Revisions"
import * as Session from "@mcpfx/session/Session"
import { SessionStoreUnavailable } from "@mcpfx/session/SessionError"
import * as SessionLimits from "@mcpfx/session/SessionLimits"
import * as Sessions from "@mcpfx/session/Sessions"
import * as SessionStore from "@mcpfx/session/SessionStore"
import { Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Logger, Option, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { Bench, handler, nothing, Wire } from "./fixtures.ts"

const factory = Layer.succeed(Sessions.SessionFactory, {
  make: (seed) =>
    Session.make({
      ...seed,
      role: "server",
      revisions: Revisions.all,
      handler: handler({ slow: () => Effect.never, "logging/setLevel": () => Effect.succeed({}) })
    })
})
const needs = Layer.merge(factory, SecureRandom.layerWebCrypto)
const memory = (limits: Partial<SessionLimits.Limits> = {}) =>
  Sessions.layerMemory.pipe(Layer.provide(needs), Layer.provide(SessionLimits.layer(limits)))

const open = (principalKey = "alice") =>
  Effect.flatMap(Sessions.Sessions, (sessions) => sessions.open({ principalKey }))
const get = (id: string, principalKey = "alice") =>
  Effect.flatMap(Sessions.Sessions, (sessions) => sessions.get(id, principalKey))
const count = Effect.flatMap(Sessions.Sessions, (sessions) => sessions.count)
const failure = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag)

describe("in this process", () => {
  it.effect("[HTTP-35] opens sessions with unguessable ids and finds them again, at once", () =>
    Effect.gen(function*() {
      const one = yield* open()
      const two = yield* open()
      assert.notStrictEqual(one.id, two.id)
      assert.match(one.id, /^[A-Za-z0-9_-]{24}$/)
      const sessions = yield* Sessions.Sessions
      assert.deepStrictEqual(sessions.get(one.id, "alice"), Exit.succeed(one))
      assert.strictEqual(yield* count, 2)
    }).pipe(Effect.provide(memory())))

  it.effect("[CON-02] a session of somebody else, an id of nobody and an odd id are not found alike", () =>
    Effect.gen(function*() {
      const session = yield* open("alice")
      const sessions = yield* Sessions.Sessions
      const strangers: ReadonlyArray<readonly [string, string]> = [
        [session.id, "bob"],
        [session.id, ""],
        ["nothing", "alice"],
        ["__proto__", "alice"],
        ["", ""]
      ]
      for (const [id, key] of strangers) {
        const error = yield* Effect.flip(sessions.get(id, key))
        assert.deepInclude(error, { _tag: "SessionNotFound", sessionId: id })
        assert.strictEqual(yield* failure(sessions.terminate(id, key)), "SessionNotFound")
      }
      assert.strictEqual(yield* count, 1)
    }).pipe(Effect.provide(memory())))

  it.effect("[HTTP-41] [HTTP-39] a terminated session is gone, for those who hold it too", () =>
    Effect.gen(function*() {
      const session = yield* open()
      yield* Effect.flatMap(Sessions.Sessions, (sessions) => sessions.terminate(session.id, "alice"))
      assert.strictEqual(yield* session.closed, "terminated")
      assert.strictEqual(yield* failure(get(session.id)), "SessionNotFound")
      assert.strictEqual(yield* count, 0)
    }).pipe(Effect.provide(memory())))

  it.effect("a directory that is full refuses, and has room again when one ends", () =>
    Effect.gen(function*() {
      const session = yield* open()
      yield* open("bob")
      const error = yield* Effect.flip(open("carol"))
      assert.deepInclude(error, { _tag: "TooManySessions", limit: 2, scope: "endpoint" })
      yield* session.close("closed")
      yield* open("carol")
    }).pipe(Effect.provide(memory({ sessions: 2 }))))

  it.effect("one caller cannot take all; callers that nobody knows share only the whole", () =>
    Effect.gen(function*() {
      yield* open("alice")
      yield* open("alice")
      assert.deepInclude(yield* Effect.flip(open("alice")), { limit: 2, scope: "principal" })
      yield* open("bob")
      for (let i = 0; i < 5; i++) yield* open("")
      assert.strictEqual(yield* count, 8)
    }).pipe(Effect.provide(memory({ sessionsPerPrincipal: 2 }))))

  it.effect("by default one caller has 100 sessions, and all together 10,000", () =>
    Effect.gen(function*() {
      for (let i = 0; i < 100; i++) yield* open("alice")
      assert.deepInclude(yield* Effect.flip(open("alice")), { limit: 100, scope: "principal" })
      assert.strictEqual(SessionLimits.defaults.sessions, 10_000)
    }).pipe(Effect.provide(memory())))

  it.effect("[MEM-01] a thousand unused sessions idle out, the two that are busy stay, and nothing is left", () =>
    Effect.gen(function*() {
      const sessions: Array<Session.Session> = []
      for (let i = 0; i < 1000; i++) sessions.push(yield* open(""))
      const calling = new Bench(yield* open(""))
      calling.shake()
      calling.ask(1, "slow")
      const streaming = yield* open("")
      const stream = yield* Scope.make()
      yield* Scope.provide(streaming.attach(new Wire()), stream)
      yield* TestClock.adjust("1 second")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* count, 2)
      const reasons = yield* Effect.forEach(sessions, (session) => session.closed)
      assert.isTrue(reasons.every((reason) => reason === "idle"))
      assert.strictEqual(yield* failure(get(String(sessions[0]?.id), "")), "SessionNotFound")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* count, 2)
      // The idle time starts when the work is over.
      yield* Scope.close(stream, Exit.void)
      calling.tell("notifications/cancelled", { requestId: 1 })
      yield* TestClock.adjust("500 millis")
      assert.strictEqual(yield* count, 2)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* count, 0)
    }).pipe(Effect.provide(memory({ idle: Duration.seconds(1) }))))

  it.effect("using a session keeps it; the default idle time is 30 minutes", () =>
    Effect.gen(function*() {
      const used = yield* open()
      const unused = yield* open()
      yield* TestClock.adjust("20 minutes")
      yield* get(used.id)
      yield* TestClock.adjust("12 minutes")
      assert.deepStrictEqual([yield* failure(get(unused.id)), (yield* get(used.id)).id], ["SessionNotFound", used.id])
      yield* TestClock.adjust("32 minutes")
      assert.strictEqual(yield* failure(get(used.id)), "SessionNotFound")
    }).pipe(Effect.provide(memory())))

  it.effect("a session that ends by itself is forgotten; one over a connection ends with it", () =>
    Effect.gen(function*() {
      const sessions = yield* Sessions.Sessions
      const wire = new Wire()
      const bound = yield* sessions.open({ principalKey: "", link: wire })
      const other = yield* open()
      yield* other.close("closed")
      wire.cut()
      assert.strictEqual(yield* bound.closed, "disconnected")
      assert.strictEqual(yield* count, 0)
    }).pipe(Effect.provide(memory())))

  it.effect("[SHT-02] draining lets calls end, refuses new ones and new sessions' work; the end is bounded", () =>
    Effect.gen(function*() {
      const sessions = yield* Sessions.Sessions
      const bench = new Bench(yield* open())
      bench.shake()
      const stream = bench.ask(1, "slow")
      const draining = yield* Effect.forkChild(sessions.drain("10 seconds"))
      yield* Effect.yieldNow
      const late = new Bench(yield* open())
      const refused = late.ask(1, "initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "n", version: "1" }
      })
      assert.strictEqual(refused.rejected?.httpStatus, 503)
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(draining)
      assert.deepStrictEqual([stream.ends, bench.session.load()], [1, nothing])
    }).pipe(Effect.provide(memory())))

  it.effect("closing the layer closes every session with the reason shutdown, all at once", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(memory(), scope)
      const benches: Array<Bench> = []
      for (let i = 0; i < 3; i++) {
        const bench = new Bench(yield* Effect.provide(open(), context))
        bench.shake()
        bench.ask(1, "slow")
        benches.push(bench)
      }
      yield* Scope.close(scope, Exit.void)
      for (const { session } of benches) {
        assert.strictEqual(yield* session.closed, "shutdown")
        assert.deepStrictEqual(session.load(), nothing)
      }
      assert.strictEqual(yield* Effect.provide(count, context), 0)
    }))

  it.effect("closeAll ends them with the reason given", () =>
    Effect.gen(function*() {
      const session = yield* open()
      yield* Effect.flatMap(Sessions.Sessions, (sessions) => sessions.closeAll("terminated"))
      assert.deepStrictEqual([yield* session.closed, yield* count], ["terminated", 0])
    }).pipe(Effect.provide(memory())))

  it.effect("a session that cannot be made takes no place", () => {
    let fails = true
    const flaky = Layer.succeed(Sessions.SessionFactory, {
      make: (seed) =>
        fails
          ? Effect.die("no session today")
          : Session.make({ ...seed, role: "server", revisions: Revisions.all, handler: handler() })
    })
    return Effect.gen(function*() {
      const exit = yield* Effect.exit(open())
      assert.isTrue(Exit.isFailure(exit))
      fails = false
      yield* open()
      assert.strictEqual(yield* count, 1)
    }).pipe(Effect.provide(
      Sessions.layerMemory.pipe(
        Layer.provide(Layer.merge(flaky, SecureRandom.layerWebCrypto)),
        Layer.provide(SessionLimits.layer({ sessions: 1 }))
      )
    ))
  })
})

describe("kept in a store", () => {
  /** Two processes that share a store and nothing else. */
  const twoProcesses = Effect.gen(function*() {
    const store = yield* Effect.context<SessionStore.SessionStore>()
    const process = Sessions.layer.pipe(Layer.provide(needs), Layer.provide(Layer.succeedContext(store)), Layer.fresh)
    const one = Context.get(yield* Layer.build(process), Sessions.Sessions)
    const scope = yield* Scope.make()
    const two = Context.get(yield* Layer.buildWithScope(process, scope), Sessions.Sessions)
    return { one, two, end: Scope.close(scope, Exit.void), store: Context.get(store, SessionStore.SessionStore) }
  })

  layer(SessionStore.layerMemory)("in memory", (it) => {
    it.effect("[LIF-17] a session of one process is revived by its first request in another, as it stood", () =>
      Effect.gen(function*() {
        const { one, store, two } = yield* twoProcesses
        const bench = new Bench(yield* one.open({ principalKey: "alice" }))
        const { id } = bench.session
        assert.isTrue(Option.isNone(yield* store.load(id)))
        bench.ask(1, "initialize", {
          protocolVersion: "2025-06-18",
          capabilities: { sampling: {} },
          clientInfo: { name: "n", version: "1" }
        })
        // It is there when the answer is out, so that the next request may go anywhere.
        assert.isTrue(Option.isSome(yield* store.load(id)))
        bench.tell("notifications/initialized")
        bench.ask(2, "logging/setLevel", { level: "error" })
        bench.ask(3, "resources/subscribe", { uri: "a:1" })
        const [first, second] = yield* Effect.all([two.get(id, "alice"), two.get(id, "alice")], { concurrency: 2 })
        assert.strictEqual(first, second)
        assert.strictEqual(first.agreed()?.revision.version, "2025-06-18")
        assert.deepInclude(first.agreed(), {
          clientCapabilities: { sampling: {} },
          clientInfo: { name: "n", version: "1" },
          initialized: true
        })
        assert.deepStrictEqual([first.logLevel(), [...first.subscriptions()]], ["error", ["a:1"]])
        assert.deepStrictEqual(new Bench(first).ask(4, "tools/list").answers.length, 1)
        assert.strictEqual(yield* two.count, 1)
      }))

    it.effect("[CON-02] the store does not open a session to somebody else, nor to an id that is none", () =>
      Effect.gen(function*() {
        const { one, two } = yield* twoProcesses
        const bench = new Bench(yield* one.open({ principalKey: "alice" }))
        bench.shake()
        assert.strictEqual(yield* failure(two.get(bench.session.id, "bob")), "SessionNotFound")
        assert.strictEqual(yield* failure(two.get("../etc", "alice")), "SessionNotFound")
        assert.strictEqual(yield* failure(two.get("a\nb", "alice")), "SessionNotFound")
        assert.strictEqual(yield* two.count, 0)
      }))

    it.effect("a process that ends leaves its sessions to others; what is terminated is gone everywhere", () =>
      Effect.gen(function*() {
        const { end, one, store, two } = yield* twoProcesses
        const bench = new Bench(yield* two.open({ principalKey: "alice" }))
        bench.shake()
        const { id } = bench.session
        yield* end
        assert.strictEqual(yield* bench.session.closed, "shutdown")
        yield* one.get(id, "alice")
        yield* one.terminate(id, "alice")
        assert.isTrue(Option.isNone(yield* store.load(id)))
        assert.strictEqual(yield* failure(one.get(id, "alice")), "SessionNotFound")
      }))

    it.effect("a session that lives elsewhere can be terminated from here", () =>
      Effect.gen(function*() {
        const { one, store, two } = yield* twoProcesses
        const bench = new Bench(yield* one.open({ principalKey: "alice" }))
        bench.shake()
        assert.strictEqual(yield* failure(two.terminate(bench.session.id, "bob")), "SessionNotFound")
        yield* two.terminate(bench.session.id, "alice")
        assert.isTrue(Option.isNone(yield* store.load(bench.session.id)))
      }))

    it.effect("[MEM-01] records idle out too, but not while another process uses the session", () =>
      Effect.gen(function*() {
        const { one, store, two } = yield* twoProcesses
        const start = yield* TestClock.testClockWith((clock) => Effect.succeed(clock.currentTimeMillisUnsafe()))
        const bench = new Bench(yield* one.open({ principalKey: "alice" }))
        bench.shake()
        const { id } = bench.session
        for (let i = 0; i < 4; i++) {
          yield* TestClock.adjust("10 minutes")
          yield* two.get(id, "alice")
        }
        // The first process has forgotten it, the second has said that it lives.
        assert.deepStrictEqual([yield* one.count, yield* two.count], [0, 1])
        const record = Option.getOrThrow(yield* store.load(id))
        assert.strictEqual(record.lastSeen - start, 40 * 60_000)
        yield* TestClock.adjust("31 minutes")
        assert.isTrue(Option.isNone(yield* store.load(id)))
        assert.strictEqual(yield* failure(one.get(id, "alice")), "SessionNotFound")
      }))

    it.effect("a record whose time is over, or whose revision is not spoken any more, is not used", () =>
      Effect.gen(function*() {
        const { one, store } = yield* twoProcesses
        const record: SessionStore.SessionRecord = {
          id: "kept",
          principalKey: "",
          version: "2025-11-25",
          clientInfo: { name: "n", version: "1" },
          clientCapabilities: {},
          initialized: true,
          subscriptions: [],
          lastSeen: yield* TestClock.testClockWith((clock) => Effect.succeed(clock.currentTimeMillisUnsafe()))
        }
        yield* store.save({ ...record, id: "future", version: "2099-01-01" })
        assert.strictEqual(yield* failure(one.get("future", "")), "SessionNotFound")
        yield* store.save(record)
        yield* one.get("kept", "")
        yield* store.save({ ...record, id: "old", lastSeen: record.lastSeen - 30 * 60_000 })
        assert.strictEqual(yield* failure(one.get("old", "")), "SessionNotFound")
        assert.strictEqual(yield* one.count, 1)
      }))
  })

  it.effect("a request that is cancelled while it waits for the store does not take the others with it", () => {
    const gate = Deferred.makeUnsafe<void>()
    const slow = Layer.effect(
      SessionStore.SessionStore,
      Effect.map(SessionStore.SessionStore, (store) => ({
        ...store,
        load: (id) => Effect.andThen(Deferred.await(gate), store.load(id))
      }))
    ).pipe(Layer.provide(SessionStore.layerMemory))
    return Effect.gen(function*() {
      const { one, two } = yield* twoProcesses
      const bench = new Bench(yield* one.open({ principalKey: "" }))
      bench.shake()
      const first = yield* Effect.forkChild(two.get(bench.session.id, ""), { startImmediately: true })
      const second = yield* Effect.forkChild(two.get(bench.session.id, ""), { startImmediately: true })
      const third = yield* Effect.forkChild(two.get(bench.session.id, ""), { startImmediately: true })
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(gate, undefined)
      const session = yield* Fiber.join(second)
      assert.strictEqual(session.id, bench.session.id)
      // It was revived once, for all of them.
      assert.deepStrictEqual([yield* Fiber.join(third), yield* two.count], [session, 1])
    }).pipe(Effect.provide(slow))
  })

  it.effect("a store that does not answer is an error of its own, and not the end of a session that is here", () => {
    const broken = Layer.succeed(SessionStore.SessionStore, {
      load: () => Effect.fail(unavailable("load")),
      save: () => Effect.fail(unavailable("save")),
      remove: () => Effect.fail(unavailable("remove"))
    })
    return Effect.gen(function*() {
      const { one } = yield* twoProcesses
      const bench = new Bench(yield* one.open({ principalKey: "" }))
      bench.shake()
      assert.strictEqual((yield* one.get(bench.session.id, "")).id, bench.session.id)
      assert.strictEqual(bench.ask(1, "tools/list").answers.length, 1)
      assert.strictEqual(yield* failure(one.get("other", "")), "SessionStoreUnavailable")
      yield* one.terminate(bench.session.id, "")
    }).pipe(Effect.provide(broken), Effect.provide(Logger.layer([])))
  })
})

const unavailable = (operation: "load" | "save" | "remove") => new SessionStoreUnavailable({ operation, cause: "down" })
