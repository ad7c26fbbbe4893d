import { assert, describe, it } from "@effect/vitest"
import { UserAgent } from "@mcpfx/auth"
import { LoginTerminal, LoopbackLogin, PasteLogin } from "@mcpfx/node"
import { Effect, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { PassThrough } from "node:stream"
import { read } from "../src/internal/pasted.ts"
import { get, headless, logIn, login, page, printing, state, typing } from "./support/people.ts"

const redirectUri = "http://127.0.0.1:49531/callback"
const right = `${redirectUri}?code=abc&state=${state}&iss=https%3A%2F%2Flogin.example.com`

const verdict = (text: string) =>
  Result.match(read(text, redirectUri, state), {
    onSuccess: (url) => url.href,
    onFailure: ({ fault, parameter }) => `${parameter} ${fault}`
  })

describe("what was pasted", () => {
  it("[field AUT-17] is the whole address, however much of its beginning or around it got lost or added", () => {
    for (
      const text of [
        right,
        `  ${right}\r`,
        `"${right}"`,
        `<${right}>`,
        right.slice("http://".length),
        right.slice(redirectUri.length),
        right.slice(redirectUri.length + 1)
      ]
    ) assert.strictEqual(verdict(text), right, text)
  })

  it("[ACL-21] is not taken without the state of this login, nor from another address", () => {
    const rows: ReadonlyArray<readonly [string, string]> = [
      ["", "code missing"],
      ["abc", "state missing"],
      ["code=abc", "state missing"],
      [`${redirectUri}?code=abc`, "state missing"],
      [`${redirectUri}?code=abc&state=other`, "state wrong"],
      [`${redirectUri}?code=abc&state=${state}&state=${state}`, "state repeated"],
      [page().href, "code missing"],
      [right.replace("127.0.0.1", "evil.example"), "code missing"],
      [right.replace("49531", "49532"), "code missing"],
      [right.replace("http:", "https:"), "code missing"],
      [right.replace("/callback", "/other"), "code missing"],
      [`javascript://127.0.0.1:49531/callback?state=${state}`, "code missing"],
      [`${right}&x=${"x".repeat(20_000)}`, "code wrong"]
    ]
    for (const [text, expected] of rows) assert.strictEqual(verdict(text), expected, text.slice(0, 100))
  })

  it("[ACL-21] never ends in a defect, whatever it is", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.webUrl({ withQueryParameters: true })), (text) => {
      assert.isTrue(Result.isFailure(read(text, redirectUri, state)))
    }))
  })
})

const logInBy = (lines: ReadonlyArray<string>, shown: Array<string> = []) =>
  logIn().pipe(Effect.provide(PasteLogin.layer().pipe(Layer.provide(typing(lines, shown)))))

