/** The end of a server, in whatever state its connections are, and what is left of it: nothing. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { createServer, type Server } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { NodeListener } from "../src/index.ts"
import { certificate } from "./support/certificate.ts"
import { eventually, head, peer, raw } from "./support/raw.ts"
import { bodyOf, portOf, serve, statusOf } from "./support/serving.ts"

const { text } = HttpServerResponse
const hello = HttpRouter.add("GET", "/", text("hello"))
const MiB = 2 ** 20

/** A server in a scope that the test closes. */
const ending = Effect.fnUntraced(function*<E>(
  routes: Layer.Layer<never, E, HttpRouter.HttpRouter>,
  options: NodeListener.ServerOptions = {}
) {
  const scope = yield* Scope.make()
  const port = yield* Scope.provide(serve(routes, options), scope)
  /** Closes it, and gives how long that took; milliseconds. */
  const close = Effect.suspend(() => {
    const began = performance.now()
    return Effect.map(Scope.close(scope, Exit.void), () => performance.now() - began)
  })
  return { close, port, scope }
})

/** The port of a server of somebody else, which has the listener. */
const foreign = (listener: NodeListener.Listener) =>
  Effect.gen(function*() {
    const server = createServer((request, response) => listener(request, response))
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
    )
    yield* Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
    const address = server.address()
    return typeof address === "object" && address !== null ? address.port : 0
  })

describe("a server that ends", () => {
  it.live("waits for no connection without a request on it, be it silent, half said, or between two", () =>
    Effect.gen(function*() {
      const { close, port } = yield* ending(hello)
      const said = ["", "GET / HTTP/1.1\r\nhost: a\r\n", head("GET /", {}, true), head("GET /", {}, true) + "GET / HT"]
      const peers = yield* Effect.forEach(said, (first) => peer(port, first))
      yield* Effect.sleep(50)
      assert.isBelow(yield* close, 1000)
      yield* Effect.forEach(peers, ({ over }) => over)
      assert.deepStrictEqual(peers.map(({ heard }) => bodyOf(heard())), ["", "", "hello", "hello"])
    }))

  it.live("nor for one that has not said yet how it is to be encrypted", () =>
    Effect.gen(function*() {
      let made: Server | undefined
      const { close, port } = yield* ending(hello, {
        drainTimeout: "300 millis",
        createServer: (settings) => made = createSecureServer({ ...settings, ...certificate })
      })
      const [silent, begun] = yield* Effect.forEach(["", "\x16\x03\x01\x02\x00"], (first) => peer(port, first))
      yield* Effect.sleep(50)
      assert.isBelow(yield* close, 1000)
      yield* silent?.over ?? Effect.void
      yield* begun?.over ?? Effect.void
      const count = yield* Effect.callback<number>((resume) => {
        made?.getConnections((_, count) => resume(Effect.succeed(count)))
      })
      assert.strictEqual(count, 0)
    }))

  it.live("lets clients read answers that were given before, and closes their connections then", () =>
    Effect.gen(function*() {
      const large = HttpRouter.add("GET", "/", HttpServerResponse.uint8Array(new Uint8Array(32 * MiB)))
      const { close, port } = yield* ending(large)
      const [kept, closed] = [yield* peer(port, head("GET /", {}, true)), yield* peer(port, head("GET /"))]
      kept.socket.pause()
      closed.socket.pause()
      yield* Effect.sleep(100)
      const closing = yield* Effect.forkChild(close)
      yield* Effect.sleep(100)
      kept.socket.resume()
      closed.socket.resume()
      assert.isBelow(yield* Fiber.join(closing), 5000)
      for (const { over } of [kept, closed]) assert.strictEqual(bodyOf((yield* over).text).length, 32 * MiB)
    }))

  it.live("because of a request answers that one", () =>
    Effect.gen(function*() {
      const stop = yield* Deferred.make<void>()
      const { close, port } = yield* ending(
        HttpRouter.add("POST", "/", Effect.as(Deferred.succeed(stop, undefined), text("bye")))
      )
      yield* Effect.forkChild(Effect.andThen(Deferred.await(stop), close))
      const caller = yield* peer(port, head("POST /", { "content-length": 0 }, true))
      assert.strictEqual(bodyOf((yield* caller.over).text), "bye")
    }))

  it.live("takes a request whose body is under way, and waits for the cleaning up of any that it interrupts", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const log: Array<string> = []
      const first = Effect.as(Effect.andThen(Deferred.succeed(started, undefined), Effect.sleep(100)), text("first"))
      const second = Effect.onInterrupt(
        Effect.never,
        () => Effect.andThen(Effect.sleep(100), Effect.sync(() => log.push("cleaned up")))
      )
      const scope = yield* Scope.make()
      yield* Scope.addFinalizer(scope, Effect.sync(() => void log.push("services released")))
      const routes = Layer.merge(HttpRouter.add("POST", "/first", first), HttpRouter.add("POST", "/second", second))
      const port = yield* Scope.provide(serve(routes, { drainTimeout: "500 millis" }), scope)
      const late = yield* peer(port, head("POST /second", { "content-length": 4 }, true) + "ab")
      const early = yield* peer(port, head("POST /first", { "content-length": 0 }))
      yield* Deferred.await(started)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      assert.strictEqual(bodyOf((yield* early.over).text), "first")
      late.socket.write("cd")
      yield* Fiber.join(closing)
      assert.deepStrictEqual(log, ["cleaned up", "services released"])
      assert.strictEqual(statusOf((yield* late.over).text), 503)
    }))

  it.live("cuts streams that go on, after their time", () =>
    Effect.gen(function*() {
      const ended = yield* Deferred.make<string>()
      const stream = Stream.concat(Stream.make(new Uint8Array(1)), Stream.never).pipe(
        Stream.onExit((exit) => Deferred.succeed(ended, exit._tag))
      )
      const { close, port } = yield* ending(HttpRouter.add("GET", "/", HttpServerResponse.stream(stream)), {
        drainTimeout: "100 millis"
      })
      const open = yield* peer(port, head("GET /", {}, true))
      yield* eventually("the first byte", () => open.heard().includes("1\r\n"))
      assert.isBelow(yield* close, 1500)
      assert.strictEqual(yield* Deferred.await(ended), "Failure")
      assert.notMatch((yield* open.over).text, /\r\n0\r\n\r\n$/)
    }))

  it.live("ends once, whoever asks", () =>
    Effect.gen(function*() {
      const { close, port } = yield* ending(HttpRouter.add("GET", "/", Effect.as(Effect.sleep(200), text("slow"))))
      const slow = yield* peer(port, head("GET /", {}, true))
      yield* Effect.sleep(50)
      const all = yield* Effect.forEach([close, close, close], (each) => Effect.forkChild(each))
      assert.strictEqual(bodyOf((yield* slow.over).text), "slow")
      yield* Fiber.joinAll(all)
    }))
})

