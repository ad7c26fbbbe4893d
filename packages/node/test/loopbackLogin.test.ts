import { assert, describe, it } from "@effect/vitest"
import { UserAgent } from "@mcpfx/auth"
import { LoginError, LoginTerminal, LoopbackLogin } from "@mcpfx/node"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { createServer } from "node:net"
import { browsing, get, headless, logIn, login, page, printing, raw, type Seen, state } from "./support/people.ts"

const silent = { print: () => Effect.void }

/** A browser that goes on by itself: to where the login comes back, with these answers; what it is shown there is `seen`. */
const returning = (answers: ReadonlyArray<(redirectUri: string) => string>) => {
  let redirectUri = ""
  let visited: Promise<ReadonlyArray<Seen>> = Promise.resolve([])
  const Agent = LoopbackLogin.layer(silent).pipe(
    Layer.provide(browsing(() =>
      Effect.sync(() => {
        visited = Effect.runPromise(Effect.forEach(answers, (answer) => get(answer(redirectUri))))
      })
    ))
  )
  return {
    Agent,
    first: (uri: string) => Effect.sync(() => void (redirectUri = uri)),
    seen: Effect.promise(() => visited)
  }
}

const right = (redirectUri: string) => `${redirectUri}?code=abc&state=${state}&iss=https%3A%2F%2Flogin.example.com`

/** Takes a port for as long as the scope lives. */
const takePort = (port = 0) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createServer>>((resume) => {
        const server = createServer()
        server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => server.close())
    ),
    (server) => {
      const address = server.address()
      return typeof address === "object" && address !== null ? address.port : 0
    }
  )

describe("the answer", () => {
  it.live("[ACL-22] comes to a literal loopback address, and is handed over whole", () => {
    const { Agent, first, seen } = returning([right])
    return Effect.gen(function*() {
      let address = ""
      const url = yield* logIn({}, (uri) => Effect.andThen(first(uri), Effect.sync(() => void (address = uri))))
      assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/callback$/)
      assert.strictEqual(url.href, right(address))
      assert.strictEqual((yield* seen)[0]?.status, 200)
      // Nobody listens there any more.
      assert.strictEqual(yield* raw(address, "GET / HTTP/1.1\r\n\r\n"), undefined)
    }).pipe(Effect.provide(Agent))
  })

  it.live("[ACL-21] without the right state nothing is the answer, and the wait goes on", () => {
    const wrong = [
      "",
      "?code=evil",
      "?code=evil&state=",
      "?code=evil&state=guess",
      `?code=evil&state=${state}x`,
      `?code=evil&state=${state.slice(0, -1)}`,
      `?code=evil&state=${state.toUpperCase()}`,
      `?code=evil&state=guess&state=${state}`,
      `?code=evil&state=${state}&state=guess`,
      "?error=access_denied",
      "?error=access_denied&state=guess"
    ]
    const { Agent, first, seen } = returning([...wrong.map((query) => (uri: string) => uri + query), right])
    return Effect.gen(function*() {
      const url = yield* logIn({}, first)
      assert.strictEqual(url.searchParams.get("code"), "abc")
      assert.deepStrictEqual((yield* seen).map(({ status }) => status), [...wrong.map(() => 400), 200])
    }).pipe(Effect.provide(Agent))
  })

  it.live("[field AUT-23] a denial is an answer at once; whose it is stays for the grant to judge", () => {
    const { Agent, first, seen } = returning([
      (uri) => `${uri}?error=access_denied&state=${state}&iss=https%3A%2F%2Fother.example.com`
    ])
    return Effect.gen(function*() {
      const url = yield* logIn({}, first)
      assert.strictEqual(url.searchParams.get("error"), "access_denied")
      assert.strictEqual(url.searchParams.get("iss"), "https://other.example.com")
      assert.include((yield* seen)[0]?.body ?? "", "denied")
    }).pipe(Effect.provide(Agent))
  })

  it.live("is taken once: the same page loaded again does nothing", () =>
    Effect.gen(function*() {
      const agent = yield* UserAgent.UserAgent
      const visit = yield* agent.visit(undefined)
      const waiting = yield* Effect.forkChild(visit.open(page(), login), { startImmediately: true })
      const address = right(visit.redirectUri)
      const both = yield* Effect.all([get(address), get(address)], { concurrency: 2 })
      assert.deepStrictEqual(both.map(({ status }) => status), [200, 200])
      yield* Fiber.join(waiting)
      assert.strictEqual((yield* get(address)).status, 200)
      // The next login of the same visit has its own state.
      const again = yield* Effect.forkChild(visit.open(page("other"), login), { startImmediately: true })
      assert.strictEqual((yield* get(address)).status, 400)
      yield* get(`${visit.redirectUri}?code=d&state=other`)
      assert.strictEqual((yield* Fiber.join(again)).searchParams.get("code"), "d")
    }).pipe(
      Effect.scoped,
      Effect.provide(LoopbackLogin.layer(silent).pipe(Layer.provide(browsing(() => Effect.void))))
    ))

  it.live("[SEC-10] a page that is not one to visit is neither printed nor opened", () => {
    const shown: Array<string> = []
    const opened: Array<string> = []
    const Agent = LoopbackLogin.layer().pipe(
      Layer.provide(browsing((url) => Effect.sync(() => void opened.push(url.href)))),
      Layer.provide(printing(shown))
    )
    return Effect.gen(function*() {
      for (
        const address of ["javascript:alert(1)//?state=s", "http://login.example.com/a?state=s", "file:///a?state=s"]
      ) {
        const { reason } = yield* Effect.flip(logIn({ page: new URL(address) }))
        assert.strictEqual(reason._tag, "InsecureServer", address)
      }
      for (
        const address of [
          "https://login.example.com/",
          "https://login.example.com/?state=&a",
          "https://a.example/?state=a&state=a"
        ]
      ) {
        const { reason } = yield* Effect.flip(logIn({ page: new URL(address) }))
        assert.strictEqual(reason._tag, "Misconfigured", address)
      }
      assert.deepStrictEqual([shown, opened], [[], []])
    }).pipe(Effect.provide(Agent))
  })
})

