/** What routes do behind the listener, seen by a client that looks at the bytes. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Deferred, Effect, Layer, Logger, Option, References, Stream, Tracer } from "effect"
import {
  Cookies,
  HttpMiddleware,
  HttpRouter,
  HttpServer,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import { NodeListener } from "../src/index.ts"
import { head, raw } from "./support/raw.ts"

const portOf = <E, R>(serving: Layer.Layer<HttpServer.HttpServer, E, R>) =>
  Effect.map(Layer.build(serving), (context) => {
    const { address } = Context.get(context, HttpServer.HttpServer)
    return "port" in address ? address.port : 0
  })

const serve = <E>(routes: Layer.Layer<never, E, HttpRouter.HttpRouter>) => portOf(NodeListener.layer(routes))

const { text } = HttpServerResponse
const get = (path: string, headers: Record<string, string | number> = {}) => head(`GET ${path}`, headers)
const bodyOf = (answer: string): string => answer.slice(answer.indexOf("\r\n\r\n") + 4)
const statusOf = (answer: string): number => Number(answer.slice(9, 12))

/** What was logged while it ran. */
const logged = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const logger = Logger.make(({ cause, message }) => {
    lines.push(`${String(message)} ${cause.reasons.length === 0 ? "" : Cause.pretty(cause)}`)
  })
  return Effect.map(
    Effect.provide(effect, Logger.layer([logger])),
    (value) => ({ value, lines })
  )
}

describe("texts behind the listener", () => {
  it.live("arrive whole, of any size and any alphabet", () =>
    Effect.gen(function*() {
      const say = Effect.gen(function*() {
        const { letter = "", size = "0" } = yield* HttpRouter.params
        return text(decodeURIComponent(letter).repeat(Number(size)))
      })
      const port = yield* serve(HttpRouter.add("GET", "/:letter/:size", say))
      for (const letter of ["a", "\x7f", "\x80", "é", "—", "🎉"]) {
        for (const size of [1, 16_383, 16_384, 43_690, 65_536, 131_072, 131_073, 400_000]) {
          const answer = yield* raw(port, [get(`/${encodeURIComponent(letter)}/${size}`)])
          const expected = letter.repeat(size)
          assert.isTrue(Buffer.from(bodyOf(answer), "latin1").equals(Buffer.from(expected)), `${letter} ${size}`)
          assert.strictEqual(/content-length: (\d+)/i.exec(answer)?.[1], String(Buffer.byteLength(expected)))
        }
      }
    }))

  it.live("are let go of once they are written, when what else was said stays to be seen", () =>
    Effect.gen(function*() {
      const seen: Array<HttpServerResponse.HttpServerResponse> = []
      const say = (size: number) =>
        Effect.gen(function*() {
          yield* Effect.addFinalizer((exit) =>
            Effect.sync(() => {
              if (exit._tag === "Success" && HttpServerResponse.isHttpServerResponse(exit.value)) seen.push(exit.value)
            })
          )
          return text("a".repeat(size), { status: 203, headers: { "x-a": "b" } })
        })
      const port = yield* serve(Layer.mergeAll(
        HttpRouter.add("GET", "/short", say(10)),
        HttpRouter.add("GET", "/long", say(70_000))
      ))
      for (const path of ["/short", "/long"]) yield* raw(port, [get(path)])
      assert.deepStrictEqual(seen.map(({ body }) => body._tag), ["Uint8Array", "Empty"])
      for (const { headers, status } of seen) assert.deepStrictEqual([status, headers["x-a"]], [203, "b"])
      assert.strictEqual(seen[1]?.headers["content-length"], "70000")
    }))
})

