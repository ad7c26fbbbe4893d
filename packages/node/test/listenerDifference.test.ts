/**
 * The same routes behind the listener and behind `NodeHttpServer`: whatever comes, well formed or not, both say the same.
 *
 * What differs on purpose, and is left out here:
 *
 * - `Date` and `Keep-Alive`, and how the end of an empty body is told: the listener always tells the length
 * - requests to upgrade: the listener upgrades nothing and reads their bodies like any other
 * - what is said before Node refuses what follows on the connection: the listener reads small bodies before it answers, and an
 *   answer that is not there yet is lost with the connection, as it is where CONNECT follows
 * - connections of HTTP/1.0 that are to be kept: the listener keeps them where the other does not tell how long an answer is
 * - more than 200 headers: the listener has a bound for them
 * - the first line of a 500 after an answer that could not be written, whose phrase `NodeHttpServer` keeps
 */
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, type Scope, Stream, Tracer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse, UrlParams } from "effect/http"
import * as fc from "fast-check"
import { createServer } from "node:http"
import { connect } from "node:net"
import { isDeepStrictEqual } from "node:util"
import { type Answer, parse } from "./support/answers.ts"
import { portOf, quietly, serve } from "./support/serving.ts"

const { text } = HttpServerResponse
const Request = HttpServerRequest.HttpServerRequest
const bytes = (size: number) => new Uint8Array(size).fill(120)

/** What handlers see of a request. */
const seen = Effect.gen(function*() {
  const request = yield* Request
  const { connection: _, ...headers } = request.headers
  return {
    method: request.method,
    url: request.url,
    originalUrl: request.originalUrl,
    absolute: Option.map(HttpServerRequest.toURL(request), (url) => url.href),
    headers,
    cookies: request.cookies,
    remote: request.remoteAddress,
    peer: request.peerAddress,
    text: `${request}`
  }
})

const reading = <E>(read: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<unknown, E>) =>
  Effect.flatMap(Request, read).pipe(
    Effect.match({ onFailure: String, onSuccess: (value) => value }),
    Effect.map((value) => text(JSON.stringify(value) ?? "nothing"))
  )

const routes = Layer.mergeAll(
  HttpRouter.add("GET", "/text", text("text")),
  HttpRouter.add("GET", "/long", HttpServerResponse.uint8Array(bytes(100_000))),
  HttpRouter.add("GET", "/stream", HttpServerResponse.stream(Stream.make(bytes(3), bytes(70_000)))),
  HttpRouter.add("GET", "/204", HttpServerResponse.empty({ status: 204 })),
  HttpRouter.add("GET", "/304", text("unseen", { status: 304 })),
  HttpRouter.add("GET", "/205", text("", { status: 205 })),
  HttpRouter.add("GET", "/die", Effect.die("it")),
  HttpRouter.add("GET", "/interrupt", Effect.interrupt),
  HttpRouter.add("GET", "/later", Effect.as(Effect.sleep(1), text("later"))),
  HttpRouter.add("GET", "/params/:id", Effect.map(HttpRouter.params, (params) => text(JSON.stringify(params)))),
  HttpRouter.add(
    "GET",
    "/query",
    Effect.map(HttpServerRequest.ParsedSearchParams, (query) => text(JSON.stringify(query)))
  ),
  HttpRouter.add("*", "/seen", Effect.map(seen, (all) => text(JSON.stringify(all)))),
  HttpRouter.use((router) =>
    router.prefixed("/pre").add("*", "/seen", Effect.map(seen, (all) => text(JSON.stringify(all))))
  ),
  HttpRouter.add("POST", "/echo", reading((request) => request.text)),
  HttpRouter.add(
    "POST",
    "/twice",
    reading((request) => Effect.all([request.text, request.arrayBuffer.pipe(Effect.map((it) => it.byteLength))]))
  ),
  HttpRouter.add("POST", "/json", reading((request) => request.json)),
  HttpRouter.add("POST", "/form", reading((request) => Effect.map(request.urlParamsBody, UrlParams.toRecord))),
  HttpRouter.add(
    "POST",
    "/count",
    reading((request) => Stream.runFold(request.stream, () => 0, (sum, { length }) => sum + length))
  ),
  HttpRouter.add("POST", "/unread", text("unread")),
  HttpRouter.add("POST", "/refused", HttpServerResponse.empty({ status: 413 })),
  HttpRouter.cors({ allowedOrigins: ["https://a.example"] })
)

const usual = HttpRouter.serve(routes, { disableListenLog: true, disableLogger: true }).pipe(
  Layer.provideMerge(
    NodeHttpServer.layerServer(() => createServer(), { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 0 })
  )
)

/** Writes a conversation, and reads until the server ends it, or says nothing for a moment. */
const spoken = (port: number, pieces: ReadonlyArray<string>, moment: number): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    let heard = ""
    let next = 0
    const quiet = setTimeout(() => socket.destroy(), moment)
    const write = (): void => {
      const piece = pieces[next++]
      if (piece === undefined || !socket.writable) return
      socket.write(piece, "latin1")
      setImmediate(() => setImmediate(write))
    }
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      heard += chunk
      quiet.refresh()
    })
    socket.on("error", () => {})
    socket.once("connect", write)
    socket.once("close", () => {
      clearTimeout(quiet)
      resolve(heard)
    })
  })