describe("a listener in a server of somebody else that ends", () => {
  it.live("waits for what is under way where it is interrupted, by the first thing that a request does or later", () =>
    Effect.gen(function*() {
      for (const before of [Effect.void, Effect.sleep(20)]) {
        const log: Array<string> = []
        const stop = yield* Deferred.make<void>()
        const made = yield* Deferred.make<NodeListener.Listener>()
        const slow = Effect.gen(function*() {
          yield* before
          yield* Deferred.succeed(stop, undefined)
          yield* Effect.sleep(50)
          log.push("answered")
          return text("slow")
        })
        const running = yield* Effect.forkChild(Effect.scoped(Effect.gen(function*() {
          yield* Effect.addFinalizer(() => Effect.sync(() => void log.push("services released")))
          yield* Deferred.succeed(made, yield* NodeListener.make(HttpRouter.add("GET", "/", slow)))
          return yield* Effect.never
        })))
        const { over } = yield* peer(yield* foreign(yield* Deferred.await(made)), head("GET /"))
        yield* Deferred.await(stop)
        yield* Fiber.interrupt(running)
        assert.strictEqual(bodyOf((yield* over).text), "slow")
        assert.deepStrictEqual(log, ["answered", "services released"])
      }
    }))

  it.live("runs nothing any more, though a body was under way", () =>
    Effect.gen(function*() {
      let ran = 0
      const scope = yield* Scope.make()
      const routes = HttpRouter.add("POST", "/", Effect.sync(() => text(String(ran++))))
      const listener = yield* Scope.provide(NodeListener.make(routes), scope)
      const port = yield* foreign(listener)
      const { over, socket } = yield* peer(port, head("POST /", { "content-length": 4 }) + "ab")
      yield* Effect.sleep(50)
      yield* Scope.close(scope, Exit.void)
      socket.write("cd")
      assert.strictEqual(statusOf((yield* over).text), 503)
      assert.strictEqual(ran, 0)
    }))
})

describe("what is left", () => {
  it.live("nobody listens where the start was broken off, at whatever moment", () =>
    Effect.gen(function*() {
      for (let turns = 0; turns < 20; turns++) {
        let made: Server | undefined
        const starting = yield* Effect.forkChild(Effect.scoped(Effect.andThen(
          portOf(NodeListener.layer(hello, {
            host: "localhost",
            createServer: (settings) => made = createServer(settings)
          })),
          Effect.never
        )))
        for (let turn = 0; turn < turns; turn++) {
          yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        }
        yield* Fiber.interrupt(starting)
        yield* Effect.sleep(10)
        assert.isNotTrue(made?.listening, `${turns} turns`)
      }
    }))

  it.live(
    "hundreds of servers, each with connections of every kind, leave no socket, timer or server behind",
    () =>
      Effect.gen(function*() {
        const once = Effect.scoped(Effect.gen(function*() {
          const port = yield* serve(hello, { drainTimeout: "100 millis" })
          yield* peer(port)
          const kept = yield* peer(port, head("GET /", {}, true))
          yield* eventually("an answer", () => kept.heard().includes("hello"))
        }))
        const resources = Effect.promise(() =>
          new Promise<ReadonlyArray<string>>((resolve) => setImmediate(() => resolve(process.getActiveResourcesInfo())))
        )
        yield* once
        yield* Effect.sleep(50)
        const before = yield* resources
        yield* Effect.forEach(Array.from({ length: 200 }), () => once, { concurrency: 10, discard: true })
        yield* Effect.sleep(50)
        const after = yield* resources
        assert.isAtMost(after.length, before.length, `${after.join()}, and before ${before.join()}`)
        assert.strictEqual(statusOf(yield* Effect.flatMap(serve(hello), (port) => raw(port, [head("GET /")]))), 200)
      })
  )
})