describe("pasting", () => {
  it.effect("[field AUT-17] shows the page, and takes the address the browser went to", () =>
    Effect.gen(function*() {
      const shown: Array<string> = []
      const url = yield* logInBy([right], shown)
      assert.strictEqual(url.href, right)
      assert.include(shown[0], page().href)
      assert.include(shown[0], login.resource)
      assert.include(shown[1], "Copy that address from its bar, and paste it here.")
    }))

  it.effect("[field AUT-17] says what is wrong and asks again, five times at most", () =>
    Effect.gen(function*() {
      const shown: Array<string> = []
      yield* logInBy(["abc", "", page().href, `${redirectUri}?code=a&state=b`, right], shown)
      assert.include(shown.join("\n"), "The whole address is needed")
      const wrong = `${redirectUri}?code=a&state=b`
      const { reason } = yield* Effect.flip(logInBy([wrong, wrong, wrong, wrong, wrong, right]))
      assert.deepInclude(reason, { _tag: "CallbackRejected", parameter: "state", fault: "wrong" })
    }))

  it.effect("[field AUT-17] a person who turns away has denied it; a terminal that closes leaves the login to be done", () =>
    Effect.gen(function*() {
      const quit = yield* Effect.flip(logInBy(["abc", "\u0003"]))
      assert.deepInclude(quit.reason, { _tag: "LoginDenied", error: "access_denied" })
      const closed = yield* Effect.flip(logInBy(["abc"]))
      assert.deepInclude(closed.reason, { _tag: "LoginRequired", url: page().href })
    }))

  it.effect("[field AUT-17] fails at once where there is no terminal, and in time where nobody types", () =>
    Effect.gen(function*() {
      const shown: Array<string> = []
      const nobody = PasteLogin.layer().pipe(Layer.provide(printing(shown)))
      assert.strictEqual((yield* Effect.flip(logIn().pipe(Effect.provide(nobody)))).reason._tag, "LoginRequired")
      assert.deepStrictEqual(shown, [])

      const idle = Layer.succeed(LoginTerminal.CurrentLoginTerminal, {
        isInteractive: Effect.succeed(true),
        show: () => Effect.void,
        ask: () => Effect.never
      })
      const patient = PasteLogin.layer({ timeout: "5 minutes" }).pipe(Layer.provide(idle))
      const fiber = yield* Effect.forkChild(Effect.flip(logIn().pipe(Effect.provide(patient))))
      yield* TestClock.adjust("5 minutes")
      assert.deepInclude((yield* Fiber.join(fiber)).reason, { _tag: "LoginTimedOut", millis: 300_000 })
    }))

  it.effect("[ACL-22] the address is one the client is registered with", () =>
    Effect.gen(function*() {
      const agent = yield* UserAgent.UserAgent
      const uriOf = (registered?: ReadonlyArray<string>) =>
        Effect.map(Effect.scoped(agent.visit(registered)), (visit) => visit.redirectUri)
      assert.strictEqual(yield* uriOf(), redirectUri)
      assert.strictEqual(yield* uriOf(["https://app.example.com/cb", redirectUri]), redirectUri)
      assert.strictEqual(yield* uriOf(["https://app.example.com/cb"]), "https://app.example.com/cb")
    }).pipe(Effect.provide(PasteLogin.layer())))

  it.effect("[SEC-10] no page is shown that is not one to visit", () =>
    Effect.gen(function*() {
      const shown: Array<string> = []
      const Agent = PasteLogin.layer().pipe(Layer.provide(typing([], shown)))
      const attempt = logIn({ page: new URL("javascript:alert(1)//?state=s") }).pipe(Effect.provide(Agent))
      assert.strictEqual((yield* Effect.flip(attempt)).reason._tag, "InsecureServer")
      assert.deepStrictEqual(shown, [])
    }))
})

describe("a listener without a browser", () => {
  const AgentOf = (lines: ReadonlyArray<string>) =>
    LoopbackLogin.layer({ port: 0 }).pipe(Layer.provide(headless), Layer.provide(typing(lines)))

  it.live("[field AUT-17] takes a pasted address, or the one that comes by itself, whichever is first", () =>
    Effect.gen(function*() {
      let answer = ""
      const Terminal = Layer.succeed(LoginTerminal.CurrentLoginTerminal, {
        isInteractive: Effect.succeed(true),
        show: () => Effect.void,
        ask: () => answer === "" ? Effect.never : Effect.succeed(answer)
      })
      const Agent = LoopbackLogin.layer().pipe(Layer.provide(headless), Layer.provide(Terminal))
      yield* Effect.gen(function*() {
        const agent = yield* UserAgent.UserAgent
        const visit = yield* agent.visit(undefined)
        const arriving = yield* Effect.forkChild(visit.open(page(), login), { startImmediately: true })
        yield* get(`${visit.redirectUri}?code=listened&state=${state}`)
        assert.strictEqual((yield* Fiber.join(arriving)).searchParams.get("code"), "listened")
        answer = `${visit.redirectUri}?code=pasted&state=${state}`
        assert.strictEqual((yield* visit.open(page(), login)).searchParams.get("code"), "pasted")
      }).pipe(Effect.scoped, Effect.provide(Agent))
    }))

  it.live("[field AUT-17] ends when the person turns away", () =>
    Effect.gen(function*() {
      const { reason } = yield* Effect.flip(logIn().pipe(Effect.provide(AgentOf(["\u0003"]))))
      assert.strictEqual(reason._tag, "LoginDenied")
    }))
})

