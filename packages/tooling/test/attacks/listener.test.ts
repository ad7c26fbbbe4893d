/** The listener that a login comes back to, and everybody else on the machine who knows that it is there. */
import { assert, describe, it } from "@effect/vitest"
import { UserAgent } from "@mcpfx/auth"
import { Browser, LoopbackLogin } from "@mcpfx/node"
import { Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { connect as connectSocket, createServer, type Socket } from "node:net"
import { eventually } from "../../src/attacks/eventually.ts"
import { authorize, connect, fieldsOf, make, mcpUrl, reasonOf, tokenUrl, type World } from "../../src/attacks/world.ts"

interface Answer {
  readonly status: number
  readonly body: string
}

const get = (url: string, init: RequestInit = {}): Effect.Effect<Answer | undefined> =>
  Effect.promise(async (signal) => {
    try {
      const response = await fetch(url, { ...init, signal, redirect: "manual" })
      return { status: response.status, body: await response.text() }
    } catch {
      return undefined
    }
  })

/** Sockets that are open until the scope ends, and what they say first. */
const sockets = (port: number, count: number, text: string) =>
  Effect.acquireRelease(
    Effect.sync((): Array<Socket> =>
      Array.from({ length: count }, () => {
        const socket = connectSocket(port, "127.0.0.1", () => socket.write(text))
        socket.on("error", () => {})
        socket.resume()
        return socket
      })
    ),
    (all) => Effect.sync(() => all.forEach((socket) => socket.destroy()))
  )

/** Whatever a connection says until it ends. */
const heard = (port: number, text: string): Effect.Effect<string> =>
  Effect.callback((resume) => {
    let heard = ""
    const socket = connectSocket(port, "127.0.0.1", () => socket.write(text))
    socket.on("data", (chunk) => heard += chunk.toString())
    socket.on("error", () => resume(Effect.succeed("")))
    socket.on("close", () => resume(Effect.succeed(heard)))
    return Effect.sync(() => socket.destroy())
  })

const statusOf = (heard: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(heard)?.[1] ?? 0)

/** What the others do while the person is at the page: they know the address, and not the state. */
type Others = (redirectUri: URL, page: URL) => Effect.Effect<void>

/** A browser of this machine: somebody consents in it after the others have done what they do. */
const agentOf = ({ login }: World, others: Others, options: LoopbackLogin.Options = {}) => {
  const shown: Array<Answer | undefined> = []
  const open = (page: URL) =>
    Effect.gen(function*() {
      const redirectUri = page.searchParams.get("redirect_uri") ?? ""
      yield* others(new URL(redirectUri), page)
      const { visit } = login.userAgent({ redirectUri })
      const answer = yield* Effect.scoped(
        Effect.flatMap(visit(undefined), (visit) => visit.open(page, { issuer: login.issuer, resource: mcpUrl }))
      )
      shown.push(yield* get(answer.href))
    }).pipe(Effect.orDie)
  const running: Array<Promise<void>> = []
  const Live = LoopbackLogin.layer({ print: () => Effect.void, ...options }).pipe(
    Layer.provide(Layer.succeed(Browser.CurrentBrowser, {
      open: (page: URL) => Effect.sync(() => void running.push(Effect.runPromise(open(page))))
    }))
  )
  return { agent: Effect.provide(UserAgent.UserAgent, Live), shown, done: Effect.promise(() => Promise.all(running)) }
}

/** A login goes well, whatever the others do. */
const unmoved = (others: Others) =>
  Effect.gen(function*() {
    const world = yield* make()
    const { agent, done, shown } = agentOf(world, others)
    yield* connect(world, { agent: yield* agent })
    yield* done
    assert.deepStrictEqual(shown.map((answer) => answer?.status), [200])
    assert.strictEqual(world.network.at(tokenUrl).length, 1)
    assert.deepStrictEqual(world.network.strays, [])
  }).pipe(Effect.scoped)

const head = (first: string, host: string) => `${first}\r\nHost: ${host}\r\n\r\n`

describe("the listener of a login", () => {
  it.live(
    "[ACL-21] [ACL-22] hundreds of pages that guess the state learn nothing and change nothing",
    () =>
      unmoved((redirectUri, page) =>
        Effect.gen(function*() {
          const right = page.searchParams.get("state") ?? ""
          const guesses = [
            ...Array.from({ length: 150 }, () => randomBytes(32).toString("base64url")),
            "",
            "undefined",
            right.slice(0, -1),
            `${right}x`,
            right.toLowerCase() === right ? right.toUpperCase() : right.toLowerCase(),
            `${right}&state=${right}`
          ]
          const bodies = new Set<string>()
          yield* Effect.forEach(guesses, (state) =>
            Effect.gen(function*() {
              const query = state.includes("&") ? `state=${state}` : `state=${encodeURIComponent(state)}`
              for (const what of ["code=evil", "error=access_denied"]) {
                const target = `${redirectUri.pathname}?${what}&${query}`
                const answer = yield* heard(Number(redirectUri.port), head(`GET ${target} HTTP/1.1`, redirectUri.host))
                // Some find no room among so many, and none is let in.
                if (answer === "") continue
                assert.strictEqual(statusOf(answer), 400)
                bodies.add(answer.slice(answer.indexOf("\r\n\r\n")))
              }
            }), { concurrency: 16, discard: true })
          assert.strictEqual(bodies.size, 1)
          assert.notInclude([...bodies].join(), right)
        })
      ),
    60_000
  )

  it.live(
    "[ACL-22] connections without a word, without an end, and without sense keep nobody out",
    () =>
      unmoved((redirectUri) =>
        Effect.gen(function*() {
          const port = Number(redirectUri.port)
          const silent = yield* sockets(port, 200, "")
          const begun = yield* sockets(port, 100, "GET /callback?code=")
          const odd = yield* sockets(port, 50, head("POST /callback HTTP/1.1", redirectUri.host).slice(0, -2))
          // The oldest make room for those that come, long before they have been silent for too long.
          const isOpen = (socket: Socket) => !socket.destroyed && !socket.readableEnded
          yield* eventually("room", () => [...silent, ...begun, ...odd].filter(isOpen).length <= 64, 4000)
        }).pipe(Effect.scoped)
      ),
    60_000
  )

  it.live(
    "[ACL-22] other names, paths and methods are refused although the state is right",
    () =>
      unmoved((redirectUri, page) =>
        Effect.gen(function*() {
          const { host, port } = redirectUri
          const target = `/callback?code=evil&state=${page.searchParams.get("state")}`
          const rows: ReadonlyArray<readonly [number, string]> = [
            [403, head(`GET ${target} HTTP/1.1`, "evil.test")],
            [403, head(`GET ${target} HTTP/1.1`, `evil.test:${port}`)],
            [403, head(`GET ${target} HTTP/1.1`, `localhost:${port}`)],
            [403, head(`GET ${target} HTTP/1.1`, `127.0.0.1.evil.test:${port}`)],
            [404, head(`GET /x${target} HTTP/1.1`, host)],
            [404, head(`GET /${target} HTTP/1.1`, host)],
            [404, head(`GET ${target.replace("callback", "callback/")} HTTP/1.1`, host)],
            [405, head(`POST ${target} HTTP/1.1`, host)],
            [405, head(`HEAD ${target} HTTP/1.1`, host)]
          ]
          for (const [expected, text] of rows) {
            assert.strictEqual(statusOf(yield* heard(Number(port), text)), expected, text.slice(0, 60))
          }
        })
      ),
    60_000
  )

  it.live("[ACL-21] an answer after the right one changes nothing", () =>
    Effect.gen(function*() {
      const world = yield* make()
      let answer = ""
      const { agent, done, shown } = agentOf(world, (redirectUri, page) =>
        Effect.sync(() =>
          void (answer = `${redirectUri.href}?code=evil&state=${page.searchParams.get("state")}`)
        ))
      yield* connect(world, { agent: yield* agent })
      yield* done
      // Nobody is there any more, and what was asked for is what was got.
      assert.isUndefined(yield* get(answer))
      assert.strictEqual(shown[0]?.status, 200)
      assert.notStrictEqual(world.network.at(tokenUrl)[0]?.form.get("code"), "evil")
    }).pipe(Effect.scoped))

  it.live("[ACL-22] [field AUT-15] whose port is taken is told at once, and nobody is sent away", () =>
    Effect.gen(function*() {
      const server = createServer()
      const port = yield* Effect.acquireRelease(
        Effect.callback<number>((resume) => {
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
          })
        }),
        () => Effect.sync(() => server.close())
      )
      const world = yield* make()
      let sent = 0
      const { agent } = agentOf(world, () => Effect.sync(() => void sent++), { port })
      const { http } = yield* authorize(world, { agent: yield* agent })
      assert.deepStrictEqual(fieldsOf(yield* reasonOf(http.post(mcpUrl))), {
        _tag: "CallbackUnavailable",
        address: `http://127.0.0.1:${port}/callback`,
        detail: "the port is taken"
      })
      assert.deepStrictEqual([sent, yield* world.login.count("register")], [0, 0])
    }).pipe(Effect.scoped))
})