describe("the port", () => {
  const fixed = (port: number) =>
    LoopbackLogin.layer({ ...silent, port }).pipe(Layer.provide(browsing(() => Effect.void)))

  it.live("[field AUT-15] that is taken is said at once, before anybody is sent away", () =>
    Effect.gen(function*() {
      const port = yield* takePort()
      const { reason } = yield* Effect.flip(logIn().pipe(Effect.provide(fixed(port))))
      assert.deepInclude(reason, {
        _tag: "CallbackUnavailable",
        address: `http://127.0.0.1:${port}/callback`,
        detail: "the port is taken"
      })
    }).pipe(Effect.scoped))

  it.live("[field AUT-15] of a registration is used while it is free; where it is taken, another needs a new registration", () =>
    Effect.gen(function*() {
      const agent = yield* UserAgent.UserAgent
      const first = yield* Effect.scoped(agent.visit(undefined))
      const registered = [first.redirectUri]
      const again = yield* Effect.scoped(agent.visit(registered))
      assert.strictEqual(again.redirectUri, first.redirectUri)

      yield* takePort(Number(new URL(first.redirectUri).port))
      const { reason } = yield* Effect.flip(Effect.scoped(agent.visit(registered)))
      assert.strictEqual(reason._tag, "CallbackUnavailable")
      const anew = yield* Effect.scoped(agent.visit(undefined))
      assert.notStrictEqual(anew.redirectUri, first.redirectUri)
      // Several registered addresses are as many chances.
      const other = yield* Effect.scoped(agent.visit([...registered, anew.redirectUri]))
      assert.strictEqual(other.redirectUri, anew.redirectUri)
    }).pipe(Effect.scoped, Effect.provide(fixed(0))))

  it.live("[field AUT-15] is any where the registration names none; the rest of the address stays to the letter", () =>
    Effect.gen(function*() {
      const agent = yield* UserAgent.UserAgent
      const visit = (address: string) => Effect.scoped(agent.visit(["https://app.example.com/cb", address]))
      for (const rest of ["", "/", "/callback", "/a/../b?tenant=1", "?x"]) {
        const { redirectUri } = yield* visit(`http://127.0.0.1${rest}`)
        assert.match(redirectUri, /^http:\/\/127\.0\.0\.1:\d+/)
        assert.strictEqual(redirectUri.replace(/:\d+/, ""), `http://127.0.0.1${rest}`)
      }
      assert.match((yield* visit("http://localhost/callback")).redirectUri, /^http:\/\/localhost:\d+\/callback$/)
    }).pipe(Effect.provide(fixed(0))))

  it.live("[ACL-22] registrations that lead elsewhere cannot be listened at", () =>
    Effect.gen(function*() {
      const agent = yield* UserAgent.UserAgent
      for (
        const address of [
          "https://app.example.com/callback",
          "http://app.example.com/callback",
          "https://127.0.0.1/callback",
          "http://127.0.0.1.example.com/callback",
          "http://127.0.0.1@example.com/callback",
          "http://127.0.0.1:99999/callback",
          "com.example.app:/callback"
        ]
      ) {
        const { reason } = yield* Effect.flip(Effect.scoped(agent.visit([address])))
        assert.deepInclude(reason, { _tag: "CallbackUnavailable", address })
      }
      const { reason } = yield* Effect.flip(Effect.scoped(agent.visit([])))
      assert.strictEqual(reason._tag, "CallbackUnavailable")
    }).pipe(Effect.provide(fixed(0))))

  it.effect("or the path that is no part of an address is a fault of the program", () =>
    Effect.gen(function*() {
      for (const options of [{ port: 70_000 }, { port: -1 }, { port: 1.5 }, { path: "callback" }, { path: "/a#b" }]) {
        const { reason } = yield* Effect.flip(logIn().pipe(Effect.provide(LoopbackLogin.layer(options))))
        assert.strictEqual(reason._tag, "Misconfigured", JSON.stringify(options))
        for (const value of Object.values(options)) {
          assert.include("detail" in reason ? reason.detail : "", JSON.stringify(value))
        }
      }
    }))

  it.live("[field AUT-15] two logins at once through one fixed port get their own answers", () =>
    Effect.gen(function*() {
      const port = yield* Effect.scoped(takePort())
      const agent = yield* UserAgent.UserAgent.pipe(Effect.provide(fixed(port)))
      const scopes = [yield* Scope.make(), yield* Scope.make()] as const
      const one = yield* Scope.provide(agent.visit(undefined), scopes[0])
      const two = yield* Scope.provide(agent.visit([one.redirectUri]), scopes[1])
      assert.strictEqual(one.redirectUri, two.redirectUri)
      const first = yield* Effect.forkChild(one.open(page("one"), login), { startImmediately: true })
      const second = yield* Effect.forkChild(two.open(page("two"), login), { startImmediately: true })
      yield* get(`${two.redirectUri}?code=2&state=two`)
      assert.strictEqual((yield* Fiber.join(second)).searchParams.get("code"), "2")
      yield* Scope.close(scopes[1], Exit.void)
      assert.strictEqual((yield* get(`${one.redirectUri}?code=2&state=two`)).status, 400)
      yield* get(`${one.redirectUri}?code=1&state=one`)
      assert.strictEqual((yield* Fiber.join(first)).searchParams.get("code"), "1")
      yield* Scope.close(scopes[0], Exit.void)
      assert.strictEqual(yield* raw(one.redirectUri, "GET / HTTP/1.1\r\n\r\n"), undefined)
    }).pipe(Effect.scoped))
})

