import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { createServer } from "node:http"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
const kind = process.argv[2]
const port = Number(process.argv[3])
process.on("message", (m) => { if (m === "exit") process.exit(0); const u = process.cpuUsage(); process.send!({ cpu: (u.user + u.system) / 1000 }) })
const reply = (m: any) => JSON.stringify({ jsonrpc: "2.0", id: m.id, result: { content: [{ type: "text", text: m.params.arguments.text }] } })
process.on("uncaughtException", (e) => console.error(e)); if (kind === "bare") {
  createServer((req, res) => {
    const chunks: Array<Buffer> = []
    req.on("data", (c) => chunks.push(c))
    req.on("end", () => {
      const m = JSON.parse(Buffer.concat(chunks).toString())
      const t = reply(m)
      res.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(t) })
      res.end(t)
    })
  }).listen(port, "127.0.0.1", () => process.send?.("up"))
} else {
  const add = (h: Effect.Effect<HttpServerResponse.HttpServerResponse, any, any>) => HttpRouter.add("POST", "/mcp", h as any) as Layer.Layer<never, never, HttpRouter.HttpRouter>
  let app: Layer.Layer<never, never, HttpRouter.HttpRouter>
  if (kind === "hello") {
    app = add(Effect.flatMap(HttpServerRequest.HttpServerRequest, (r) => Effect.flatMap(r.json, (m) => HttpServerResponse.json(JSON.parse(reply(m))))))
  } else if (kind === "text") {
    app = add(Effect.flatMap(HttpServerRequest.HttpServerRequest, (r) => Effect.map(r.text, (t) => HttpServerResponse.text(reply(JSON.parse(t)), { contentType: "application/json" }))))
  } else if (kind === "buf") {
    const dec = new TextDecoder("utf-8", { fatal: true })
    app = add(Effect.withFiber((fiber) => {
      const r = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      return Effect.map(Effect.provideService(r.arrayBuffer, HttpIncomingMessage.MaxBodySize, 4194304 as any), (t) => HttpServerResponse.text(reply(JSON.parse(dec.decode(t))), { contentType: "application/json" }))
    }))
  } else if (kind === "nobody") {
    app = add(Effect.sync(() => HttpServerResponse.text(reply({ id: 1, params: { arguments: { text: "hey" } } }), { contentType: "application/json" })))
  } else if (kind === "duck") {
    const dec = new TextDecoder("utf-8", { fatal: true })
    app = add(Effect.withFiber((fiber) => {
      const r = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      const src = r.source as any
      return Effect.callback((resume) => {
        let first: any; let rest: any
        src.on("data", (c: any) => { if (first === undefined) first = c; else (rest ??= [first]).push(c) })
        src.on("end", () => {
          const b = rest === undefined ? first : Buffer.concat(rest)
          resume(Effect.succeed(HttpServerResponse.text(reply(JSON.parse(dec.decode(b))), { contentType: "application/json" })))
        })
      })
    }))
  } else { const m = await import("./ours.ts"); app = m.app(kind) }
  const server = createServer()
  server.on("listening", () => process.send?.("up"))
  const layer = HttpRouter.serve(app, { disableLogger: true, disableListenLog: true }).pipe(Layer.provide(NodeHttpServer.layer(() => server, { port, host: "127.0.0.1" })))
  Effect.runFork(Effect.tapCause(Layer.launch(layer) as any, (c) => Effect.sync(() => console.error(String(c)))) as any)
}
