import { assert, describe, it } from "@effect/vitest"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Context, Duration, Effect, Layer, Ref, Schema, Stream } from "effect"
import { HttpRouter } from "effect/http"
import { Agent } from "node:http"
import { connect } from "node:net"
import { Child } from "../../src/faults/child.ts"
import * as Server from "../../src/faults/httpServer.ts"
import { program } from "../../src/faults/programs.ts"
import { Defect, Echo, Never, registrations, Sleep, Tally, Touch } from "../../src/faults/registrations.ts"
import {
  at,
  call,
  jsonHeaders,
  messages,
  modernHeaders,
  modernRequest,
  open,
  openSession,
  parse,
  request,
  send
} from "../../src/faults/wire.ts"
import * as LoopbackServer from "../../src/loopbackServer.ts"
import { eventually, httpClient, within } from "./support.ts"

/** A server of its own, and what became of its calls. */
const serve = Effect.fnUntraced(function*(options: Partial<McpServer.HttpOptions> = {}, kind?: Server.Kind) {
  const tally = new Tally()
  const context = yield* Layer.build(Server.layer(registrations(tally), options, kind))
  const port = yield* Effect.provideContext(Server.port, context)
  const health = Effect.map(
    Effect.promise(() => send(port, { method: "GET", path: "/healthz" })),
    ({ text }) => at(parse(text), "endpoints", 0)
  )
  const idle = eventually(
    "the endpoint is idle",
    Effect.map(health, (health) => at(health, "inFlight") === 0 && at(health, "listening") === 0)
  )
  return { health, idle, port, tally }
})

const modernCall = (name: string, args: Record<string, unknown> = {}, id: unknown = 1) => ({
  body: JSON.stringify(modernRequest(id, "tools/call", call(name, args))),
  headers: modernHeaders("tools/call", name)
})

const isUp = Effect.fnUntraced(function*(port: number) {
  const reply = yield* Effect.promise(() => send(port, modernCall("echo", { text: "up" })))
  assert.strictEqual(at(parse(reply.text), "result", "structuredContent", "text"), "up")
})

