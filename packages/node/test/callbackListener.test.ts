/** What the listener does with everything that is not a browser coming back. */
import { assert, describe, it } from "@effect/vitest"
import { UserAgent } from "@mcpfx/auth"
import { LoopbackLogin } from "@mcpfx/node"
import { Duration, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { connect, type Socket } from "node:net"
import { listen } from "../src/internal/callbackListener.ts"
import { browsing, get, login, page, raw, state } from "./support/people.ts"

const Agent = LoopbackLogin.layer({ print: () => Effect.void }).pipe(Layer.provide(browsing(() => Effect.void)))

/** Runs while a login waits, which must be over with its right answer after it all. */
const waiting = (use: (redirectUri: string) => Effect.Effect<void, Error>) =>
  Effect.gen(function*() {
    const agent = yield* UserAgent.UserAgent
    const { open, redirectUri } = yield* agent.visit(undefined)
    const fiber = yield* Effect.forkChild(open(page(), login), { startImmediately: true })
    yield* use(redirectUri)
    const { status } = yield* get(`${redirectUri}?code=abc&state=${state}`)
    assert.strictEqual(status, 200)
    assert.strictEqual((yield* Fiber.join(fiber)).searchParams.get("code"), "abc")
  }).pipe(Effect.scoped, Effect.provide(Agent))

const head = (first: string, host: string, ...more: ReadonlyArray<string>) =>
  [first, `Host: ${host}`, ...more, "", ""].join("\r\n")

const statusOf = (heard: string | undefined) => Number(/^HTTP\/1\.1 (\d+)/.exec(heard ?? "")?.[1])

describe("requests", () => {
  it.live("[ACL-22] other paths, methods and names are refused, and the wait goes on", () =>
    waiting((redirectUri) =>
      Effect.gen(function*() {
        const { host } = new URL(redirectUri)
        const answer = `/callback?code=evil&state=${state}`
        const rows: ReadonlyArray<readonly [number, string]> = [
          [404, head("GET /favicon.ico HTTP/1.1", host)],
          [404, head("GET / HTTP/1.1", host)],
          [404, head(`GET /callback/${answer.slice(9)} HTTP/1.1`, host)],
          [404, head(`GET //evil.example${answer} HTTP/1.1`, host)],
          [404, head(`GET http://evil.example${answer} HTTP/1.1`, host)],
          [404, head("OPTIONS * HTTP/1.1", host)],
          [405, head(`HEAD ${answer} HTTP/1.1`, host)],
          [405, head(`POST ${answer} HTTP/1.1`, host, "Content-Length: 0")],
          [405, head(`OPTIONS ${answer} HTTP/1.1`, host, "Origin: https://evil.example")],
          [403, head(`GET ${answer} HTTP/1.1`, "evil.example")],
          [403, head(`GET ${answer} HTTP/1.1`, `evil.example:${new URL(redirectUri).port}`)],
          [403, head(`GET ${answer} HTTP/1.1`, "127.0.0.1")],
          [403, head(`GET ${answer} HTTP/1.1`, `localhost:${new URL(redirectUri).port}`)],
          [403, head(`GET ${answer} HTTP/1.0`, `${host}.evil.example`)],
          [400, `GET ${answer} HTTP/1.1\r\n\r\n`],
          [400, "hello\r\n\r\n"],
          [431, head(`GET ${answer}&x=${"x".repeat(20_000)} HTTP/1.1`, host)],
          [431, head(`GET ${answer} HTTP/1.1`, host, `X: ${"x".repeat(20_000)}`)]
        ]
        for (const [status, text] of rows) {
          assert.strictEqual(statusOf(yield* raw(redirectUri, text)), status, text.slice(0, 120))
        }
      })
    ))

  it.live("the page runs nothing, is kept nowhere and repeats nothing", () =>
    waiting((redirectUri) =>
      Effect.gen(function*() {
        const marker = "<script>alert(1)</script>"
        const pages = [
          yield* get(`${redirectUri}?code=a&state=wrong&error_description=${encodeURIComponent(marker)}`),
          yield* get(new URL("/favicon.ico", redirectUri).href),
          yield* get(redirectUri, { method: "POST", body: marker })
        ]
        for (const { body, headers } of pages) {
          assert.notInclude(body, "alert(1)")
          assert.notInclude(body, "<script")
          assert.match(headers.get("content-security-policy") ?? "", /^default-src 'none';.*frame-ancestors 'none'/)
          assert.strictEqual(headers.get("cache-control"), "no-store")
          assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
          assert.strictEqual(headers.get("referrer-policy"), "no-referrer")
          assert.strictEqual(headers.get("content-type"), "text/html; charset=utf-8")
          assert.isNull(headers.get("access-control-allow-origin"))
          assert.isNull(headers.get("x-powered-by"))
        }
      })
    ))
})

/** Connections that say `text` and no more; resolves when all are open. */
const crowd = (address: string, size: number, text: string) =>
  Effect.acquireRelease(
    Effect.forEach(
      Array.from({ length: size }),
      () =>
        Effect.callback<Socket>((resume) => {
          const socket = connect(Number(new URL(address).port), "127.0.0.1", () => {
            socket.write(text)
            resume(Effect.succeed(socket))
          })
          socket.on("error", () => {})
          socket.resume()
        }),
      { concurrency: 50 }
    ),
    (sockets) => Effect.sync(() => sockets.forEach((socket) => socket.destroy()))
  )

const closed = (socket: Socket) =>
  Effect.callback<void>((resume) => {
    if (socket.closed) resume(Effect.void)
    else socket.once("close", () => resume(Effect.void))
  })

describe("floods", () => {
  it.live("connections without a word do not keep the browser out, and only some are kept", () =>
    waiting((redirectUri) =>
      Effect.scoped(Effect.gen(function*() {
        const sockets = yield* crowd(redirectUri, 300, "")
        assert.strictEqual((yield* get(redirectUri)).status, 400)
        const open = () => sockets.filter((socket) => !socket.closed).length
        for (let tries = 0; open() > 64 && tries < 500; tries++) yield* Effect.sleep("10 millis")
        assert.isAtMost(open(), 64)
      }))
    ))

  it.live("requests that never end do not hold the listener open: it is gone within a second", () =>
    Effect.gen(function*() {
      const visit = yield* Scope.make()
      const { redirectUri } = yield* Effect.flatMap(UserAgent.UserAgent, (agent) => agent.visit(undefined)).pipe(
        Effect.provide(Agent),
        Scope.provide(visit)
      )
      const upload = head("POST /callback HTTP/1.1", new URL(redirectUri).host, "Content-Length: 1000000")
      const sockets = [
        ...(yield* crowd(redirectUri, 10, "GET /callback?co")),
        ...(yield* crowd(redirectUri, 10, `${upload}x`)),
        ...(yield* crowd(redirectUri, 10, ""))
      ]
      const [took] = yield* Effect.timed(Scope.close(visit, Exit.void))
      assert.isBelow(Duration.toMillis(took), 1_000)
      yield* Effect.forEach(sockets, closed, { concurrency: "unbounded" })
    }).pipe(Effect.scoped))

  it.live("a request that dawdles, or is never begun, is cut off while the listener goes on", () =>
    Effect.gen(function*() {
      const limits = { connections: 8, headerBytes: 16_384, headerMillis: 100, requestMillis: 200, checkMillis: 50 }
      const { port } = yield* listen({ host: "127.0.0.1", port: 0, rest: "/callback" }, limits)
      const address = `http://127.0.0.1:${port}/`
      const sockets = [
        ...(yield* crowd(address, 3, "GET /callback?code=")),
        ...(yield* crowd(address, 3, ""))
      ]
      yield* Effect.forEach(sockets, closed, { concurrency: "unbounded" })
      assert.strictEqual((yield* get(address)).status, 404)
    }).pipe(Effect.scoped))

  it.live("[field AUT-15] whoever sits at the other address of localhost makes it unusable", () =>
    Effect.gen(function*() {
      const other = yield* Effect.result(listen({ host: "[::1]", port: 0, rest: "/callback" }))
      // A machine without IPv6 has no other address.
      if (other._tag === "Success") {
        const { port } = other.success
        const failure = yield* Effect.flip(Effect.scoped(listen({ host: "localhost", port, rest: "/callback" })))
        assert.strictEqual(failure.address, `http://localhost:${port}/callback`)
      }
      const own = yield* listen({ host: "localhost", port: 0, rest: "/callback" })
      assert.strictEqual((yield* get(`http://127.0.0.1:${own.port}/`, { headers: { host: "x" } })).status, 403)
    }).pipe(Effect.scoped))
})