describe("the wait", () => {
  const opening = browsing(() => Effect.void)

  it.effect("[field AUT-17] is bounded, and the listener ends with it", () =>
    Effect.gen(function*() {
      const redirect = yield* Deferred.make<string>()
      const fiber = yield* Effect.forkChild(
        Effect.flip(logIn({}, (uri) => Effect.asVoid(Deferred.succeed(redirect, uri))))
      )
      const address = yield* Deferred.await(redirect)
      yield* TestClock.adjust("10 minutes")
      assert.deepInclude((yield* Fiber.join(fiber)).reason, { _tag: "LoginTimedOut", millis: 600_000 })
      assert.strictEqual(yield* raw(address, "GET / HTTP/1.1\r\n\r\n"), undefined)
    }).pipe(Effect.provide(LoopbackLogin.layer(silent).pipe(Layer.provide(opening)))))

  it.live("ends with the program that waits, and the port is free again", () =>
    Effect.gen(function*() {
      const redirect = yield* Deferred.make<string>()
      const fiber = yield* Effect.forkChild(logIn({}, (uri) => Effect.asVoid(Deferred.succeed(redirect, uri))))
      const address = yield* Deferred.await(redirect)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(yield* raw(address, "GET / HTTP/1.1\r\n\r\n"), undefined)
      yield* Effect.scoped(takePort(Number(new URL(address).port)))
    }).pipe(Effect.provide(LoopbackLogin.layer(silent).pipe(Layer.provide(opening)))))

  it.live("[field AUT-17] without browser and terminal fails at once; nobody is sent to a page whose answer nobody takes", () => {
    const shown: Array<string> = []
    const Agent = LoopbackLogin.layer().pipe(Layer.provide(headless), Layer.provide(printing(shown)))
    return Effect.gen(function*() {
      const { reason } = yield* Effect.flip(logIn())
      assert.deepInclude(reason, {
        _tag: "LoginRequired",
        url: page().href,
        resource: login.resource,
        detail: "no browser was opened: this program opens none, and there is no terminal to ask at"
      })
      assert.deepStrictEqual(shown, [])
    }).pipe(Effect.provide(Agent))
  })

  it.live("[field AUT-17] the address is printed wherever somebody listens: with a browser, a terminal, or when told to wait", () =>
    Effect.gen(function*() {
      const rows: ReadonlyArray<
        readonly [LoopbackLogin.Options, Layer.Layer<never>, isAsked: boolean, prints: boolean]
      > = [
        [{}, opening, false, true],
        [{ withoutBrowser: "fail" }, opening, false, true],
        [{ withoutBrowser: "wait" }, headless, false, true],
        [{}, headless, true, true],
        [{ withoutBrowser: "wait" }, headless, true, true],
        [{ withoutBrowser: "fail" }, headless, true, false],
        [{ withoutBrowser: "fail" }, headless, false, false]
      ]
      for (const [options, Browser, isInteractive, prints] of rows) {
        const shown: Array<string> = []
        const Terminal = Layer.succeed(LoginTerminal.CurrentLoginTerminal, {
          isInteractive: Effect.succeed(isInteractive),
          show: (text) => Effect.sync(() => void shown.push(text)),
          ask: () => Effect.never
        })
        const Agent = LoopbackLogin.layer(options).pipe(Layer.provide([Browser, Terminal]))
        const name = `${JSON.stringify(options)} ${isInteractive}`
        yield* Effect.gen(function*() {
          const { open, redirectUri } = yield* (yield* UserAgent.UserAgent).visit(undefined)
          const waiting = yield* Effect.forkChild(Effect.result(open(page(), login)), { startImmediately: true })
          yield* get(right(redirectUri))
          assert.strictEqual((yield* Fiber.join(waiting))._tag, prints ? "Success" : "Failure", name)
          const printed = shown.join("\n").split(page().href).length - 1
          assert.strictEqual(printed, prints ? 1 : 0, name)
        }).pipe(Effect.scoped, Effect.provide(Agent))
      }
    }))

  it.live("[field AUT-17] a browser that cannot be opened fails the login where that is asked for", () => {
    const failing = browsing(() =>
      Effect.fail(new LoginError.CannotOpen({ reason: "failed", detail: "xdg-open ended with 4" }))
    )
    const Agent = LoopbackLogin.layer({ ...silent, withoutBrowser: "fail" }).pipe(Layer.provide(failing))
    return Effect.gen(function*() {
      const { reason } = yield* Effect.flip(logIn())
      assert.deepInclude(reason, { _tag: "LoginRequired", detail: "no browser was opened: xdg-open ended with 4" })
    }).pipe(Effect.provide(Agent))
  })

  it.live("[field AUT-17] goes on without a browser where told so: somebody visits the printed address", () => {
    const Agent = LoopbackLogin.layer({ ...silent, withoutBrowser: "wait" }).pipe(
      Layer.provide(headless),
      Layer.provide(printing())
    )
    return Effect.gen(function*() {
      const agent = yield* UserAgent.UserAgent
      const visit = yield* agent.visit(undefined)
      const waiting = yield* Effect.forkChild(visit.open(page(), login), { startImmediately: true })
      yield* get(right(visit.redirectUri))
      assert.strictEqual((yield* Fiber.join(waiting)).searchParams.get("code"), "abc")
    }).pipe(Effect.scoped, Effect.provide(Agent))
  })
})