describe.each(Server.kinds)("over HTTP, behind %s", (kind) => {
  const started = Effect.acquireRelease(
    Effect.map(
      Effect.promise(() => program("httpProgram")),
      (file) => new Child(file, kind === "NodeListener" ? ["--listener"] : [])
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

  it.live("[HTTP-62] a modern client whose socket is cut in the middle of a call has its handler interrupted", () =>
    Effect.gen(function*() {
      const { idle, port, tally } = yield* serve({}, kind)
      const { request } = open(port, modernCall("never"))
      request.on("error", () => {})
      yield* eventually("the call", Effect.sync(() => tally.started === 1))
      request.destroy()
      yield* eventually("its interruption", Effect.sync(() => tally.interrupted === 1))
      yield* idle
      yield* isUp(port)
    }))

  it.live("[HTTP-26] a client with a session may lose its socket: its call goes on to its end", () =>
    Effect.gen(function*() {
      const { idle, port, tally } = yield* serve({}, kind)
      const headers = yield* Effect.promise(() => openSession(port, "2025-11-25"))
      const body = JSON.stringify(request(1, "tools/call", call("sleep", { ms: 300 })))
      const sent = open(port, { body, headers })
      sent.request.on("error", () => {})
      yield* eventually("the call", Effect.sync(() => tally.started === 1))
      sent.request.destroy()
      yield* Effect.sleep(100)
      yield* idle
      assert.strictEqual(tally.interrupted, 0)
    }))

  // Node cannot tell a socket that is closed from one whose other half is still read, and takes both for a client that left.
  it.live("[HTTP-62] a client that closes its half of the socket has left; what was answered before has reached it", () =>
    Effect.gen(function*() {
      const { idle, port, tally } = yield* serve({}, kind)
      const post = (name: string) => {
        const { body, headers } = modernCall(name, { text: "whole" })
        const lines = Object.entries({
          host: `127.0.0.1:${port}`,
          ...jsonHeaders,
          ...headers,
          "content-length": body.length
        })
        return `POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`
      }
      const text = yield* Effect.promise(() =>
        new Promise<string>((resolve, reject) => {
          const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true })
          let all = ""
          socket.setEncoding("utf8").on("data", (text: string) => {
            all += text
            if (all.includes("whole")) socket.end(post("never"))
          })
          socket.once("error", reject).once("end", () => resolve(all))
          socket.write(post("echo"))
        })
      ).pipe(within("the end", 3000))
      assert.include(text, "200 OK")
      assert.include(text, "\"text\":\"whole\"")
      yield* eventually("the end of the second call", Effect.sync(() => tally.interrupted === tally.started))
      yield* idle
      yield* isUp(port)
    }))

  it.live("a reader that stops reading holds its handler up and not the memory, and is let go of", () =>
    Effect.gen(function*() {
      const { idle, port, tally } = yield* serve({
        limits: { deadReader: Duration.millis(500), outgoingBytes: 2 ** 20 }
      }, kind)
      const reports = 4096
      const params = { ...call("flood", { reports, size: 64 * 1024 }), _meta: { progressToken: "p" } }
      const { request, response } = open(port, {
        body: JSON.stringify(modernRequest(1, "tools/call", params)),
        headers: modernHeaders("tools/call", "flood")
      })
      request.on("error", () => {})
      const head = yield* Effect.promise(() => response)
      head.on("error", () => {})
      head.pause()
      yield* eventually("the end of the handler", Effect.sync(() => tally.interrupted === 1))
      // What the kernel and the socket buffers take, and a megabyte of ours: far from the 256 MiB of the flood.
      assert.isBelow(tally.reports, reports / 4)
      yield* idle
      yield* isUp(port)
      request.destroy()
    }))

  it.live("[field SUB-05] [HTTP-24] changes of a session without any stream come with the first stream, once each", () =>
    Effect.gen(function*() {
      const { port } = yield* serve({}, kind)
      const headers = yield* Effect.promise(() => openSession(port, "2025-06-18"))
      const post = (id: number, method: string, params: Record<string, unknown>) =>
        Effect.promise(() => send(port, { body: JSON.stringify(request(id, method, params)), headers }))
      yield* post(1, "resources/subscribe", { uri: "demo://a" })
      for (let id = 2; id < 12; id++) yield* post(id, "tools/call", call("touch"))
      const stream = open(port, { method: "GET", headers: { ...headers, accept: "text/event-stream" } })
      stream.request.on("error", () => {})
      const response = yield* Effect.promise(() => stream.response)
      let text = ""
      response.setEncoding("utf8").on("data", (chunk: string) => void (text += chunk)).on("error", () => {})
      yield* eventually("both", Effect.sync(() => messages(text).length >= 2))
      yield* Effect.sleep(300)
      stream.request.destroy()
      assert.deepStrictEqual(messages(text).map((message) => at(message, "method")).toSorted(), [
        "notifications/resources/updated",
        "notifications/tools/list_changed"
      ])
    }))

  it.live("an endpoint that is closed under load answers or refuses every request", () =>
    Effect.gen(function*() {
      const child = yield* started
      const port = Number(yield* Effect.promise(() => child.lines.find((line) => line)))
      const agent = new Agent({ keepAlive: true, maxSockets: 32 })
      let over = false
      const outcomes: Record<string, number> = {}
      const load = async () => {
        while (!over) {
          const outcome = await send(port, { ...modernCall("sleep", { ms: 20 }), agent, millis: 5000 }).then(
            ({ status, text }) =>
              status === 200 && at(messages(text)[0], "result", "structuredContent", "ms") === 20
                ? "answered"
                : status === 503
                ? "refused"
                : `wrong: ${status} ${text}`,
            (error: unknown) => `${at(error, "code") ?? error}`
          )
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
          if (outcome === "ECONNREFUSED") return
        }
      }
      const running = Promise.all(Array.from({ length: 32 }, load))
      yield* Effect.sleep(300)
      const began = performance.now()
      child.kill("SIGTERM")
      yield* Effect.promise(() => child.ended)
      assert.isBelow(performance.now() - began, 2500)
      over = true
      yield* Effect.promise(() => running)
      agent.destroy()
      assert.isAbove(outcomes["answered"] ?? 0, 50)
      const known = new Set(["answered", "refused", "ECONNREFUSED", "ECONNRESET"])
      assert.deepStrictEqual(
        Object.keys(outcomes).filter((outcome) => !known.has(outcome)),
        [],
        JSON.stringify(outcomes)
      )
    }))

  it.live("[SUB-07] SIGTERM with fifty open streams ends the server within a second", () =>
    Effect.gen(function*() {
      const child = yield* started
      const port = Number(yield* Effect.promise(() => child.lines.find((line) => line)))
      const streams = yield* Effect.promise(() =>
        Promise.all(Array.from({ length: 50 }, async (_, index) => {
          const { request, response } = index % 2 === 0
            ? open(port, {
              method: "GET",
              headers: { ...await openSession(port, "2025-11-25"), accept: "text/event-stream" }
            })
            : open(port, {
              body: JSON.stringify(modernRequest(index, "subscriptions/listen", {
                notifications: { toolsListChanged: true }
              })),
              headers: modernHeaders("subscriptions/listen")
            })
          request.on("error", () => {})
          const head = await response
          let text = ""
          head.setEncoding("utf8").on("data", (chunk: string) => void (text += chunk)).on("error", () => {})
          return { status: head.statusCode, index, text: () => text }
        }))
      )
      assert.isTrue(streams.every(({ status }) => status === 200))
      const began = performance.now()
      child.kill("SIGTERM")
      yield* Effect.promise(() => child.ended)
      assert.isBelow(performance.now() - began, 1000)
      for (const { index, text } of streams) {
        if (index % 2 === 1) assert.strictEqual(at(messages(text()).at(-1), "result", "resultType"), "complete")
      }
    }))
})