/** What is compared: where the body is empty, not how that is told. */
const compared = ({ body, headers, status, whole }: Answer) => ({
  status,
  body: body.replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1"),
  whole,
  headers: headers.filter(([name, value]) =>
    !["date", "keep-alive"].includes(name) &&
    !(body === "" && (name === "transfer-encoding" || (name === "content-length" && value === "0")))
  )
})

const often = <A>(usual: A, ...rare: ReadonlyArray<A>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(usual, ...rare) })

const paths = [
  "/text",
  "/long",
  "/stream",
  "/204",
  "/205",
  "/304",
  "/die",
  "/interrupt",
  "/later",
  "/params/7",
  "/query?a=1&a=2&b",
  "/seen",
  "/pre/seen?x=1#y",
  "/echo",
  "/twice",
  "/json",
  "/form",
  "/count",
  "/unread",
  "/refused",
  "/nothing"
]
const oddTargets = [
  "",
  "*",
  "text",
  "//text",
  "/text/",
  "/TEXT",
  "/a/../text",
  "/./text",
  "/%74ext",
  "/%00",
  "/%zz",
  "/params/%E4%B8%AD",
  "/params/\xe9",
  "/params/%2Fx",
  "/params/",
  "/params/a/b",
  "/query?%zz=%",
  "/query?__proto__=1",
  "/seen?" + "x".repeat(9000),
  "/seen\0",
  "/seen\t",
  "http://other.example/seen",
  "HTTP://other.example:81/pre/seen?q",
  "http://[bad/seen",
  "ftp://a/seen",
  "other.example:443",
  "?a",
  "#",
  "/seen?a b",
  "\\seen",
  "/" + "y".repeat(20_000),
  "/constructor",
  "/__proto__"
]
const target = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...paths) }, {
  weight: 1,
  arbitrary: fc.constantFrom(...oddTargets)
})
const method = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("GET", "POST") },
  { weight: 2, arbitrary: fc.constantFrom("HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "QUERY") },
  { weight: 1, arbitrary: fc.constantFrom("get", "G@T", "", "FOO", "PRI") }
)
const line = fc.constantFrom(
  "accept: */*",
  "content-type: application/json",
  "content-type: application/x-www-form-urlencoded",
  "cookie: a=1; b=%zz; a=2",
  "cookie: c=3",
  "origin: https://a.example",
  "origin: https://b.example",
  "x-forwarded-for: 1.2.3.4",
  "x-forwarded-proto: https",
  "mcp-session-id: a",
  "mcp-session-id: b",
  "connection: close",
  "access-control-request-method: PUT",
  "expect: 100-continue",
  "te: trailers",
  "range: bytes=0-1",
  "if-none-match: *",
  "authorization: Basic x",
  "set-cookie: a",
  "X-Mixed: \xe9\xff",
  "__proto__: x",
  "constructor: y",
  "x-empty:",
  "x-tab: a\tb"
)
const oddLine = fc.constantFrom(
  "no colon",
  "x-nul: a\0b",
  ": nameless",
  " folded",
  "x bad: 1",
  "host: other.example",
  "host: [::1]",
  "host:",
  "content-length: 1",
  "content-length: -1",
  "content-length: 1, 1",
  "content-length: 1x",
  "transfer-encoding: chunked",
  "transfer-encoding: gzip",
  "transfer-encoding: identity",
  "expect: tea",
  "x-cr: a\rb",
  "x-long: " + "z".repeat(17_000),
  "x-long: " + "z".repeat(9000)
)
const lines = fc.array(fc.oneof({ weight: 5, arbitrary: line }, { weight: 1, arbitrary: oddLine }), { maxLength: 4 })
const content = fc.oneof(
  fc.constantFrom("", "{\"a\":1}", "a=1&b=%20", "?a=\xe9", "{", "[1,2", "\xef\xbb\xbf{}", "\xff\xfe", "null"),
  fc.constantFrom(10, 4000, 65_536, 65_537, 200_000, 600_000).map((size) => "x".repeat(size))
)
const chunks = (body: string, trailer: string): string =>
  `${body === "" ? "" : `${body.length.toString(16)};ext=1\r\n${body}\r\n`}0\r\n${trailer}\r\n`

/** How the body is sent, and what its headers say. */
const body = fc.oneof(
  { weight: 3, arbitrary: fc.constant(["", ""] as const) },
  { weight: 6, arbitrary: content.map((it) => [`content-length: ${it.length}\r\n`, it] as const) },
  { weight: 1, arbitrary: content.map((it) => [`content-length: ${it.length + 3}\r\n`, it] as const) },
  { weight: 1, arbitrary: content.map((it) => [`content-length: ${Math.max(it.length - 3, 0)}\r\n`, it] as const) },
  {
    weight: 2,
    arbitrary: content.map((it) => ["transfer-encoding: chunked\r\n", chunks(it, "x-trailer: 1\r\n")] as const)
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "zz\r\nab\r\n",
      "3\r\nabcd\r\n0\r\n\r\n",
      "-1\r\n",
      "ffffffffffffffffff\r\n",
      "2\nab\n0\n\n",
      "2\r\nab"
    ).map((it) => ["transfer-encoding: chunked\r\n", it] as const)
  }
)