describe("routes behind the listener", () => {
  it.live("parameters, queries, prefixes and what is not there", () =>
    Effect.gen(function*() {
      const say = Effect.gen(function*() {
        const { id } = yield* HttpRouter.params
        const query = yield* HttpServerRequest.ParsedSearchParams
        const { url, originalUrl } = yield* HttpServerRequest.HttpServerRequest
        return text(JSON.stringify([id, query["q"], url, originalUrl.replace(/:\d+/, "")]))
      })
      const port = yield* serve(HttpRouter.use((router) => router.prefixed("/api").add("GET", "/things/:id", say)))
      assert.strictEqual(
        bodyOf(yield* raw(port, [get("/api/things/7?q=a")])),
        JSON.stringify(["7", "a", "/things/7?q=a", "http://127.0.0.1/api/things/7?q=a"])
      )
      assert.strictEqual(statusOf(yield* raw(port, [get("/nothing")])), 404)
      const whole = yield* raw(port, [head("GET http://elsewhere.example/api/things/8")])
      assert.include(whole, JSON.stringify(["8", null, "/things/8", "http://elsewhere.example/api/things/8"]))
    }))

  it.live("answers without a body have none: HEAD, 204, 304 and an empty one", () =>
    Effect.gen(function*() {
      const port = yield* serve(Layer.mergeAll(
        HttpRouter.add("GET", "/text", text("four")),
        HttpRouter.add("GET", "/204", HttpServerResponse.empty({ status: 204 })),
        HttpRouter.add("GET", "/304", text("four", { status: 304 })),
        HttpRouter.add("GET", "/202", HttpServerResponse.empty({ status: 202 }))
      ))
      for (
        const [line, status, length] of [
          ["HEAD /text", 200, "4"],
          ["GET /204", 204, undefined],
          ["GET /304", 304, "4"],
          ["GET /202", 202, "0"]
        ] as const
      ) {
        const answer = yield* raw(port, [head(line)])
        assert.strictEqual(statusOf(answer), status, line)
        assert.strictEqual(bodyOf(answer), "", line)
        assert.strictEqual(/content-length: (\d+)/i.exec(answer)?.[1], length, line)
        assert.notMatch(answer, /transfer-encoding/i, line)
      }
    }))

  it.live("cookies and headers of an answer are told as they are", () =>
    Effect.gen(function*() {
      const response = text("x", {
        headers: { "x-own": "a" },
        cookies: Cookies.fromIterable([Cookies.makeCookieUnsafe("a", "1"), Cookies.makeCookieUnsafe("b", "2")])
      })
      const port = yield* serve(HttpRouter.add("GET", "/", response))
      const answer = yield* raw(port, [get("/")])
      assert.deepStrictEqual(answer.match(/set-cookie: .*/gi), ["set-cookie: a=1", "set-cookie: b=2"])
      assert.match(answer, /x-own: a\r\n/)
    }))

  it.live("bodies of all kinds: text, bytes, streams, forms, raw ones", () =>
    Effect.gen(function*() {
      const bytes = new TextEncoder().encode("é")
      const form = new FormData()
      form.set("name", "value")
      const port = yield* serve(Layer.mergeAll(
        HttpRouter.add("GET", "/bytes", HttpServerResponse.uint8Array(bytes)),
        HttpRouter.add("GET", "/stream", HttpServerResponse.stream(Stream.make(bytes, bytes))),
        HttpRouter.add("GET", "/form", HttpServerResponse.formData(form)),
        HttpRouter.add("GET", "/raw", HttpServerResponse.raw("é")),
        HttpRouter.add("GET", "/web", HttpServerResponse.raw(new Response("é"))),
        HttpRouter.add("GET", "/blob", HttpServerResponse.raw(new Blob(["é"]))),
        HttpRouter.add("GET", "/odd", HttpServerResponse.raw({ no: "body" }))
      ))
      const at = (path: string) =>
        Effect.promise(async () => await (await fetch(`http://127.0.0.1:${port}${path}`)).text())
      assert.strictEqual(yield* at("/bytes"), "é")
      assert.strictEqual(yield* at("/stream"), "éé")
      assert.include(yield* at("/form"), "value")
      for (const path of ["/raw", "/web", "/blob"]) assert.strictEqual(yield* at(path), "é", path)
      assert.strictEqual(statusOf(yield* raw(port, [get("/odd")])), 500)
    }))

  it.live("a body is read as often as somebody asks, small or large, as text, JSON, bytes or stream", () =>
    Effect.gen(function*() {
      const all = Effect.orDie(Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const first = yield* request.text
        const second = (yield* request.arrayBuffer).byteLength
        return text(`${first.length} ${second} ${JSON.stringify(yield* request.json).length}`)
      }))
      const streamed = Effect.orDie(Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const chunks = yield* Stream.runCollect(request.stream)
        return text(String(chunks.reduce((sum, chunk) => sum + chunk.length, 0)))
      }))
      const port = yield* serve(Layer.merge(
        HttpRouter.add("POST", "/all", all),
        HttpRouter.add("POST", "/stream", streamed)
      ))
      for (const size of [10, 100_000]) {
        const body = JSON.stringify("x".repeat(size - 2))
        const send = (path: string) => raw(port, [head(`POST ${path}`, { "content-length": size }) + body])
        assert.strictEqual(bodyOf(yield* send("/all")), `${size} ${size} ${size}`)
        assert.strictEqual(bodyOf(yield* send("/stream")), String(size))
      }
    }))

  it.live("defects are logged, the client hears 500 and nothing else", () =>
    Effect.gen(function*() {
      const secret = new Error("a secret")
      const { lines, value } = yield* logged(Effect.gen(function*() {
        const port = yield* serve(Layer.mergeAll(
          HttpRouter.add("GET", "/die", Effect.die(secret)),
          HttpRouter.add(
            "GET",
            "/throw",
            Effect.suspend((): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
              throw secret
            })
          ),
          HttpRouter.add("GET", "/header", text("x", { headers: { "x-bad": "a\nb" } })),
          HttpRouter.add("GET", "/status", text("x", { status: 99 }))
        ))
        return yield* Effect.forEach(["/die", "/throw", "/header", "/status"], (path) => raw(port, [get(path)]))
      }))
      for (const answer of value) {
        assert.strictEqual(statusOf(answer), 500)
        assert.strictEqual(bodyOf(answer), "")
        assert.notInclude(answer, "secret")
      }
      assert.strictEqual(lines.filter((line) => line.includes("a secret")).length, 2)
      assert.strictEqual(lines.length, 4)
    }))

  it.live("a stream that fails in the middle cuts its connection", () =>
    Effect.gen(function*() {
      const stream = Stream.concat(
        Stream.make(new Uint8Array([120])),
        Stream.fromEffect(Effect.delay(Effect.die("over"), "50 millis"))
      )
      const { value } = yield* logged(Effect.gen(function*() {
        const port = yield* serve(HttpRouter.add("GET", "/", HttpServerResponse.stream(stream)))
        return yield* raw(port, [head("GET /", {}, true)])
      }))
      assert.strictEqual(bodyOf(value), "1\r\nx\r\n")
    }))

  it.live("a client that leaves interrupts what works for it, and closes its scope", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<boolean>()
      const slow = Effect.gen(function*() {
        yield* Effect.addFinalizer((exit) => {
          const left = exit._tag === "Failure" && exit.cause.reasons.some((reason) =>
            reason._tag === "Interrupt" && reason.annotations.has(HttpServerError.ClientAbort.key)
          )
          return Deferred.succeed(ended, left)
        })
        yield* Deferred.succeed(started, undefined)
        return yield* Effect.never
      })
      const port = yield* serve(HttpRouter.add("GET", "/", slow))
      yield* Effect.raceFirst(raw(port, [get("/")]), Deferred.await(started))
      assert.isTrue(yield* Deferred.await(ended))
    }))
})