describe("over HTTP", () => {
  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    it.live(`${version}: a handler that never ends, a defect, a thousand calls: the session lives`, () =>
      Effect.gen(function*() {
        const { idle, port, tally } = yield* serve()
        const client = yield* httpClient(port, version)
        const error = yield* Effect.flip(client.call(Never, {}, { timeout: "200 millis" })).pipe(within("it", 3000))
        assert.strictEqual(error.reason._tag, "TimedOut")
        yield* eventually("the interruption", Effect.sync(() => tally.interrupted === 1))
        const { reason } = yield* Effect.flip(client.callTool(Defect.name))
        assert.strictEqual(reason._tag === "Refused" ? reason.code : reason._tag, -32603)
        const answers = yield* Effect.forEach(
          Array.from({ length: 1000 }, (_, index) => index),
          (index) =>
            index % 2 === 0
              ? Effect.map(client.call(Echo, { text: `${index}` }), ({ text }) => Number(text))
              : Effect.map(client.call(Sleep, { ms: index / 10 }), ({ ms }) => Math.round(ms * 10)),
          { concurrency: 1000 }
        ).pipe(within("a thousand calls", 15_000))
        assert.deepStrictEqual(answers, Array.from({ length: 1000 }, (_, index) => index))
        yield* idle
      }))
  }

  it.live("[field SUB-05] a change right after the subscription reaches a client whose stream is not open yet", () =>
    Effect.gen(function*() {
      const { port } = yield* serve()
      for (const version of ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const) {
        const client = yield* httpClient(port, version)
        const { changes } = yield* client.subscribe({ uris: ["demo://a"], tools: true })
        yield* client.call(Touch)
        const heard = yield* Stream.runCollect(Stream.take(changes, 2)).pipe(within(`the changes on ${version}`, 3000))
        assert.deepStrictEqual(heard.map(({ kind }) => kind).toSorted(), ["resource", "tools"])
      }
    }))
})

describe("one value of registrations", () => {
  class Database extends Context.Service<Database, { readonly queries: Ref.Ref<number> }>()("faults/Database") {}
  const Query = Tool.make("query", { output: { queries: Schema.Int } })

  it.live("makes two endpoints with all its tools, over one database that is built once", () =>
    Effect.gen(function*() {
      let built = 0
      const database = Layer.effect(
        Database,
        Effect.map(Ref.make(0), (queries) => {
          built++
          return { queries }
        })
      )
      const all = Layer.merge(
        registrations(),
        McpServer.tool(Query, () =>
          Effect.gen(function*() {
            const { queries } = yield* Database
            return { queries: yield* Ref.updateAndGet(queries, (count) => count + 1) }
          }))
      )
      const endpoint = (path: "/a" | "/b") => McpServer.layerHttp(all, { name: path, version: "1.0.0", path })
      const context = yield* Layer.build(
        McpServer.drainFirst(
          HttpRouter.serve(Layer.merge(endpoint("/a"), endpoint("/b")), { disableListenLog: true, disableLogger: true })
        ).pipe(
          Layer.provide(database),
          Layer.provideMerge(LoopbackServer.layer())
        )
      )
      const port = yield* Effect.provideContext(Server.port, context)
      const ask = (path: string, method: string, name?: string) =>
        Effect.map(
          Effect.promise(() =>
            send(port, {
              path,
              body: JSON.stringify(modernRequest(1, method, name === undefined ? {} : call(name))),
              headers: modernHeaders(method, name)
            })
          ),
          ({ text }) => at(parse(text), "result")
        )
      const lists = yield* Effect.forEach(["/a", "/b"], (path) => ask(path, "tools/list"))
      const names = lists.map((list) => {
        const tools = at(list, "tools")
        return Array.isArray(tools) ? tools.map((tool) => at(tool, "name")).toSorted() : []
      })
      assert.strictEqual(names[0]?.length, 9)
      assert.deepStrictEqual(names[0], names[1])
      for (const [index, path] of ["/a", "/b", "/a"].entries()) {
        assert.deepStrictEqual(at(yield* ask(path, "tools/call", "query"), "structuredContent"), { queries: index + 1 })
      }
      assert.strictEqual(built, 1)
    }))
})
