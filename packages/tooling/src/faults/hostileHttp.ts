/** A hostile server on a free port of the loopback interface. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type Mode, modes, say } from "./hostile.ts"
import { isJson, parse } from "./wire.ts"

/** Ways to be hostile that only HTTP has. */
export const httpModes = [
  ...modes,
  "sse-garbage",
  "sse-comments",
  "sse-endless-line",
  "404",
  "500",
  "401",
  "204",
  "redirect-loop",
  "redirect-away",
  "html",
  "cut",
  "no-length"
] as const
export type HttpMode = (typeof httpModes)[number]

const isPlain = (mode: HttpMode): mode is Mode => modes.some((plain) => plain === mode)

const stream = (response: ServerResponse): void => {
  response.writeHead(200, { "content-type": "text/event-stream" })
}

const endless = (response: ServerResponse, text: string): void => {
  response.write(text)
  const timer = setInterval(() => response.write(text), 5)
  response.once("close", () => clearInterval(timer))
}

const special = (mode: HttpMode, response: ServerResponse): void => {
  switch (mode) {
    case "sse-garbage":
      stream(response)
      response.end(
        "data: {\n\ndata\n\n: x\nevent: \u0000\ndata: [1,\n\n\r\r\r\n\nid: \u0000\ndata: null\n\ndata: {\"jsonrpc\":\"2.0\"}\n\n"
      )
      return
    case "sse-comments":
      stream(response)
      return endless(response, ": still here\n\n")
    case "sse-endless-line":
      stream(response)
      return endless(response, `data: ${"x".repeat(100_000)}`)
    case "redirect-loop":
      response.writeHead(307, { location: "/mcp" }).end()
      return
    case "redirect-away":
      response.writeHead(307, { location: "http://localhost:1/mcp" }).end()
      return
    case "html":
      response.writeHead(200, { "content-type": "text/html" }).end("<html><body>Sign in</body></html>")
      return
    case "cut":
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" })
      response.write("{\"jsonrpc\":")
      setTimeout(() => response.destroy(), 20)
      return
    case "no-length":
      response.writeHead(200, { "content-type": "application/json" })
      return endless(response, " ".repeat(1000))
    case "204":
      response.writeHead(204).end()
      return
    default:
      response.writeHead(Number(mode), { "content-type": "text/plain" }).end("go away")
  }
}

const reply = (mode: Mode, body: string, response: ServerResponse): void => {
  const message = parse(body)
  if (!isJson(message)) return void response.writeHead(400).end()
  const { out, then } = say(mode, message)
  if (message["id"] === undefined) return void response.writeHead(202).end()
  if (mode === "silent" && out.length === 0) return
  if (then === "close" && out.length === 0) return void response.destroy()
  stream(response)
  const text = out.map((each) => `data: ${typeof each === "string" ? each : JSON.stringify(each)}\n\n`).join("")
  if (then === "repeat") return endless(response, text)
  response.write(text)
  if (then === "close") setTimeout(() => response.destroy(), 20)
  else response.end()
}

const isPolite = (body: string): boolean => /"method":"(initialize|server\/discover|notifications\/)/.test(body)

/** Starts one; `close` ends it with all that is open. */
export const start = (
  mode: HttpMode
): Promise<{ readonly port: number; readonly open: () => number; readonly close: () => void }> => {
  let open = 0
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = ""
    for await (const chunk of request.setEncoding("utf8")) body += chunk
    if (request.method === "GET") return void response.writeHead(405).end()
    if (request.method === "DELETE") return void response.writeHead(200).end()
    if (isPlain(mode)) return reply(mode, body, response)
    return isPolite(body) ? reply("silent", body, response) : special(mode, response)
  }
  const server = createServer((request, response) => {
    open++
    response.once("close", () => open--)
    answer(request, response).catch(() => response.destroy())
  })
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve({
        port: typeof address === "object" && address !== null ? address.port : 0,
        open: () => open,
        close: () => {
          server.closeAllConnections()
          server.close()
        }
      })
    })
  )
}