describe("Effect's own around it", () => {
  it.live("middleware of the router: CORS and one of its own", () =>
    Effect.gen(function*() {
      const own = HttpRouter.middleware(Effect.map(HttpServerResponse.setHeader("x-own", "yes")), { global: true })
      const port = yield* serve(Layer.mergeAll(
        HttpRouter.add("GET", "/", text("x")),
        HttpRouter.cors({ allowedOrigins: ["https://a.example"] }),
        own
      ))
      const answer = yield* raw(port, [get("/", { origin: "https://a.example" })])
      assert.match(answer, /access-control-allow-origin: https:\/\/a\.example\r\n/i)
      assert.match(answer, /x-own: yes\r\n/)
    }))

  it.live("a middleware around every request, and its log", () =>
    Effect.gen(function*() {
      const { lines } = yield* logged(Effect.gen(function*() {
        const port = yield* portOf(
          NodeListener.layer(HttpRouter.add("GET", "/", text("x")), { middleware: HttpMiddleware.logger })
        )
        yield* raw(port, [get("/")])
      }))
      assert.isTrue(lines.some((line) => line.includes("Sent HTTP response")))
    }))

  it.live("a span for each request where there is a tracer, with the route and the status", () =>
    Effect.gen(function*() {
      const spans: Array<Tracer.Span> = []
      const tracer = Tracer.make({
        span(options) {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const port = yield* serve(HttpRouter.add("GET", "/things/:id", text("x"))).pipe(
        Effect.provideService(Tracer.Tracer, tracer)
      )
      const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
      yield* raw(port, [get("/things/1", { traceparent: parent })])
      const [span] = spans
      assert.strictEqual(span?.kind, "server")
      assert.strictEqual(span?.traceId, "0af7651916cd43dd8448eb211c80319c")
      assert.strictEqual(span?.attributes.get("http.route"), "/things/:id")
      assert.strictEqual(span?.attributes.get("http.response.status_code"), 200)
      assert.strictEqual(spans.length, 1)
    }))

  it.live("the address of the client", () =>
    Effect.gen(function*() {
      const who = Effect.map(
        HttpServerRequest.HttpServerRequest,
        ({ peerAddress, remoteAddress }) => text(`${Option.getOrNull(remoteAddress)} ${Option.getOrNull(peerAddress)}`)
      )
      const port = yield* serve(HttpRouter.add("GET", "/", who))
      assert.strictEqual(bodyOf(yield* raw(port, [get("/")])), "127.0.0.1 127.0.0.1")
    }))

  it.live("references of the program that serves reach the handlers", () =>
    Effect.gen(function*() {
      const level = Effect.map(References.MinimumLogLevel, (level) => text(level))
      const port = yield* serve(HttpRouter.add("GET", "/", level)).pipe(
        Effect.provideService(References.MinimumLogLevel, "Fatal")
      )
      assert.strictEqual(bodyOf(yield* raw(port, [get("/")])), "Fatal")
    }))
})