const request = fc.tuple(
  method,
  target,
  often("HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "", "HTTP/1.1 x"),
  often("host: 127.0.0.1\r\n", "", "host: 127.0.0.1\r\nhost: b\r\n"),
  lines,
  body
).map(([method, target, version, host, lines, [framing, body]]) => ({
  method,
  text: `${method} ${target} ${version}\r\n${host}${lines.map((it) => `${it}\r\n`).join("")}${framing}\r\n${body}`
}))

const last = { method: "GET", text: "GET /text HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n" }

interface Conversation {
  readonly methods: ReadonlyArray<string>
  readonly pieces: ReadonlyArray<string>
}

/** Several requests on one connection, cut into pieces somewhere. */
const conversation = fc.tuple(
  fc.array(request, { minLength: 1, maxLength: 3 }),
  fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 })
).map(([requests, cuts]): Conversation => {
  const all = [...requests, last]
  const text = all.map((each) => each.text).join("")
  const at = [0, ...cuts.map((cut) => Math.floor(cut * text.length)).toSorted((a, b) => a - b), text.length]
  return {
    methods: all.map((each) => each.method),
    pieces: at.slice(1).map((end, index) => text.slice(at[index], end)).filter((piece) => piece !== "")
  }
})

/** Node's own refusals, after which it hears nothing more. */
const isRefusal = ({ body, headers, status }: ReturnType<typeof compared>): boolean =>
  (status === 400 || status === 431) && body === "" && headers.length === 1

/** The answers of both, as far as Node did not refuse what either had to hear. */
const comparable = (both: ReadonlyArray<ReadonlyArray<ReturnType<typeof compared>>>) => {
  const ends = both.map((answers) => answers.findIndex(isRefusal))
  if (ends.every((end) => end < 0)) return both
  const length = Math.min(...both.map((answers, index) => ends[index] === -1 ? answers.length : ends[index] ?? 0))
  return both.map((answers) => answers.slice(0, length))
}

describe("the listener and NodeHttpServer", () => {
  it.live(
    "give the same answers to the same requests, in the same order",
    () =>
      Effect.gen(function*() {
        const ports = [yield* serve(routes), yield* portOf(usual)]
        const hear = async ({ methods, pieces }: Conversation, moment: number) =>
          comparable(
            await Promise.all(
              ports.map(async (port) => parse(await spoken(port, pieces, moment), methods).map(compared))
            )
          )
        const check = async (one: Conversation) => {
          const [ours, theirs] = await hear(one, 100)
          if (isDeepStrictEqual(ours, theirs)) return
          // A busy machine may have been silent for a moment.
          const [again, theirsAgain] = await hear(one, 2000)
          assert.deepStrictEqual(again, theirsAgain)
        }
        const eight = fc.array(conversation, { minLength: 8, maxLength: 8 })
        yield* Effect.promise(() =>
          fc.assert(fc.asyncProperty(eight, (all) => Promise.all(all.map(check)).then(() => {})), {
            numRuns: Number(process.env["MCPFX_DIFFERENCE_RUNS"] ?? 60),
            interruptAfterTimeLimit: 60_000
          })
        )
      }).pipe(quietly),
    120_000
  )

  it.live("trace the same requests with the same spans", () =>
    Effect.gen(function*() {
      const traced = <E>(open: Effect.Effect<number, E, Scope.Scope>) =>
        Effect.gen(function*() {
          const spans: Array<Tracer.NativeSpan> = []
          const tracer = Tracer.make({
            span: (options) => {
              const span = new Tracer.NativeSpan(options)
              spans.push(span)
              return span
            }
          })
          const port = yield* Effect.provideService(open, Tracer.Tracer, tracer)
          const asked = [
            "GET /text",
            "HEAD /later",
            "GET /die",
            "GET /interrupt",
            "GET /nothing",
            "GET /304",
            "GET /pre/seen?q=secret",
            "GET http://other.example/params/7"
          ]
          for (const line of asked) {
            const trace = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            const lines = [`${line} HTTP/1.1`, "host: 127.0.0.1", trace, "connection: close", "user-agent: a", "", ""]
            yield* Effect.promise(() => spoken(port, [lines.join("\r\n")], 2000))
          }
          return spans.map(({ attributes, kind, name, parent, status, traceId }) => ({
            name,
            kind,
            traceId,
            parent: Option.map(parent, ({ spanId }) => spanId),
            end: status._tag === "Ended" ? status.exit._tag : status._tag,
            attributes: [...attributes].filter(([key]) => key !== "http.response.header.date")
          }))
        })
      const ours = yield* traced(serve(routes))
      assert.isAbove(ours.length, 7)
      assert.deepStrictEqual(ours, yield* traced(portOf(usual)))
    }).pipe(quietly))
})
