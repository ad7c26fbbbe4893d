/** What handlers of other routes ask of a request: its body in every form and in every piece, and views of it. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ByteSize, Effect, FileSystem, Layer, Option, Schema, Stream } from "effect"
import {
  Headers,
  HttpIncomingMessage,
  HttpRouter,
  HttpServerRequest,
  HttpServerResponse,
  Multipart,
  UrlParams
} from "effect/http"
import { NodeListener } from "../src/index.ts"
import { head, raw } from "./support/raw.ts"
import { bodyOf, portOf, serve, statusOf } from "./support/serving.ts"

const { text } = HttpServerResponse
const Request = HttpServerRequest.HttpServerRequest
const json = (value: unknown) => text(JSON.stringify(value))
const answering = <E, R>(effect: Effect.Effect<unknown, E, R>) =>
  HttpRouter.add("POST", "/", Effect.orDie(Effect.map(effect, json)))

/** Sends a body in so many pieces, and gives what the handler made of it. */
const sent = (port: number, body: string, pieces: number, headers: Record<string, string> = {}) => {
  const length = Math.ceil(body.length / pieces)
  const parts = Array.from({ length: pieces }, (_, at) => body.slice(at * length, (at + 1) * length))
  const first = head("POST /", { "content-length": body.length, ...headers }) + parts[0]
  return Effect.map(raw(port, [first, ...parts.slice(1)], 10), (answer) => JSON.parse(bodyOf(answer)))
}

