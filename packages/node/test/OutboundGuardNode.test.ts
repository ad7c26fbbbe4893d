import { assert, describe, it } from "@effect/vitest"
import { AuthError, OutboundGuard } from "@mcpfx/auth"
import { OutboundGuardNode } from "@mcpfx/node"
import { Effect, Fiber, Option, type Scope } from "effect"
import { HttpClient, type HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import { createServer, type RequestListener, type Server } from "node:http"
import { createServer as createSecureServer } from "node:https"

const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url), "utf8")
const cert = fixture("login.cert.pem")
const key = fixture("login.key.pem")

/** What nobody is to be asked for. */
const own = HttpClient.make((request) =>
  Effect.succeed(HttpClientResponse.fromWeb(request, new Response("sent by the client itself")))
)

const listen = (server: Server): Effect.Effect<number, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )

const answer: RequestListener = (request, response) => {
  response.end(`${request.headers.host} ${request.headers["x-own"] ?? "-"}`)
}
const plain = Effect.suspend(() => listen(createServer(answer)))
const secure = Effect.suspend(() => listen(createSecureServer({ cert, key }, answer)))

/** Names and where they lead, one answer after the other. */
const resolver = (names: Record<string, ReadonlyArray<ReadonlyArray<string>>>) => {
  const asked: Array<string> = []
  const resolve = (hostname: string) =>
    Effect.suspend(() => {
      const answers = names[hostname] ?? []
      const answer = answers[Math.min(asked.filter((name) => name === hostname).length, answers.length - 1)]
      asked.push(hostname)
      return answer === undefined ? Effect.fail(new Error("ENOTFOUND")) : Effect.succeed(answer)
    })
  return { asked, resolve }
}

const far = { loopback: false }
const near = { loopback: true }

const fetchWith = (
  options: OutboundGuardNode.Options,
  policy: OutboundGuard.Policy,
  url: string,
  client: HttpClient.HttpClient = own
) =>
  Effect.gen(function*() {
    const guard = yield* OutboundGuardNode.make(options)
    const response = yield* guard.guard(client, policy).get(url)
    return yield* response.text
  }).pipe(Effect.scoped)

const why = (error: HttpClientError.HttpClientError) =>
  Option.match(AuthError.find(error), { onNone: () => error.reason._tag, onSome: ({ message }) => message })