describe("the terminal", () => {
  const terminal = () => {
    const raw: Array<boolean> = []
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (on: boolean) => raw.push(on) })
    const output = Object.assign(new PassThrough(), { isTTY: true })
    return { input, output, raw, made: LoginTerminal.make({ input, output }) }
  }

  it.live("[field AUT-17] takes a line longer than the 4,095 characters of a terminal", () =>
    Effect.gen(function*() {
      const { input, made, output } = terminal()
      output.resume()
      assert.isTrue(yield* made.isInteractive)
      const asked = yield* Effect.forkChild(made.ask("Address: "), { startImmediately: true })
      const line = `${redirectUri}?code=${"c".repeat(9_000)}`
      input.write(`${line}\r`)
      assert.strictEqual(yield* Fiber.join(asked), line)
      assert.strictEqual(input.listenerCount("keypress"), 0)
    }))

  it.live("[field AUT-17] tells Ctrl-C from an input that ends; each question has its turn", () =>
    Effect.gen(function*() {
      const { input, made, output } = terminal()
      output.resume()
      const first = yield* Effect.forkChild(Effect.flip(made.ask("One: ")), { startImmediately: true })
      const second = yield* Effect.forkChild(made.ask("Two: "), { startImmediately: true })
      input.write("\u0003")
      assert.strictEqual((yield* Fiber.join(first)).reason, "quit")
      yield* Effect.yieldNow
      input.write("two\r")
      assert.strictEqual(yield* Fiber.join(second), "two")
      const third = yield* Effect.forkChild(Effect.flip(made.ask("Three: ")), { startImmediately: true })
      input.end()
      assert.strictEqual((yield* Fiber.join(third)).reason, "closed")
    }))

  it.live("[field AUT-17] is let go between two questions, and taken again", () =>
    Effect.gen(function*() {
      const { input, made, output, raw } = terminal()
      output.resume()
      const both = Effect.all([made.ask("One: "), made.ask("Two: ")])
      const asked = yield* Effect.forkChild(both, { startImmediately: true })
      input.write("one\r")
      while (raw.length < 3) yield* Effect.sleep("5 millis")
      assert.deepStrictEqual(raw, [true, false, true])
      assert.isFalse(input.isPaused())
      input.write("two\r")
      assert.deepStrictEqual(yield* Fiber.join(asked), ["one", "two"])
      assert.deepStrictEqual(raw, [true, false, true, false])
      assert.isTrue(input.isPaused())
    }))

  it.live("begins a line of its own after a question, however that ended", () =>
    Effect.gen(function*() {
      const ends: ReadonlyArray<readonly [string, (input: PassThrough) => void]> = [
        ["answered", (input) => input.write("one\r")],
        ["quit", (input) => input.write("\u0003")],
        ["closed", (input) => input.write("\u0004")],
        ["given up", () => {}]
      ]
      for (const [name, type] of ends) {
        const { input, made, output } = terminal()
        const asked = yield* Effect.forkChild(Effect.result(made.ask("Address: ")), { startImmediately: true })
        type(input)
        yield* name === "given up" ? Fiber.interrupt(asked) : Fiber.join(asked)
        yield* made.show("next")
        const shown = String(output.read())
        assert.match(shown, /\nnext\n$/, name)
        assert.notMatch(shown, /\n\n/, name)
      }
    }))

  it.live("nobody is asked where input or output is no terminal", () =>
    Effect.gen(function*() {
      const { input, output } = terminal()
      assert.isFalse(yield* LoginTerminal.make({ input: new PassThrough(), output }).isInteractive)
      assert.isFalse(yield* LoginTerminal.make({ input, output: new PassThrough() }).isInteractive)
    }))
})