describe("the body of a request", () => {
  it.live("is what was sent and no byte of anything else, in one piece or several, small or large", () =>
    Effect.gen(function*() {
      const port = yield* serve(answering(Effect.gen(function*() {
        const { arrayBuffer, text } = yield* Request
        const bytes = yield* arrayBuffer
        return [bytes.byteLength, new TextDecoder().decode(bytes) === (yield* text), yield* text]
      })))
      for (const size of [1, 10, 3000, 65_536, 100_000]) {
        const body = Array.from({ length: size }, (_, at) => String.fromCharCode(97 + at % 26)).join("")
        for (const pieces of [1, 2, 5]) {
          assert.deepStrictEqual(
            yield* sent(port, body, Math.min(pieces, size)),
            [size, true, body],
            `${size} ${pieces}`
          )
        }
      }
    }))

  it.live("belongs to whoever asked: what one writes into it nobody else reads", () =>
    Effect.gen(function*() {
      const port = yield* serve(answering(Effect.gen(function*() {
        const request = yield* Request
        new Uint8Array(yield* request.arrayBuffer).fill(0)
        return yield* request.text
      })))
      assert.strictEqual(yield* sent(port, "untouched", 1), "untouched")
    }))

  it.live("comes once, and is there for every view of the request", () =>
    Effect.gen(function*() {
      const both = Effect.gen(function*() {
        const request = yield* Request
        return [(yield* request.text).length, (yield* request.modify({ url: "/other" }).text).length]
      })
      const port = yield* serve(answering(both))
      for (const size of [10, 100_000]) {
        assert.deepStrictEqual(yield* sent(port, "x".repeat(size), 2), [size, size])
      }
    }))

  it.live("as a form, as parts, and as JSON that is none", () =>
    Effect.gen(function*() {
      const parts = HttpRouter.add(
        "POST",
        "/parts",
        Effect.gen(function*() {
          const { file, name } = yield* HttpServerRequest.schemaBodyMultipart(
            Schema.Struct({ name: Schema.String, file: Multipart.FilesSchema })
          )
          const [first] = file
          const fs = yield* FileSystem.FileSystem
          return json([name, first?.name, yield* fs.readFileString(first?.path ?? "")])
        })
      ).pipe(Layer.provide(NodeServices.layer))
      const form = HttpRouter.add(
        "POST",
        "/form",
        Effect.map(Effect.flatMap(Request, (request) => request.urlParamsBody), (params) =>
          json(UrlParams.toRecord(params)))
      )
      const noJson = HttpRouter.add(
        "POST",
        "/json",
        Effect.map(
          Effect.flip(Effect.flatMap(Request, (request) =>
            request.json)),
          ({ reason }) => json(reason._tag)
        )
      )
      const port = yield* portOf(
        Layer.provide(NodeListener.layer(Layer.mergeAll(parts, form, noJson)), NodeServices.layer)
      )
      const post = (path: string, body: BodyInit) =>
        Effect.promise(async () =>
          await (await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body })).json()
        )
      for (const size of [10, 200_000]) {
        const data = new FormData()
        data.set("name", "value")
        data.set("file", new File(["x".repeat(size)], "a.txt"))
        assert.deepStrictEqual(yield* post("/parts", data), ["value", "a.txt", "x".repeat(size)])
      }
      assert.deepStrictEqual(yield* post("/form", "?a=1&b=%20é&b=2"), { "?a": "1", b: [" é", "2"] })
      assert.strictEqual(yield* post("/json", "{"), "RequestParseError")
    }))

  it.live("is refused where it is larger than may be, whether it was read ahead or not", () =>
    Effect.gen(function*() {
      const limited = Effect.flatMap(Request, (request) => request.text).pipe(
        Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(8)),
        Effect.flip,
        Effect.map(({ reason }) => "reason" in reason ? reason.reason : reason._tag)
      )
      const port = yield* serve(answering(limited))
      for (const size of [9, 100_000]) {
        assert.strictEqual(yield* sent(port, "x".repeat(size), 1), "BodyTooLarge")
      }
    }))

  it.live("that is read in part leaves the connection to the next request", () =>
    Effect.gen(function*() {
      const port = yield* serve(answering(
        Effect.map(Effect.flatMap(Request, ({ stream }) => Stream.runHead(stream)), Option.isSome)
      ))
      const first = head("POST /", { "content-length": 200_000 }, true)
      const next = head("POST /", { "content-length": 1 }) + "x"
      const answer = yield* raw(port, [first + "x".repeat(100_000), "x".repeat(100_000) + next], 50)
      assert.deepStrictEqual(answer.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200", "HTTP/1.1 200"])
    }))

  it.live("that breaks while an answer to another request is under way on its connection ends no more than that", () =>
    Effect.gen(function*() {
      const errors: Array<unknown> = []
      const note = (error: unknown) => void errors.push(error)
      yield* Effect.acquireRelease(
        Effect.sync(() => process.on("uncaughtExceptionMonitor", note)),
        () => Effect.sync(() => process.off("uncaughtExceptionMonitor", note))
      )
      const slow = HttpRouter.add("GET", "/slow", Effect.as(Effect.sleep(30), text("slow")))
      const post = (
        path: `/${string}`,
        read: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<unknown, unknown>
      ) => HttpRouter.add("POST", path, Effect.as(Effect.exit(Effect.flatMap(Request, read)), text("read")))
      const port = yield* serve(Layer.mergeAll(
        slow,
        post("/stream", ({ stream }) => Stream.runDrain(stream)),
        post("/parts", ({ multipartStream }) => Stream.runDrain(multipartStream)),
        post("/text", (request) => request.text)
      ))
      for (const path of ["/stream", "/parts", "/text"]) {
        const type = { "content-type": "multipart/form-data; boundary=b" }
        const broken = head(`POST ${path}`, { ...type, "transfer-encoding": "chunked" }, true) + "2\r\nab\r\nzz\r\n"
        yield* raw(port, [head("GET /slow", {}, true) + broken])
      }
      yield* Effect.sleep(50)
      assert.deepStrictEqual(errors, [])
      assert.strictEqual(bodyOf(yield* raw(port, [head("GET /slow")])), "slow")
    }))

  it.live("comes beside a wish to upgrade, and after leave to send it", () =>
    Effect.gen(function*() {
      const port = yield* serve(answering(Effect.flatMap(Request, (request) => request.text)))
      const upgrade = { connection: "Upgrade, HTTP2-Settings, close", upgrade: "h2c", "http2-settings": "AAMAAABk" }
      assert.strictEqual(yield* sent(port, "abc", 1, upgrade), "abc")
      const answer = yield* raw(port, [head("POST /", { "content-length": 3, expect: "100-continue" }), "abc"], 50)
      assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/)
      assert.strictEqual(statusOf(yield* raw(port, [head("POST /", { "content-length": 3, expect: "tea" })])), 417)
    }))
})

describe("views of a request", () => {
  it.live("keep what an earlier one said, and take nothing from a change that says nothing", () =>
    Effect.gen(function*() {
      const port = yield* serve(answering(Effect.map(Request, (request) => {
        const first = request.modify({
          url: "/changed",
          headers: Headers.fromInput({ a: "b" }),
          remoteAddress: Option.some("192.0.2.1"),
          protocol: "https"
        })
        // Programs without `exactOptionalPropertyTypes` write this.
        const nothing: object = { url: undefined, headers: undefined, peerAddress: undefined, protocol: undefined }
        return [first, first.modify(nothing), first.modify({ peerAddress: Option.some("192.0.2.2") })].map((view) => [
          view.url,
          view.headers["a"],
          view.protocol,
          Option.getOrNull(view.remoteAddress),
          Option.getOrNull(view.peerAddress),
          new URL(view.originalUrl).pathname
        ])
      })))
      const same = ["/changed", "b", "https", "192.0.2.1", "192.0.2.1", "/"]
      assert.deepStrictEqual(yield* sent(port, "x", 1), [same, same, same.with(4, "192.0.2.2")])
    }))
})