describe("names", () => {
  it.live("[SEC-05] are looked up once, and the connection goes where the answer says, under the name", () =>
    Effect.gen(function*() {
      const port = yield* plain
      const { asked, resolve } = resolver({ "login.example.com": [["127.0.0.1"], ["10.0.0.1"]] })
      const text = yield* fetchWith({ resolve }, near, `http://login.example.com:${port}/a`)
      assert.strictEqual(text, `login.example.com:${port} -`)
      assert.deepStrictEqual(asked, ["login.example.com"])
    }))

  it.live("[SEC-05] are the ones that TLS is asked for", () =>
    Effect.gen(function*() {
      const port = yield* secure
      const { resolve } = resolver({ "login.example.com": [["127.0.0.1"]], "other.example.com": [["127.0.0.1"]] })
      const options = { resolve, agent: { ca: cert } }
      const text = yield* fetchWith(options, near, `https://login.example.com:${port}/`)
      assert.strictEqual(text, `login.example.com:${port} -`)
      for (const [host, agent] of [["other.example.com", { ca: cert }], ["login.example.com", {}]] as const) {
        const error = yield* Effect.flip(fetchWith({ resolve, agent }, near, `https://${host}:${port}/`))
        assert.strictEqual(why(error), "TransportError")
      }
    }))

  const refused: ReadonlyArray<readonly [string, ReadonlyArray<string>, string]> = [
    ["a private address", ["10.0.0.1"], "its name leads to an address that is private"],
    ["loopback", ["127.0.0.1"], "its name leads to an address that is loopback"],
    ["the metadata service of a cloud", ["169.254.169.254"], "its name leads to an address that is link-local"],
    ["a private address in IPv6 clothes", ["::ffff:10.0.0.1"], "its name leads to an address that is private"],
    [
      "public addresses and one that is not",
      ["8.8.8.8", "2606:4700::1", "::1"],
      "its name leads to an address that is loopback"
    ],
    ["no address", ["localhost"], "its name leads to what is no address"]
  ]
  for (const [title, addresses, detail] of refused) {
    it.live(`[SEC-05] that lead to ${title} are refused`, () =>
      Effect.gen(function*() {
        const { resolve } = resolver({ "evil.example.com": [addresses] })
        const error = yield* Effect.flip(fetchWith({ resolve }, far, "https://evil.example.com/a?secret=1"))
        assert.strictEqual(why(error), `https://evil.example.com/a is not safe: ${detail}`)
      }))
  }

  it.live("[SEC-05] whose answer changes are held to the first one", () =>
    Effect.gen(function*() {
      let connections = 0
      const server = createServer(answer).on("connection", () => connections++)
      const port = yield* listen(server)
      // Nobody listens at the first address.
      const { asked, resolve } = resolver({ "rebind.example.com": [["127.0.0.2"], ["127.0.0.1"]] })
      const error = yield* Effect.flip(fetchWith({ resolve }, near, `http://rebind.example.com:${port}/`))
      assert.strictEqual(why(error), "TransportError")
      assert.deepStrictEqual([asked.length, connections], [1, 0])
    }))

  it.live("[SEC-05] are checked again for each connection: one that was public and is not any more is refused", () =>
    Effect.gen(function*() {
      const port = yield* plain
      const { resolve } = resolver({ "rebind.example.com": [["127.0.0.1"], ["10.0.0.1"]] })
      const guard = yield* OutboundGuardNode.make({ resolve, agent: { keepAlive: false } })
      const client = guard.guard(own, near)
      const url = `http://rebind.example.com:${port}/`
      assert.include(yield* Effect.flatMap(client.get(url), (response) => response.text), "rebind")
      assert.include(why(yield* Effect.flip(client.get(url))), "private")
    }))

  it.live("that lead nowhere are no matter of safety", () =>
    Effect.gen(function*() {
      const { resolve } = resolver({ "empty.example.com": [[]] })
      for (const host of ["unknown.example.com", "empty.example.com"]) {
        assert.strictEqual(why(yield* Effect.flip(fetchWith({ resolve }, far, `https://${host}/`))), "TransportError")
      }
    }))

  it.effect("are not looked up for longer than 5 seconds", () =>
    Effect.gen(function*() {
      let asked = false
      const resolve = () => Effect.andThen(Effect.sync(() => (asked = true)), Effect.never)
      const fiber = yield* Effect.forkChild(Effect.flip(fetchWith({ resolve }, far, "https://slow.example.com/")))
      while (!asked) yield* Effect.promise(() => new Promise((settle) => setImmediate(settle)))
      yield* TestClock.adjust("4999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(why(yield* Fiber.join(fiber)), "TransportError")
    }))

  it.live("[SEC-05] that are local by definition are refused before anybody looks them up", () =>
    Effect.gen(function*() {
      const { asked, resolve } = resolver({})
      for (const host of ["localhost", "printer.local", "intranet", "10.0.0.1", "[::1]", "0x7f.1"]) {
        const error = yield* Effect.flip(fetchWith({ resolve }, far, `https://${host}/`))
        assert.include(why(error), "is not safe", host)
      }
      assert.deepStrictEqual(asked, [])
    }))
})

describe("options", () => {
  it.live("[SEC-05] open kinds of addresses, and hosts exactly", () =>
    Effect.gen(function*() {
      const port = yield* plain
      const { resolve } = resolver({ "login.corp.example": [["127.0.0.1"]], "a.corp.example": [["127.0.0.1"]] })
      const hosts = { resolve, hosts: ["LOGIN.corp.example"] }
      assert.include(yield* fetchWith(hosts, far, `http://login.corp.example:${port}/`), "login.corp.example")
      const error = yield* Effect.flip(fetchWith(hosts, far, `http://a.corp.example:${port}/`))
      assert.include(why(error), "loopback")
      const kinds = { resolve, allow: ["loopback"] as const }
      assert.include(yield* fetchWith(kinds, far, `http://a.corp.example:${port}/`), "a.corp.example")
    }))

  it.live("what the client in use makes of a request is kept", () =>
    Effect.gen(function*() {
      const port = yield* plain
      const { resolve } = resolver({ "login.example.com": [["127.0.0.1"]] })
      const client = HttpClient.mapRequest(own, HttpClientRequest.setHeader("x-own", "yes"))
      const text = yield* fetchWith({ resolve }, near, `http://login.example.com:${port}/`, client)
      assert.strictEqual(text, `login.example.com:${port} yes`)
    }))

  it.live("the system looks names up where nothing else is said", () =>
    Effect.gen(function*() {
      const port = yield* plain
      assert.strictEqual(yield* fetchWith({}, near, `http://localhost:${port}/`), `localhost:${port} -`)
    }))

  it.live("a layer puts the guard in force", () =>
    Effect.gen(function*() {
      const guard = yield* OutboundGuard.CurrentOutboundGuard
      const error = yield* Effect.flip(guard.guard(own, far).get("https://evil.example.com/"))
      assert.include(why(error), "private")
    }).pipe(
      Effect.provide(OutboundGuardNode.layer({ resolve: resolver({ "evil.example.com": [["10.0.0.1"]] }).resolve }))
    ))
})
